/* The judge: which rows count as fitted, what a spreadsheet would have said, which rows are scored apart, how intervals are
 * crossed by sources, and that the same comes out in whatever order rows are run.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/fitted.h"
#include "sim/prove/validate/jobs.h"
#include "sim/prove/validate/spreadsheet.h"
#include "sim/prove/validate/tables.h"
#include "sim/prove/validate/work_order.h"
#include "tests/sim/validate_example.h"

#include <dirent.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#define WIDE                                                                                                                     \
    "id,family,chip,gpu_cores,unit,workload,precision,shape,metric,value,value_unit,power_W,condition,source,kind,flop,"         \
    "min_bytes,note,chip_id\n"

static struct json_object *member(struct json_object *o, const char *key)
{
    struct json_object *value = NULL;
    CHECK(json_object_object_get_ex(o, key, &value), "no key %s", key);
    return value;
}

/* ---- fitted rows ---- */

static struct validation *shipped(struct chip_db *chips)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    CHECK(validation_add_shipped(v, &error) && validation_find_fitted(v, chips, &error), "%s", error.text);
    return v;
}

static bool is_listed(const struct fitted_list *list, const char *key, const char *where, struct json_object *rows)
{
    for (size_t i = 0; i < fitted_list_count(list); i++) {
        const struct fitted_value *const value = fitted_list_at(list, i);
        bool same = strcmp(value->key, key) == 0 && strcmp(value->where, where) == 0 &&
                    value->rows == json_object_array_length(rows) && !value->interval;
        for (size_t k = 0; same && k < value->rows; k++)
            same = strcmp(value->row[k], json_object_get_string(json_object_array_get_idx(rows, k))) == 0;
        if (same)
            return true;
    }
    return false;
}

/* Reads a chip file without the loader. Returns how many of its values name rows. */
static size_t check_file(const struct fitted_list *list, const char *name)
{
    char path[400], where[300];
    size_t found = 0;
    snprintf(path, sizeof path, ORCHARD_SOURCE_DIR "/sim/chips/%.200s", name);
    snprintf(where, sizeof where, "sim/chips/%.200s", name);
    struct json_object *const file = json_object_from_file(path), *values = NULL, *rows;
    CHECK(file != NULL, "%s", path);
    if (file && json_object_object_get_ex(file, "values", &values)) {
        json_object_object_foreach(values, key, value)
        {
            if (!json_object_object_get_ex(value, "fitted_on", &rows))
                continue;
            found++;
            CHECK(is_listed(list, key, where, rows), "%s of %s", key, name);
        }
    }
    json_object_put(file);
    return found;
}

static void test_list_is_that_of_the_files(void)
{
    struct chip_db *chips = example_chips();
    struct fitted_list *list = fitted_list_create(chips);
    DIR *folder = opendir(ORCHARD_SOURCE_DIR "/sim/chips");
    size_t in_files = 0, in_list = 0;
    CU_ASSERT_FATAL(list && folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".json"))
            in_files += check_file(list, entry->d_name);
    for (size_t i = 0; i < fitted_list_count(list); i++)
        in_list += strncmp(fitted_list_at(list, i)->where, "sim/chips/", 10) == 0;
    CHECK(in_files == in_list && in_files > 300, "%zu values in the files, %zu in the list", in_files, in_list);
    closedir(folder);
    fitted_list_free(list);
    chip_db_close(chips);
}

/* A pattern that names no row is a mistake: of the pattern, or of the table. */
static void test_every_pattern_names_rows(void)
{
    struct chip_db *chips = example_chips();
    struct validation *v = shipped(chips);
    size_t taken = 0;
    for (size_t i = 0; i < fitted_list_count(v->fitted); i++) {
        const struct fitted_value *const value = fitted_list_at(v->fitted, i);
        for (size_t k = 0; k < value->rows; k++) {
            bool named = false;
            for (size_t r = 0; !named && r < v->rows; r++)
                named = fitted_names(value->row[k], &v->row[r]);
            CHECK(named, "%s of %s: '%s' names no row", value->key, value->where, value->row[k]);
        }
    }
    for (size_t r = 0; r < v->rows; r++)
        taken += fitted_list_key(v->fitted, &v->row[r]) != NULL;
    CHECK(taken > 400 && taken < v->rows / 4, "%zu of %zu rows are fitted", taken, v->rows);
    validation_free(v);
    chip_db_close(chips);
}

