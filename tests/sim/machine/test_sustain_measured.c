/* Machines against measurements: a MacBook Air M1 under Cinebench, and the fan of a 13-inch MacBook Pro. */
#include "isa/array_count.h"
#include "sim/machine/thermal/device_curve.h"
#include "tests/sim/sustain_example.h"

#include <stdio.h>

#define CURVE ORCHARD_SOURCE_DIR "/sim/prove/tables/curve-macbook-air-m1.csv"

struct curve {
    double time_s[400], watts[400], celsius[400];
    size_t count;
};

static bool load_curve(struct curve *c)
{
    char line[200];

    c->count = 0;
    FILE *const file = fopen(CURVE, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file) && c->count < 400)
        c->count += sscanf(line, "%lf,%lf,%lf", &c->time_s[c->count], &c->watts[c->count], &c->celsius[c->count]) == 3;
    fclose(file);
    return c->count > 100;
}

static void test_open_loop_follows_the_measured_air(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct device_curve curve;
    struct device_curve_score score;
    struct orch_error error = {0};
    static char text[1 << 16];

    FILE *const file = fopen(CURVE, "r");
    CU_ASSERT_PTR_NOT_NULL(file);
    if (file) {
        const size_t size = fread(text, 1, sizeof text, file);
        fclose(file);
        CU_ASSERT_TRUE_FATAL(device_curve_recognise(text, size) && device_curve_parse("curve", text, size, &curve, &error));
        CU_ASSERT_TRUE(device_curve_score(&curve, s.chip, s.setup.device, &score, &error));
        CHECK(score.rmse_k <= 1, "root mean square error %.3f K", score.rmse_k);
        device_curve_free(&curve);
    }
    sustain_scene_close(&s);
}

static void test_wrong_curves_are_named(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"time_s,soc_power_W,soc_temp_C\n0,1,20\n0,1,21\n", "c:3: times must rise"},
        {"time_s,soc_power_W,soc_temp_C\n0,1,20\n5,-1,21\n", "c:3"},
        {"time_s,soc_power_W,soc_temp_C\n0,1\n", "c:2: expected"},
        {"time_s,soc_power_W,soc_temp_C\n0,1,20\n", "at least two"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct orch_error error = {0};
        struct device_curve curve;
        CU_ASSERT_FALSE(device_curve_parse("c", cases[i].text, strlen(cases[i].text), &curve, &error));
        CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, cases[i].expected), "case %zu: %s", i, error.text);
    }
}

static void test_closed_loop_follows_the_measured_air(void)
{
    struct curve c;
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct sustain_result r;
    double sum = 0;
    size_t n = 0;

    if (!load_curve(&c)) {
        suite_skip("no measured curve beside the checkout");
        sustain_scene_close(&s);
        return;
    }
    s.setup.start_c = c.celsius[0];
    s.setup.begin_s = 64; /* the middle of the measured rise */
    s.setup.duration_s = 657;
    s.setup.end_s = 1660;
    s.setup.sample_s = 5;
    if (sustain_scene_run(&s, &r)) {
        for (size_t i = 1; i < c.count; i++) {
            const size_t k = (size_t)(c.time_s[i] / 5 + 0.5) - 1;
            if (k < r.samples) {
                sum += (r.sample[k].mean_c - c.celsius[i]) * (r.sample[k].mean_c - c.celsius[i]);
                n++;
            }
        }
        CHECK(sqrt(sum / (double)n) <= 2.5, "root mean square error %.3f K", sqrt(sum / (double)n));
        CHECK(fabs(r.onset_s - 64 - 75) <= 15, "clocks fall after %.1f s", r.onset_s - 64);
        const struct sustain_sample *const last = &r.sample[(size_t)(655 / 5) - 1];
        CHECK(fabs(last->watts[POWER_P_CPU] / 8.8 - 1) <= 0.08, "P cluster at ten minutes %.2f W", last->watts[POWER_P_CPU]);
        CHECK(fabs(last->mhz[POWER_P_CPU] / 2450 - 1) <= 0.08, "P cluster at ten minutes %.0f MHz", last->mhz[POWER_P_CPU]);
        const struct sustain_sample *const first = &r.sample[90 / 5];
        CHECK(fabs(first->watts[POWER_P_CPU] / 14 - 1) <= 0.08 && fabs(first->mhz[POWER_P_CPU] - 2988) < 1,
              "P cluster at the beginning %.2f W, %.0f MHz", first->watts[POWER_P_CPU], first->mhz[POWER_P_CPU]);
        CHECK(fabs(r.heat_in_j - r.heat_out_j - r.heat_stored_j) <= 1e-9 * (r.heat_in_j + r.heat_out_j),
              "%.12g J in, %.12g out, %.12g stored", r.heat_in_j, r.heat_out_j, r.heat_stored_j);
        sustain_result_free(&r);
    }
    sustain_scene_close(&s);
}

static void test_a_fan_keeps_the_clocks(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-pro-13");
    struct sustain_result r;

    if (sustain_scene_run(&s, &r)) {
        CHECK(r.throttled_s == 0 && fabs(r.last_mhz[POWER_P_CPU] - 2988) < 1, "throttled for %.1f s", r.throttled_s);
        /* 13-inch MacBook Pro: 68 degC at 15.5 W with the fan at 2500 to 4300 rpm. */
        const struct sustain_sample *const last = &r.sample[r.samples - 1];
        CHECK(fabs(last->mean_c - 68) < 6 && last->fan_rpm >= 2500 && last->fan_rpm <= 5000, "%.1f C at %.0f rpm", last->mean_c,
              last->fan_rpm);
        sustain_result_free(&r);
    }
    sustain_scene_close(&s);
}

static const struct suite_test tests[] = {
    {"the open loop stays within 1 K of a measured MacBook Air", test_open_loop_follows_the_measured_air},
    {"wrong curves are refused by line", test_wrong_curves_are_named},
    {"the closed loop has the temperatures, clocks and watts of a measured MacBook Air",
     test_closed_loop_follows_the_measured_air},
    {"a fan keeps the clocks up", test_a_fan_keeps_the_clocks},
};
SUITE_MAIN("sustain measured", tests)
