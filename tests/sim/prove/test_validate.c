/* The validation engine: tables, scores against figures worked out by hand, and reports. */
#include "isa/array_count.h"
#include "sim/prove/validate/measurements.h"
#include "sim/prove/validate/request.h"
#include "sim/prove/validate/score.h"
#include "tests/sim/validate_rows_example.h"

#include <stdlib.h>

static void test_csv_cells(void)
{
    struct orch_error error;
    struct csv_table *t = example_table_parse("\xef\xbb\xbf"
                                              "a,b,c\r\n1,\"x,\"\"y\"\"\r\nz\",\r\n\"\",2,3",
                                              &error);
    CHECK(t != NULL, "%s", error.text);
    if (!t)
        return;
    CHECK(csv_rows(t) == 2 && csv_columns(t) == 3, "%zu rows", csv_rows(t));
    CHECK(strcmp(csv_cell(t, 0, csv_find(t, "b")), "x,\"y\"\r\nz") == 0, "'%s'", csv_cell(t, 0, 1));
    CHECK(strcmp(csv_cell(t, 0, 2), "") == 0 && strcmp(csv_cell(t, 1, 0), "") == 0, "empty cells");
    CHECK(csv_line(t, 0) == 2 && csv_line(t, 1) == 4, "lines %u, %u", csv_line(t, 0), csv_line(t, 1));
    CHECK(csv_find(t, "d") == -1 && *csv_cell(t, 0, -1) == '\0', "no such column");
    csv_free(t);
}

/* Nothing can be read where the names are at fault. */
static void test_csv_errors(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t.csv:1:1: an empty table"},
        {"a,x\"y\n1,2\n", "t.csv:1:4: a quote inside an unquoted cell"},
        {"a,b,a\n", "t.csv:1:1: two columns are called 'a'"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct orch_error error;
        struct csv_table *t = example_table_parse(cases[i].text, &error);
        CHECK(t == NULL && error.exit_code == ORCH_USAGE, "case %zu was accepted", i);
        CHECK(strcmp(error.text, cases[i].message) == 0, "'%s', expected '%s'", error.text, cases[i].message);
        csv_free(t);
    }
}

/* A record that is at fault costs itself and nothing else: "8,9" follows each of them. */
static void test_csv_faults(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a,b\n1\n8,9\n", "t.csv:2:1: column 'b': 1 cells, the first line has 2; write a comma for each empty cell"},
        {"a,b\n1,2,3\n8,9\n", "t.csv:2:1: 3 cells, the first line has 2; put a cell that contains a comma in quotes"},
        {"a,b\n1,x\"y\n8,9\n", "t.csv:2:4: a quote inside an unquoted cell; put the cell in quotes and double those in it"},
        {"a,b\n\"x\"y,2\n8,9\n", "t.csv:2:4: text after a closing quote; double each quote that belongs to the text"},
        {"a,b\n\"x,y\n8,9\n", "t.csv:2:1: a quoted cell that never ends; write a closing quote"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct orch_error error;
        char text[300];
        struct csv_table *t = example_table_parse(cases[i].text, &error);
        CHECK(t != NULL, "case %zu: %s", i, error.text);
        if (!t)
            continue;
        CHECK(csv_rows(t) == 1 && strcmp(csv_cell(t, 0, 1), "9") == 0 && csv_line(t, 0) == 3, "case %zu: %zu rows", i,
              csv_rows(t));
        CHECK(csv_faults(t) == 1, "case %zu: %zu faults", i, csv_faults(t));
        csv_fault_say("t.csv", csv_fault_at(t, 0), text, sizeof text);
        CHECK(strcmp(text, cases[i].message) == 0, "'%s', expected '%s'", text, cases[i].message);
        csv_free(t);
    }
}

