/* Sweeps: interpolation within its tolerance, resuming, shards and merging, size of the rows. */
#include "tests/sim/chip_example.h"
#include "tests/sim/sweep_example.h"

#include <sys/stat.h>

static const char *const two_ranges[] = {"gpu_max_mhz=800:1600", "memory_peak_GBps=50:200", NULL};

static double of(const double *value, size_t key, double base)
{
    return isnan(value[key]) ? base : value[key];
}

static double roofline(const double *value, uint64_t point)
{
    (void)point;
    return hypot(1 / of(value, 0, 1398), 0.1 / of(value, 1, 100));
}

/* Jumps by up to a quarter, without any order. */
static double erratic(const double *value, uint64_t point)
{
    uint64_t state = point;
    return roofline(value, point) * (1 + 0.25 * (double)(suite_random(&state) & 1));
}

static double failing_corner(const double *value, uint64_t point)
{
    return of(value, 0, 1398) > 1400 && of(value, 1, 100) > 150 ? (double)NAN : roofline(value, point);
}

struct home {
    char folder[64];
    struct sweep_spec *spec;
};

static struct home open_home(uint64_t samples, const char *const *vary)
{
    struct home h;
    example_folder(h.folder);
    h.spec = example_spec("gemm:8x8x8", samples, vary);
    return h;
}

static void close_home(struct home *h)
{
    sweep_spec_free(h->spec);
    example_remove(h->folder);
}

static struct sweep_done sweep(struct home *h, const char *name, double (*seconds)(const double *, uint64_t), uint64_t shard,
                               uint64_t shards)
{
    struct formula formula = {.seconds = seconds};
    struct orch_error error = {0};
    struct sweep_done done;
    CHECK(example_sweep(h->spec, example_file(h->folder, name), &formula, shard, shards, &done, &error), "%s", error.text);
    return done;
}

static void test_interpolates_within_tolerance(void)
{
    struct home h = open_home(2000, two_ranges);
    const struct sweep_done done = sweep(&h, "a.db", roofline, 0, 0);
    struct sweep_data *const data = example_read(example_file(h.folder, "a.db"), "last");
    double worst = 0;

    CHECK(done.by_method[SWEEP_SIMULATED] < 200 && done.by_method[SWEEP_INTERPOLATED] > 1800, "%llu simulated",
          (unsigned long long)done.by_method[SWEEP_SIMULATED]);
    CHECK(done.groups.left_out_rms <= 0.01, "%g", done.groups.left_out_rms);
    CU_ASSERT_EQUAL(data->done, 2000);
    for (size_t i = 0; i < data->point_count; i++) {
        const struct sweep_answer *const a = &data->point[i].answer;
        const double truth = roofline(data->point[i].value, 0);
        worst = fmax(worst, fabs(a->response[SWEEP_seconds] / truth - 1));
        CU_ASSERT_DOUBLE_EQUAL(a->response[SWEEP_watts_avg], 3, 0.05);
        if (a->method == SWEEP_INTERPOLATED)
            CU_ASSERT_TRUE(a->expected_error > 0 && a->expected_error <= 0.01);
    }
    CHECK(worst < 0.03, "largest error %g", worst);
    sweep_close(data);
    close_home(&h);
}

static void test_what_is_not_smooth_is_simulated(void)
{
    struct home h = open_home(300, two_ranges);
    const struct sweep_done odd = sweep(&h, "a.db", erratic, 0, 0);
    CU_ASSERT_EQUAL(odd.by_method[SWEEP_INTERPOLATED], 0);
    CU_ASSERT_EQUAL(odd.by_method[SWEEP_SIMULATED], odd.points);
    const struct sweep_done corner = sweep(&h, "b.db", failing_corner, 0, 0);
    CU_ASSERT_EQUAL(corner.by_method[SWEEP_INTERPOLATED], 0);
    CHECK(corner.failed > 0 && corner.failed + corner.by_method[SWEEP_SIMULATED] == corner.points, "%llu failed",
          (unsigned long long)corner.failed);
    CU_ASSERT_STRING_EQUAL(corner.first_error, "no such chip");
    h.spec->tolerance = 0; /* --exact */
    const struct sweep_done exact = sweep(&h, "c.db", roofline, 0, 0);
    CU_ASSERT_EQUAL(exact.by_method[SWEEP_SIMULATED], exact.points);
    close_home(&h);
}

