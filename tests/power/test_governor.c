/* The governor's laws, battery arithmetic and the thermal model of machines. */
#include "power/battery.h"
#include "power/governor.h"
#include "power/thermal_device.h"
#include "power/thermal_solver.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct governor_params params = {.tick_ms = 10,
                                              .target_c = 80,
                                              .target_gpu_c = 90,
                                              .band_k = 8,
                                              .fall_per_k = 0.03,
                                              .integral_per_ks = 0.001,
                                              .sensor_limit_c = 95,
                                              .critical_c = 111,
                                              .low_power_share = 0.6,
                                              .limit_fall_per_s = 8,
                                              .limit_rise_per_s = 1,
                                              .balanced_cost = 0.005,
                                              .gpu_grace = 2,
                                              .heavy_share = 0.5,
                                              .min_duty = 0.4};
/* The gains that are recorded for M1. */
static const struct gpu_control_params recorded = {
    .die_target_c = 94, .die_kp = 5, .die_ki = 200, .power_filter_ms = 1000, .power_kp = 4, .power_ki = 7.5, .min_duty = 0.4};
static const struct opp_table p_table = {.point = {{600, 0.6, 8, false}, {1500, 0.74, 24, false}, {3200, 1.0, 56, false}},
                                         .count = 3};
static const struct opp_table gpu_table = {.point = {{400, 0.6, 8, false}, {1300, 0.92, 56, false}}, .count = 2};

struct bench {
    struct governor governor;
    struct governor_demand demand[POWER_DOMAIN_COUNT];
    struct governor_sensors sensors;
    struct governor_limits limits;
    struct governor_answer answer;
};

static struct bench bench(enum governor_policy policy)
{
    struct bench b = {.sensors = {50, 55, 10}};
    governor_init(&b.governor, &params, policy);
    b.demand[POWER_P_CPU] = (struct governor_demand){.table = &p_table, .limit_mhz = 3000, .running = 1};
    b.demand[POWER_GPU] = (struct governor_demand){.table = &gpu_table};
    return b;
}

static void tick(struct bench *b)
{
    governor_tick(&b->governor, 0.01, b->demand, &b->sensors, &b->limits, &b->answer);
}

static void test_cool_chips_run_at_their_limit(void)
{
    struct bench b = bench(GOVERNOR_PERFORMANCE);
    tick(&b);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_P_CPU], 3000, 1e-9);
    CU_ASSERT_FALSE(b.answer.throttled);
    CU_ASSERT_EQUAL(b.answer.pressure, PRESSURE_NOMINAL);
}

static void test_clocks_fall_with_temperature_and_recover(void)
{
    struct bench b = bench(GOVERNOR_PERFORMANCE);
    double last = 1e9;

    for (double c = 70; c <= 100; c += 5) {
        b.governor.integral = 0;
        b.sensors.mean_c = c;
        tick(&b);
        CU_ASSERT_TRUE(b.answer.mhz[POWER_P_CPU] <= last);
        last = b.answer.mhz[POWER_P_CPU];
    }
    CU_ASSERT_TRUE(last < 2000 && b.answer.throttled && b.answer.pressure >= PRESSURE_MODERATE);
    b.sensors.mean_c = 40;
    for (int i = 0; i < 1000; i++)
        tick(&b);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_P_CPU], 3000, 1e-9);
}

static void test_fixed_clocks_only_yield_to_the_emergency(void)
{
    struct bench b = bench(GOVERNOR_FIXED);
    b.demand[POWER_P_CPU].asked_mhz = 2000;
    b.sensors.mean_c = 92;
    tick(&b);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_P_CPU], 2000, 1e-9);
    b.sensors.hottest_c = 112;
    tick(&b);
    CU_ASSERT_TRUE(b.answer.emergency);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_P_CPU], 600, 1e-9);
    CU_ASSERT_EQUAL(b.answer.pressure, PRESSURE_SLEEPING);
}

static void test_power_cap_is_reached_from_above(void)
{
    struct bench b = bench(GOVERNOR_PERFORMANCE);
    b.limits.watts = 5;
    for (int i = 0; i < 3000; i++) {
        tick(&b);
        const double x = b.answer.mhz[POWER_P_CPU] / 3000;
        b.sensors.watts = 12 * x * x * x; /* a chip whose power is proportional to the cube of the clock */
    }
    CHECK(fabs(b.sensors.watts - 5) < 0.1, "%.3f W under a cap of 5", b.sensors.watts);
}

