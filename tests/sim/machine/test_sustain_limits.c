/* What limits a machine: power caps, the safe clock, policies, batteries, and heat that no clock can prevent. */
#include "tests/sim/sustain_example.h"

static void test_power_cap_and_low_power_mode(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct sustain_result r;

    s.setup.power_cap_w = 8;
    if (sustain_scene_run(&s, &r)) {
        double watts = 0;
        for (int d = 0; d < POWER_DOMAIN_COUNT; d++)
            watts += r.sample[r.samples - 1].watts[d];
        CHECK(fabs(watts - 8) < 0.2, "%.2f W under a cap of 8", watts);
        sustain_result_free(&r);
    }
    s.setup.power_cap_w = 0;
    s.setup.low_power = true;
    if (sustain_scene_run(&s, &r)) {
        CHECK(fabs(r.last_mhz[POWER_P_CPU] - 0.6 * 2988) < 1, "low-power mode at %.0f MHz", r.last_mhz[POWER_P_CPU]);
        sustain_result_free(&r);
    }
    sustain_scene_close(&s);
}

static void test_the_safe_clock_can_be_held(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct sustain_result r;
    struct orch_error error = {0};
    double clocks[POWER_DOMAIN_COUNT];

    s.setup.profile[0] = &s.load;
    CU_ASSERT_TRUE_FATAL(sustain_safe_clocks(&s.setup, clocks, &error));
    const double mhz = clocks[s.load.driver];
    CHECK(mhz > 1000 && mhz < 2900, "safe clock %.0f MHz", mhz);
    s.setup.policy = GOVERNOR_THERMAL_SAFE;
    s.setup.asked_mhz[POWER_P_CPU] = mhz;
    s.setup.duration_s = 4 * 3600;
    if (sustain_scene_run(&s, &r)) {
        CHECK(r.throttled_s == 0, "throttled for %.1f s at %.0f MHz", r.throttled_s, mhz);
        CHECK(fabs(r.sample[r.samples - 1].mean_c - 75) < 0.5, "%.2f C after four hours", r.sample[r.samples - 1].mean_c);
        sustain_result_free(&r);
    }
    sustain_scene_close(&s);
}

/* For the same work in the same time, pacing takes less energy than racing to idle, because the voltage falls with the clock. */
static void test_pace_beats_race_in_energy(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct sustain_result race, pace;

    s.setup.target_s = 1.6;
    s.setup.duration_s = 60;
    s.setup.policy = GOVERNOR_RACE_TO_IDLE;
    if (sustain_scene_run(&s, &race)) {
        s.setup.policy = GOVERNOR_PACE;
        if (sustain_scene_run(&s, &pace)) {
            CHECK(fabs(race.repetitions[0] - 60 / 1.6) < 0.1 && fabs(pace.repetitions[0] - 60 / 1.6) < 0.5,
                  "%.2f and %.2f repetitions", race.repetitions[0], pace.repetitions[0]);
            CHECK(pace.joules[POWER_P_CPU] < 0.9 * race.joules[POWER_P_CPU], "%.1f J paced, %.1f raced", pace.joules[POWER_P_CPU],
                  race.joules[POWER_P_CPU]);
            sustain_result_free(&pace);
        }
        sustain_result_free(&race);
    }
    sustain_scene_close(&s);
}

static void test_battery_ends_the_run(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct sustain_result r;

    s.setup.on_battery = true;
    s.setup.battery_percent = 1;
    s.setup.duration_s = 3600;
    if (sustain_scene_run(&s, &r)) {
        CHECK(r.battery_empty && r.seconds < 200 && r.seconds > 60, "empty after %.1f s", r.seconds);
        sustain_result_free(&r);
    }
    sustain_scene_close(&s);
}

static void test_a_low_battery_saves_power(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct sustain_result r;

    s.setup.on_battery = s.setup.low_power_auto = true;
    s.setup.battery_percent = 20.3;
    if (sustain_scene_run(&s, &r)) {
        CHECK(r.low_power_s > 300 && r.low_power_s < 590, "%g of 600 s in low-power mode", r.low_power_s);
        CHECK(fabs(r.sample[0].mhz[POWER_P_CPU] - 2988) < 1 && fabs(r.last_mhz[POWER_P_CPU] - 0.6 * 2988) < 1, "%g MHz, then %g",
              r.sample[0].mhz[POWER_P_CPU], r.last_mhz[POWER_P_CPU]);
        sustain_result_free(&r);
    }
    s.setup.low_power_auto = false;
    if (sustain_scene_run(&s, &r)) {
        CU_ASSERT_EQUAL(r.low_power_s, 0);
        sustain_result_free(&r);
    }
    sustain_scene_close(&s);
}

/* More power than the machine can dissipate in a room at 60 degC: lowest point, least duty, and an emergency is reported. */
static void test_beyond_all_limits_is_an_emergency(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct sustain_result r;

    const struct power_profile burner = {.driver = POWER_E_CPU,
                                         .mhz = 2064,
                                         .seconds = 1,
                                         .fixed_s = 1,
                                         .slices = {[POWER_E_CPU] = 1},
                                         .running_s = {[POWER_E_CPU] = 1},
                                         .event_j = {[POWER_SOC] = 40}}; /* no clock reduces it */
    s.setup.profile[1] = &burner;
    s.setup.profiles = 2;
    s.setup.ambient_c = 60;
    s.setup.duration_s = 120;
    if (sustain_scene_run(&s, &r)) {
        CHECK(r.emergency && r.celsius_max > 111, "%g C", r.celsius_max);
        CU_ASSERT_DOUBLE_EQUAL(r.last_mhz[POWER_P_CPU], 600, 1);
        CU_ASSERT_DOUBLE_EQUAL(r.duty_least, s.setup.device->governor.min_duty, 1e-9);
        CU_ASSERT_EQUAL(r.sample[r.samples - 1].pressure, PRESSURE_SLEEPING);
        sustain_result_free(&r);
    }
    sustain_scene_close(&s);
}

static const struct suite_test tests[] = {
    {"a power cap and low-power mode limit the clock", test_power_cap_and_low_power_mode},
    {"the safe clock can be held", test_the_safe_clock_can_be_held},
    {"pace beats race in energy", test_pace_beats_race_in_energy},
    {"an empty battery ends the run", test_battery_ends_the_run},
    {"a low battery saves power", test_a_low_battery_saves_power},
    {"beyond all limits is an emergency", test_beyond_all_limits_is_an_emergency},
};
SUITE_MAIN("sustain limits", tests)
