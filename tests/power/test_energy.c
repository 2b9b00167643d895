/* Joules follow from counts, voltage, clock and temperature by the laws of energy.h. */
#include "power/energy.h"
#include "power/opp.h"
#include "tests/support/suite.h"

#include <math.h>

static struct power_params example(void)
{
    struct power_params p = {.e_core_energy = 0.2,
                             .fabric_pj_per_byte = 3,
                             .leakage_volt_exponent = 3,
                             .leakage_per_k = 0.015,
                             .leakage_reference_c = 50};
    for (int e = 0; e < ACT_COUNT; e++)
        p.event_pj[e] = 1 + e;
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++)
        p.domain[d] = (struct power_domain_params){.volts = 1,
                                                   .clock_nf = 0.5,
                                                   .shared_nf = 0.25,
                                                   .idle_fraction = 0.1,
                                                   .leakage_w = 0.2,
                                                   .gated_fraction = 0.05,
                                                   .wake_uj = 2};
    return p;
}

static void test_events_burn_where_they_happen(void)
{
    const struct power_params p = example();
    struct activity a = {0};
    double j[POWER_DOMAIN_COUNT] = {0};

    a.count[ACT_CPU_INSTRUCTIONS] = 1000000;
    a.count[ACT_AMX_F32_MACS] = 2000000;
    a.count[ACT_SLC_READ_BYTES] = 3000000;
    a.count[ACT_DRAM_WRITE_BYTES] = 4000000;
    power_price(&p, &a, POWER_P_CPU, j);
    CU_ASSERT_DOUBLE_EQUAL(j[POWER_P_CPU], 1e-6 * (1 + ACT_CPU_INSTRUCTIONS), 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(j[POWER_AMX], 2e-6 * (1 + ACT_AMX_F32_MACS), 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(j[POWER_SLC], 3e-6 * (1 + ACT_SLC_READ_BYTES), 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(j[POWER_DRAM], 4e-6 * (1 + ACT_DRAM_WRITE_BYTES), 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(j[POWER_FABRIC], 7e-6 * 3, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(j[POWER_GPU], 0, 0);
}

static void test_an_e_core_event_costs_its_share(void)
{
    const struct power_params p = example();
    struct activity a = {0};
    double in_p[POWER_DOMAIN_COUNT] = {0}, in_e[POWER_DOMAIN_COUNT] = {0};

    a.count[ACT_CPU_INSTRUCTIONS] = a.count[ACT_L2_READ_BYTES] = 5000;
    power_price(&p, &a, POWER_P_CPU, in_p);
    power_price(&p, &a, POWER_E_CPU, in_e);
    CU_ASSERT_DOUBLE_EQUAL(in_e[POWER_E_CPU], 0.2 * in_p[POWER_P_CPU], 1e-18);
}

static void test_doubled_traffic_doubles_its_joules(void)
{
    const struct power_params p = example();
    struct activity a = {0};
    double once[POWER_DOMAIN_COUNT] = {0}, twice[POWER_DOMAIN_COUNT] = {0};

    a.count[ACT_DRAM_READ_BYTES] = 1 << 20;
    power_price(&p, &a, POWER_GPU, once);
    a.count[ACT_DRAM_READ_BYTES] *= 2;
    power_price(&p, &a, POWER_GPU, twice);
    CU_ASSERT_DOUBLE_EQUAL(twice[POWER_DRAM], 2 * once[POWER_DRAM], 1e-18);
    CU_ASSERT_DOUBLE_EQUAL(twice[POWER_FABRIC], 2 * once[POWER_FABRIC], 1e-18);
}

static void test_voltage_clock_and_temperature_laws(void)
{
    const struct power_params p = example();
    const struct power_use use = {
        .seconds = 2, .running_s = 3, .waiting_s = 1, .gated_s = 4, .any_running_s = 2, .wakes = 5, .event_j = 0.7};
    const struct power_point low = {0.5, 1000, 50}, high = {1, 2000, 50}, warm = {1, 2000, 90};
    const struct power_energy a = power_interval(&p, POWER_GPU, &use, &low), b = power_interval(&p, POWER_GPU, &use, &high),
                              c = power_interval(&p, POWER_GPU, &use, &warm);

    CU_ASSERT_DOUBLE_EQUAL(b.dynamic_j, 0.7, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.dynamic_j, 0.7 / 4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(b.clock_j, (0.5 * 3.1 + 0.25 * 2) * 2, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(b.clock_j, 8 * a.clock_j, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(b.leakage_j, 0.2 * (4 + 0.05 * 4), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.leakage_j, b.leakage_j / 8, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(c.leakage_j, b.leakage_j * exp(0.015 * 40), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(b.wake_j, 1e-5, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(power_energy_sum(&b), b.dynamic_j + b.clock_j + b.leakage_j + b.wake_j, 1e-15);
}

static void test_leakage_off_takes_exactly_the_leakage_away(void)
{
    struct power_params p = example();
    const struct power_use use = {.seconds = 1, .running_s = 1, .any_running_s = 1, .event_j = 0.1};
    const struct power_point point = {0.9, 1500, 70};
    const struct power_energy with = power_interval(&p, POWER_ANE, &use, &point);

    p.domain[POWER_ANE].leakage_w = 0;
    const struct power_energy without = power_interval(&p, POWER_ANE, &use, &point);
    CU_ASSERT_TRUE(with.leakage_j > 0);
    CU_ASSERT_DOUBLE_EQUAL(power_energy_sum(&with) - power_energy_sum(&without), with.leakage_j, 1e-15);
}

static void test_operating_points(void)
{
    struct opp_table t = {.point = {{600, 0.6, 8, false}, {1000, 0.7, 20, false}, {2000, 1.0, 50, false}}, .count = 3};
    struct opp_table other = {.point = {{300, 0, 0, false}, {1000, 0, 0, false}}, .count = 2};
    struct power_error error;

    CU_ASSERT_TRUE(opp_check(&t, "p", &error));
    CU_ASSERT_EQUAL(opp_at_most(&t, 999), 0);
    CU_ASSERT_EQUAL(opp_at_most(&t, 1000), 1);
    CU_ASSERT_EQUAL(opp_at_most(&t, 5000), 2);
    CU_ASSERT_EQUAL(opp_at_most(&t, 100), 0);
    CU_ASSERT_DOUBLE_EQUAL(opp_volts(&t, 1500), 0.85, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(opp_volts(&t, 2500), 1.0, 1e-12);
    opp_suppose_volts(&other, &t);
    CU_ASSERT_DOUBLE_EQUAL(other.point[0].volts, 0.6, 1e-12); /* 300 of 1000 is 600 of 2000 */
    CU_ASSERT_DOUBLE_EQUAL(other.point[1].volts, 1.0, 1e-12);
    CU_ASSERT_TRUE(other.point[1].volts_supposed);
    t.point[2].mhz = 900;
    CU_ASSERT_FALSE(opp_check(&t, "p", &error));
}

static const struct suite_test tests[] = {
    {"events burn where they happen", test_events_burn_where_they_happen},
    {"an event of an E core costs its share", test_an_e_core_event_costs_its_share},
    {"doubled traffic doubles its joules", test_doubled_traffic_doubles_its_joules},
    {"voltage, clock and temperature laws", test_voltage_clock_and_temperature_laws},
    {"leakage switched off takes exactly the leakage away", test_leakage_off_takes_exactly_the_leakage_away},
    {"operating points", test_operating_points},
};
SUITE_MAIN("energy", tests)
