/* A row's number is what a user gets: the commands that `orchard validate --dump` prints are parsed and asked, and from their
 * answers comes the validation's number, bit for bit. One row or more for every unit and for every way to put a number together.
 */
#include "isa/array_count.h"
#include "tests/sim/api/ask_session.h"

#include <math.h>
#include <string.h>

/* ---- a command line, taken apart ---- */

enum { WORDS = 32, RUNS = 8 };

struct line {
    char text[512], option[WORDS][128];
    const char *options[WORDS + 1], *workload;
};

/* "orchard run WORKLOAD --NAME VALUE --SWITCH ..." without quotes, which these rows do not need. */
static bool take_apart(struct line *l, const char *command)
{
    static const char *const begin = "orchard run ";
    size_t count = 0;
    char *rest = NULL;
    *l = (struct line){.workload = NULL};
    snprintf(l->text, sizeof l->text, "%s", command);
    if (strncmp(l->text, begin, strlen(begin)) != 0 || strchr(l->text, '\''))
        return false;
    l->workload = strtok_r(l->text + strlen(begin), " ", &rest);
    for (char *word; (word = strtok_r(NULL, " ", &rest)) && count < WORDS;) {
        if (strncmp(word, "--", 2) == 0)
            snprintf(l->option[count++], sizeof l->option[0], "%s", word + 2);
        else if (count)
            strncat(strcat(l->option[count - 1], "="), word, sizeof l->option[0] - 2 - strlen(l->option[count - 1]));
    }
    for (size_t i = 0; i < count; i++)
        l->options[i] = l->option[i];
    return l->workload != NULL;
}

/* The sum over the runs of a recipe: what counts of each answer, as often as the recipe says. */
static double sum_of(const struct orchard_answer *recipe, double taken[RUNS])
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    double sum = 0;
    for (size_t i = 0; i < orchard_answer_count(recipe, "runs"); i++) {
        struct line line;
        char path[48];
        snprintf(path, sizeof path, "runs[%zu].command", i);
        const char *const command = orchard_answer_text(recipe, path);
        CHECK(command && take_apart(&line, command), "%s", command ? command : "no command");
        struct orchard_answer *run = orchard_run(&session, line.workload, line.options, &error);
        CHECK(run != NULL, "%s: %s", command, error.text);
        snprintf(path, sizeof path, "runs[%zu].takes", i);
        const double takes = orchard_answer_number(run, orchard_answer_text(recipe, path));
        snprintf(path, sizeof path, "runs[%zu].times", i);
        const double times = orchard_answer_number(recipe, path);
        snprintf(path, sizeof path, "runs[%zu].device_times", i);
        const double more = orchard_answer_number(recipe, path);
        taken[i < RUNS ? i : 0] = takes;
        sum += more != 0 ? takes * times + more * orchard_answer_number(run, "device_seconds") : takes * times;
        orchard_answer_free(run);
    }
    return sum;
}

/* ---- tables with a row or more of every unit ---- */

/* What the number of a row is, written here anew: milliseconds or microseconds, 1e9 of something per second, or a ratio. */
enum number { MS, US, PER_SECOND, RATIO };

struct row {
    const char *text;
    enum number number;
    double work; /* operations of PER_SECOND */
    unsigned runs;
};

struct table {
    const char *name, *columns;
    struct row row[10];
};

#define BENCH(workload, shape, bytes)                                                                                            \
    ",M1,M1,8,gpu," workload ",f32," shape ",time,0.5,ms,,mlx 0.5.0;,github TristanBilot/mlx-benchmark,measured,," bytes         \
    ",,m1_4p4e_8g\n"
#define SQUARE(n, type) ",M1,M1,8,gpu,gemm_square," type "," n ",throughput,900,GFLOPS,,,mfa,measured,,,,m1_4p4e_8g\n"
#define MAX(what, precision, condition, unit)                                                                                    \
    "M1 Max,,ANE," what "," precision "," condition ",1," unit ",measured,someone,m1_max_8p2e_32g\n"

#define WIDE                                                                                                                     \
    "id,family,chip,gpu_cores,unit,workload,precision,shape,metric,value,value_unit,power_W,condition,source,kind,flop,min_"     \
    "bytes,note,chip_id\n"
#define CORES(unit, workload, precision, shape, value_unit, bytes)                                                               \
    ",M1,M1,8," unit "," workload "," precision "," shape ",time,0.5," value_unit ",,,someone,measured,," bytes ",,m1_4p4e_8g\n"

