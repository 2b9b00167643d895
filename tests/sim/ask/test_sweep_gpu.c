/* Sweeps of GPU kernels over numbers of cores: how threadgroups are dealt out, what scatters, and answers between simulated ones.
 */
#include "sim/ask/sweep/sweep_deal.h"
#include "sim/ask/sweep/sweep_pool.h"
#include "sim/ask/sweep/sweep_rounds.h"
#include "tests/sim/chip_example.h"
#include "tests/sim/sweep_example.h"

/* ---- rounds ---- */

/* Deals threadgroups out one by one: a core whose threadgroups have all ended takes the next ones in turn with the others, and n
 * of them together live for 0.2 + 0.8 n / resident. */
static double dealt_one_by_one(uint64_t groups, unsigned cores, unsigned resident)
{
    double time = 0;
    for (uint64_t next = 0; next < groups;) {
        unsigned on[64] = {0}, most = 0;
        for (unsigned place = 0; place < resident; place++)
            for (unsigned core = 0; core < cores && next < groups; core++, next++)
                on[core]++;
        for (unsigned core = 0; core < cores; core++)
            most = on[core] > most ? on[core] : most;
        time += 0.2 + 0.8 * most / resident;
    }
    return time;
}

static void test_makespan(void)
{
    for (unsigned cores = 1; cores <= 40; cores++)
        for (unsigned resident = 1; resident <= 6; resident++)
            for (uint64_t groups = 1; groups <= 300; groups += 1 + groups / 20) {
                const double by_hand = dealt_one_by_one(groups, cores, resident);
                const double closed = sweep_rounds_makespan(groups, cores, resident);
                if (fabs(closed - by_hand) > 1e-9)
                    CHECK(false, "%llu threadgroups, %u cores, %u each: %g, by hand %g", (unsigned long long)groups, cores,
                          resident, closed, by_hand);
            }
    CU_ASSERT_DOUBLE_EQUAL(sweep_rounds_makespan(64, 21, 3), 1 + 0.2 + 0.8 / 3, 1e-12); /* one is left */
    CU_ASSERT_DOUBLE_EQUAL(sweep_rounds_makespan(64, 22, 3), 1, 1e-12);                 /* all fit at once */
}

/* ---- launches ---- */

static double counter(const struct run_result *result, const char *name)
{
    for (size_t i = 0; i < result->counters.count; i++)
        if (strcmp(result->counters.item[i].name, name) == 0)
            return result->counters.item[i].value;
    return NAN;
}

/* What is listed without running is what a run counts. */
static void check_launches(struct study *study, const char *workload, const char *chip, const char *cores)
{
    struct study_setting setting = {0};
    struct study_answer answer;
    struct run_launch_list list;
    struct orch_error error = {0};
    study_answer_init(&answer);
    const bool ok = study_setting_set(&setting, "workload", workload) && study_setting_set(&setting, "unit", "gpu") &&
                    study_setting_set(&setting, "chip", chip) && study_setting_set(&setting, "gpu_cores", cores) &&
                    study_launches(study, &setting, &list, &error) && study_evaluate(study, &setting, &answer, &error);
    CHECK(ok, "%s", error.text);
    double groups = 0;
    for (unsigned i = 0; ok && i < list.count; i++)
        groups += (double)list.launch[i].groups;
    CHECK(ok && list.cores == (unsigned)strtoul(cores, NULL, 10), "%u cores", list.cores);
    CHECK(groups == counter(&answer.result, "gpu.threadgroups"), "%s on %s: %g threadgroups", workload, chip, groups);
    if (ok && list.count == 1)
        CHECK(list.launch[0].resident == counter(&answer.result, "gpu.threadgroups_per_core"), "%s on %s: %u on a core", workload,
              chip, list.launch[0].resident);
    study_answer_free(&answer);
    study_setting_free(&setting);
}

static void test_launches(void)
{
    struct orch_error error = {0};
    struct chip_db *const chips = example_chips();
    const struct study_base base = {.chips = chips, .request = {.seed = 1, .threads = 1, .detail = "op", .mode = RUN_TIMING}};
    struct study *const study = study_create(&base, NULL, &error);
    struct study_setting amx = {0};
    struct run_launch_list list;
    check_launches(study, "gemm:128x128x128", "m1", "8");
    check_launches(study, "gemm:128x128x128", "m3", "33"); /* other tiles, another register file */
    check_launches(study, "conv2d:n=1,c=16,h=14,w=14,k=64,r=3,s=3,stride=1,pad=1,groups=1", "m2", "9");
    check_launches(study, "softmax:64x256", "m1", "5");
    CU_ASSERT_TRUE(study_setting_set(&amx, "workload", "gemm:64x64x64") && study_setting_set(&amx, "unit", "amx"));
    CU_ASSERT_TRUE(study_launches(study, &amx, &list, &error) && list.count == 0);
    study_setting_free(&amx);
    study_free(study);
    chip_db_close(chips);
}

