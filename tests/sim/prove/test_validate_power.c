/* Published watts, joules and work per joule against the programs that `orchard validate` makes of their loads. */
#include "isa/array_count.h"
#include "sim/prove/validate/power_loops.h"
#include "sim/prove/validate/soc_runner.h"
#include "sim/prove/validate/validation.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "chip,device,unit,load,metric,value,value_unit,kind,source,note,chip_id\n"
#define KAISER ",measured,ThomasKaiser/Knowledge,,m1_4p4e_8g\n"
#define KAYS   ",measured,singhkays/apple-m1-power-consumption-powermetrics,,m1_4p4e_8g\n"
#define GUIDE  ",measured,sbryngelson/ane-guide part-3-performance/10-power-efficiency.md,,"
#define PRO    "\"M2 Pro class, identity uncertain\""

/* Rows that are modelled, with the largest error that is tolerated. */
static const struct {
    const char *row;
    double tolerance;
} modelled[] = {
    {"M1,mini,P-cluster,\"Cinebench R23, 1 thread\",power mean,3.437,W" KAYS, 0.2},
    {"M1,mini,package,\"Cinebench R23, 1 thread (264 s)\",power mean,3.74,W" KAYS, 0.2},
    {"M1,Air,P-cluster,\"Cinebench R23 10 min, start\",power,14.0,W" KAISER, 0.25},
    {"M1,Air,P-cluster,\"Cinebench R23 10 min, end (throttled to ~2.5 GHz)\",power,8.78,W" KAISER, 0.25},
    {"M1,Air,E-cluster,Cinebench R23 multi-core,power,1.3,W" KAISER, 0.2},
    {"M1,mini,package,\"idle (desktop, 38 samples)\",power mean,0.0088,W" KAYS, 0.2},
    {"M1 Max,-,ANE,\"fp16 matmul 1024x4096, compute bound\",power,4.3,W" GUIDE "m1_max_8p2e_32g\n", 0.25},
    {"M1 Max,-,ANE,dispatch floor,energy per FLOP,22,pJ/FLOP" GUIDE "m1_max_8p2e_32g\n", 0.25},
    {"M1 family (H13),-,ANE,\"eight chained 1024^2 fp16 matmuls, 210 s\",power,5.5,W" GUIDE "\n", 0.25},
    {"M2," PRO ",ANE,GEMM M64 K256 N256,efficiency,11.4,GFLOPS/W" GUIDE "\n", 0.2},
    {"M2," PRO ",GPU,GEMM M128 K1024 N1024,efficiency,129.9,GFLOPS/W" GUIDE "\n", 0.35},
    {"M2," PRO ",ANE,\"4096-inner matmul, int8 weights\",energy,0.89,mJ/inference" GUIDE "\n", 0.25},
};
enum { MODELLED = ARRAY_COUNT(modelled) };

static const struct {
    const char *row, *why;
} refused[] = {
    {"M1,Air,P-cluster,pigz 8 threads,power,13.8,W" KAISER, "pigz"},
    {"M1,mini,GPU,\"Geekbench 5 Compute (Metal), steady phase\",power,7.5,W" KAYS, "not described"},
    {"M1,mini,DRAM,\"Cinebench R23, 1 thread\",power mean,0.1245,W" KAYS, "DRAM"},
    {"M1,mini,P-cluster,\"Cinebench R23, 1 thread\",power std,0.187,W" KAYS, "spread"},
    {"M1,Air,system,\"idle, backlight off\",power,0.5,W" KAISER, "whole machine"},
    {"M1,-,GPU,\"FP32 GEMM, best case\",efficiency (lower bound),200,GFLOPS/W" GUIDE "m1_4p4e_8g\n", "bound"},
    {"M1,-,E-core,pstate01,freq,600,MHz,reverse-engineered,AsahiLinux,,m1_4p4e_8g\n", "not measured"},
    {"M1,-,E-core,pstate02,core_power_max_load,0.0997,W/core,measured,AsahiLinux t8103.dtsi,,m1_4p4e_8g\n",
     "clock of this state"},
    {"M2,-,P-core,pstate01,core_power_max_load,0.133,W/core,measured,AsahiLinux t8112.dtsi,,m2_4p4e_10g\n", "not told"},
    {"M1,-,P-core,fully active at oops MHz,power,3,W" KAYS, "not read"},
    {"M2," PRO ",ANE,GEMM M64,efficiency,11.4,GFLOPS/W" GUIDE "\n", "not read"},
    {"M2," PRO ",ANE,GEMM M64 K256 N256,efficiency,11.4,parsec" GUIDE "\n", "unit"},
    {"M3,-,P-cluster,\"Cinebench R23, 1 thread\",power,3,W,measured,somebody,,no_such_chip\n", "no_such_chip"},
};
enum { REFUSED = ARRAY_COUNT(refused) };

