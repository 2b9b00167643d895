/* Rows for which several programs run: sizes that are looked for, and differences. What comes out must be what the chip has, also
 * when it is given another size. */
#include "sim/prove/validate/recipe.h"
#include "tests/sim/validate_example.h"

#include <math.h>
#include <stdlib.h>

#define HEAD "chip_or_core,item,value,unit,kind,source,note,chip_id\n"
#define FLOWN                                                                                                                    \
    "P (Firestorm),in-flight renames,623,count,measured,s,,m1_4p4e_8g\n"                                                         \
    "P (Firestorm),in-flight loads,130,count,measured,s,,m1_4p4e_8g\n"                                                           \
    "P (Firestorm),in-flight stores,60,count,measured,s,,m1_4p4e_8g\n"                                                           \
    "E (Icestorm),load buffers,30,count,measured,s,,m1_4p4e_8g\n"

static double predicted(const char *row, const char *set)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s", HEAD, row);
    struct validation *v = example_validation("c.csv", text, set);
    CHECK(v->row[0].state == VALIDATE_PREDICTED, "%s: %s", row, v->row[0].why);
    const double value = v->row[0].predicted;
    validation_free(v);
    return value;
}

static void test_in_flight(void)
{
    struct validation *v = example_validation("c.csv", HEAD FLOWN, NULL);
    for (size_t i = 0; i < v->rows; i++)
        CHECK(v->row[i].predicted == v->row[i].measured, "%s: %g instead of %g %s", v->row[i].what, v->row[i].predicted,
              v->row[i].measured, v->row[i].why);
    validation_free(v);
}

static void test_other_sizes(void)
{
    static const char loads[] = "P (Firestorm),in-flight loads,130,count,measured,s,,m1_4p4e_8g\n";
    static const char stores[] = "P (Firestorm),in-flight stores,60,count,measured,s,,m1_4p4e_8g\n";
    static const char renames[] = "P (Firestorm),in-flight renames,623,count,measured,s,,m1_4p4e_8g\n";
    static const char l1[] = "all,L1D P core,128,KB,reverse-engineered,s,,\n";
    CHECK(predicted(loads, "cpu_p.load_queue=71") == 71, "loads");
    CHECK(predicted(stores, "cpu_p.store_queue=33") == 33, "stores");
    CHECK(predicted(renames, "cpu_p.reorder_window=200") == 200, "renames");
    CHECK(predicted(l1, NULL) == 128, "L1");
    CHECK(predicted(l1, "l1d_kB_p=64") == 64, "half of the L1");
}

static void test_no_limit_is_refused(void)
{
    struct validation *v = example_validation("c.csv", HEAD "P (Firestorm),in-flight loads,130,count,measured,s,,m1_4p4e_8g\n",
                                              "cpu_p.load_queue=4000");
    CHECK(v->row[0].state == VALIDATE_UNMODELLED && strstr(v->row[0].why, "no limit shows up to 256"), "%s", v->row[0].why);
    validation_free(v);
}

/* What is taken off does not count: a trip through memory and an addition less the addition, and half a penalty twice. */
static void test_differences(void)
{
    static const char alu[] = "P (Firestorm),load-to-ALU latency,4,cycles,measured,s,,m1_4p4e_8g\n";
    static const char branch[] = "M1 Pro (8P+2E),branch mispredict penalty,5.56,ns,measured,s,,m1_pro_8p2e_16g\n";
    CHECK(fabs(predicted(alu, NULL) - 4) < 0.01, "load to arithmetic");
    CHECK(fabs(predicted(alu, "cpu_p.load.latency_cycles=5") - predicted(alu, NULL)) < 0.01, "the L1 says how long a load takes");
    CHECK(fabs(predicted(alu, "mem.p_l1_latency_cycles=6") - 6) < 0.01, "slower L1");
    const double more = predicted(branch, "cpu_p.mispredict_cycles=24") - predicted(branch, "cpu_p.mispredict_cycles=14");
    CHECK(fabs(more - 10 / 3.228) < 0.2, "ten cycles more cost %.2f ns", more);
}

/* Round trips of general and vector registers are sums of two ways. */
static void test_round_trips(void)
{
    static const char umov[] = "P (Firestorm),SIMD to GPR (UMOV) latency,10,cycles,measured,s,upper bound,m1_4p4e_8g\n";
    static const char load[] = "P (Firestorm),LDR Q latency,9,cycles,measured,s,upper bound,m1_4p4e_8g\n";
    CHECK(fabs(predicted(umov, "cpu_p.v_to_gpr.latency_cycles=20") - predicted(umov, NULL) - 16) < 0.01, "there");
    CHECK(fabs(predicted(umov, "cpu_p.v_from_gpr.latency_cycles=20") - predicted(umov, NULL) - 14) < 0.01, "and back");
    CHECK(fabs(predicted(load, "cpu_p.load_v.latency_cycles=7") - predicted(load, NULL) - 2) < 0.01, "a load");
}

/* No command runs several programs: what is told is how their answers make the number. */
static void test_recipes(void)
{
    static const char *const told[] = {"the largest size of 4 to 256", ", less that of a second program, x 1"};
    struct orch_error error = {0};
    struct chip_db *chips = example_chips();
    struct validation *v = example_validation("c.csv",
                                              HEAD "P (Firestorm),in-flight loads,130,count,measured,s,,m1_4p4e_8g\n"
                                                   "P (Firestorm),load-to-ALU latency,4,cycles,measured,s,,m1_4p4e_8g\n",
                                              NULL);
    for (size_t i = 0; i < 2; i++) {
        struct validate_recipe r;
        const bool ok = validation_recipe(v, v->row[i].id, chips, NULL, NULL, &r, &error);
        CHECK(ok && r.several && r.runs == 0 && strstr(r.value, told[i]), "%s: '%s' %s", v->row[i].id, r.value, error.text);
        validate_recipe_free(&r);
    }
    validation_free(v);
    chip_db_close(chips);
}

static const struct suite_test tests[] = {
    {"loads, stores and registers in flight", test_in_flight},
    {"chips of other sizes", test_other_sizes},
    {"a size without a limit is refused", test_no_limit_is_refused},
    {"differences of two programs", test_differences},
    {"round trips", test_round_trips},
    {"how a number is made of several programs", test_recipes},
};
SUITE_MAIN("validate capacity", tests)
