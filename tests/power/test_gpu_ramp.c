/* The GPU's clock from its waking up on: closed forms, and what was measured on an M1. */
#include "power/gpu_ramp.h"
#include "tests/support/suite.h"

#include <math.h>

static const struct opp_table m1 = {.point = {{396, 0.6, 0, false},
                                              {528, 0.64, 0, false},
                                              {720, 0.69, 0, false},
                                              {924, 0.78, 0, false},
                                              {1128, 0.86, 0, false},
                                              {1278, 0.93, 0, false}},
                                    .count = 6};
/* As recorded in its device tree and driver. */
static const struct gpu_control_params recorded = {.use_period_ms = 8,
                                                   .use_first_ms = 4,
                                                   .use_target = 85,
                                                   .use_kp = 14.707963,
                                                   .use_ki = 7.8956833,
                                                   .base_state = 1,
                                                   .off_ms = 2};

/* How much longer 100 ms of work at the highest clock take from waking up on. */
static double penalty_ms(const struct gpu_control_params *params)
{
    const struct gpu_ramp_work work = {0, 100 * 1278.0};
    struct gpu_ramp ramp;
    gpu_ramp_wake(&ramp, params, &m1);
    return gpu_ramp_do(&ramp, &work, NULL) - 100;
}

/* Half of the first period was spent switched off: it stays at the base clock until a whole one has passed, then jumps. */
static void test_waking_up(void)
{
    struct gpu_control_params p = recorded;
    const double all = penalty_ms(&p);
    CHECK(fabs(all - 12 * (1 - 396 / 1278.0)) < 1e-9, "%g ms", all);
    /* joshuaswarren/omarchy-mlx docs/gpu-base-pstate.md: the first token after pauses of 100 and 500 ms, less that from the
       highest clock */
    CHECK(all > 7.6 && all < 8.8, "%g ms, measured 7.7 and 8.7", all);
    p.base_state = 3;
    CHECK(fabs(1 - penalty_ms(&p) / all - 0.38) < 0.05, "%g of it is gone, measured 0.35 to 0.40", 1 - penalty_ms(&p) / all);
    p.base_state = 4;
    CHECK(fabs(1 - penalty_ms(&p) / all - 0.635) < 0.05, "%g of it is gone, measured 0.62 to 0.65", 1 - penalty_ms(&p) / all);
    p.base_state = 6;
    CHECK(fabs(penalty_ms(&p)) < 1e-9, "%g ms", penalty_ms(&p));
}

/* So many rounds of work and rest. Returns the time of the last work. */
static double rounds(struct gpu_ramp *ramp, unsigned count, const struct gpu_ramp_work *work, double rest_ms, double *mhz)
{
    double ms = 0;
    for (unsigned i = 0; i < count; i++) {
        ms = gpu_ramp_do(ramp, work, mhz);
        gpu_ramp_rest(ramp, rest_ms);
    }
    return ms;
}

static void test_light_work_stays(void)
{
    const struct gpu_ramp_work work = {0.2, 0.8 * 396};
    struct gpu_ramp ramp;
    double mhz;
    gpu_ramp_wake(&ramp, &recorded, &m1);
    CHECK(fabs(rounds(&ramp, 1000, &work, 0.25, &mhz) - 1) < 1e-9 && fabs(mhz - 396) < 1e-9, "busy for 80 %%: %g MHz", mhz);
    CHECK(rounds(&ramp, 1000, &work, 0.05, &mhz) < 0.5 && mhz > 1200, "busy for 95 %%: %g MHz", mhz);
    gpu_ramp_rest(&ramp, 2.1);
    CHECK(gpu_ramp_mhz(&ramp) == 396, "switched off: %g MHz", gpu_ramp_mhz(&ramp));
}

/* Work that is too much at the base clock and too little at the highest: it is held near the target. */
static void test_target_is_held(void)
{
    const struct gpu_ramp_work work = {0, 2 * 396};
    struct gpu_ramp ramp;
    double busy = 0, all = 0;
    gpu_ramp_wake(&ramp, &recorded, &m1);
    rounds(&ramp, 200, &work, 0.2, NULL);
    for (unsigned i = 0; i < 2000; i++) {
        const double ms = gpu_ramp_do(&ramp, &work, NULL);
        gpu_ramp_rest(&ramp, 0.2);
        busy += ms;
        all += ms + 0.2;
    }
    CHECK(fabs(busy / all - 0.85) < 0.03, "busy for %g of the time", busy / all);
}

static void test_limits(void)
{
    const struct opp_table one = {.point = {{1000, 0.9, 0, false}}, .count = 1};
    struct gpu_control_params p = recorded;
    struct gpu_ramp ramp;
    double mhz;
    p.base_state = 40; /* more than there are */
    p.use_first_ms = 0;
    gpu_ramp_wake(&ramp, &p, &one);
    const struct gpu_ramp_work work = {3, 50000}, none = {0, 0}, fixed = {7, 0};
    CHECK(fabs(gpu_ramp_do(&ramp, &work, &mhz) - 53) < 1e-9 && fabs(mhz - 1000) < 1e-9, "%g MHz", mhz);
    CHECK(gpu_ramp_do(&ramp, &none, &mhz) == 0 && mhz == 1000, "%g MHz", mhz);
    CHECK(fabs(gpu_ramp_do(&ramp, &fixed, &mhz) - 7) < 1e-9 && mhz == 1000, "%g MHz", mhz);
}

static const struct suite_test tests[] = {{"waking up", test_waking_up},
                                          {"light work stays at the base clock", test_light_work_stays},
                                          {"the target is held", test_target_is_held},
                                          {"limits", test_limits}};
SUITE_MAIN("gpu_ramp", tests)
