/* Specifications of sweeps and their designs. */
#include "isa/array_count.h"
#include "tests/sim/sweep_example.h"

#include <ctype.h>

static void test_bad_texts(void)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"gpu_cores", "expected KEY="},
        {"=3", "expected KEY="},
        {"gpu_coers=8,10", "did you mean gpu_cores"},
        {"gpu_cores=", "no values"},
        {"gpu_cores=8,,10", "an empty value"},
        {"gpu_cores=8,8", "given twice"},
        {"gpu_cores=10,10.0", "given twice"},
        {"gpu_cores=8.5,9", "not whole"},
        {"gpu_cores=10:8:3", "empty"},
        {"gpu_cores=8:8:3", "empty"},
        {"gpu_cores=8:10:1", "at least 2 steps"},
        {"gpu_cores=8:10:0", "a range is"},
        {"gpu_cores=8:ten:3", "a range is"},
        {"gpu_cores=8:10:3:4", "a range is"},
        {"gpu_cores=8:10:99999999999", "more than"},
        {"chip=1:2:3", "takes no numbers"},
        {"ambient=-10:30:4log", "above zero"},
        {"gpu_max_mhz=-5:30:4", "not within"},
        {"workload=a,b", "list of their own"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct sweep_spec *const spec = sweep_spec_create();
        struct orch_error error = {0};
        CHECK(!sweep_spec_vary(spec, bad[i].text, &error) && error.exit_code == ORCH_USAGE && strstr(error.text, bad[i].part),
              "%s: %s", bad[i].text, error.text);
        sweep_spec_free(spec);
    }
}

static void refuse_whole(const char *workload, uint64_t samples, const char *a, const char *b, const char *part)
{
    struct sweep_spec *const spec = sweep_spec_create();
    struct orch_error error = {0};
    const bool ok = (!workload || sweep_spec_workloads(spec, workload, &error)) && (!a || sweep_spec_vary(spec, a, &error)) &&
                    (!b || sweep_spec_vary(spec, b, &error));

    spec->design = samples ? SWEEP_LHS : SWEEP_GRID;
    spec->samples = samples;
    CHECK(!(ok && sweep_spec_finish(spec, &error)) && error.exit_code == ORCH_USAGE && strstr(error.text, part), "%s: %s", part,
          error.text);
    sweep_spec_free(spec);
}

static void test_bad_wholes(void)
{
    refuse_whole(NULL, 0, "gpu_cores=8,10", NULL, "workload is missing");
    refuse_whole("gemm:8x8x8", 0, NULL, NULL, "nothing varies");
    refuse_whole("gemm:8x8x8,gemm:8x8x8", 0, NULL, NULL, "given twice");
    refuse_whole("gemm:8x8x8,", 0, NULL, NULL, "empty workload");
    refuse_whole("gemm:8x8x8", 0, "gpu_cores=8,10", "gpu_cores=8,9", "varies twice");
    refuse_whole("gemm:8x8x8", 0, "gpu_cores=8:10", NULL, "number of steps");
    refuse_whole("gemm:8x8x8", 0, "gpu_max_mhz=500:1500:5000", "memory_peak_GBps=50:100:5000", "more than 10000000");
    refuse_whole("gemm:8x8x8,gemm:9x9x9", 6000000, "gpu_max_mhz=500:1500", NULL, "more than 10000000");
}