static void test_patterns(void)
{
    static const char text[] = WIDE "A,M1,M1 Pro (8P+2E),,cpu,item one,,x=1,time,1,ms,,slow & steady,some source,measured,,,,\n";
    static const struct {
        const char *pattern;
        bool names;
    } cases[] = {{"A", true},
                 {"B", false},
                 {"*", true},
                 {"chip=M1 Pro", true},
                 {"chip=M1", false},
                 {"chip=M1 Pro & what=item one", true},
                 {"what=item", false},
                 {"what~item", true},
                 {"what~item & source~other", false},
                 {"shape=x=1", true},
                 {"unit=cpu & source~some", true},
                 {"nothing~x", false},
                 {"chip=M1 Pro & source", false}};
    struct orch_error error = {0};
    struct validation *v = validation_create();
    CHECK(validation_add_text(v, "t.csv", text, strlen(text), &error), "%s", error.text);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        CHECK(fitted_names(cases[i].pattern, &v->row[0]) == cases[i].names, "'%s'", cases[i].pattern);
    validation_free(v);
}

/* ---- the spreadsheet ---- */

/* Worked out by hand. M1: 8 cores x 128 lanes x 2 x 1.278 GHz = 2617 GFLOPS; LPDDR4X-4266 on 128 bits: 68.25 GB/s, 0.85 of
 * it 58.01. One AMX block: 256 FMA x 2 x 3.204 GHz = 1640.4 GFLOPS. Neural Engine 11 TOPS. */
#define M1 ",s,measured,"
static const struct {
    const char *row;
    double expected;
} sheets[] = {
    {"A,M1,M1,8,gpu,gemm_square,f32,2048^3 NN,throughput,1,GFLOPS,," M1 ",,,m1_4p4e_8g\n", 2617}, /* 17.2 Gflop: 6.565 ms */
    {"B,M1,M1,8,mem,torch_copy_gpu,f32,,bandwidth,1,GB/s,," M1 ",,,m1_4p4e_8g\n", 58.055},
    {"C,M1,M1,8,gpu,gpu_L1_latency,,OpenCL pointer chase,latency,43,ns,," M1 ",,,m1_4p4e_8g\n", 0},
    {"D,M1,M1,,amx,sgemm x,f32,,throughput,1,GFLOPS,,\"N=1024, 1 core\"" M1 ",,,m1_4p4e_8g\n", 1640.448},
};

static void test_spreadsheet(void)
{
    char text[2048] = WIDE;
    for (size_t i = 0; i < ARRAY_COUNT(sheets); i++)
        strcat(text, sheets[i].row);
    struct chip_db *chips = example_chips();
    struct orch_error error = {0};
    struct chip *m1 = chip_open(chips, "m1", NULL, &error);
    struct validation *v = validation_create();
    CHECK(m1 && validation_add_text(v, "hw.csv", text, strlen(text), &error), "%s", error.text);
    CHECK(v->rows == ARRAY_COUNT(sheets) && validation_skipped(v) == 0, "%zu rows", v->rows);
    for (size_t i = 0; i < v->rows; i++) {
        struct validate_program p;
        struct validate_row *row = &v->row[i];
        CHECK(validate_plan(row, &p), "%s", row->why);
        validate_classify(row, &p);
        const double value = spreadsheet_value(m1, row, &p, 0);
        CHECK(fabs(value - sheets[i].expected) <= 1e-3 * sheets[i].expected, "%s: %g, expected %g", row->id, value,
              sheets[i].expected);
        validate_program_free(&p);
    }
    validation_free(v);
    chip_close(m1);
    chip_db_close(chips);
}

