/* The closed loop of clocks, power and heat: against itself with short steps, sharing, transitions of clocks, moved work. */
#include "tests/sim/sustain_example.h"

/* Long steps may change a temperature by at most half a kelvin and an energy by at most half a percent. */
static void test_long_steps_keep_their_stated_error(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    struct sustain_result fine, coarse;

    s.setup.duration_s = 240;
    s.setup.sample_s = 5;
    s.setup.step_max_s = 0.01;
    if (sustain_scene_run(&s, &fine)) {
        s.setup.step_max_s = 0;
        if (sustain_scene_run(&s, &coarse)) {
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
    sustain_scene_close(&s);
}

/* Every chip, in every machine that has it, runs ten minutes of load on all cores. */
static void test_every_machine_runs(void)
{
    struct orch_error error = {0};
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");

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
    sustain_scene_close(&s);
}

/* Two workloads ask for 30 and 60 of 60 GB/s and get their fair 30 each. At half the clock of the second one both fit. */
static void test_workloads_share_what_is_full(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
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
    if (sustain_scene_run(&s, &both)) {
        CU_ASSERT_DOUBLE_EQUAL(both.pace[0], 1, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(both.pace[1], 0.5, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(both.repetitions[0], 20, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(both.repetitions[1], 10, 1e-6);
    }
    s.setup.asked_mhz[POWER_GPU] = 639;
    if (sustain_scene_run(&s, &slow)) {
        CU_ASSERT_DOUBLE_EQUAL(slow.pace[1], 1, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(slow.repetitions[1], 10, 1e-6); /* as many repetitions, at the lower clock, with less energy */
        CHECK(slow.joules[POWER_GPU] < 0.8 * both.joules[POWER_GPU], "%g J, %g at the full clock", slow.joules[POWER_GPU],
              both.joules[POWER_GPU]);
        CU_ASSERT_DOUBLE_EQUAL(slow.joules[POWER_DRAM], both.joules[POWER_DRAM], 0.02 * both.joules[POWER_DRAM]);
    }
    s.setup.profiles = 1;
    if (sustain_scene_run(&s, &alone)) {
        CU_ASSERT_DOUBLE_EQUAL(alone.repetitions[0], 20, 1e-6);
        CHECK(alone.joules[POWER_P_CPU] <= both.joules[POWER_P_CPU], "the same work costs %g and %g J", alone.joules[POWER_P_CPU],
              both.joules[POWER_P_CPU]);
    }
    sustain_result_free(&both);
    sustain_result_free(&slow);
    sustain_result_free(&alone);
    sustain_scene_close(&s);
}

/* Between two operating points of the P cores (2064 and 2388 MHz): two changes every 8 ms, each with the transition of its
 * target. At an operating point: no change. */
static void test_changes_of_clock_cost_time(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
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
    if (sustain_scene_run(&s, &on)) {
        CU_ASSERT_EQUAL(on.clock_changes, 0);
        CU_ASSERT_DOUBLE_EQUAL(on.repetitions[0], 10 * low->mhz / 2988, 1e-6);
    }
    s.setup.asked_mhz[POWER_P_CPU] = middle;
    if (sustain_scene_run(&s, &between)) {
        const double up = stop + (1 - stop) * (1 - low->mhz / high->mhz);
        const double lost = 1e-6 * (high->switch_us * up + low->switch_us * stop) / period_s;
        CHECK(low->switch_us > 10 && high->switch_us > 10, "transitions of %g and %g us", low->switch_us, high->switch_us);
        CU_ASSERT_DOUBLE_EQUAL(between.clock_changes, 2 * 10 / period_s, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(between.clock_change_s, 10 * lost, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(between.repetitions[0], 10 * middle / 2988 * (1 - lost), 1e-6);
    }
    sustain_result_free(&on);
    sustain_result_free(&between);
    /* Each raced repetition climbs from the lowest operating point. */
    s.setup.policy = GOVERNOR_RACE_TO_IDLE;
    s.setup.target_s = 2;
    if (sustain_scene_run(&s, &on)) {
        const double last_us = table.point[opp_at_most(&table, 2988.5)].switch_us;
        CU_ASSERT_DOUBLE_EQUAL(on.clock_changes, 5, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(on.clock_change_s, 5e-6 * last_us * (stop + (1 - stop) * (1 - table.point[0].mhz / 2988)), 1e-9);
        sustain_result_free(&on);
    }
    sustain_scene_close(&s);
}

/* Four busy P cores, whose work can also go to four E cores at a third of the pace. */
static void test_work_moves_to_the_e_cores(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
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
    if (sustain_scene_run(&s, &stays))
        CU_ASSERT_EQUAL(stays.steered_s, 0);
    s.setup.steering = STEER_ALWAYS;
    if (sustain_scene_run(&s, &moves)) {
        CU_ASSERT_DOUBLE_EQUAL(moves.steered_s, 120, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(moves.repetitions[0], 40 - s.setup.device->governor.steer_us * 1e-6 / 3, 1e-6);
        CHECK(moves.joules[POWER_P_CPU] < 0.02 * stays.joules[POWER_P_CPU], "%g J in the P cores", moves.joules[POWER_P_CPU]);
        CHECK(moves.celsius_max < stays.celsius_max - 20, "%g C, %g otherwise", moves.celsius_max, stays.celsius_max);
    }
    /* In a hot room the work moves back and forth. */
    s.setup.steering = STEER_HOT;
    s.setup.ambient_c = 60;
    s.setup.duration_s = 1200;
    if (sustain_scene_run(&s, &hot))
        CHECK(hot.steered_s > 60 && hot.steered_s < 1140, "%g of 1200 s on the E cores", hot.steered_s);
    sustain_result_free(&stays);
    sustain_result_free(&moves);
    sustain_result_free(&hot);
    sustain_scene_close(&s);
}

static void test_impossible_setups_are_refused(void)
{
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
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
    sustain_scene_close(&s);
}

static const struct suite_test tests[] = {
    {"long steps keep their stated error", test_long_steps_keep_their_stated_error},
    {"every chip runs in every machine that has it", test_every_machine_runs},
    {"workloads share a full resource", test_workloads_share_what_is_full},
    {"clock changes cost time", test_changes_of_clock_cost_time},
    {"work moves to the E cores", test_work_moves_to_the_e_cores},
    {"impossible setups are refused", test_impossible_setups_are_refused},
};
SUITE_MAIN("sustain", tests)