static void test_workload_lists(void)
{
    struct sweep_spec *const spec = sweep_spec_create();
    struct orch_error error = {0};

    CHECK(sweep_spec_workloads(spec, "gemm:8x8x8,batch=2,conv2d:n=1,c=64,h=56,softmax:4x4,net.onnx", &error), "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(spec->workload_count, 4);
    CU_ASSERT_STRING_EQUAL(spec->workload[0], "gemm:8x8x8,batch=2");
    CU_ASSERT_STRING_EQUAL(spec->workload[1], "conv2d:n=1,c=64,h=56");
    CU_ASSERT_STRING_EQUAL(spec->workload[2], "softmax:4x4");
    CU_ASSERT_STRING_EQUAL(spec->workload[3], "net.onnx");
    sweep_spec_free(spec);
}

static void test_grid(void)
{
    static const char *const vary[] = {"chip=m1,m2", "gpu_cores=8:10:20", "gpu_max_mhz=1000:1600:3log", NULL};
    struct sweep_spec *const spec = example_spec("gemm:8x8x8,gemm:9x9x9", 0, vary);
    struct sweep_design *const design = sweep_design_create(spec);
    struct study_setting setting = {0};
    double value[SWEEP_KEYS_MAX];

    CU_ASSERT_EQUAL(spec->points, 2 * 2 * 3 * 3); /* 20 steps from 8 to 10 give three whole numbers */
    sweep_design_values(design, 18 + 9 + 3 + 1, value);
    CU_ASSERT_EQUAL(value[0], 1);
    CU_ASSERT_EQUAL(value[1], 9);
    CU_ASSERT_DOUBLE_EQUAL(value[2], sqrt(1000.0 * 1600.0), 1e-6);
    CU_ASSERT_TRUE(sweep_design_setting(design, 18 + 9 + 3 + 1, &setting));
    CU_ASSERT_STRING_EQUAL(study_setting_get(&setting, "workload"), "gemm:9x9x9");
    CU_ASSERT_STRING_EQUAL(study_setting_get(&setting, "chip"), "m2");
    CU_ASSERT_STRING_EQUAL(study_setting_get(&setting, "gpu_cores"), "9");
    study_setting_free(&setting);
    /* Per workload: the base, two levels of the chip, two ends of each number. */
    CU_ASSERT_EQUAL(sweep_design_points(design), spec->points + 2 * (1 + 2 + 2 + 2));
    CU_ASSERT_EQUAL(sweep_design_place(design, spec->points + 7).role, SWEEP_BASE);
    CU_ASSERT_EQUAL(sweep_design_place(design, spec->points + 7).workload, 1);
    const struct sweep_place alone = sweep_design_place(design, spec->points + 4);
    CU_ASSERT_TRUE(alone.role == SWEEP_ALONE && alone.key == 1);
    sweep_design_values(design, spec->points + 4, value);
    CU_ASSERT_TRUE(value[0] == 0 && value[1] == 10 && isnan(value[2]));
    sweep_design_free(design);
    sweep_spec_free(spec);
}

static void test_latin_hypercube(void)
{
    enum { N = 200 };
    static const char *const vary[] = {"gpu_max_mhz=1000:1600", "gpu_cores=8:17", "memory_peak_GBps=50:400:log", NULL};
    struct sweep_spec *const spec = example_spec("gemm:8x8x8", N, vary);
    struct sweep_design *const design = sweep_design_create(spec), *const again = sweep_design_create(spec);
    unsigned slice[3][N] = {{0}}, cores[18] = {0};
    double value[SWEEP_KEYS_MAX], same[SWEEP_KEYS_MAX];

    for (uint64_t p = 0; p < N; p++) {
        sweep_design_values(design, p, value);
        sweep_design_values(again, p, same);
        CU_ASSERT_EQUAL(memcmp(value, same, 3 * sizeof *value), 0);
        CU_ASSERT_TRUE_FATAL(value[0] >= 1000 && value[0] <= 1600 && value[1] >= 8 && value[1] <= 17 && value[2] >= 50 &&
                             value[2] <= 400);
        slice[0][(size_t)fmin((value[0] - 1000) / 600 * N, N - 1)]++;
        slice[2][(size_t)fmin(log(value[2] / 50) / log(8) * N, N - 1)]++;
        CU_ASSERT_EQUAL(value[1], floor(value[1]));
        cores[(size_t)value[1]]++;
    }
    /* Values are rounded to six digits, so that one at an edge may fall into the next slice. */
    for (int k = 0; k <= 2; k += 2)
        for (size_t i = 0, held = 0; i < N; i++) {
            held += slice[k][i];
            CHECK(held + 1 >= i + 1 && held <= i + 2, "key %d slice %zu: %zu so far", k, i, held);
        }
    for (size_t c = 8; c <= 17; c++)
        CU_ASSERT_EQUAL(cores[c], N / 10);
    spec->seed = 2;
    struct sweep_design *const other = sweep_design_create(spec);
    sweep_design_values(other, 0, same);
    sweep_design_values(design, 0, value);
    CU_ASSERT_TRUE(memcmp(value, same, 3 * sizeof *value) != 0);
    sweep_design_free(design);
    sweep_design_free(again);
    sweep_design_free(other);
    sweep_spec_free(spec);
}

static struct sweep_spec *parse(const char *text, struct orch_error *error)
{
    *error = (struct orch_error){0};
    return sweep_spec_parse("folder/study.json", text, strlen(text), error);
}

static void test_files(void)
{
    static const char text[] = "{\"name\": \"night\", \"workload\": [\"gemm:8x8x8\", \"gemm:9x9x9\"],\n"
                               " \"base\": {\"chip\": \"m2\", \"unit\": \"gpu\", \"gpu_cores\": 9},\n"
                               " \"vary\": {\"precision\": [\"f32\", \"f16\"], \"gpu_max_mhz\": {\"from\": 1000, \"to\": 1600},\n"
                               "  \"memory_peak_GBps\": {\"from\": 50, \"to\": 400, \"scale\": \"log\"}},\n"
                               " \"design\": \"lhs\", \"points\": 100, \"seed\": 7, \"tolerance\": 0.02}";
    struct orch_error error = {0};
    struct sweep_spec *const spec = parse(text, &error);
    char hash[2][DB_HASH_SIZE];

    CHECK(spec != NULL, "%s", error.text);
    if (!spec)
        return;
    CU_ASSERT_TRUE(spec->points == 200 && spec->seed == 7 && spec->tolerance == 0.02 && spec->key_count == 3);
    char *const json = sweep_spec_json(spec);
    struct sweep_spec *const again = parse(json, &error);
    CHECK(again != NULL, "%s", error.text);
    char *const json_again = sweep_spec_json(again);
    CU_ASSERT_STRING_EQUAL(json, json_again);
    free(again->name);
    again->name = NULL; /* the name does not belong to what makes a sweep */
    CU_ASSERT_TRUE(sweep_spec_hash(spec, "1", hash[0]) && sweep_spec_hash(again, "1", hash[1]));
    CU_ASSERT_STRING_EQUAL(hash[0], hash[1]);
    CU_ASSERT_TRUE(sweep_spec_hash(spec, "2", hash[1]));
    CU_ASSERT_STRING_NOT_EQUAL(hash[0], hash[1]);
    free(json);
    free(json_again);
    sweep_spec_free(spec);
    sweep_spec_free(again);
}

static void test_bad_files(void)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "empty file"},
        {"{\"workload\": ", "ends in the middle"},
        {"{\"workload\": \"gemm:8x8x8\"}", "nothing varies"},
        {"{\"worklaod\": \"gemm:8x8x8\"}", "did you mean workload"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_coers\": [8]}}", "did you mean gpu_cores"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": []}}", "no values"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": {\"from\": 10, \"to\": 8, \"steps\": 3}}}", "empty"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": {\"form\": 10, \"to\": 8}}}", "did you mean from"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": [[8]]}}", "vary.gpu_cores[0]: expected a number or a string"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": [8, 9]}, \"base\": {\"gpu_cores\": 8}}",
         "fixed at the same time"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": [8, 9]}, \"points\": 3}", "a grid has"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": [8, 9]}, \"design\": \"lsh\"}", "expected \"grid\""},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": [8, 9]}, \"design\": \"lhs\", \"points\": 0}",
         "points: expected an integer from 1"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": [8, 9]}, \"design\": \"lhs\"}", "no points"},
        {"{\"workload\": \"gemm:8x8x8\", \"vary\": {\"gpu_cores\": [8, 9], \"chip\": [\"m1\"], \"gpu_cores\": [10]}}", "twice"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct orch_error error;
        struct sweep_spec *const spec = parse(bad[i].text, &error);
        CHECK(!spec && error.exit_code == ORCH_USAGE && strncmp(error.text, "study.json", 10) == 0 &&
                  strstr(error.text, bad[i].part),
              "%s: %s", bad[i].text, error.text);
        sweep_spec_free(spec);
    }
}

static const struct suite_test tests[] = {
    {"wrong texts of -L are refused", test_bad_texts},
    {"contradictory specifications are refused", test_bad_wholes},
    {"workloads in a list may contain commas", test_workload_lists},
    {"a grid goes workload by workload with the last key fastest, then the tornado", test_grid},
    {"every slice of a Latin hypercube holds one point; a seed repeats", test_latin_hypercube},
    {"a file survives being read, written and read", test_files},
    {"wrong files are refused by name", test_bad_files},
};
SUITE_MAIN("sweep spec", tests)