/* 768 MB on 58.055 GB/s take 13.229 ms, and the overhead is added. 2 x 4096^3 flop at 2617 GFLOPS take 52.52 ms, more than the
 * bytes. */
static void test_spreadsheet_of_columns(void)
{
    static const char text[] = WIDE
        "A,M1,M1,8,gpu,concat_mlx_gpu,f32,1000000x64 * 1000000x32 axis=1,time,14.11,ms,,,s,measured,,768000000,,m1_4p4e_8g\n"
        "B,M1,M1,8,gpu,matmul_mlx_gpu,f32,4096x4096 * 4096x4096,time,60,ms,,,s,measured,137438953472,201326592,,m1_4p4e_8g\n";
    static const double expected[] = {13.2288 + 0.25, 52.5178 + 0.25};
    struct chip_db *chips = example_chips();
    struct orch_error error = {0};
    struct chip *m1 = chip_open(chips, "m1", NULL, &error);
    struct validation *v = validation_create();
    CHECK(m1 && validation_add_text(v, "hw.csv", text, strlen(text), &error), "%s", error.text);
    for (size_t i = 0; i < v->rows; i++) {
        struct validate_program p;
        CHECK(validate_plan(&v->row[i], &p), "%s", v->row[i].why);
        validate_classify(&v->row[i], &p);
        const double value = spreadsheet_value(m1, &v->row[i], &p, 0.25e-3);
        CHECK(fabs(value - expected[i]) < 2e-3, "%s: %g ms, expected %g", v->row[i].id, value, expected[i]);
        validate_program_free(&p);
    }
    validation_free(v);
    chip_close(m1);
    chip_db_close(chips);
}

/* Flop and bytes of shapes, by hand. */
static void test_kernel_work(void)
{
    static const struct {
        const char *workload, *precision;
        double flop, bytes;
    } cases[] = {
        {"gemm:10x20x30,batch=2,tb=1", "f32", 2 * 2 * 6000, 2 * 4 * (300 + 600 + 200)},
        {"gemv:100x50", "f16", 2 * 5000, 2 * (5000 + 150)},
        {"gemv:64x32", "q4_0", 2 * 2048, 2048 * 18.0 / 32 + 2 * 96},
        {"conv2d:n=2,c=3,h=8,w=8,k=4,r=3,s=3,pad=1", "f32", 2.0 * 2 * 4 * 64 * 9 * 3, 4 * (108 + 2 * (192 + 256))},
        {"conv-stack:layers=2,c=4,h=2,w=2,r=1,s=1", "f16", 2 * 2 * 16 * 4, 2 * (2 * 16) + 2 * 2 * 4 * 4},
        {"elementwise:100,op=relu", "f32", 0, 800},
        {"reduce:10x20,op=sum", "f32", 0, 4 * 210},
        {"copy:4096", "f32", 0, 8192},
        {"stream-triad:4096", "f32", 0, 12288},
        {"attention:b=1,h=2,s=8,d=4", "f16", 4.0 * 2 * 64 * 4, 2 * 4 * 2 * 8 * 4},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct spreadsheet_work w = {0, 0};
        CHECK(spreadsheet_kernel(cases[i].workload, cases[i].precision, 1, &w), "%s", cases[i].workload);
        CHECK(fabs(w.flop - cases[i].flop) < 1e-6 && fabs(w.bytes - cases[i].bytes) < 1e-6, "%s: %g flop, %g bytes",
              cases[i].workload, w.flop, w.bytes);
    }
    struct spreadsheet_work w;
    CHECK(!spreadsheet_kernel("sort:10x10", "f32", 1, &w), "no figure for a sort");
}

/* ---- rows apart, crossed sources, order ---- */