static const struct table tables[] = {
    {"hw.csv",
     WIDE,
     {{BENCH("relu_mlx_gpu", "512x1024", "4194304"), MS, 0, 1},
      {BENCH("softmax_mlx_gpu", "256x512 axis=all", "1048576"), MS, 0, 5},
      {BENCH("matmul_mlx_gpu", "100x64x64 * 64x32", "2465792"), MS, 0, 1},
      {BENCH("matmul_mps", "196608x4 * 4x8", "9437312"), MS, 0, 1},
      {SQUARE("512^3 NN", "f32"), PER_SECOND, 2.0 * 512 * 512 * 512, 1},
      {SQUARE("256^3 NT", "f16"), PER_SECOND, 2.0 * 256 * 256 * 256, 1}}},
    {"ane.csv",
     "chip,device,unit,workload,precision,condition,value,unit_of_value,kind,source,chip_id\n",
     {{MAX("GEMM N=1024 cubed", "fp16", "zero copy", "ms"), MS, 0, 1},
      {MAX("attention S197", "fp16", "zero copy", "ms"), MS, 0, 2},
      {MAX("matmul slope", "fp16", "", "TFLOPS"), PER_SECOND, 2.0 * 48 * 128 * 128 * 64 * 64 / 1e3, 2},
      {MAX("GEMV K=512", "fp16", "", "ms"), MS, 0, 1},
      {MAX("int4 palette speed-up on weight-bound matmul", "int4", "vs fp16", "x"), RATIO, 0, 2},
      {MAX("wake after 100 ms idle", "", "first call", "ms"), MS, 0, 1}}},
    {"amx.csv",
     "chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n",
     {{"M1,sgemm,\"N=64, single thread\",1,GFLOPS,measured,s,m1_4p4e_8g\n", PER_SECOND, 2.0 * 64 * 64 * 64, 1},
      {"M1 Max,fma32 in matrix mode Z=f32[16][16],\"2 thread(s), 3 Z accumulators per thread, no loads or "
       "stores\",1,GFLOPS,measured,s,m1_max_8p2e_32g\n",
       PER_SECOND, 2 * 48000.0 * 512, 1}}},
    {"cpu.csv",
     "chip_or_core,item,value,unit,kind,source,note,chip_id\n",
     {{"M1 Pro (8P+2E),L2 latency,1,ns,measured,s,,m1_pro_8p2e_16g\n", US, 0, 1}}},
    {"cores.csv",
     WIDE,
     {{CORES("cpu", "relu_mlx_cpu", "f32", "512x1024", "ms", "4194304"), MS, 0, 1},
      {CORES("cpu", "relu_cpu", "f32", "2048x1024", "ms", "16777216"), MS, 0, 2},
      {CORES("cpu", "sumall_cpu", "f32", "1000x128", "ms", "512000"), MS, 0, 1},
      {CORES("amx", "matmul_mlx_cpu", "f32", "100x64x64 * 100x64x32", "ms", "1"), MS, 0, 1},
      {CORES("amx", "linear_mlx_cpu", "f32", "4x1000x64 * 64x256 * 256", "ms", "1"), MS, 0, 2},
      {CORES("cpu", "scaleddotproductattention_cpu", "f32", "2x4x16x64 * 2x4x32x64 * 2x4x32x64", "ms", "1"), MS, 0, 4},
      {CORES("cpu", "ggml_mul_mat_1thread", "Q8_0", "64x64x64", "GFLOPS", ""), PER_SECOND, 2.0 * 64 * 64 * 64, 1},
      {CORES("cpu", "ggml_mul_mat_1thread", "f32", "320x320x320", "GFLOPS", ""), PER_SECOND, 2.0 * 320 * 320 * 320, 2},
      {CORES("amx", "sgemm_accelerate", "f32", "256^3", "GFLOPS", ""), PER_SECOND, 2.0 * 256 * 256 * 256, 1},
      {CORES("cpu", "clpeak_cpu_atomics", "", "uncontended ST", "ns", ""), US, 0, 1}}},
};

static double number_of(const struct row *row, double seconds, const double taken[RUNS])
{
    switch (row->number) {
    case MS: return seconds * 1e9 / 1e6;
    case PER_SECOND: return row->work / seconds / 1e9;
    case RATIO: return taken[1] / taken[0];
    case US: break;
    }
    return NAN;
}

/* The work of these rows is that of loops, which the recipe tells. */
static double by_formula(const struct orchard_answer *recipe, double seconds)
{
    double work = 0;
    unsigned threads = 0;
    const char *const value = orchard_answer_text(recipe, "value");
    if (sscanf(value, "seconds x 1e9 / %lf", &work) == 1)
        return seconds * 1e9 / work;
    CHECK(sscanf(value, "%u x %lf / seconds / 1e9", &threads, &work) == 2, "%s", value);
    return threads * work / seconds / 1e9;
}

