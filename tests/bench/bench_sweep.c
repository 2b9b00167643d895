/* Sweeps of 10,000 points at the level of operators, in one process: CPU seconds of the first time and of a second time (when all
 * points are there), points a minute if simulations are shared by two processors, bytes of the database per point, and the error
 * of interpolated points against fresh simulations.
 *
 * Sweeps of the GPU vary chip, number of cores, clock, bandwidth, latencies and SLC together. Numbers of cores are those on which
 * the kernel leaves no threadgroups for a last round that is shorter than the others; see sim/ask/sweep/README.md for the others.
 */
#include "tests/sim/sweep_example.h"

#include <sys/stat.h>
#include <time.h>

struct case_row {
    const char *workload, *unit, *precision, *sets; /* sets: one KEY=VALUE, or NULL */
    uint64_t points;
    size_t compared;
    const char *vary[12];
};

#define OTHERS                                                                                                                   \
    "gpu_max_mhz=1000:1600", "memory_peak_GBps=60:300", "mem.slc_latency_ns=20:100", "dram.latency_ns=60:150",                   \
        "gpu.round_trip_us=50:200", "slc_MB=8,16,24,32"

static const struct case_row cases[] = {
    {"gemm:512x512x512",
     "ane",
     "f16",
     NULL,
     10000,
     200,
     {"ane.clock_ghz=0.8:2", "memory_peak_GBps=50:200", "ane.request_us=50:200", "ane.dma_GBps=20:80"}},
    {"gemm:512x512x512",
     "amx",
     "f32",
     NULL,
     10000,
     200,
     {"p_max_mhz=2000:4000", "memory_peak_GBps=50:200", "mem.slc_latency_ns=20:100", "dram.latency_ns=60:200"}},
    {"conv2d:n=1,c=64,h=56,w=56,k=64,r=3,s=3,stride=1,pad=1,groups=1",
     "gpu",
     "f32",
     "gpu_cores=20",
     10000,
     200,
     {"gpu_max_mhz=1000:1600", "memory_peak_GBps=100:300", "gpu.round_trip_us=50:200"}},
    {"gemm:256x256x256", "gpu", "f32", NULL, 10000, 200, {"chip=m1,m2,m3", OTHERS, "gpu_cores=8:20"}},
    {"softmax:4096x1024", "gpu", "f32", NULL, 10000, 200, {"chip=m1,m2,m3", OTHERS, "gpu_cores=8:20"}},
    {"conv2d:n=1,c=64,h=56,w=56,k=64,r=3,s=3,stride=1,pad=1,groups=1",
     "gpu",
     "f32",
     NULL,
     10000,
     200,
     {"chip=m1,m2,m3", OTHERS, "gpu_cores=13:20"}},
    {"gemm:512x512x512", "gpu", "f32", NULL, 10000, 200, {"chip=m2,m3", OTHERS, "gpu_cores=22:40"}},
    {"attention:b=1,h=8,s=512,d=64", "gpu", "f32", NULL, 10000, 200, {"chip=m2,m3", OTHERS, "gpu_cores=22:40"}},
    {"gemm:1024x1024x1024", "gpu", "f32", NULL, 10000, 50, {"chip=m1,m2,m3", OTHERS}},
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct sweep_spec *spec_of(const struct case_row *row)
{
    struct sweep_spec *const spec = example_spec(row->workload, row->points, row->vary);
    struct orch_error error = {0};
    bool ok = sweep_spec_base(spec, "unit", row->unit, &error) && sweep_spec_base(spec, "precision", row->precision, &error);
    if (ok && strncmp(row->vary[0], "chip=", 5) != 0)
        ok = sweep_spec_base(spec, "chip", "m2", &error);
    if (ok && row->sets)
        ok = sweep_spec_base(spec, "gpu_cores", strchr(row->sets, '=') + 1, &error);
    CHECK(ok, "%s", error.text);
    return spec;
}

/* An executor that takes the time. */
struct timed {
    struct simulator simulator;
    double seconds;
};

static bool timed_run(void *context, const uint64_t *point, size_t count, sweep_sink *sink, void *sink_context,
                      struct orch_error *error)
{
    struct timed *const t = context;
    const double begin = now_s();
    const bool ok = simulator_run(&t->simulator, point, count, sink, sink_context, error);
    t->seconds += now_s() - begin;
    return ok;
}

static bool bench(const struct case_row *row, const struct chip_db *chips, const char *folder)
{
    const struct study_base base = {.chips = chips, .request = {.seed = 1, .threads = 1, .detail = "op", .mode = RUN_TIMING}};
    struct orch_error error = {0};
    struct sweep_spec *const spec = spec_of(row);
    struct timed timed = {{study_create(&base, NULL, &error), sweep_design_create(spec)}, 0};
    struct simulator *const simulator = &timed.simulator;
    struct sweep_done done = {0}, again = {0};
    struct stat file;
    char path[128];

    snprintf(path, sizeof path, "%s/%s-%zu.db", folder, row->unit, strlen(row->workload));
    const struct sweep_run run = {.spec = spec, .db = path, .executor = {&timed, timed_run}, .study = simulator->study};
    const double begin = now_s();
    bool ok = sweep_run(&run, &done, &error);
    const double cold = now_s() - begin, shared = cold - timed.seconds / 2;
    ok = ok && sweep_run(&run, &again, &error) && stat(path, &file) == 0;
    const double warm = now_s() - begin - cold;
    if (ok) {
        struct sweep_data *const data = example_read(path, "last");
        const double compare_begin = now_s();
        const struct off off = simulator_compare(simulator, data, row->compared);
        const double each = off.compared ? (now_s() - compare_begin) / (double)off.compared : (double)NAN;
        printf("%-3s %-24.24s %6llu points: %6.1f s cold, %4.2f s again; %6.0f a minute on two processors; %4llu simulated, "
               "%5llu interpolated, %zu of %zu groups; %.0f bytes a point\n"
               "    left out: %.2f %% rms; %zu against fresh ones (%.3f s each): mean %.2f %%, largest %.2f %%\n",
               row->unit, row->workload, (unsigned long long)spec->points, cold, warm, 60 * (double)spec->points / shared,
               (unsigned long long)done.by_method[SWEEP_SIMULATED], (unsigned long long)done.by_method[SWEEP_INTERPOLATED],
               done.groups.interpolating, done.groups.groups, (double)file.st_size / (double)spec->points,
               100 * done.groups.left_out_rms, off.compared, each, 100 * off.mean, 100 * off.worst);
        sweep_close(data);
    } else {
        printf("%s: %s\n", row->workload, error.text);
    }
    study_free(simulator->study);
    sweep_design_free(simulator->design);
    sweep_spec_free(spec);
    return ok;
}

static void run_case(size_t number)
{
    struct orch_error error = {0};
    struct chip_db *const chips = chip_db_open(NULL, &error);
    char folder[64];

    example_folder(folder);
    CHECK(chips && bench(&cases[number], chips, folder), "%s", error.text);
    chip_db_close(chips);
    example_remove(folder);
}

static void ane(void)
{
    run_case(0);
}

static void amx(void)
{
    run_case(1);
}

static void gpu(void)
{
    run_case(2);
}

static void gemm_256(void)
{
    run_case(3);
}

static void softmax(void)
{
    run_case(4);
}

static void conv2d(void)
{
    run_case(5);
}

static void gemm_512(void)
{
    run_case(6);
}

static void attention(void)
{
    run_case(7);
}

static void gemm_1024(void)
{
    run_case(8);
}

static const struct suite_test tests[] = {{"Neural Engine", ane},
                                          {"AMX", amx},
                                          {"GPU", gpu},
                                          {"GPU, all together: gemm of 256", gemm_256},
                                          {"GPU, all together: softmax", softmax},
                                          {"GPU, all together: conv2d", conv2d},
                                          {"GPU, all together: gemm of 512", gemm_512},
                                          {"GPU, all together: attention", attention},
                                          {"GPU, all together: gemm of 1024", gemm_1024}};
SUITE_MAIN("bench sweep", tests)