/* Takes twice what the row says, and calls take 100 us that the simulated way does not need. */
static bool twice(void *context, const struct validate_program *p, struct validate_timing *t, struct orch_error *error)
{
    (void)context, (void)error;
    const double way_s = p->submitted ? 2e-4 : 0;
    *t = (struct validate_timing){.seconds = 2e-3 + way_s, .threads = 1, .overhead_seconds = way_s, .way_seconds = 2e-4};
    t->thread_seconds[0] = t->seconds;
    return true;
}

static struct validation *judged(const char *text)
{
    struct orch_error error = {0};
    struct chip_db *chips = example_chips();
    struct validation *v = validation_create();
    CHECK(validation_add_text(v, "t.csv", text, strlen(text), &error), "%s", error.text);
    CHECK(validation_find_fitted(v, chips, &error), "%s", error.text);
    CHECK(validation_run(v, &(struct validate_runner){twice, NULL, NULL}, &error), "%s", error.text);
    CHECK(validation_cross_validate(v, &error), "%s", error.text);
    chip_db_close(chips);
    return v;
}

#define RELU(id, cores, condition, source, chip_id)                                                                              \
    id ",M1,M1 Pro," cores ",gpu,relu_mlx_gpu,f32,512x1024,time,1,ms,," condition "," source ",measured,,99000000,," chip_id "\n"

static void test_guessed_rows(void)
{
    struct orch_error error = {0};
    struct validation *v =
        judged(WIDE RELU("A", "16", "mlx 99.0", "one", "m1_pro_8p2e_16g") RELU("B", "", "mlx 99.0", "one", ""));
    struct json_object *o = validation_json(v, "chip", &error), *guessed = member(o, "guessed");
    CHECK(json_object_get_int(member(o, "rows")) == 2 && json_object_get_int(member(o, "modelled")) == 2, "both are modelled");
    CHECK(json_object_get_int(member(o, "scored")) == 1 && json_object_get_int(member(guessed, "scored")) == 1, "one each");
    CHECK(example_row(v, "A")->guessed == NULL && strstr(example_row(v, "B")->guessed, "part") != NULL, "which part is open");
    json_object_put(o);
    validation_free(v);
}

/* Without the source that measured the calls of this machine, a row of it has the simulated way of a command buffer. A row of a
 * machine that no table knows has the calls of its version. */
static void test_overheads_are_measured_again(void)
{
    const struct validate_overhead *const o = validate_overhead_of("mlx 0.5.0, M1 Pro 16"), *const any =
                                                                                                validate_overhead_of("mlx 0.5.0");
    char text[2048];
    CU_ASSERT_FATAL(o != NULL && any != NULL && o != any);
    CU_ASSERT_PTR_EQUAL(validate_overhead_of("mlx 0.5.0, M1 Pro 14"), any);
    CU_ASSERT_PTR_NULL(validate_overhead_of("mlx 0.5.01"));
    snprintf(text, sizeof text, "%s%s%s,measured,,99000000,,m1_pro_8p2e_16g\n%s", WIDE,
             "A,M1,M1 Pro,16,gpu,relu_mlx_gpu,f32,512x1024,time,1,ms,,mlx 0.5.0,", o->source,
             RELU("B", "16", "mlx 0.5.0", "two", "m1_pro_8p2e_16g"));
    struct validation *v = judged(text);
    const struct validate_row *a = example_row(v, "A"), *b = example_row(v, "B");
    CHECK(fabs(a->predicted - (2 + 1e-3 * o->call_us)) < 1e-9, "%g ms", a->predicted);
    CHECK(fabs(b->predicted - (2 + 1e-3 * any->call_us)) < 1e-9, "%g ms", b->predicted);
    CHECK(a->crossed && fabs(a->predicted_crossed - 2.2) < 1e-9, "%g ms without its source", a->predicted_crossed);
    CHECK(b->crossed && b->predicted_crossed == b->predicted, "%g ms: the other source measured it", b->predicted_crossed);
    validation_free(v);
}

