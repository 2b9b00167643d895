/* The closed loop of clocks, power, heat and battery: against a measured curve, against itself with short steps, and its laws. */
#include "isa/array_count.h"
#include "sim/chip/chip_power.h"
#include "sim/machine/sustain/sustain.h"
#include "sim/machine/thermal/device_curve.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chip, machine and a load on all cores, of which the energy of events is what eight busy cores of an M1 need to draw the 15.4 W
 * that were measured before the clocks fell. */
struct scene {
    struct chip_db *db;
    struct chip *chip;
    struct device_list devices;
    struct power_profile load;
    struct sustain_setup setup;
};

static struct scene scene(const char *chip, const char *device)
{
    struct orch_error error = {0};
    struct scene s = {.db = chip_db_open(NULL, &error)};

    CU_ASSERT_PTR_NOT_NULL_FATAL(s.db);
    s.chip = chip_open(s.db, chip, NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s.chip);
    CU_ASSERT_TRUE_FATAL(device_list_load(NULL, &s.devices, &error));
    s.load = (struct power_profile){.driver = POWER_P_CPU,
                                    .mhz = 2988,
                                    .seconds = 1,
                                    .slices = {[POWER_P_CPU] = 4, [POWER_E_CPU] = 4},
                                    .running_s = {[POWER_P_CPU] = 4, [POWER_E_CPU] = 4},
                                    .shared_running_s = {[POWER_P_CPU] = 1, [POWER_E_CPU] = 1},
                                    .event_j = {[POWER_P_CPU] = 11.35, [POWER_E_CPU] = 0.98, [POWER_DRAM] = 0.02}};
    s.setup = (struct sustain_setup){.chip = s.chip,
                                     .device = device_find(&s.devices, device, chip_id(s.chip), &error),
                                     .ambient_c = 23,
                                     .start_c = NAN,
                                     .profiles = 1,
                                     .duration_s = 600,
                                     .policy = GOVERNOR_PERFORMANCE};
    CHECK(s.setup.device != NULL, "%s", error.text);
    return s;
}

static void close_scene(struct scene *s)
{
    device_list_free(&s->devices);
    chip_close(s->chip);
    chip_db_close(s->db);
}

static bool run(struct scene *s, struct sustain_result *result)
{
    struct orch_error error = {0};
    s->setup.profile[0] = &s->load;
    const bool ok = sustain_run(&s->setup, result, &error);
    CHECK(ok, "%s", error.text);
    return ok;
}

struct curve {
    double time_s[400], watts[400], celsius[400];
    size_t count;
};

static bool load_curve(struct curve *c)
{
    const char *const path = suite_shared("vectors/thermal/m1air_cinebench/curve.csv");
    char line[200];

    c->count = 0;
    FILE *const file = path ? fopen(path, "r") : NULL;
    if (!file)
        return false;
    while (fgets(line, sizeof line, file) && c->count < 400)
        c->count += sscanf(line, "%lf,%lf,%lf", &c->time_s[c->count], &c->watts[c->count], &c->celsius[c->count]) == 3;
    fclose(file);
    return c->count > 100;
}