static struct validation *run_text(const char *text)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct soc_runner *runner = db ? soc_runner_create(db, NULL, NULL) : NULL;
    struct validation *v = validation_create();

    CU_ASSERT_PTR_NOT_NULL_FATAL(runner);
    CHECK(validation_add_text(v, "power.csv", text, strlen(text), &error), "%s", error.text);
    const struct validate_runner hook = soc_runner_hook(runner);
    CHECK(validation_find_fitted(v, db, &error), "%s", error.text);
    CHECK(validation_run(v, &hook, &error), "%s", error.text);
    soc_runner_free(runner);
    chip_db_close(db);
    return v;
}

static void test_modelled_rows(void)
{
    char text[4096] = HEADER;
    for (int i = 0; i < MODELLED; i++)
        strcat(text, modelled[i].row);
    struct validation *v = run_text(text);
    for (int i = 0; i < MODELLED; i++) {
        const struct validate_row *r = &v->row[i];
        CHECK(r->state == VALIDATE_PREDICTED, "%s: %s", modelled[i].row, r->why);
        CHECK(fabs(r->predicted / r->measured - 1) <= modelled[i].tolerance, "%s: predicted %.4g", modelled[i].row, r->predicted);
    }
    /* Rows that a parameter was taken from are marked. */
    CHECK(v->row[0].parameter != NULL && v->row[2].parameter != NULL, "fitted rows");
    CHECK(v->row[6].parameter != NULL && v->row[9].parameter != NULL && v->row[10].parameter != NULL, "fitted rows");
    validation_free(v);
}

static void test_refused_rows(void)
{
    char text[4096] = HEADER;
    for (int i = 0; i < REFUSED; i++)
        strcat(text, refused[i].row);
    struct validation *v = run_text(text);
    for (int i = 0; i < REFUSED; i++) {
        const struct validate_row *r = &v->row[i];
        CHECK(r->state == VALIDATE_UNMODELLED && strstr(r->why, refused[i].why), "%s: %s", refused[i].row, r->why);
    }
    validation_free(v);
}

/* CoreMark on one core at every clock of M1, from the kernel's energy model (AsahiLinux/linux t8103.dtsi, pull request 229). One
 * set of energies and one voltage curve serve all of them. No parameter was taken from these figures.
 */
static void test_clocks_and_volts(void)
{
    static const struct {
        const char *unit;
        unsigned state, mhz;
        double watts;
    } states[] = {
        {"E-core", 1, 600, 0.047296},  {"E-core", 3, 1332, 0.18886},   {"E-core", 5, 2064, 0.412979},
        {"P-core", 1, 600, 0.29023},   {"P-core", 5, 1500, 1.112838},  {"P-core", 8, 2184, 2.36669},
        {"P-core", 12, 2988, 4.54062}, {"P-core", 15, 3204, 4.951324},
    };
    enum { STATES = ARRAY_COUNT(states) };
    char text[8192] = HEADER;
    double before = 0;
    for (int i = 0; i < STATES; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "M1,-,%s,pstate%02u,freq,%u,MHz,reverse-engineered,AsahiLinux/linux t8103.dtsi,,m1_4p4e_8g\n"
                 "M1,-,%s,pstate%02u,core_power_max_load,%g,W/core,measured,AsahiLinux/linux t8103.dtsi,,m1_4p4e_8g\n",
                 states[i].unit, states[i].state, states[i].mhz, states[i].unit, states[i].state, states[i].watts);
    struct validation *v = run_text(text);
    for (int i = 0; i < STATES; i++) {
        const struct validate_row *r = &v->row[2 * i + 1];
        CHECK(r->state == VALIDATE_PREDICTED && r->parameter == NULL, "%s %u: %s", states[i].unit, states[i].mhz, r->why);
        CHECK(fabs(r->predicted / r->measured - 1) <= 0.2, "%s at %u MHz: %.4g W, measured %.4g", states[i].unit, states[i].mhz,
              r->predicted, r->measured);
        CHECK(r->predicted > before || states[i].state == 1, "%s at %u MHz: %.4g W after %.4g", states[i].unit, states[i].mhz,
              r->predicted, before);
        before = r->predicted;
    }
    validation_free(v);
}