/* ---- scatter ---- */

/* Ten deals of 20 points; under one of them answers are off by 8 %, under the others by 0.4 %. */
static void test_what_scatters_is_found(void)
{
    enum { DEALS = 10, EACH = 20, N = DEALS * EACH };
    struct sweep_rounds rounds[N];
    size_t member[N], which[N];
    double error[N];
    for (size_t i = 0; i < N; i++) {
        rounds[i] = (struct sweep_rounds){.known = true, .deal = 1000 - i % DEALS, .tail = i % DEALS};
        member[i] = which[i] = i;
        error[i] = i % DEALS == 3 ? 0.08 : 0.004;
    }
    struct sweep_deals *const deals = sweep_deals_create(rounds, member, N);
    sweep_deals_judge(deals, which, error, N / 2, 0.01);
    for (size_t i = 0; i < N; i++)
        CU_ASSERT_EQUAL(sweep_deals_wild(deals, i), i % DEALS == 3);
    CU_ASSERT_EQUAL(sweep_deals_sum(deals).wild, EACH);
    CU_ASSERT_DOUBLE_EQUAL(sweep_deals_sum(deals).wild_rms, 0.08, 1e-9);
    CU_ASSERT_TRUE(sweep_deals_noise(deals, 3) > 100 && sweep_deals_noise(deals, 4) == 1);
    CU_ASSERT_TRUE(sweep_deals_surely_wild(deals, 3) && !sweep_deals_surely_wild(deals, 4));
    for (size_t i = 0; i < N; i++) /* later it turns out that the model was to blame */
        error[i] = 0.004;
    sweep_deals_judge(deals, which, error, N, 0.01);
    CU_ASSERT_EQUAL(sweep_deals_sum(deals).wild, 0);
    sweep_deals_free(deals);
}

/* Waves in two dimensions, which no model knows after the first 20 points: left-out points are off by some 20 % then. */
static double waves(const double *value)
{
    return 1e-3 * (1 + 0.3 * sin(6 * log(value[0] / 500)) * sin(3 * log(value[1] / 20)));
}

/* Where there are few deals, all of them seem to scatter as long as the model knows too little. They must get more points, not be
 * given up. */
static void test_ignorance_is_no_scatter(void)
{
    enum { N = 2000 };
    static const char *const vary[] = {"gpu_max_mhz=500:2000", "memory_peak_GBps=20:200", NULL};
    struct sweep_spec *const spec = example_spec("gemm:64x64x64", N, vary);
    struct sweep_design *const design = sweep_design_create(spec);
    static struct sweep_rounds rounds[N];
    static uint64_t point[N];
    struct orch_error error = {0};
    for (size_t i = 0; i < N; i++) {
        point[i] = i;
        rounds[i] = (struct sweep_rounds){.known = true, .deal = i % 2, .tail = i % 2};
    }
    struct sweep_groups *const groups = sweep_groups_create(spec, design, point, N, rounds, NULL);
    struct sweep_answer answer;
    size_t asked = 0, interpolated = 0, count, index;
    const size_t *want;
    double value[SWEEP_KEYS_MAX], worst = 0;
    do {
        CHECK(sweep_groups_round(groups, &want, &count, &error), "%s", error.text);
        for (size_t i = 0; i < count; i++) {
            sweep_answer_init(&answer);
            sweep_design_values(design, want[i], value);
            answer.status = SWEEP_DONE;
            answer.response[SWEEP_seconds] = answer.response[SWEEP_device_seconds] = waves(value);
            CHECK(sweep_groups_answer(groups, want[i], &answer, &error), "%s", error.text);
        }
        asked += count;
    } while (count > 0);
    while (sweep_groups_interpolated(groups, &index, &answer)) {
        sweep_design_values(design, index, value);
        worst = fmax(worst, fabs(answer.response[SWEEP_seconds] / waves(value) - 1));
        interpolated++;
    }
    CHECK(asked < 400 && asked + interpolated == N, "%zu asked for, %zu interpolated", asked, interpolated);
    CHECK(worst < 0.03, "off by up to %g", worst);
    sweep_groups_free(groups);
    sweep_design_free(design);
    sweep_spec_free(spec);
}