static void test_steps_of_whole_keys(void)
{
    static const char *const vary[] = {"gpu_max_mhz=800:1600", "memory_peak_GBps=50:200", "gpu_cores=8:11", NULL};
    struct home h = open_home(1200, vary);
    const struct sweep_done done = sweep(&h, "a.db", roofline, 0, 0);
    CU_ASSERT_EQUAL(done.groups.interpolating, 4); /* one group per count of cores */
    close_home(&h);
}

/* A sweep that is stopped again and again, then finished, has the same rows as one that was never stopped, none of them twice. */
static void test_resumes(void)
{
    struct home h = open_home(400, two_ranges);
    struct orch_error error = {0};
    struct sweep_done done;
    size_t answered = 0, stops = 0;

    sweep(&h, "whole.db", roofline, 0, 0);
    for (;;) {
        struct formula formula = {.seconds = roofline, .most = 7};
        error = (struct orch_error){0};
        const bool ended = example_sweep(h.spec, example_file(h.folder, "parts.db"), &formula, 0, 0, &done, &error);
        answered += formula.answered;
        if (ended)
            break;
        CU_ASSERT_EQUAL_FATAL(error.exit_code, ORCH_INTERRUPTED);
        stops++;
    }
    CHECK(stops >= 3, "%zu stops", stops);
    char *const whole = example_sweep_rows(example_file(h.folder, "whole.db"));
    char *const parts = example_sweep_rows(example_file(h.folder, "parts.db"));
    CU_ASSERT_STRING_EQUAL(whole, parts);
    struct orch_db *const db = example_open(example_file(h.folder, "parts.db"), DB_READ);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM sweep_point WHERE method = 'simulated'"), (double)answered);
    db_close(db);
    free(whole);
    free(parts);
    const struct sweep_done again = sweep(&h, "parts.db", roofline, 0, 0);
    CU_ASSERT_TRUE(again.before == again.points && again.by_method[SWEEP_SIMULATED] == 0);
    close_home(&h);
}

static void merge_all(struct home *h, const char *into, const char *const *shard, size_t count, bool backwards)
{
    struct orch_error error = {0};
    struct db_merged merged;
    struct orch_db *const db = example_open(example_file(h->folder, into), DB_WRITE);

    for (size_t i = 0; i < count; i++)
        CHECK(db_merge(db, example_file(h->folder, shard[backwards ? count - 1 - i : i]), &merged, &error), "%s", error.text);
    CHECK(db_merge(db, example_file(h->folder, shard[0]), &merged, &error), "%s", error.text);
    CU_ASSERT_EQUAL(merged.sweep_points, 0);
    db_close(db);
}

/* One shard was stopped, and one job ran twice as part of another count of shards, so that several files hold a point, with
 * different answers. Any order of merging gives the same content. */
static void test_merges_in_any_order(void)
{
    static const char *const shard[] = {"0.db", "1.db", "2.db", "again.db"};
    struct home h = open_home(300, two_ranges);
    struct orch_error error = {0};
    struct formula stopped = {.seconds = roofline, .most = 10};
    struct sweep_done done;

    sweep(&h, "0.db", roofline, 0, 3);
    CU_ASSERT_FALSE(example_sweep(h.spec, example_file(h.folder, "1.db"), &stopped, 1, 3, &done, &error));
    sweep(&h, "2.db", failing_corner, 2, 3);
    sweep(&h, "again.db", roofline, 0, 0);
    merge_all(&h, "a.db", shard, 4, false);
    merge_all(&h, "b.db", shard, 4, true);
    char *const a = example_sweep_rows(example_file(h.folder, "a.db")), *const b =
                                                                            example_sweep_rows(example_file(h.folder, "b.db"));
    CU_ASSERT_STRING_EQUAL(a, b);
    struct orch_db *const db = example_open(example_file(h.folder, "a.db"), DB_READ);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM sweep_point"), 305);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM sweep_point WHERE status <> 'done'"), 0);
    /* Merging prefers simulated answers to interpolated ones. */
    CU_ASSERT_TRUE(example_number(db, "SELECT count(*) FROM sweep_point WHERE point % 3 = 2 AND method = 'simulated'") > 50);
    db_close(db);
    free(a);
    free(b);
    /* The sweep continues in the merged file. */
    const struct sweep_done rest = sweep(&h, "a.db", roofline, 0, 0);
    CU_ASSERT_EQUAL(rest.before, rest.points);
    close_home(&h);
}