static void test_open_loop_follows_the_measured_air(void)
{
    const char *const path = suite_shared("vectors/thermal/m1air_cinebench/curve.csv");
    struct scene s = scene("m1", "macbook-air");
    struct device_curve curve;
    struct device_curve_score score;
    struct orch_error error = {0};
    static char text[1 << 16];

    FILE *const file = path ? fopen(path, "r") : NULL;
    if (!file) {
        suite_skip("no measured curve beside the checkout");
    } else {
        const size_t size = fread(text, 1, sizeof text, file);
        fclose(file);
        CU_ASSERT_TRUE_FATAL(device_curve_recognise(text, size) && device_curve_parse("curve", text, size, &curve, &error));
        CU_ASSERT_TRUE(device_curve_score(&curve, s.chip, s.setup.device, &score, &error));
        CHECK(score.rmse_k <= 1, "root mean square error %.3f K", score.rmse_k);
        device_curve_free(&curve);
    }
    close_scene(&s);
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
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result r;
    double sum = 0;
    size_t n = 0;

    if (!load_curve(&c)) {
        suite_skip("no measured curve beside the checkout");
        close_scene(&s);
        return;
    }
    s.setup.start_c = c.celsius[0];
    s.setup.begin_s = 64; /* the middle of the measured rise */
    s.setup.duration_s = 657;
    s.setup.end_s = 1660;
    s.setup.sample_s = 5;
    if (run(&s, &r)) {
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
    close_scene(&s);
}

/* Growing steps may move a temperature by half a kelvin and an energy by half a percent, not more. */
static void test_long_steps_keep_their_stated_error(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result fine, coarse;

    s.setup.duration_s = 240;
    s.setup.sample_s = 5;
    s.setup.step_max_s = 0.01;
    if (run(&s, &fine)) {
        s.setup.step_max_s = 0;
        if (run(&s, &coarse)) {
            double worst = 0, j_fine = 0, j_coarse = 0;
            CHECK(coarse.samples == fine.samples && coarse.steps * 5 < fine.steps, "%zu steps for %zu", coarse.steps, fine.steps);
            for (size_t i = 0; i < fine.samples && i < coarse.samples; i++)
                worst = fmax(worst, fabs(fine.sample[i].mean_c - coarse.sample[i].mean_c));
            for (int d = 0; d < POWER_DOMAIN_COUNT; d++) {
                j_fine += fine.joules[d];
                j_coarse += coarse.joules[d];
            }
            CHECK(worst < 0.5, "mean temperature differs by %.3f K", worst);
            CHECK(fabs(j_coarse / j_fine - 1) < 0.005, "energy differs by %.3f %%", 100 * (j_coarse / j_fine - 1));
            sustain_result_free(&coarse);
        }
        sustain_result_free(&fine);
    }
    close_scene(&s);
}

static void test_a_fan_keeps_the_clocks(void)
{
    struct scene s = scene("m1", "macbook-pro-13");
    struct sustain_result r;

    if (run(&s, &r)) {
        CHECK(r.throttled_s == 0 && fabs(r.last_mhz[POWER_P_CPU] - 2988) < 1, "throttled for %.1f s", r.throttled_s);
        /* 13-inch Pro: 68 C at 15.5 W with the fan at 2500 to 4300 rpm. */
        const struct sustain_sample *const last = &r.sample[r.samples - 1];
        CHECK(fabs(last->mean_c - 68) < 6 && last->fan_rpm >= 2500 && last->fan_rpm <= 5000, "%.1f C at %.0f rpm", last->mean_c,
              last->fan_rpm);
        sustain_result_free(&r);
    }
    close_scene(&s);
}

static void test_power_cap_and_low_power_mode(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result r;

    s.setup.power_cap_w = 8;
    if (run(&s, &r)) {
        double watts = 0;
        for (int d = 0; d < POWER_DOMAIN_COUNT; d++)
            watts += r.sample[r.samples - 1].watts[d];
        CHECK(fabs(watts - 8) < 0.2, "%.2f W under a cap of 8", watts);
        sustain_result_free(&r);
    }
    s.setup.power_cap_w = 0;
    s.setup.low_power = true;
    if (run(&s, &r)) {
        CHECK(fabs(r.last_mhz[POWER_P_CPU] - 0.6 * 2988) < 1, "low-power mode at %.0f MHz", r.last_mhz[POWER_P_CPU]);
        sustain_result_free(&r);
    }
    close_scene(&s);
}

static void test_the_safe_clock_can_be_held(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result r;
    struct orch_error error = {0};
    double mhz;

    s.setup.profile[0] = &s.load;
    CU_ASSERT_TRUE_FATAL(sustain_safe_mhz(&s.setup, &mhz, &error));
    CHECK(mhz > 1000 && mhz < 2900, "safe clock %.0f MHz", mhz);
    s.setup.policy = GOVERNOR_THERMAL_SAFE;
    s.setup.asked_mhz[POWER_P_CPU] = mhz;
    s.setup.duration_s = 4 * 3600;
    if (run(&s, &r)) {
        CHECK(r.throttled_s == 0, "throttled for %.1f s at %.0f MHz", r.throttled_s, mhz);
        CHECK(fabs(r.sample[r.samples - 1].mean_c - 75) < 0.5, "%.2f C after four hours", r.sample[r.samples - 1].mean_c);
        sustain_result_free(&r);
    }
    close_scene(&s);
}

/* The same work in the same time: pacing takes less energy than racing to idle, as voltage falls with the clock. */
static void test_pace_beats_race_in_energy(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result race, pace;

    s.setup.target_s = 1.6;
    s.setup.duration_s = 60;
    s.setup.policy = GOVERNOR_RACE_TO_IDLE;
    if (run(&s, &race)) {
        s.setup.policy = GOVERNOR_PACE;
        if (run(&s, &pace)) {
            CHECK(fabs(race.repetitions[0] - 60 / 1.6) < 0.1 && fabs(pace.repetitions[0] - 60 / 1.6) < 0.5,
                  "%.2f and %.2f repetitions", race.repetitions[0], pace.repetitions[0]);
            CHECK(pace.joules[POWER_P_CPU] < 0.9 * race.joules[POWER_P_CPU], "%.1f J paced, %.1f raced", pace.joules[POWER_P_CPU],
                  race.joules[POWER_P_CPU]);
            sustain_result_free(&pace);
        }
        sustain_result_free(&race);
    }
    close_scene(&s);
}

static void test_battery_ends_the_run(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result r;

    s.setup.on_battery = true;
    s.setup.battery_percent = 1;
    s.setup.duration_s = 3600;
    if (run(&s, &r)) {
        CHECK(r.battery_empty && r.seconds < 200 && r.seconds > 60, "empty after %.1f s", r.seconds);
        sustain_result_free(&r);
    }
    close_scene(&s);
}

/* Every chip in every machine that has it, ten minutes of all cores. */
static void test_every_machine_runs(void)
{
    struct orch_error error = {0};
    struct scene s = scene("m1", "macbook-air");

    for (size_t i = 0; i < s.devices.count; i++)
        for (unsigned c = 0; c < s.devices.device[i].chips; c++) {
            struct chip *const chip = chip_open(s.db, s.devices.device[i].chip[c], NULL, &error);
            unsigned slices[POWER_DOMAIN_COUNT];
            struct sustain_setup setup = s.setup;
            struct power_profile load = s.load;
            struct sustain_result r;
            CHECK(chip && chip_power_slices(chip, slices, &error), "%s", error.text);
            if (!chip)
                continue;
            load.slices[POWER_P_CPU] = slices[POWER_P_CPU];
            load.running_s[POWER_P_CPU] = slices[POWER_P_CPU];
            load.event_j[POWER_P_CPU] = 2.1 * slices[POWER_P_CPU];
            setup.chip = chip;
            setup.device = &s.devices.device[i];
            setup.profile[0] = &load;
            const bool ok = sustain_run(&setup, &r, &error);
            CHECK(ok, "%s in %s: %s", chip_id(chip), setup.device->id, error.text);
            if (ok) {
                CHECK(!r.emergency && r.celsius_max < setup.device->governor.critical_c && r.celsius_max > 30, "%s in %s: %.1f C",
                      chip_id(chip), setup.device->id, r.celsius_max);
                sustain_result_free(&r);
            }
            chip_close(chip);
        }
    close_scene(&s);
}

/* Two workloads want 30 and 60 GB/s of 60 where each would have half: 30 and 30. With the clock of the second at a half both fit.
 */
static void test_workloads_share_what_is_full(void)
{
    struct scene s = scene("m1", "macbook-air");
    const struct fair_resource dram = {"dram", 60, 0};
    const enum power_domain by = POWER_DOMAIN_COUNT;
    const double bytes[] = {30e9, 60e9};
    const struct power_profile gpu = {.driver = POWER_GPU,
                                      .mhz = 1278,
                                      .seconds = 1,
                                      .slices = {[POWER_GPU] = 8},
                                      .dram_bytes = 60e9,
                                      .running_s = {[POWER_GPU] = 8},
                                      .event_j = {[POWER_GPU] = 2, [POWER_DRAM] = 1}};
    const struct sustain_sharing sharing = {
        .resource = &dram, .resources = 1, .clocked_by = &by, .demand = {{.bytes = &bytes[0]}, {.bytes = &bytes[1]}}};
    struct sustain_result both, slow, alone;
    s.load.slices[POWER_E_CPU] = 0;
    s.setup.profile[1] = &gpu;
    s.setup.profiles = 2;
    s.setup.sharing = &sharing;
    s.setup.duration_s = 20;
    s.setup.policy = GOVERNOR_FIXED;
    s.setup.asked_mhz[POWER_P_CPU] = 2988;
    if (run(&s, &both)) {
        CU_ASSERT_DOUBLE_EQUAL(both.pace[0], 1, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(both.pace[1], 0.5, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(both.repetitions[0], 20, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(both.repetitions[1], 10, 1e-6);
    }
    s.setup.asked_mhz[POWER_GPU] = 639;
    if (run(&s, &slow)) {
        CU_ASSERT_DOUBLE_EQUAL(slow.pace[1], 1, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(slow.repetitions[1], 10, 1e-6); /* as many, at the lower clock, with less energy */
        CHECK(slow.joules[POWER_GPU] < 0.8 * both.joules[POWER_GPU], "%g J, %g at the full clock", slow.joules[POWER_GPU],
              both.joules[POWER_GPU]);
        CU_ASSERT_DOUBLE_EQUAL(slow.joules[POWER_DRAM], both.joules[POWER_DRAM], 0.02 * both.joules[POWER_DRAM]);
    }
    s.setup.profiles = 1;
    if (run(&s, &alone)) {
        CU_ASSERT_DOUBLE_EQUAL(alone.repetitions[0], 20, 1e-6);
        CHECK(alone.joules[POWER_P_CPU] <= both.joules[POWER_P_CPU], "the same work costs %g and %g J", alone.joules[POWER_P_CPU],
              both.joules[POWER_P_CPU]);
    }
    sustain_result_free(&both);
    sustain_result_free(&slow);
    sustain_result_free(&alone);
    close_scene(&s);
}

/* Between two points of the P cores (2064 and 2388 MHz have some in between): two changes every 8 ms, each with the transition of
 * its target. On a point: none. */
static void test_changes_of_clock_cost_time(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct orch_error error = {0};
    struct opp_table table;
    struct sustain_result on, between;
    CU_ASSERT_TRUE_FATAL(chip_opp_table(s.chip, POWER_P_CPU, &table, &error));
    const struct opp *const low = &table.point[7], *const high = &table.point[8];
    const double middle = (low->mhz + high->mhz) / 2, stop = s.setup.device->governor.switch_stop;
    const double period_s = s.setup.device->governor.alternate_ms * 1e-3;
    s.setup.policy = GOVERNOR_FIXED;
    s.setup.duration_s = 10;
    s.setup.asked_mhz[POWER_P_CPU] = low->mhz;
    if (run(&s, &on)) {
        CU_ASSERT_EQUAL(on.clock_changes, 0);
        CU_ASSERT_DOUBLE_EQUAL(on.repetitions[0], 10 * low->mhz / 2988, 1e-6);
    }
    s.setup.asked_mhz[POWER_P_CPU] = middle;
    if (run(&s, &between)) {
        const double up = stop + (1 - stop) * (1 - low->mhz / high->mhz);
        const double lost = 1e-6 * (high->switch_us * up + low->switch_us * stop) / period_s;
        CHECK(low->switch_us > 10 && high->switch_us > 10, "transitions of %g and %g us", low->switch_us, high->switch_us);
        CU_ASSERT_DOUBLE_EQUAL(between.clock_changes, 2 * 10 / period_s, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(between.clock_change_s, 10 * lost, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(between.repetitions[0], 10 * middle / 2988 * (1 - lost), 1e-6);
    }
    sustain_result_free(&on);
    sustain_result_free(&between);
    /* Every start of a raced repetition climbs from the lowest point. */
    s.setup.policy = GOVERNOR_RACE_TO_IDLE;
    s.setup.target_s = 2;
    if (run(&s, &on)) {
        const double last_us = table.point[opp_at_most(&table, 2988.5)].switch_us;
        CU_ASSERT_DOUBLE_EQUAL(on.clock_changes, 5, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(on.clock_change_s, 5e-6 * last_us * (stop + (1 - stop) * (1 - table.point[0].mhz / 2988)), 1e-9);
        sustain_result_free(&on);
    }
    close_scene(&s);
}

static void test_a_low_battery_saves_power(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result r;

    s.setup.on_battery = s.setup.low_power_auto = true;
    s.setup.battery_percent = 20.3;
    if (run(&s, &r)) {
        CHECK(r.low_power_s > 300 && r.low_power_s < 590, "%g of 600 s in low-power mode", r.low_power_s);
        CHECK(fabs(r.sample[0].mhz[POWER_P_CPU] - 2988) < 1 && fabs(r.last_mhz[POWER_P_CPU] - 0.6 * 2988) < 1, "%g MHz, then %g",
              r.sample[0].mhz[POWER_P_CPU], r.last_mhz[POWER_P_CPU]);
        sustain_result_free(&r);
    }
    s.setup.low_power_auto = false;
    if (run(&s, &r)) {
        CU_ASSERT_EQUAL(r.low_power_s, 0);
        sustain_result_free(&r);
    }
    close_scene(&s);
}

/* Four busy P cores whose work can also go to four E cores at a third of the pace. */
static void test_work_moves_to_the_e_cores(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result stays, moves, hot;
    const struct power_profile there = {.driver = POWER_E_CPU,
                                        .mhz = 2064,
                                        .seconds = 3,
                                        .slices = {[POWER_E_CPU] = 4},
                                        .running_s = {[POWER_E_CPU] = 12},
                                        .shared_running_s = {[POWER_E_CPU] = 3},
                                        .event_j = {[POWER_E_CPU] = 2}};
    s.load.slices[POWER_E_CPU] = 0;
    s.load.running_s[POWER_E_CPU] = s.load.event_j[POWER_E_CPU] = 0;
    s.setup.moved[0] = &there;
    s.setup.duration_s = 120;
    if (run(&s, &stays))
        CU_ASSERT_EQUAL(stays.steered_s, 0);
    s.setup.steering = STEER_ALWAYS;
    if (run(&s, &moves)) {
        CU_ASSERT_DOUBLE_EQUAL(moves.steered_s, 120, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(moves.repetitions[0], 40 - s.setup.device->governor.steer_us * 1e-6 / 3, 1e-6);
        CHECK(moves.joules[POWER_P_CPU] < 0.02 * stays.joules[POWER_P_CPU], "%g J in the P cores", moves.joules[POWER_P_CPU]);
        CHECK(moves.celsius_max < stays.celsius_max - 20, "%g C, %g otherwise", moves.celsius_max, stays.celsius_max);
    }
    /* In a hot room: they come and go. */
    s.setup.steering = STEER_HOT;
    s.setup.ambient_c = 60;
    s.setup.duration_s = 1200;
    if (run(&s, &hot))
        CHECK(hot.steered_s > 60 && hot.steered_s < 1140, "%g of 1200 s on the E cores", hot.steered_s);
    sustain_result_free(&stays);
    sustain_result_free(&moves);
    sustain_result_free(&hot);
    close_scene(&s);
}

/* More than the machine can get rid of, in a room at 60 C: lowest point, least share of the time, and told. */
static void test_beyond_all_limits_is_an_emergency(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result r;

    const struct power_profile burner = {.driver = POWER_E_CPU,
                                         .mhz = 2064,
                                         .seconds = 1,
                                         .fixed_s = 1,
                                         .slices = {[POWER_E_CPU] = 1},
                                         .running_s = {[POWER_E_CPU] = 1},
                                         .event_j = {[POWER_SOC] = 40}}; /* no clock helps against it */
    s.setup.profile[1] = &burner;
    s.setup.profiles = 2;
    s.setup.ambient_c = 60;
    s.setup.duration_s = 120;
    if (run(&s, &r)) {
        CHECK(r.emergency && r.celsius_max > 111, "%g C", r.celsius_max);
        CU_ASSERT_DOUBLE_EQUAL(r.last_mhz[POWER_P_CPU], 600, 1);
        CU_ASSERT_DOUBLE_EQUAL(r.duty_least, s.setup.device->governor.min_duty, 1e-9);
        CU_ASSERT_EQUAL(r.sample[r.samples - 1].pressure, PRESSURE_SLEEPING);
        sustain_result_free(&r);
    }
    close_scene(&s);
}

static void test_impossible_setups_are_refused(void)
{
    struct scene s = scene("m1", "macbook-air");
    struct sustain_result r;
    struct orch_error error = {0};

    s.setup.profile[0] = &s.load;
    s.setup.duration_s = -1;
    CU_ASSERT_FALSE(sustain_run(&s.setup, &r, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    s.setup.duration_s = 10;
    s.setup.policy = GOVERNOR_PACE;
    CU_ASSERT_FALSE(sustain_run(&s.setup, &r, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "target"));
    close_scene(&s);
}

static const struct suite_test tests[] = {
    {"open loop: within 1 K of a measured MacBook Air", test_open_loop_follows_the_measured_air},
    {"wrong curves are named", test_wrong_curves_are_named},
    {"closed loop: temperatures, clocks and watts of a measured MacBook Air", test_closed_loop_follows_the_measured_air},
    {"long steps keep their stated error", test_long_steps_keep_their_stated_error},
    {"a fan keeps the clocks", test_a_fan_keeps_the_clocks},
    {"power cap and low-power mode", test_power_cap_and_low_power_mode},
    {"the safe clock can be held", test_the_safe_clock_can_be_held},
    {"pace beats race in energy", test_pace_beats_race_in_energy},
    {"an empty battery ends the run", test_battery_ends_the_run},
    {"every chip runs in every machine that has it", test_every_machine_runs},
    {"workloads share what is full", test_workloads_share_what_is_full},
    {"changes of clock cost time", test_changes_of_clock_cost_time},
    {"a low battery saves power", test_a_low_battery_saves_power},
    {"work moves to the E cores", test_work_moves_to_the_e_cores},
    {"beyond all limits is an emergency", test_beyond_all_limits_is_an_emergency},
    {"impossible setups are refused", test_impossible_setups_are_refused},
};
SUITE_MAIN("sustain", tests)