static double watts_of_cluster(struct soc_runner *runner, enum validate_core core, unsigned threads, enum power_domain domain)
{
    const struct validate_runner hook = soc_runner_hook(runner);
    struct orch_error error = {0};
    struct validate_timing t = {0};
    struct emit e = {0};

    power_loop_emit(&e, POWER_LOOP_RENDERER, VALIDATE_DATA_ADDR);
    const struct validate_program p = {.chip = "m1",
                                       .core = core,
                                       .threads = threads,
                                       .warm = true,
                                       .power = true,
                                       .code = e.word,
                                       .words = e.count,
                                       .data_bytes = power_loop_data_bytes()};
    CHECK(hook.run(hook.context, &p, &t, &error), "%s", error.text);
    emit_free(&e);
    return t.joules[domain] / t.seconds;
}

/* All cores share one rail voltage, so four cores at 2988 MHz draw at most 4 x 2988 / 3204 of what one draws at 3204 MHz, and
 * less by what the cluster shares. Samples of a Mac mini agree: ray tracing of Geekbench 5 takes 4.9 W on one core and 17.5 W on
 * four, 3.6 times as much (singhkays/apple-m1-power-consumption-powermetrics, GB5-CPU).
 */
static void test_more_cores_more_watts(void)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct soc_runner *runner = db ? soc_runner_create(db, NULL, NULL) : NULL;
    double p[5] = {0}, e[5] = {0};

    CU_ASSERT_PTR_NOT_NULL_FATAL(runner);
    for (unsigned n = 1; n <= 4; n++) {
        p[n] = watts_of_cluster(runner, VALIDATE_P_CORE, n, POWER_P_CPU);
        e[n] = watts_of_cluster(runner, VALIDATE_E_CORE, n, POWER_E_CPU);
        CHECK(p[n] > p[n - 1] && e[n] > e[n - 1], "%u cores: %g W, %g W; one less: %g W, %g W", n, p[n], e[n], p[n - 1],
              e[n - 1]);
    }
    CHECK(p[4] / p[1] <= 4 * 2988.0 / 3204 && p[4] / p[1] >= 3.4, "four cores take %g times the watts of one", p[4] / p[1]);
    CHECK(fabs(p[4] / 14.0 - 1) <= 0.08 && fabs(e[4] / 1.3 - 1) <= 0.08, "clusters at %g W and %g W", p[4], e[4]);
    soc_runner_free(runner);
    chip_db_close(db);
}

/* The loop of a CPU row is a program of its own, which can be written and read. */
static void test_loop_is_a_program(void)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    char text[512];
    size_t bytes = 0;

    snprintf(text, sizeof text, "%s%s", HEADER, modelled[0].row);
    CHECK(validation_add_text(v, "power.csv", text, strlen(text), &error), "%s", error.text);
    uint8_t *elf = validation_dump(v, "power:2", NULL, NULL, &bytes, &error);
    CHECK(elf && bytes > 64 && memcmp(elf, "\177ELF", 4) == 0, "%s", error.text);
    free(elf);
    validation_free(v);
}

/* Doubling an energy changes a row accordingly, since power comes from what was counted. */
static void test_values(void)
{
    struct validate_program p = {.power = true, .domains = 1u << POWER_ANE, .measure = VALIDATE_WATTS, .work = 1e-3};
    struct validate_timing t = {.seconds = 2, .threads = 1};
    t.joules[POWER_ANE] = 3;
    t.joules[POWER_DRAM] = 5;
    CHECK(fabs(validate_value(&p, &t) - 1500) < 1e-9, "%g mW of the engine", validate_value(&p, &t));
    p.domains = 0;
    CHECK(fabs(validate_value(&p, &t) - 4000) < 1e-9, "%g mW of all", validate_value(&p, &t));
    p.measure = VALIDATE_WORK_PER_JOULE;
    p.work = 16e9;
    CHECK(fabs(validate_value(&p, &t) - 2) < 1e-9, "%g G per joule", validate_value(&p, &t));
    p.measure = VALIDATE_JOULES;
    p.work = 1e-3;
    CHECK(fabs(validate_value(&p, &t) - 8000) < 1e-9, "%g mJ", validate_value(&p, &t));
}

static const struct suite_test tests[] = {
    {"loads that can be rebuilt are close to the reading", test_modelled_rows},
    {"loads that cannot be rebuilt are refused with the reason", test_refused_rows},
    {"one set of energies serves all clocks", test_clocks_and_volts},
    {"more cores draw more watts", test_more_cores_more_watts},
    {"loops of rows are programs", test_loop_is_a_program},
    {"joules are given in the units of rows", test_values},
};
SUITE_MAIN("validation of power", tests)