/* Under a cap below the draw of the lowest point, the domain works part of the time, down to the least share. */
static void test_below_the_lowest_point_work_pauses(void)
{
    struct bench b = bench(GOVERNOR_PERFORMANCE);
    static const double caps[] = {1.5, 0.1};
    for (unsigned k = 0; k < 2; k++) {
        b.limits.watts = caps[k];
        for (int i = 0; i < 5000; i++) {
            tick(&b);
            b.sensors.watts = 2 * b.answer.duty[POWER_P_CPU] * pow(b.answer.mhz[POWER_P_CPU] / 600, 3);
        }
        CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_P_CPU], 600, 1);
        CHECK(fabs(b.answer.duty[POWER_P_CPU] - (k ? 0.4 : 0.75)) < 0.02, "at work %.3f of the time", b.answer.duty[POWER_P_CPU]);
        CU_ASSERT_EQUAL(b.answer.pressure, PRESSURE_TRAPPING);
        CU_ASSERT_TRUE(b.answer.throttled);
    }
}

/* The die follows the power with 20 ms, the housing with 30 s, and the power follows the clock. The recorded gains hold target
 * and limit without oscillating. */
static void test_the_recorded_gains_hold_their_targets(void)
{
    static const double limits[] = {0, 6};
    for (unsigned k = 0; k < 2; k++) {
        struct bench b = bench(GOVERNOR_PERFORMANCE);
        double fast_k = 0, slow_k = 0, least = INFINITY, most = 0;
        governor_set_gpu(&b.governor, &recorded);
        b.demand[POWER_GPU].running = 1;
        b.limits.watts = limits[k];
        for (int i = 0; i < 30000; i++) {
            tick(&b);
            const double x = b.answer.mhz[POWER_GPU] / 1300, watts = 16 * x * x * b.answer.duty[POWER_GPU];
            fast_k += (1.5 * watts - fast_k) * 0.01 / 0.02 * 0.5;
            slow_k += (5 * watts - slow_k) * 0.01 / 30;
            b.sensors.gpu_c = b.sensors.hottest_c = 23 + fast_k + slow_k;
            b.sensors.mean_c = b.sensors.gpu_c - 4;
            b.sensors.watts = watts;
            if (i > 20000) {
                least = fmin(least, k ? watts : b.sensors.gpu_c);
                most = fmax(most, k ? watts : b.sensors.gpu_c);
            }
        }
        const double target = k ? 6 : 94;
        CHECK(least > target - 0.1 && most < target + 0.1, "%g to %g around %g", least, most, target);
    }
}

/* Far below the target the clock does not fall, however short the step in which the die warms up. */
static void test_a_warming_die_below_its_target_loses_nothing(void)
{
    struct bench b = bench(GOVERNOR_PERFORMANCE);
    governor_set_gpu(&b.governor, &recorded);
    b.demand[POWER_GPU].running = 1;
    for (int i = 0; i < 40; i++) {
        b.sensors.gpu_c = b.sensors.hottest_c = 50 + i;
        governor_tick(&b.governor, i % 2 ? 1 : 1e-9, b.demand, &b.sensors, &b.limits, &b.answer);
        CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_GPU], 1300, 1e-9);
    }
    CU_ASSERT_FALSE(b.answer.throttled);
}

/* The cores slow down before the die is too hot for the GPU. */
static void test_cores_give_way_before_the_gpu(void)
{
    struct bench b = bench(GOVERNOR_PERFORMANCE);
    governor_set_gpu(&b.governor, &recorded);
    b.demand[POWER_GPU].running = 1;
    b.sensors = (struct governor_sensors){.mean_c = 70, .hottest_c = 93.5, .watts = 10, .gpu_c = 93.5};
    for (int i = 0; i < 3000; i++)
        tick(&b);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_P_CPU], 600, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.duty[POWER_P_CPU], 0.4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_GPU], 1300, 1e-9);
    b.sensors.gpu_c = b.sensors.hottest_c = 100;
    for (int i = 0; i < 3000; i++)
        tick(&b);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_GPU], 400, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.duty[POWER_GPU], 0.4, 1e-9);
}

static void test_memory_bound_work_is_clocked_down_when_balanced(void)
{
    struct bench b = bench(GOVERNOR_BALANCED);
    tick(&b);
    CU_ASSERT_TRUE(b.answer.mhz[POWER_P_CPU] > 2980);
    b.demand[POWER_P_CPU].memory_bound = 0.999;
    tick(&b);
    CU_ASSERT_TRUE(b.answer.mhz[POWER_P_CPU] < 1000);
}