/* ---- sweeps ---- */

struct gpu_sweep {
    char folder[64];
    struct sweep_spec *spec;
    struct chip_db *chips;
    struct study_base base;
};

static struct gpu_sweep open_sweep(const char *workload, uint64_t samples, const char *const *vary)
{
    struct gpu_sweep s;
    struct orch_error error = {0};
    example_folder(s.folder);
    s.spec = example_spec(workload, samples, vary);
    s.chips = example_chips();
    s.base = (struct study_base){.chips = s.chips, .request = {.seed = 1, .threads = 1, .detail = "op", .mode = RUN_TIMING}};
    CU_ASSERT_TRUE(sweep_spec_base(s.spec, "unit", "gpu", &error) && sweep_spec_base(s.spec, "chip", "m1", &error));
    return s;
}

static void close_sweep(struct gpu_sweep *s)
{
    sweep_spec_free(s->spec);
    chip_db_close(s->chips);
    example_remove(s->folder);
}

static struct sweep_done sweep_with(struct gpu_sweep *s, const char *name, unsigned jobs)
{
    struct orch_error error = {0};
    struct sweep_done done;
    const char *const db = example_file(s->folder, name);
    struct study *const study = study_create(&s->base, NULL, &error);
    struct sweep_pool *const pool = sweep_pool_create(s->spec, &s->base, db, jobs);
    const struct sweep_run run = {.spec = s->spec, .db = db, .executor = sweep_pool_executor(pool), .study = study};
    CHECK(sweep_run(&run, &done, &error), "%s", error.text);
    sweep_pool_free(pool);
    study_free(study);
    return done;
}

/* Numbers of cores, clocks, bandwidth and latency together; the tiles change beyond 16 cores. One process or two make no
 * difference. */
static void test_cores_are_interpolated(void)
{
    static const char *const vary[] = {"gpu_cores=5:24", "gpu_max_mhz=800:1600", "memory_peak_GBps=50:300",
                                       "dram.latency_ns=60:150", NULL};
    struct gpu_sweep s = open_sweep("gemm:256x256x256", 1500, vary);
    struct orch_error error = {0};
    const struct sweep_done one = sweep_with(&s, "1.db", 1), two = sweep_with(&s, "2.db", 2);
    CHECK(one.by_method[SWEEP_SIMULATED] < 400, "%llu simulated", (unsigned long long)one.by_method[SWEEP_SIMULATED]);
    CU_ASSERT_EQUAL(one.by_method[SWEEP_SIMULATED], two.by_method[SWEEP_SIMULATED]);
    CHECK(one.groups.left_out_rms <= 0.01, "%g", one.groups.left_out_rms);
    char first[64];
    snprintf(first, sizeof first, "%s", example_file(s.folder, "1.db"));
    char *const a = example_sweep_rows(first), *const b = example_sweep_rows(example_file(s.folder, "2.db"));
    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);

    struct study *const study = study_create(&s.base, NULL, &error);
    struct sweep_design *const design = sweep_design_create(s.spec);
    struct simulator simulator = {study, design};
    struct sweep_data *const data = example_read(example_file(s.folder, "1.db"), "1");
    const struct off off = simulator_compare(&simulator, data, 60);
    printf("  %llu of %llu simulated; %zu interpolated points against fresh simulations: mean error %.2f %%, largest %.2f %%\n",
           (unsigned long long)one.by_method[SWEEP_SIMULATED], (unsigned long long)one.points, off.compared, 100 * off.mean,
           100 * off.worst);
    CU_ASSERT_EQUAL(off.compared, 60);
    CHECK(off.mean <= 0.01 && off.worst <= 0.03, "mean %g, largest error %g", off.mean, off.worst);
    sweep_close(data);
    sweep_design_free(design);
    study_free(study);
    close_sweep(&s);
}

static const struct suite_test tests[] = {
    {"the makespan is that of dealing threadgroups out one by one", test_makespan},
    {"launches are listed as runs count them", test_launches},
    {"deals under which answers scatter are found, and cleared again", test_what_scatters_is_found},
    {"what the model does not know yet is not taken for scatter", test_ignorance_is_no_scatter},
    {"numbers of cores are interpolated, whatever the number of processes", test_cores_are_interpolated},
};
SUITE_MAIN("sweep_gpu", tests)
