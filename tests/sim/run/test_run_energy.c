/* Energy of runs: every kind of run has joules, units add up to the package, and energy follows from counts and nothing else. */
#include "isa/array_count.h"
#include "sim/chip/chip_power.h"
#include "sim/run/run.h"
#include "sim/run/run_profile.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct outcome {
    struct run_result result;
    struct energy_run energy;
    bool done;
};

static struct outcome simulate(const char *chip_name, const char *set, const char *workload, const char *unit,
                               const char *precision, double celsius)
{
    struct outcome o = {.done = false};
    struct orch_error error = {0};
    const struct chip_overrides overrides = {&set, set ? 1 : 0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct chip *chip = db ? chip_open(db, chip_name, &overrides, &error) : NULL;
    const struct run_request request = {.chip = chip,
                                        .workload = workload,
                                        .unit = unit,
                                        .precision = precision,
                                        .mode = RUN_TIMING,
                                        .cold = true,
                                        .celsius = celsius};
    struct run *run = chip ? run_prepare(&request, &error) : NULL;

    run_result_init(&o.result);
    o.done = run && run_execute(run, NULL, 1, &o.result, &error);
    CHECK(o.done, "%s on %s: %s", workload, chip_name, error.text);
    if (o.done && run_energy(run))
        o.energy = *run_energy(run);
    run_free(run);
    chip_close(chip);
    chip_db_close(db);
    return o;
}

static double sum_of(const struct run_values *values)
{
    double sum = 0;
    for (size_t i = 0; i < values->count; i++)
        sum += values->item[i].value;
    return sum;
}

/* The sum of all counters "energy.DOMAIN.kind", or of those of one kind. */
static double counted(const struct run_result *r, const char *kind)
{
    double sum = 0;
    for (size_t i = 0; i < r->counters.count; i++) {
        const char *name = r->counters.item[i].name;
        const char *dot = strrchr(name, '.');
        if (strncmp(name, "energy.", 7) == 0 && (!kind || strcmp(dot + 1, kind) == 0))
            sum += r->counters.item[i].value;
    }
    return sum;
}

static bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b);
}