/* A table of which every second row is at fault; what is said of each, in the order of lines. */
static const char bad_rows[] = "id,chip,value,flop,kind\n"
                               "a,M1,1,,measured\n"
                               "b,M1,nan,,measured\n"
                               "c,M1,-inf,,measured\n"
                               "d,M1,about 7,,measured\n"
                               "e,M1,1e99,,measured\n"
                               "f,M1,1e999,,measured\n"
                               "g,M1,0x10,,measured\n"
                               ",M1,1,,measured\n"
                               "a,M1,2,,measured\n"
                               "h,M1,3,many,measured\n"
                               "i,M1,3\n"
                               "j,M1,\"3,,measured\n"
                               "k,M1,,5,measured\n";

static void test_bad_rows(void)
{
    static const char *const expected[] = {
        "t.csv:3:6: column 'value' is 'nan': not a finite number",
        "t.csv:4:6: column 'value' is '-inf': not a finite number",
        "t.csv:5:6: column 'value' is 'about 7': not a number",
        "t.csv:6:6: column 'value' is '1e99': too large for any unit",
        "t.csv:7:6: column 'value' is '1e999': too large for any unit",
        "t.csv:8:6: column 'value' is '0x10': not a decimal number",
        "t.csv:9:1: column 'id': empty; give the row an id of its own",
        "t.csv:10:1: column 'id' is 'a': line 2 has the same id",
        "t.csv:11:8: column 'flop' is 'many': not a number",
        "t.csv:12:1: column 'flop': 3 cells, the first line has 5",
        "t.csv:13:6: a quoted cell that never ends",
    };
    struct orch_error error = {0};
    struct csv_table *t = measurements_parse("t.csv", bad_rows, sizeof bad_rows - 1, &error);
    CHECK(t != NULL, "%s", error.text);
    if (!t)
        return;
    CHECK(csv_rows(t) == 2 && strcmp(csv_cell(t, 1, 0), "k") == 0 && csv_line(t, 1) == 14, "%zu rows", csv_rows(t));
    CHECK(csv_faults(t) == ARRAY_COUNT(expected), "%zu faults", csv_faults(t));
    for (size_t i = 0; i < csv_faults(t) && i < ARRAY_COUNT(expected); i++) {
        char text[300];
        csv_fault_say("t.csv", csv_fault_at(t, i), text, sizeof text);
        CHECK(strncmp(text, expected[i], strlen(expected[i])) == 0, "'%s', expected '%s'", text, expected[i]);
    }
    csv_free(t);
}

/* The rows that are left are scored, and those that are not are listed. */
static void test_bad_rows_listed(void)
{
    struct orch_error error = {0};
    struct validation *v = example_validated(bad_rows);
    struct json_object *o = validation_json(v, NULL, &error), *skipped = json_member(o, "skipped");
    CHECK(json_number(o, "rows") == 2 && validation_skipped(v) == 11, "%g rows", json_number(o, "rows"));
    CHECK(json_object_array_length(skipped) == 11, "%zu skipped", json_object_array_length(skipped));
    struct json_object *first = json_object_array_get_idx(skipped, 0);
    CHECK(json_number(first, "line") == 3 && strcmp(json_text(first, "column"), "value") == 0 &&
              strcmp(json_text(first, "value"), "nan") == 0 && strstr(json_text(first, "file"), "t.csv"),
          "%s", json_object_to_json_string(first));
    json_object_put(o);
    validation_free(v);
}

static void test_scores(void)
{
    /* Errors are 0, 10, 20, 50 %: mean 20, median 15. Signed: 0, -10, +20, -50, mean -10. p90 by linear interpolation between the
     * third and fourth: 20 + 0.7 x 30 = 41. Ranks: 100 90 240 150 against 100 100' 200 300. */
    static const struct score_pair pairs[] = {
        {100, 100, 90, 110}, {90, 100.0000001, 0, 0}, {240, 200, 150, 190}, {150, 300, 100, 400}};
    struct score s;
    CHECK(score_pairs(pairs, 4, &s), "memory");
    CHECK(fabs(s.mape - 0.20) < 1e-6 && fabs(s.median_ape - 0.15) < 1e-6, "%f %f", s.mape, s.median_ape);
    CHECK(fabs(s.p90_ape - 0.41) < 1e-6 && fabs(s.bias + 0.10) < 1e-6, "%f %f", s.p90_ape, s.bias);
    CHECK(s.within10 == 0.25 && s.within25 == 0.75, "%f %f", s.within10, s.within25); /* the second error is 10.0000001 % */
    /* d = 1, 1, 1, 1: 1 - 6 x 4 / (4 x 15) = 0.6. */
    CHECK(fabs(s.spearman - 0.6) < 1e-9, "%f", s.spearman);
    CHECK(fabs(s.symmetric - (0 + 10.0 / 90 + 40.0 / 200 + 150.0 / 150) / 4) < 1e-6, "%f", s.symmetric);
    CHECK(fabs(s.interval_coverage - 2.0 / 3) < 1e-9, "%f", s.interval_coverage);
    CHECK(score_pairs(pairs, 0, &s) && s.count == 0 && isnan(s.mape), "no rows, no score");
}

