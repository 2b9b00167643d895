/* Kernels on a GPU that was idle: it begins at its base clock. */
#include "tests/sim/chip_example.h"
#include "tests/sim/run_example.h"

#include <math.h>

#define WORK "gemm:256x256x256"

static struct outcome on(const struct chip_db *db, const char *chip, const char *set, struct run_request q)
{
    q.unit = "gpu";
    return run_on_set(db, chip, set, WORK, q);
}

static double device_us(const struct chip_db *db, const char *chip, const char *set, struct run_request q)
{
    struct outcome o = on(db, chip, set, q);
    const double us = 1e6 * o.result.device_seconds;
    CHECK(o.ok, "%s", o.error.text);
    run_result_free(&o.result);
    return us;
}

static void test_clocks(void)
{
    struct chip_db *db = example_chips();
    const struct run_request busy = {.mode = RUN_TIMING}, idle = {.mode = RUN_TIMING, .idle_s = 1};
    const double top = device_us(db, "m1-max", NULL, busy), base = device_us(db, "m1-max", "gpu.clock_ghz=0.3888", busy);
    CHECK(base > 2 * top, "%g us, %g us", top, base);
    /* A short one ends before the controller decides; a short pause does not switch the GPU off. */
    CHECK(fabs(device_us(db, "m1-max", NULL, idle) / base - 1) < 1e-6, "%g us, not %g", device_us(db, "m1-max", NULL, idle),
          base);
    struct run_request pause = idle;
    pause.idle_s = 1e-3;
    CHECK(fabs(device_us(db, "m1-max", NULL, pause) / top - 1) < 1e-9, "%g us, not %g", device_us(db, "m1-max", NULL, pause),
          top);
    /* Long command buffers reach the highest clock; launches that wait for one another lie gpu.between_us apart. */
    struct run_request burst = idle;
    burst.burst = (struct run_burst){20, 1000};
    const double between = 2.2 * 999 / 1000;
    CHECK(fabs(device_us(db, "m1-max", NULL, burst) - top - between) < 0.01 * top, "%g us, not %g",
          device_us(db, "m1-max", NULL, burst), top + between);
    /* Those that leave the GPU waiting for the host most of the time stay at the base clock. */
    burst.burst = (struct run_burst){500, 1};
    CHECK(fabs(device_us(db, "m1-max", NULL, burst) / base - 1) < 1e-6, "%g us, not %g", device_us(db, "m1-max", NULL, burst),
          base);
    chip_db_close(db);
}

/* Without a list of clocks there is nothing to begin with; the answer says so. */
static void test_unknown_clocks(void)
{
    struct chip_db *db = example_chips();
    struct outcome o = on(db, "m3-ultra", NULL, (struct run_request){.mode = RUN_TIMING, .idle_s = 1});
    bool told = false;
    for (size_t i = 0; i < o.result.assumptions.count; i++)
        told |= strcmp(o.result.assumptions.item[i].key, "gpu_states") == 0;
    CHECK(o.ok && told, "%s", o.error.text);
    run_result_free(&o.result);
    chip_db_close(db);
}

static void test_refusals(void)
{
    static const struct {
        struct run_request request;
        const char *says;
    } cases[] = {{{.mode = RUN_TIMING, .burst = {2, 3}}, "--idle"},
                 {{.mode = RUN_TIMING, .idle_s = 1, .repeat = 2}, "--burst"},
                 {{.mode = RUN_FUNCTIONAL, .idle_s = 1}, "no time"}};
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome o = on(db, "m1", NULL, cases[i].request);
        CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, cases[i].says), "%s", o.error.text);
        run_result_free(&o.result);
    }
    chip_db_close(db);
}

static const struct suite_test tests[] = {
    {"clocks of a burst", test_clocks}, {"a GPU whose clocks are not known", test_unknown_clocks}, {"refusals", test_refusals}};
SUITE_MAIN("gpu_idle", tests)