static double pages_of(const char *lines, const char *framework)
{
    double call, in, out = -1;
    const char *const at = strstr(lines, framework);
    return at && sscanf(at + strlen(framework), "\", %lf, %lf, %lf", &call, &in, &out) == 3 ? out : -1;
}

/* A version without rows that measure what pages of results take has what the nearest version measures; one that measures keeps
 * its own. Rows take 2 ms; a result of 2 MiB that takes 1 ms more than one of another version has 488.3 ns more for each KiB. */
static void test_pages_of_the_nearest_version(void)
{
    static const char text[] =
        WIDE "A,M1,M1 Pro,16,cpu,relu_cpu,f32,512x1024,time,4,ms,,torch 2.5.1,one,measured,,4194304,,m1_pro_8p2e_16g\n"
             "B,M1,M1 Pro,16,cpu,relu_cpu,f32,512x1024,time,3,ms,,torch 2.9,one,measured,,4194304,,m1_pro_8p2e_16g\n"
             "C,M1,M1 Pro,16,cpu,sumall_cpu,f32,1000x64,time,3,ms,,torch 2.6.0,one,measured,,256000,,m1_pro_8p2e_16g\n"
             "D,M1,M1 Pro,16,cpu,sigmoid_cpu,f32,512x1024,time,3,ms,,torch 2.6.0,one,measured,,4194304,,m1_pro_8p2e_16g\n";
    struct orch_error error = {0};
    char *lines = NULL;
    size_t size = 0;
    struct validation *v = judged(text);
    FILE *out = open_memstream(&lines, &size);
    CU_ASSERT_FATAL(out != NULL && validation_measure_overheads(v, out, &error));
    fclose(out);
    const double near = pages_of(lines, "torch-cpu 2.5.1"), far = pages_of(lines, "torch-cpu 2.9");
    CHECK(far > 0 && fabs(near - far - 1e6 / 2048) < 0.2, "%g and %g ns: %s", near, far, lines);
    CHECK(pages_of(lines, "torch-cpu 2.6.0") == near, "%s", lines);
    free(lines);
    validation_free(v);
}

/* Forty rows of each of two sources: the coverage of their kind is told. */
static void test_coverage_by_kind(void)
{
    enum { EACH = 40 };
    static char text[32768];
    struct orch_error error = {0};
    strcpy(text, WIDE);
    for (int i = 0; i < 2 * EACH; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "R%d,M1,M1 Pro,16,gpu,relu_mlx_gpu,f32,512x1024,time,%g,ms,,mlx 99.0,%s,measured,,99000000,,m1_pro_8p2e_16g\n",
                 i, 2 + 0.01 * (i % EACH), i < EACH ? "one" : "two");
    struct validation *v = judged(text);
    struct json_object *list = validation_coverage_json(v, &error), *first = list ? json_object_array_get_idx(list, 0) : NULL;
    CU_ASSERT_FATAL(first != NULL);
    CHECK(json_object_array_length(list) == 1 && json_object_get_int(member(first, "rows")) == 2 * EACH &&
              json_object_get_int(member(first, "sources")) == 2,
          "%s", json_object_to_json_string(list));
    CHECK(strcmp(json_object_get_string(member(first, "work")), "stream") == 0, "%s", json_object_to_json_string(first));
    CHECK(json_object_get_double(member(first, "inside")) > 0.85, "%s", json_object_to_json_string(first));
    json_object_put(list);
    validation_free(v);
}