static void test_json(void)
{
    struct orch_error error = {0};
    struct validation *v = example_validated(example_table);
    struct json_object *o = validation_json(v, "source", &error);
    static const char *const keys[] = {"rows",   "modelled",    "coverage",  "mape",     "median_ape",        "p90_ape",
                                       "bias",   "within10",    "within25",  "spearman", "interval_coverage", "groups",
                                       "fitted", "rows_detail", "unmodelled"};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        json_member(o, keys[i]);
    CHECK(json_number(o, "rows") == 7 && json_number(o, "modelled") == 4, "%g rows, %g modelled", json_number(o, "rows"),
          json_number(o, "modelled"));
    CHECK(json_number(o, "interval_coverage") >= 0 && json_number(o, "interval_coverage") <= 1, "%g inside",
          json_number(o, "interval_coverage"));
    CHECK(json_member(o, "interval_coverage_across_sources") == NULL, "nothing was compared across sources");
    struct json_object *rows = json_member(o, "rows_detail"), *first = json_object_array_get_idx(rows, 0);
    /* 48000 / 12 turns of 12 instructions of 512 operations each in 1 us. */
    CHECK(fabs(json_number(first, "predicted") - 48000 * 512 / 1e3) < 1e-6, "%f", json_number(first, "predicted"));
    CHECK(strcmp(json_text(first, "id"), "t:2") == 0, "%s", json_text(first, "id"));
    CHECK(fabs(json_number(first, "ape") - (24576.0 - 1000) / 1000) < 1e-9, "%f", json_number(first, "ape"));
    struct json_object *second = json_object_array_get_idx(rows, 1);
    CHECK(fabs(json_number(second, "predicted") - 1000.0 / 2000) < 1e-9, "set + clr: %f ns", json_number(second, "predicted"));
    CHECK(strcmp(json_text(second, "fitted"), "(null)") != 0 && json_number(json_member(o, "fitted"), "rows") == 1, "fitted row");
    struct json_object *gemm = json_object_array_get_idx(rows, 3);
    CHECK(fabs(json_number(gemm, "predicted") - 2.0 * 64 * 64 * 64 / 1e3) < 1e-6, "all threads share the product");
    CHECK(strstr(json_text(gemm, "note"), "our kernel") != NULL, "'%s'", json_text(gemm, "note"));
    CHECK(json_object_array_length(json_member(o, "groups")) == 4, "groups by source");
    json_object_put(o);
    o = validation_json(v, "framework", &error);
    CHECK(json_object_array_length(json_member(o, "groups")) == 1, "no row of the example is a framework's");
    json_object_put(o);
    validation_free(v);
}

static void test_unmodelled(void)
{
    struct orch_error error = {0};
    struct validation *v = example_validated(example_table);
    struct json_object *o = validation_json(v, NULL, &error), *list = json_member(o, "unmodelled");
    static const char *const expected[][2] = {
        {"t:5", "unit 'W': not the speed of a program"},
        {"t:6", "not measured (kind: guess)"},
        {"t:8", "which chip 'M4 Pro (virtual machine)' is remains open"},
    };
    CHECK(json_object_array_length(list) == 3, "%zu unmodelled", json_object_array_length(list));
    for (size_t i = 0; i < 3 && i < json_object_array_length(list); i++) {
        struct json_object *row = json_object_array_get_idx(list, i);
        CHECK(strcmp(json_text(row, "id"), expected[i][0]) == 0, "%s", json_text(row, "id"));
        CHECK(strcmp(json_text(row, "why"), expected[i][1]) == 0, "%s", json_text(row, "why"));
    }
    json_object_put(o);
    CHECK(validation_json(v, "chip,nothing", &error) == NULL && strstr(error.text, "nothing"), "%s", error.text);
    validation_free(v);
}