/* For each kind of run: package = sum of parts = sum of domains by kind. */
static void test_units_add_up(void)
{
    static const struct {
        const char *chip, *workload, *unit, *precision;
    } runs[] = {
        {"m1", "gemm:128x128x128", "amx", "f32"},  {"m1-max", "gemm:256x256x256", "gpu", "f16"},
        {"m2", "gemm:64x256x256", "ane", "f16"},   {"m3-max", "gemm:128x128x128", "amx", "f16"},
        {"m1-ultra", "copy:262144", "gpu", "f32"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(runs); i++) {
        struct outcome o = simulate(runs[i].chip, NULL, runs[i].workload, runs[i].unit, runs[i].precision, 0);
        const struct run_result *r = &o.result;
        CHECK(r->joules > 0, "%s: %g J", runs[i].workload, r->joules);
        CHECK(near(sum_of(&r->joules_by), r->joules, 1e-12), "%s: parts %.17g, package %.17g", runs[i].workload,
              sum_of(&r->joules_by), r->joules);
        CHECK(near(counted(r, NULL), r->joules, 1e-12), "%s: domains %.17g, package %.17g", runs[i].workload, counted(r, NULL),
              r->joules);
        CHECK(near(r->watts_avg * r->seconds, r->joules, 1e-12), "%s: %g W", runs[i].workload, r->watts_avg);
        CHECK(r->watts_peak >= r->watts_avg * (1 - 1e-12), "%s: busy %g W, average %g W", runs[i].workload, r->watts_peak,
              r->watts_avg);
        run_result_free(&o.result);
    }
}

/* One standard deviation of the joules, as their interval tells it. */
static double deviation(const struct run_result *r)
{
    return log(r->joules_high / r->joules_low) / (2 * 1.6449);
}

/* The clock tree alone, a standard deviation (30 %) higher, moves the joules less than all that is not known does; what is known
 * for sure makes the interval narrower by its part. */
static void test_interval_holds_what_is_not_known(void)
{
    struct outcome known = simulate("m1", NULL, "gemm:256x256x256", "gpu", "f32", 0),
                   higher = simulate("m1", "power.gpu.clock_nf=0.52", "gemm:256x256x256", "gpu", "f32", 0),
                   sure = simulate("m1", "power.gpu.clock_nf=0.4", "gemm:256x256x256", "gpu", "f32", 0);
    const double moved = higher.result.joules / known.result.joules - 1, sd = deviation(&known.result);
    CHECK(known.result.joules_low < known.result.joules && known.result.joules < known.result.joules_high, "%g in %g .. %g",
          known.result.joules, known.result.joules_low, known.result.joules_high);
    CHECK(moved > 0.01 && sd > moved && sd < 1, "moved %g, interval %g", moved, sd);
    CHECK(deviation(&sure.result) < 0.98 * sd, "%g, one value sure: %g", sd, deviation(&sure.result));
    run_result_free(&known.result);
    run_result_free(&higher.result);
    run_result_free(&sure.result);
}

/* The energies of an M1 are less sure on a chip of another process, and that is said. */
static void test_energies_of_another_chip_are_named(void)
{
    static const char *const workloads[][2] = {
        {"gemm:128x128x128", "amx"}, {"gemm:256x256x256", "gpu"}, {"gemm:64x256x256", "ane"}};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        const char *const precision = i == 2 ? "f16" : "f32";
        struct outcome own = simulate("m1", NULL, workloads[i][0], workloads[i][1], precision, 0),
                       other = simulate("m3", NULL, workloads[i][0], workloads[i][1], precision, 0);
        CHECK(!run_assumption_find(&own.result.assumptions, RUN_ENERGY_ADOPTED), "%s: M1 is priced as another chip",
              workloads[i][1]);
        CHECK(run_assumption_find(&other.result.assumptions, RUN_ENERGY_ADOPTED) != NULL, "%s: M3 does not tell",
              workloads[i][1]);
        CHECK(deviation(&other.result) > deviation(&own.result), "%s: %g on M3, %g on M1", workloads[i][1],
              deviation(&other.result), deviation(&own.result));
        run_result_free(&own.result);
        run_result_free(&other.result);
    }
}

/* Turning leakage off removes the leakage that was reported, and nothing else. */
static void test_leakage_is_exactly_what_is_reported(void)
{
    static const char *const domains[] = {"p_cpu", "gpu", "ane", "slc", "fabric", "dram"};
    struct outcome with = simulate("m1", NULL, "gemm:256x256x256", "gpu", "f32", 0);
    for (size_t i = 0; i < ARRAY_COUNT(domains); i++) {
        char set[64], name[64];
        snprintf(set, sizeof set, "power.%s.leakage_w=0", domains[i]);
        snprintf(name, sizeof name, "energy.%s.leakage", domains[i]);
        struct outcome without = simulate("m1", set, "gemm:256x256x256", "gpu", "f32", 0);
        double told = run_values_get(&with.result.counters, name);
        told = isnan(told) ? 0 : told; /* nothing leaks behind a gate that stays closed */
        CHECK(fabs(with.result.joules - without.result.joules - told) <= 1e-12 * with.result.joules,
              "%s: %.12g less %.12g, leakage %.12g", domains[i], with.result.joules, without.result.joules, told);
        run_result_free(&without.result);
    }
    run_result_free(&with.result);
}

static double bytes_of(const struct run_result *r, const char *level)
{
    static const char *const ways[] = {"read", "write"};
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "activity.%s_%s_bytes", level, ways[i]);
        const double bytes = run_values_get(&r->counters, name);
        sum += isnan(bytes) ? 0 : bytes;
    }
    return sum;
}