static const char *write_table(const struct table *t)
{
    const char *const path = in_folder(t->name);
    FILE *const out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(t->columns, out);
    for (size_t i = 0; i < ARRAY_COUNT(t->row) && t->row[i].text; i++)
        fputs(t->row[i].text, out);
    fclose(out);
    return path;
}

static void check_row(const struct table *t, const char *path, size_t number, const char *id, double predicted)
{
    const struct orchard_session session = silent();
    const struct row *const row = &t->row[number];
    struct orchard_error error;
    char dump[80], output[128];
    double taken[RUNS] = {0};
    snprintf(dump, sizeof dump, "dump=%s", id);
    snprintf(output, sizeof output, "output=%s/row.bin", folder);
    struct orchard_answer *recipe = orchard_validate(&session, LIST(path), LIST(dump, output, "quiet"), &error);
    CHECK(recipe != NULL, "%s: %s", id, error.text);
    if (!recipe)
        return;
    CHECK(orchard_answer_count(recipe, "runs") == row->runs, "%s: %zu runs", id, orchard_answer_count(recipe, "runs"));
    const double added = orchard_answer_number(recipe, "framework_seconds");
    const double seconds = sum_of(recipe, taken) + (isnan(added) ? 0 : added);
    const bool own = row->number == US || row->number == PER_SECOND;
    const double value = own ? by_formula(recipe, seconds) : number_of(row, seconds, taken);
    CHECK(value == predicted, "%s of %s: %.17g by hand, %.17g predicted: %s", id, t->name, value, predicted,
          orchard_answer_text(recipe, "runs[0].command"));
    if (row->number == PER_SECOND)
        CHECK(fabs(number_of(row, seconds, taken) / predicted - 1) < 1e-12, "%s: %g", id, number_of(row, seconds, taken));
    orchard_answer_free(recipe);
}

static void test_table(const struct table *t)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    char path[128];
    snprintf(path, sizeof path, "%s", write_table(t));
    struct orchard_answer *a = orchard_validate(&session, LIST(path), LIST("jobs=2"), &error);
    CHECK(a != NULL, "%s", error.text);
    for (size_t i = 0; a && i < ARRAY_COUNT(t->row) && t->row[i].text; i++) {
        char member[80], id[64];
        snprintf(member, sizeof member, "rows_detail[%zu].id", i);
        const char *const found = orchard_answer_text(a, member);
        CHECK(found != NULL, "row %zu of %s is not modelled: %s", i, t->name, orchard_answer_text(a, "unmodelled[0].why"));
        if (!found)
            break;
        snprintf(id, sizeof id, "%s", found);
        snprintf(member, sizeof member, "rows_detail[%zu].predicted", i);
        check_row(t, path, i, id, orchard_answer_number(a, member));
    }
    orchard_answer_free(a);
}

static void test_gpu(void)
{
    test_table(&tables[0]);
}

static void test_ane(void)
{
    test_table(&tables[1]);
}

static void test_amx(void)
{
    test_table(&tables[2]);
}

static void test_cpu(void)
{
    test_table(&tables[3]);
}

static void test_cores(void)
{
    test_table(&tables[4]);
}

/* The framework's time is told beside the commands, and is part of the row. */
static void test_framework(void)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    char path[128];
    snprintf(path, sizeof path, "%s", write_table(&tables[0]));
    struct orchard_answer *recipe = orchard_validate(&session, LIST(path), LIST("dump=hw:2"), &error);
    struct orchard_answer *a = orchard_validate(&session, LIST(path), NULL, &error);
    CU_ASSERT_FATAL(recipe && a);
    const double ms = orchard_answer_number(a, "rows_detail[0].predicted"),
                 added_s = orchard_answer_number(recipe, "framework_seconds");
    CHECK(strcmp(orchard_answer_text(recipe, "framework"), "mlx 0.5.0, M1 8") == 0, "%s",
          orchard_answer_text(recipe, "framework"));
    CHECK(strcmp(orchard_answer_text(recipe, "runs[0].takes"), "device_seconds") == 0, "a call contains the way of its buffer");
    CHECK(added_s > 0 && added_s * 1e3 < ms, "%g s of %g ms", added_s, ms);
    orchard_answer_free(recipe);
    orchard_answer_free(a);
}

static const struct suite_test tests[] = {
    {"GPU rows are runs", test_gpu},
    {"rows of the Neural Engine are runs", test_ane},
    {"AMX rows are runs", test_amx},
    {"CPU rows are runs", test_cpu},
    {"operations on cores are runs", test_cores},
    {"what a framework adds is told", test_framework},
    {"nothing is left behind", test_nothing_is_left},
};
SUITE_MAIN("validate_commands", tests)