static const char mixed[] =
    WIDE "A,M1,M1,8,gpu,relu_mlx_gpu,f32,512x1024,time,0.4,ms,,mlx 0.5.0,one,measured,,4194304,,m1_4p4e_8g\n"
         "B,M1,M1,8,gpu,relu_mps,f32,512x1024,time,0.5,ms,,mlx 0.5.0,one,measured,,4194304,,m1_4p4e_8g\n"
         "C,M1,M1 Max,32,gpu,gemm_square,f32,256^3 NT,throughput,900,GFLOPS,,,two,measured,33554432,,,m1_max_8p2e_32g\n"
         "D,M1,M1,8,amx,matmul_mlx_cpu,f32,64x64 * 64x64,time,0.1,ms,,,two,measured,524288,49152,,m1_4p4e_8g\n"
         "E,M1,M1 Pro,16,mem,memcpy_threads,,threads=2,bandwidth,48,GB/s,,,three,measured,,,,m1_pro_8p2e_16g\n"
         "F,M1,M1,8,gpu,llama7b_tg128,Q4_0,7B,throughput,14,tokens/s,,,llama.cpp,measured,,,,m1_4p4e_8g\n"
         "G,M1,M1,8,gpu,sum_mps,f32,64x64x64 axis=1,time,0.5,ms,,mlx 0.5.0,one,measured,,1064960,,m1_4p4e_8g\n";

static char *report(unsigned jobs)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(validation_add_text(v, "t.csv", mixed, strlen(mixed), &error), "%s", error.text);
    CHECK(validation_simulate(v, NULL, NULL, jobs, NULL, &error) && validation_cross_validate(v, &error), "%s", error.text);
    struct json_object *o = validation_json(v, "chip", &error);
    fprintf(out, "%s\n", json_object_to_json_string(o));
    CHECK(validation_write_text(v, NULL, out, &error) && validation_write_markdown(v, "x", out, &error), "%s", error.text);
    fclose(out);
    json_object_put(o);
    validation_free(v);
    return text;
}

static void test_any_number_of_threads(void)
{
    char *one = report(1), *three = report(3);
    CHECK(strcmp(one, three) == 0, "one thread and three say different things");
    CHECK(strstr(one, "\"spreadsheet\"") && strstr(one, "ratio") && strstr(one, "| all | 7 | 6 |"), "%s", one);
    free(one);
    free(three);
}

/* Longest first; rows that ask the same as an earlier one come last; every row once. */
static void test_order(void)
{
    struct orch_error error = {0};
    struct chip_db *chips = example_chips();
    struct soc_runner *runner = soc_runner_create(chips, NULL, NULL);
    struct validation *v = validation_create();
    CU_ASSERT_FATAL(runner && validation_add_text(v, "t.csv", mixed, strlen(mixed), &error));
    validation_run_own_kernels(v); /* of the library, so that the rows of both frameworks ask the same */
    const struct validate_runner hook = soc_runner_hook(runner);
    size_t *order = work_order(v->row, v->rows, &hook), place[8] = {0};
    bool seen[8] = {false};
    for (size_t i = 0; i < v->rows; i++) {
        seen[order[i]] = true;
        place[order[i]] = i;
    }
    for (size_t i = 0; i < v->rows; i++)
        CHECK(seen[i], "row %zu is never run", i);
    CHECK(place[2] < place[0] && place[0] < place[1] && place[3] < place[1],
          "32 GPU cores before 8, the second of two equals last");
    CHECK(place[1] >= 5 && place[5] >= 5, "refused and repeated rows are last");
    free(order);
    validation_free(v);
    soc_runner_free(runner);
    chip_db_close(chips);
}

static const struct suite_test tests[] = {
    {"the fitted list is what the chip files say", test_list_is_that_of_the_files},
    {"every id and pattern names a row of the shipped tables", test_every_pattern_names_rows},
    {"patterns name rows by cells and parts of them", test_patterns},
    {"the spreadsheet says what was worked out by hand", test_spreadsheet},
    {"it takes work from the columns of a table, and adds the overhead", test_spreadsheet_of_columns},
    {"flop and bytes of shapes are those worked out by hand", test_kernel_work},
    {"rows with guessed parts are scored apart", test_guessed_rows},
    {"overheads are measured again without a source", test_overheads_are_measured_again},
    {"pages of results take what the nearest version measures", test_pages_of_the_nearest_version},
    {"coverage is told for kinds with many rows", test_coverage_by_kind},
    {"any number of threads says the same", test_any_number_of_threads},
    {"the longest rows are run first", test_order},
};
SUITE_MAIN("judge", tests)