/* The commands that a run sent to DRAM times the energy of each. */
static double dram_commands_j(const struct run_result *r, const struct chip *chip)
{
    static const struct {
        const char *count, *pj;
    } kinds[] = {{"activity.dram_read_bytes", "power.pj.DRAM_READ_BYTES"},
                 {"activity.dram_write_bytes", "power.pj.DRAM_WRITE_BYTES"},
                 {"activity.dram_activates", "power.pj.DRAM_ACTIVATES"},
                 {"activity.dram_refreshes", "power.pj.DRAM_REFRESHES"}};
    double joules = 0;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        struct orch_error error = {0};
        double pj = 0;
        const double count = run_values_get(&r->counters, kinds[i].count);
        CHECK(chip_number(chip, kinds[i].pj, &pj, &error) && count > 0, "%s: %g, %s", kinds[i].count, count, error.text);
        joules += count * pj * 1e-12;
    }
    return joules;
}

/* Twice the operands cost twice the dynamic energy of the unit and, at each level of memory, more energy as the traffic through
 * it grows. Leakage follows the time. */
static void test_double_traffic(void)
{
    struct outcome one = simulate("m1", NULL, "copy:4194304", "gpu", "f32", 0),
                   two = simulate("m1", NULL, "copy:8388608", "gpu", "f32", 0);
    const struct run_result *a = &one.result, *b = &two.result;
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    struct chip *chip = chip_open(db, "m1", NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(chip);
    const double ratio = b->seconds / a->seconds, dram = dram_commands_j(b, chip) / dram_commands_j(a, chip);
    const double fabric = (bytes_of(b, "dram") + bytes_of(b, "slc")) / (bytes_of(a, "dram") + bytes_of(a, "slc"));
    const struct {
        const char *name;
        double times, within;
    } moved[] = {{"energy.dram.dynamic", dram, 1e-9}, {"energy.fabric.dynamic", fabric, 1e-9}, {"energy.gpu.dynamic", 2, 0.05}};

    CHECK(bytes_of(b, "gpu_l1") == 2 * bytes_of(a, "gpu_l1"), "%g times the operands",
          bytes_of(b, "gpu_l1") / bytes_of(a, "gpu_l1"));
    for (size_t i = 0; i < ARRAY_COUNT(moved); i++) {
        const double x = run_values_get(&a->counters, moved[i].name), y = run_values_get(&b->counters, moved[i].name);
        CHECK(near(y / x, moved[i].times, moved[i].within), "%s: %g times", moved[i].name, y / x);
    }
    CHECK(near(counted(b, "leakage") / counted(a, "leakage"), ratio, 1e-9), "leakage %g times in %g times the time",
          counted(b, "leakage") / counted(a, "leakage"), ratio);
    CHECK(near(run_values_get(&a->counters, "energy.dram.dynamic"), dram_commands_j(a, chip), 1e-9), "%g J",
          run_values_get(&a->counters, "energy.dram.dynamic"));
    /* With rows and refresh, a byte costs about the 32 pJ that a rail of memory was measured with, 30 % more or less. */
    const double per_byte = dram_commands_j(b, chip) / bytes_of(b, "dram");
    CHECK(fabs(per_byte / 32e-12 - 1) < 0.3, "%g J a byte", per_byte);
    chip_close(chip);
    chip_db_close(db);
    run_result_free(&one.result);
    run_result_free(&two.result);
}

/* The energy of one event scales its part of the joules and nothing else. */
static void test_energy_of_an_event(void)
{
    struct outcome base = simulate("m1", NULL, "gemm:128x128x128", "amx", "f32", 0);
    struct outcome none = simulate("m1", "power.pj.AMX_F32_MACS=0", "gemm:128x128x128", "amx", "f32", 0);
    struct outcome ten = simulate("m1", "power.pj.AMX_F32_MACS=10", "gemm:128x128x128", "amx", "f32", 0);
    const double macs = run_values_get(&base.result.counters, "activity.amx_f32_macs");
    const double volts = base.energy.volts[POWER_AMX], nominal = 1.0; /* of the chip file */

    CHECK(macs == 128.0 * 128 * 128, "%g macs", macs);
    CHECK(near(ten.result.joules - none.result.joules, macs * 10e-12 * volts * volts / (nominal * nominal), 1e-9),
          "%g J of %g macs", ten.result.joules - none.result.joules, macs);
    CU_ASSERT_EQUAL(base.result.seconds, ten.result.seconds);
    run_result_free(&base.result);
    run_result_free(&none.result);
    run_result_free(&ten.result);
}

/* A hotter die leaks more, by the exponent of the chip file. Dynamic energy stays. */
static void test_temperature(void)
{
    struct outcome cool = simulate("m1", NULL, "gemm:128x128x128", "amx", "f32", 50);
    struct outcome hot = simulate("m1", NULL, "gemm:128x128x128", "amx", "f32", 90);
    struct outcome plain = simulate("m1", NULL, "gemm:128x128x128", "amx", "f32", 0);

    CHECK(near(counted(&hot.result, "leakage") / counted(&cool.result, "leakage"), exp(0.015 * 40), 1e-9), "%g times",
          counted(&hot.result, "leakage") / counted(&cool.result, "leakage"));
    CHECK(near(counted(&hot.result, "dynamic"), counted(&cool.result, "dynamic"), 1e-12), "dynamic energy changes");
    CU_ASSERT_EQUAL(plain.result.joules, cool.result.joules); /* leakage is given at 50 degC */
    run_result_free(&cool.result);
    run_result_free(&hot.result);
    run_result_free(&plain.result);
}

/* A slower clock at its lower voltage takes less energy and more time for the same work on the P cluster. */
static void test_clock_and_voltage(void)
{
    struct outcome fast = simulate("m1", NULL, "gemm:256x256x256", "gpu", "f32", 0);
    struct outcome slow = simulate("m1", "gpu_max_mhz=720", "gemm:256x256x256", "gpu", "f32", 0);
    const double v0 = fast.energy.volts[POWER_GPU], v1 = slow.energy.volts[POWER_GPU];
    const double d0 = run_values_get(&fast.result.counters, "energy.gpu.dynamic"),
                 d1 = run_values_get(&slow.result.counters, "energy.gpu.dynamic");

    CHECK(v1 < v0 && slow.energy.mhz[POWER_GPU] == 720, "%g V at %g MHz", v1, slow.energy.mhz[POWER_GPU]);
    CHECK(near(d1 / d0, v1 * v1 / (v0 * v0), 0.02), "dynamic energy %g times, voltage squared %g", d1 / d0, v1 * v1 / (v0 * v0));
    CHECK(slow.result.device_seconds > fast.result.device_seconds, "%g s", slow.result.device_seconds);
    run_result_free(&fast.result);
    run_result_free(&slow.result);
}

/* Published: more than 200 GFLOPS per watt for the best f32 products on the matrix units beside the cores and on the GPUs of M1
 * to M4, by the counters of their rails (arXiv 2502.05317).
 */
static void test_lower_bound_of_products(void)
{
    static const char *const chips[] = {"m1", "m1-max", "m2", "m3"}, *const kinds[] = {"dynamic", "clock", "leakage"};
    for (size_t i = 0; i < ARRAY_COUNT(chips); i++) {
        struct outcome o = simulate(chips[i], NULL, "gemm:1024x1024x1024", "amx", "f32", 0);
        double joules = 0;
        for (int k = 0; k < 3; k++) {
            char name[2][64];
            snprintf(name[0], sizeof name[0], "energy.p_cpu.%s", kinds[k]);
            snprintf(name[1], sizeof name[1], "energy.amx.%s", kinds[k]);
            joules += run_values_get(&o.result.counters, name[0]) + run_values_get(&o.result.counters, name[1]);
        }
        CHECK(o.result.flops / joules > 200e9, "%s: %.0f GFLOPS/W on the rail of the P cluster", chips[i],
              o.result.flops / joules * 1e-9);
        run_result_free(&o.result);
    }
}

static struct power_profile profiled(const char *chip, const char *workload, const char *unit, const char *precision)
{
    struct orch_error error = {0};
    struct power_profile p = {.seconds = 0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct chip *opened = db ? chip_open(db, chip, NULL, &error) : NULL;
    const struct run_request request = {
        .chip = opened, .workload = workload, .unit = unit, .precision = precision, .mode = RUN_TIMING};
    struct run_result result;

    run_result_init(&result);
    CHECK(opened && run_profile(&request, db, NULL, &p, &result, &error), "%s: %s", workload, error.text);
    run_result_free(&result);
    chip_close(opened);
    chip_db_close(db);
    return p;
}

/* The split of the time that two clocks give, and the profile's time at a third clock against a simulation there. */
static void test_profiles(void)
{
    const struct power_profile amx = profiled("m1", "gemm:256x256x256", "amx", "f32");
    CHECK(amx.driver == POWER_P_CPU && amx.fixed_s < 0.1 * amx.seconds, "AMX: %g of %g s fixed", amx.fixed_s, amx.seconds);
    const struct power_profile copy = profiled("m1", "copy:8388608", "gpu", "f32");
    CHECK(copy.driver == POWER_GPU && copy.fixed_s > 0.6 * copy.seconds, "copy: %g of %g s fixed", copy.fixed_s, copy.seconds);
    const struct power_profile ane = profiled("m1", "gemm:64x256x256", "ane", "f16");
    CHECK(ane.driver == POWER_ANE && ane.fixed_s > 0.9 * ane.seconds, "small request: %g of %g s fixed", ane.fixed_s,
          ane.seconds);
    const struct power_profile gpu = profiled("m1", "gemm:256x256x256", "gpu", "f32");
    struct outcome slow = simulate("m1", "gpu_max_mhz=720", "gemm:256x256x256", "gpu", "f32", 0);
    CHECK(near(power_profile_seconds(&gpu, 720), slow.result.seconds, 0.1), "at 720 MHz %g s, simulated %g s",
          power_profile_seconds(&gpu, 720), slow.result.seconds);
    run_result_free(&slow.result);
}

/* A launch that waits for memory hardly scales with the clock of the GPU, a product does. */
static void test_what_scales(void)
{
    const struct power_profile copy = profiled("m1", "copy:24M", "gpu", "f32"),
                               gemm = profiled("m1", "gemm:8192x512x128", "gpu", "f32");
    CHECK(copy.fixed_s > 0.5 * copy.seconds, "copy: %g of %g s fixed", copy.fixed_s, copy.seconds);
    CHECK(gemm.fixed_s < 0.6 * gemm.seconds, "gemm: %g of %g s fixed", gemm.fixed_s, gemm.seconds);
}

/* What the rest of the chip takes while a launch is under way belongs to the waiting: one small threadgroup on one core draws
 * less while it works than products on all cores. */
static void test_short_launch(void)
{
    struct outcome few = simulate("m1", NULL, "softmax:8x8", "gpu", "f32", 0),
                   all = simulate("m1", NULL, "gemm:512x512x512", "gpu", "f32", 0);
    CHECK(few.result.watts_peak > few.result.watts_avg && few.result.watts_peak < 0.5 * all.result.watts_peak,
          "%g W, %g W of products", few.result.watts_peak, all.result.watts_peak);
    run_result_free(&few.result);
    run_result_free(&all.result);
}

static const struct suite_test tests[] = {
    {"a short launch draws less than products while it works", test_short_launch},
    {"the interval of the joules holds what is not known", test_interval_holds_what_is_not_known},
    {"energies of another chip are named and less sure", test_energies_of_another_chip_are_named},
    {"what waits for memory does not scale with the clock", test_what_scales},
    {"energies of units add up to the package", test_units_add_up},
    {"without leakage exactly the reported leakage is missing", test_leakage_is_exactly_what_is_reported},
    {"twice the traffic costs the energy of twice the bytes", test_double_traffic},
    {"the energy of one event scales its part alone", test_energy_of_an_event},
    {"a hotter die leaks more", test_temperature},
    {"a slower clock at a lower voltage saves energy", test_clock_and_voltage},
    {"products reach the published efficiency", test_lower_bound_of_products},
    {"profiles predict the time at other clocks", test_profiles},
};
SUITE_MAIN("energy of runs", tests)