static void test_size_of_points(void)
{
    static const char *const vary[] = {"gpu_max_mhz=800:1600:100", "memory_peak_GBps=50:200:10", "gpu.round_trip_us=10:20:4",
                                       NULL};
    struct home h = open_home(0, vary);
    struct stat before, after;
    struct orch_db *const db = example_open(example_file(h.folder, "a.db"), DB_WRITE);
    db_close(db);
    CU_ASSERT_EQUAL(stat(example_file(h.folder, "a.db"), &before), 0);
    h.spec->tolerance = 0;
    sweep(&h, "a.db", roofline, 0, 0);
    CU_ASSERT_EQUAL(stat(example_file(h.folder, "a.db"), &after), 0);
    const double bytes = (double)(after.st_size - before.st_size) / (double)h.spec->points;
    printf("  %.0f bytes a point\n", bytes);
    CHECK(bytes > 0 && bytes <= 2048, "%g bytes a point", bytes);
    close_home(&h);
}

static void real_sweep(const char *workload, const char *unit, const char *precision, const char *const *vary, uint64_t samples)
{
    struct home h;
    struct orch_error error = {0};
    struct sweep_done done;
    struct chip_db *const chips = example_chips();
    const struct study_base base = {.chips = chips, .request = {.seed = 1, .threads = 1, .detail = "op", .mode = RUN_TIMING}};

    example_folder(h.folder);
    h.spec = example_spec(workload, samples, vary);
    CU_ASSERT_TRUE(sweep_spec_base(h.spec, "unit", unit, &error) && sweep_spec_base(h.spec, "precision", precision, &error) &&
                   sweep_spec_base(h.spec, "chip", "m2", &error));
    struct sweep_design *const design = sweep_design_create(h.spec);
    struct study *const study = study_create(&base, NULL, &error);
    struct simulator simulator = {study, design};
    const struct sweep_run run = {.spec = h.spec, .db = example_file(h.folder, "a.db"), .executor = {&simulator, simulator_run}};
    CHECK(sweep_run(&run, &done, &error), "%s", error.text);
    CHECK(done.by_method[SWEEP_INTERPOLATED] > samples / 2, "%llu interpolated",
          (unsigned long long)done.by_method[SWEEP_INTERPOLATED]);
    struct sweep_data *const data = example_read(example_file(h.folder, "a.db"), "1");
    if (done.by_method[SWEEP_INTERPOLATED] > samples / 2) {
        const struct off off = simulator_compare(&simulator, data, 20);
        printf("  %zu interpolated points of %s against fresh simulations: mean error %.2f %%, largest %.2f %%\n", off.compared,
               workload, 100 * off.mean, 100 * off.worst);
        CU_ASSERT_EQUAL(off.compared, 20);
        CHECK(off.worst <= 0.03, "largest error %g", off.worst);
    }
    sweep_close(data);
    study_free(study);
    sweep_design_free(design);
    chip_db_close(chips);
    close_home(&h);
}

static void test_against_fresh_simulations(void)
{
    static const char *const ane[] = {"ane.clock_ghz=0.8:2", "memory_peak_GBps=50:200", "ane.request_us=50:200", NULL};
    static const char *const amx[] = {"p_max_mhz=2000:4000", "memory_peak_GBps=50:200", NULL};
    real_sweep("gemm:256x256x256", "ane", "f16", ane, 400);
    real_sweep("gemm:128x128x128", "amx", "f32", amx, 300);
}

static const struct suite_test tests[] = {
    {"a smooth answer is interpolated within the tolerance", test_interpolates_within_tolerance},
    {"answers that jump, fail somewhere or must be exact are simulated", test_what_is_not_smooth_is_simulated},
    {"each count of cores is a group of its own", test_steps_of_whole_keys},
    {"a stopped sweep continues, and ends like one that was not stopped", test_resumes},
    {"shards merge in any order to the same content", test_merges_in_any_order},
    {"a point takes at most 2 kB", test_size_of_points},
    {"interpolated points are close to fresh simulations", test_against_fresh_simulations},
};
SUITE_MAIN("sweep", tests)