static void test_low_power_mode(void)
{
    struct bench b = bench(GOVERNOR_PERFORMANCE);
    b.limits.low_power = true;
    tick(&b);
    CU_ASSERT_DOUBLE_EQUAL(b.answer.mhz[POWER_P_CPU], 1800, 1e-9);
}

static void test_battery_drains_what_is_drawn(void)
{
    const struct battery_params p = {
        .capacity_wh = 50, .efficiency = 0.9, .adapter_w = 30, .adapter_efficiency = 0.8, .floor_w = 1};
    struct battery b;
    double lasted;

    battery_set(&b, &p, 50);
    CU_ASSERT_DOUBLE_EQUAL(battery_hours_left(&b, 8), 25 / 10.0, 1e-9);
    CU_ASSERT_TRUE(battery_draw(&b, 8, 3600, &lasted));
    CU_ASSERT_DOUBLE_EQUAL(battery_percent(&b), 30, 1e-9);
    CU_ASSERT_FALSE(battery_draw(&b, 8, 7200, &lasted));
    CU_ASSERT_DOUBLE_EQUAL(lasted, 5400, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(battery_percent(&b), 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(battery_wall_w(&p, 7), 10, 1e-12);
}

static void test_machine_resistance_is_the_sum_of_its_stages(void)
{
    static const char text[] = "die 0.01 0.01 0 0\n";
    struct thermal_device d = {.chip = {350e-6, 130, 1.63e6},
                               .interface = {40e-6, 5, 4e6},
                               .spreader = {1e-3, 390, 3.45e6},
                               .spreader_side_m = 20e-3,
                               .contact_k_per_w = 0.2,
                               .stage = {{"plate", 10, 3}, {"chassis", 500, 2}},
                               .stages = 2};
    struct floorplan plan;
    struct thermal_network network;
    struct power_error error;
    double watts = 5, kelvin[16];

    CU_ASSERT_TRUE_FATAL(floorplan_parse(text, sizeof text - 1, &plan, &error));
    CU_ASSERT_TRUE_FATAL(thermal_device_network(&plan, &d, 0, &network, &error));
    struct thermal_solver *const solver = thermal_solver_create(&network, 300, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(solver);
    thermal_steady(solver, &watts, kelvin);
    CU_ASSERT_DOUBLE_EQUAL(kelvin[network.nodes - 1], 300 + 5 * 2, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(kelvin[network.nodes - 2], 300 + 5 * 5, 1e-6);
    CHECK(kelvin[0] > 326 && kelvin[0] < 328, "die at %.3f K", kelvin[0]);
    d.spreader_side_m = 5e-3;
    thermal_network_free(&network);
    CU_ASSERT_FALSE(thermal_device_network(&plan, &d, 0, &network, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "larger than the die"));
    thermal_solver_free(solver);
    floorplan_free(&plan);
}

static void test_fan_curve(void)
{
    const struct thermal_device d = {
        .stages = 1, .fan = {{0, 4}, {2000, 1}, {6000, 0.6}}, .fan_points = 3, .fan_start_c = 60, .fan_full_c = 80};
    CU_ASSERT_DOUBLE_EQUAL(thermal_device_fan_rpm(&d, 59), 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(thermal_device_fan_rpm(&d, 60), 2000, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(thermal_device_fan_rpm(&d, 70), 4000, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(thermal_device_fan_rpm(&d, 90), 6000, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(thermal_device_room_k_per_w(&d, 4000), 0.8, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(thermal_device_room_k_per_w(&d, 9000), 0.6, 1e-12);
}

static const struct suite_test tests[] = {
    {"below the lowest point work pauses", test_below_the_lowest_point_work_pauses},
    {"the recorded gains hold their targets", test_the_recorded_gains_hold_their_targets},
    {"a warming die below its target loses nothing", test_a_warming_die_below_its_target_loses_nothing},
    {"cores give way before the GPU", test_cores_give_way_before_the_gpu},
    {"cool chips run at their limit", test_cool_chips_run_at_their_limit},
    {"clocks fall with temperature and recover", test_clocks_fall_with_temperature_and_recover},
    {"fixed clocks only yield to the emergency", test_fixed_clocks_only_yield_to_the_emergency},
    {"a power cap is reached from above", test_power_cap_is_reached_from_above},
    {"memory-bound work is clocked down when balanced", test_memory_bound_work_is_clocked_down_when_balanced},
    {"low-power mode", test_low_power_mode},
    {"a battery drains what is drawn", test_battery_drains_what_is_drawn},
    {"a machine's resistance is the sum of its stages", test_machine_resistance_is_the_sum_of_its_stages},
    {"fan curve", test_fan_curve},
};
SUITE_MAIN("governor", tests)