/* Results of MLX on cores lie in memory that is new where a source times the second call of a process: two of them where MLX 0.0
 * runs two kernels. Later tables time calls whose memory is there. */
static void test_memory_of_second_calls(void)
{
    static const char header[] = "id,chip,gpu_cores,unit,workload,precision,shape,value,value_unit,condition,source,kind,note\n";
    static const struct {
        const char *row, *framework;
        double new_pages;
        bool measures;
    } expected[] = {
        {"R,M1,8,cpu,relu_mlx_cpu,f32,128x16x1024,1,ms,early,mlx-benchmark,measured,", "mlx-cpu 0.0.7, one call", 8388608, true},
        {"R,M3,,cpu,relu_mlx_cpu,f32,128x16x1024,1,ms,mlx 0.2.0,mlx-benchmark,measured,", "mlx-cpu 0.2.0, one call", 8388608,
         true},
        {"R,M3 Max,40,cpu,relu_mlx_cpu,f32,128x16x1024,1,ms,mlx 0.2.0,mlx-benchmark,measured,", "mlx-cpu 0.2.0", 0, false},
        {"L,M1,8,amx,linear_mlx_cpu,f32,4x256x32 * 32x64 * 64,1,ms,early,mlx-benchmark,measured,product and bias add were two "
         "kernels",
         "mlx-cpu 0.0.7, one call", 2 * 262144, false},
        {"L,M3,,amx,linear_mlx_cpu,f32,4x256x32 * 32x64 * 64,1,ms,mlx 0.2.0,mlx-benchmark,measured,product and bias add were two "
         "kernels",
         "mlx-cpu 0.2.0, one call", 262144, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        char table[512];
        snprintf(table, sizeof table, "%s%s\n", header, expected[i].row);
        struct validate_program p = example_plan_row(table, 0);
        CHECK(strcmp(p.framework, expected[i].framework) == 0 && p.framework_out_bytes == expected[i].new_pages &&
                  p.measures_overhead == expected[i].measures,
              "%s: '%s', %g bytes", expected[i].row, p.framework, p.framework_out_bytes);
        validate_program_free(&p);
    }
}

/* The wide table: device and value units in columns of their own, shapes, a scaled product. */
static void test_framework_products(void)
{
    static const char wide[] = "id,chip,unit,workload,precision,shape,value,value_unit,condition,source,kind,chip_id,note\n"
                               "HW1,M1,amx,matmul_mlx_cpu,f32,1000000x64 * 64x1024,428,ms,,s,measured,m1_4p4e_8g,\n"
                               "HW2,M1,amx,linear_mlx_cpu,f32,100x1024x32 * 32x1024 * 1024,60,ms,,s,measured,m1_4p4e_8g,\n"
                               "HW3,M1,cpu,matmul_cpu,f32,1000x64x1024 * 1000x1024x32,18,ms,,s,measured,m1_4p4e_8g,\n"
                               "HW4,M1,gpu,matmul_mlx_gpu,,64x64 * 64x64,1,ms,,s,measured,m1_4p4e_8g,\n"
                               "HW5,M1 Pro,mem,memcpy_threads,,threads=3,48,GB/s,,s,measured,,\n"
                               "HW6,M1,cpu,sumall_mlx_cpu,f32,1000x1000,1,ms,,s,measured,m1_4p4e_8g,\n"
                               "HW7,M1,cpu,sumall_cpu,f32,1000x1000,1,ms,,s,measured,m1_4p4e_8g,\n"
                               "HW8,M1,cpu,matmul_cpu,f32,1000x64x1024 * 1000x1024x32,18,ms,torch 2.2.1,s,measured,m1_4p4e_8g,\n"
                               "HW9,M1,cpu,sumall_mlx_cpu,f32,1000x1000,1,ms,mlx 0.24.1,s,measured,m1_4p4e_8g,\n"
                               "HW10,M1,cpu,matmul_cpu,f32,32x1x1000 * 32x1000x128,1,ms,torch 2.6.0,s,measured,m1_4p4e_8g,\n";
    static const struct {
        size_t row;
        const char *unit, *first;
        unsigned cores, launches;
        double whole, piece; /* of the size that is cut */
        const char *framework;
        double new_pages; /* bytes of results whose memory the framework takes anew */
        bool measures;
    } expected[] = {
        {0, "amx", "gemm:1280x1024x64", 0, 2, 1000000, 1280, "mlx-cpu, version not stated", 0, false},
        {2, "cpu", "gemm:64x32x1024,batch=3", 0, 2, 1000, 3, "torch-cpu, version not stated", 4.0 * 1000 * 64 * 32, false},
        {5, "cpu", "reduce:245x4096,op=sum", 1, 1, 1, 1, "mlx-cpu, version not stated", 0, true},
        {6, "cpu", "reduce:245x4096,op=sum", 0, 1, 1, 1, "torch-cpu, version not stated", 0, true},
        {7, "cpu", "gemm:64x32x1024,batch=3", 0, 2, 1000, 3, "torch-cpu-blas 2.2.1", 4.0 * 1000 * 64 * 32, true},
        {8, "cpu", "reduce:245x4096,op=sum,lanes=8", 1, 1, 1, 1, "mlx-cpu 0.24.1", 0, true},
        {9, "cpu", "gemv:4096x1000", 1, 1, 1, 1, "torch-cpu 2.6.0", 4.0 * 32 * 128, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        struct validate_program p = example_plan_row(wide, expected[i].row);
        const double rest = expected[i].whole / expected[i].piece - 1;
        CHECK(p.launches == expected[i].launches && strcmp(p.launch[0].workload, expected[i].first) == 0 &&
                  strcmp(p.launch[0].unit, expected[i].unit) == 0 && p.launch[0].cores == expected[i].cores,
              "%u launches, '%s' on %s, %u cores", p.launches, p.launch[0].workload, p.launch[0].unit, p.launch[0].cores);
        CHECK(strcmp(p.framework, expected[i].framework) == 0 && p.framework_out_bytes == expected[i].new_pages &&
                  p.measures_overhead == expected[i].measures,
              "%s: %g bytes", p.framework, p.framework_out_bytes);
        /* A piece, and so many differences to one of twice the size: together the whole. */
        CHECK(fabs(p.launch[0].times - (1 - (p.launches > 1 ? rest : 0))) < 1e-9 &&
                  (p.launches == 1 || fabs(p.launch[1].times - rest) < 1e-9),
              "%g and %g times", p.launch[0].times, p.launch[1].times);
        validate_program_free(&p);
    }
    struct validate_program copy = example_plan_row(wide, 4);
    CHECK(copy.threads == 3 && strcmp(copy.chip, "m1-pro") == 0, "%u threads on %s", copy.threads, copy.chip);
    validate_program_free(&copy);
    struct validation *v = example_validated(wide);
    struct json_object *o = validation_json(v, NULL, NULL), *list = json_member(o, "unmodelled");
    CHECK(json_object_array_length(list) == 1, "one GPU row");
    CHECK(strcmp(json_text(json_object_array_get_idx(list, 0), "id"), "HW4") == 0, "its id is its own");
    json_object_put(o);
    validation_free(v);
}

/* Accelerate: a thread for each AMX block of P cores, which M1, M1 Max and M1 Ultra have one, two and four of, as far as there is
 * enough to multiply. PyTorch's attention gives heads to all P cores, of which each multiplies, and OpenBLAS takes all. */
static void test_threads_of_products(void)
{
    static const char tall[] = "1000000x64 * 64x1024", pairs[] = "1000x1024x64 * 1000x64x256";
    static const struct {
        const char *unit, *what, *shape, *chip;
        unsigned threads;
    } expected[] = {
        {"amx", "matmul_mlx_cpu", tall, "m1_4p4e_8g", 1},
        {"amx", "matmul_mlx_cpu", tall, "m1_max_8p2e_32g", 2},
        {"amx", "matmul_mlx_cpu", tall, "m1_ultra_16p4e_48g", 4},
        {"amx", "matmul_mlx_cpu", pairs, "m1_ultra_16p4e_48g", 2},
        {"amx", "matmul_mlx_cpu", "1000x64x1024 * 1000x1024x32", "m1_ultra_16p4e_48g", 1},
        {"cpu", "matmul_cpu", tall, "m1_ultra_16p4e_48g", 16},
        {"cpu", "scaleddotproductattention_cpu", "64x8x16x1024 * 64x8x64x1024 * 64x8x64x1024", "m1_max_8p2e_32g", 8},
    };
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        char table[512];
        snprintf(table, sizeof table,
                 "chip,unit,workload,precision,shape,value,value_unit,condition,source,kind,chip_id,note\n"
                 "M1,%s,%s,f32,%s,1,ms,torch 2.6.0,s,measured,%s,\n",
                 expected[i].unit, expected[i].what, expected[i].shape, expected[i].chip);
        struct validate_program p = example_plan_row(table, 0);
        struct chip *const chip = chip_open(db, expected[i].chip, NULL, &error);
        const struct run_request q = validate_request_on(&p, 0, chip);
        CHECK(chip && p.launches > 0 && q.cores == expected[i].threads, "%s of %s on %u cores of %s, not %u", q.workload, q.unit,
              q.cores, expected[i].chip, expected[i].threads);
        chip_close(chip);
        validate_program_free(&p);
    }
    chip_db_close(db);
}

static void test_text(void)
{
    struct orch_error error = {0};
    struct validation *v = example_validated(example_table);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(validation_write_text(v, "chip", out, &error), "%s", error.text);
    fclose(out);
    CHECK(strstr(text, "M1 Max ") && strstr(text, "MAPE") && strstr(text, "unit 'W': not the speed of a program: t:5"), "%s",
          text);
    free(text);
    validation_free(v);
}

static bool refuse(void *context, const struct validate_program *program, struct validate_timing *result,
                   struct orch_error *error)
{
    (void)context, (void)program, (void)result;
    return orch_fail(error, *(int *)context, "the runner says no");
}

static void test_runner_refuses(void)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    int code = ORCH_UNMODELLED;
    validation_add_text(v, "t.csv", example_table, sizeof example_table - 1, &error);
    CHECK(validation_run(v, &(struct validate_runner){refuse, &code, NULL}, &error), "%s", error.text);
    struct json_object *o = validation_json(v, NULL, &error);
    CHECK(json_number(o, "modelled") == 0 && json_object_array_length(json_member(o, "unmodelled")) == 7, "all rows are listed");
    CHECK(json_member(o, "mape") == NULL, "nothing to score");
    json_object_put(o);
    code = ORCH_INTERRUPTED;
    CHECK(!validation_run(v, &(struct validate_runner){refuse, &code, NULL}, &error), "an interruption ends it");
    validation_free(v);
}

static const struct suite_test tests[] = {
    {"CSV cells may have quotes and line ends", test_csv_cells},
    {"CSV errors have a place", test_csv_errors},
    {"a record at fault costs itself", test_csv_faults},
    {"bad rows are named with what puts them right", test_bad_rows},
    {"bad rows are listed beside the scores", test_bad_rows_listed},
    {"scores match those worked out by hand", test_scores},
    {"the JSON document has rows, scores and groups", test_json},
    {"unmodelled rows have a reason", test_unmodelled},
    {"products of frameworks are scaled", test_framework_products},
    {"memory of second calls", test_memory_of_second_calls},
    {"threads of products", test_threads_of_products},
    {"the text table has scores and reasons", test_text},
    {"a runner may refuse", test_runner_refuses},
};
SUITE_MAIN("validate", tests)
