#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"
#include "sim/chip/chip_units.h"
#include "tests/sim/chip_example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct chip *open_chip(const struct chip_db *db, const char *id, const char *set1, const char *set2)
{
    const char *const sets[] = {set1, set2};
    const struct chip_overrides overrides = {sets, set2 ? 2 : set1 ? 1 : 0};
    struct orch_error error = {0};
    struct chip *chip = chip_open(db, id, &overrides, &error);
    CHECK(chip != NULL, "%s: %s", id, error.text);
    return chip;
}

static double number(const struct chip *chip, const char *key)
{
    double value = NAN;
    struct orch_error error = {0};
    CHECK(chip_number(chip, key, &value, &error), "%s", error.text);
    return value;
}

static void test_all_chips(void)
{
    struct chip_db *db = example_chips();
    unsigned experimental = 0, by_family[5] = {0};
    CU_ASSERT_EQUAL(chip_db_count(db), 31);
    for (size_t i = 0; i < chip_db_count(db); i++) {
        struct chip *chip = open_chip(db, chip_db_id(db, i), NULL, NULL);
        const char *family = chip_value(chip, "family")->json;
        CHECK(family[0] == 'M' && family[1] >= '1' && family[1] <= '4', "%s: family %s", chip_id(chip), family);
        by_family[family[1] - '0']++;
        experimental += chip_experimental(chip);
        CHECK(chip_experimental(chip) == (family[1] == '4'), "%s", chip_id(chip));
        CU_ASSERT_FALSE(chip_modified(chip));
        chip_close(chip);
    }
    CU_ASSERT_EQUAL(by_family[1], 9);
    CU_ASSERT_EQUAL(by_family[2], 8);
    CU_ASSERT_EQUAL(by_family[3], 8);
    CU_ASSERT_EQUAL(by_family[4], 6);
    CU_ASSERT_EQUAL(experimental, 6);
    chip_db_close(db);
}

/* Figures from Apple's product pages, typed in here rather than taken from the files under test. */
static void test_published_figures(void)
{
    static const struct {
        const char *alias;
        int p, e, gpu, ane;
        double gbps;
    } rows[] = {
        {"m1", 4, 4, 8, 16, 68.3},        {"m1-pro", 8, 2, 16, 16, 200},     {"m1-max", 8, 2, 32, 16, 400},
        {"m1-ultra", 16, 4, 64, 32, 800}, {"m2", 4, 4, 10, 16, 100},         {"m2-pro", 8, 4, 19, 16, 200},
        {"m2-max", 8, 4, 38, 16, 400},    {"m2-ultra", 16, 8, 76, 32, 800},  {"m3", 4, 4, 10, 16, 100},
        {"m3-pro", 6, 6, 18, 16, 150},    {"m3-max", 12, 4, 40, 16, 400},    {"m3-ultra", 24, 8, 80, 32, 819},
        {"m1-max-24", 8, 2, 24, 16, 400}, {"m3-max-30", 10, 4, 30, 16, 300}, {"m2-pro-16", 6, 4, 16, 16, 200},
        {"m4-max", 12, 4, 40, 16, 546},
    };
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct chip *chip = open_chip(db, rows[i].alias, NULL, NULL);
        CHECK(number(chip, "p_cores") == rows[i].p && number(chip, "e_cores") == rows[i].e, "%s", rows[i].alias);
        CHECK(number(chip, "gpu_cores") == rows[i].gpu && number(chip, "ane_cores") == rows[i].ane, "%s", rows[i].alias);
        /* Apple rounds 102.4 to 100. */
        CHECK(fabs(number(chip, "memory_peak_GBps") / rows[i].gbps - 1) < 0.03, "%s", rows[i].alias);
        chip_close(chip);
    }
    chip_db_close(db);
}

static void check_value(const struct chip *chip, const struct chip_value *value)
{
    const char *name = value->key->name;
    if (strcmp(value->origin, "") == 0) {
        CHECK(!value->known, "%s %s: a value from nowhere", chip_id(chip), name);
        return;
    }
    CHECK(value->source && value->source[0], "%s %s: no source", chip_id(chip), name);
    CHECK((unsigned)value->kind < CHIP_KIND_COUNT, "%s %s: kind", chip_id(chip), name);
    CHECK(value->uncertainty >= 0 && value->uncertainty <= 2, "%s %s: %g", chip_id(chip), name, value->uncertainty);
    CHECK(!strstr(value->source, "../") && !strstr(value->source, "/work"), "%s %s: cites %s", chip_id(chip), name,
          value->source);
    CHECK(value->known == (strcmp(value->json, "null") != 0), "%s %s", chip_id(chip), name);
}

static void test_every_value_has_kind_and_source(void)
{
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < chip_db_count(db); i++) {
        struct chip *chip = open_chip(db, chip_db_id(db, i), NULL, NULL);
        for (size_t k = 0; k < chip_key_count(); k++)
            check_value(chip, chip_value_at(chip, k));
        chip_close(chip);
    }
    chip_db_close(db);
}

static void test_aliases(void)
{
    struct chip_db *db = example_chips();
    struct orch_error error = {0};
    unsigned aliases = 0;
    for (size_t i = 0; i < chip_db_count(db); i++) {
        for (size_t a = 0; a < chip_db_alias_count(db, i); a++, aliases++) {
            const char *id = NULL;
            CHECK(chip_db_resolve(db, chip_db_alias(db, i, a), &id, &error), "%s", error.text);
            CHECK(id == chip_db_id(db, i), "%s does not mean %s", chip_db_alias(db, i, a), chip_db_id(db, i));
        }
    }
    CU_ASSERT_EQUAL(aliases, 152);
    static const char *const same[][2] = {{"M1 Max", "m1_max_8p2e_32g"},
                                          {"m1-max-8p2e-32g", "m1_max_8p2e_32g"},
                                          {"m1_MAX-24", "m1_max_8p2e_24g"},
                                          {"apple m2 ultra", "m2_ultra_16p8e_76g"},
                                          {"m3", "m3_4p4e_10g"},
                                          {"m2-pro-19", "m2_pro_8p4e_19g"}};
    for (size_t i = 0; i < ARRAY_COUNT(same); i++) {
        const char *id = NULL;
        CHECK(chip_db_resolve(db, same[i][0], &id, &error) && strcmp(id, same[i][1]) == 0, "%s", same[i][0]);
    }
    const char *id;
    CU_ASSERT_FALSE(chip_db_resolve(db, "m2-prp", &id, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    CHECK(strstr(error.text, "m2-prp") && strstr(error.text, "did you mean m2-pro?"), "%s", error.text);
    chip_db_close(db);
}

static void test_inheritance(void)
{
    struct chip_db *db = example_chips();
    struct chip *full = open_chip(db, "m1-max", NULL, NULL), *binned = open_chip(db, "m1-max-24", NULL, NULL);
    CU_ASSERT_EQUAL(number(binned, "slc_MB"), number(full, "slc_MB"));
    CU_ASSERT_STRING_EQUAL(chip_value(binned, "slc_MB")->origin, "m1_max_8p2e_32g");
    CU_ASSERT_STRING_EQUAL(chip_value(binned, "gpu_cores")->origin, "m1_max_8p2e_24g");
    CU_ASSERT_EQUAL(number(binned, "amx.clock_ghz"), number(full, "amx.clock_ghz"));
    CU_ASSERT_NOT_EQUAL(chip_hash(full), chip_hash(binned));
    chip_close(full);
    chip_close(binned);
    chip_db_close(db);
}

/* A measurement on Firestorm cores is no measurement of Avalanche cores. */
static void test_adopted_values_are_weaker(void)
{
    struct chip_db *db = example_chips();
    struct chip *m1 = open_chip(db, "m1", NULL, NULL), *m2 = open_chip(db, "m2", NULL, NULL);
    const struct chip_value *a = chip_value(m1, "cpu_p.fp_fma.latency_cycles"),
                            *b = chip_value(m2, "cpu_p.fp_fma.latency_cycles");
    CU_ASSERT_EQUAL(a->kind, CHIP_MEASURED);
    CU_ASSERT_EQUAL(b->kind, CHIP_INFERRED);
    CU_ASSERT_EQUAL(a->number, b->number);
    CU_ASSERT(b->uncertainty > a->uncertainty);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->note);
    CHECK(strstr(b->note, "M1") != NULL, "%s", b->note);
    chip_close(m1);
    chip_close(m2);
    chip_db_close(db);
}

/* M3 Max: dependent chains on one core are measured, more cores are a guess. */
static void test_uncertainty_by_busy_cores(void)
{
    struct chip_db *db = example_chips();
    struct chip *m3 = open_chip(db, "m3-max", NULL, NULL), *set = open_chip(db, "m3-max", "amx.clock_ghz=3,2", NULL);
    const struct chip_value *const clock = chip_value(m3, "amx.clock_ghz"), *const width = chip_value(m3, "amx.array_width");
    CU_ASSERT_PTR_NOT_NULL_FATAL(clock->uncertainties);
    CU_ASSERT_EQUAL(clock->uncertainty, 0.02);
    CU_ASSERT_EQUAL(chip_value_uncertainty(clock, 0), 0.02);
    CU_ASSERT_EQUAL(chip_value_uncertainty(clock, 1), 0.02);
    CU_ASSERT_EQUAL(chip_value_uncertainty(clock, 2), 0.12);
    CU_ASSERT_EQUAL(chip_value_uncertainty(clock, 6), 0.12);
    CU_ASSERT_EQUAL(chip_value_uncertainty(width, 6), width->uncertainty);
    CU_ASSERT_EQUAL(chip_value_uncertainty(chip_value(set, "amx.clock_ghz"), 2), 0);
    chip_close(m3);
    chip_close(set);
    chip_db_close(db);
}

static void test_override(void)
{
    struct chip_db *db = example_chips();
    struct chip *plain = open_chip(db, "m1", NULL, NULL), *wide = open_chip(db, "m1", "gpu_cores=16", NULL);
    CU_ASSERT_TRUE(chip_modified(wide));
    CU_ASSERT_EQUAL(number(wide, "gpu_cores"), 16);
    CU_ASSERT_STRING_EQUAL(chip_value(wide, "gpu_cores")->origin, "--set");
    CU_ASSERT_EQUAL(chip_value(wide, "gpu_cores")->uncertainty, 0);
    CU_ASSERT_DOUBLE_EQUAL(number(wide, "gpu_peak_f32_gflops"), 16 * 256 * 1.278, 1e-6);
    CU_ASSERT_STRING_EQUAL(chip_value(wide, "gpu_peak_f32_gflops")->origin, "derived");
    CU_ASSERT_NOT_EQUAL(chip_hash(plain), chip_hash(wide));
    chip_close(wide);
    wide = open_chip(db, "m1", "p_cores=10", NULL);
    const struct chip_value *clusters = chip_value(wide, "p_clusters");
    CU_ASSERT_EQUAL(clusters->count, 1);
    CU_ASSERT_EQUAL(clusters->list[0], 10);
    chip_close(wide);
    wide = open_chip(db, "m1", "p_clusters=4,4", "amx.clock_ghz=3.0GHz");
    CU_ASSERT_EQUAL(number(wide, "p_cores"), 8);
    CU_ASSERT_EQUAL(number(wide, "amx_blocks_p"), 2);
    CU_ASSERT_EQUAL(number(wide, "amx.clock_ghz"), 3.0);
    chip_close(wide);
    wide = open_chip(db, "m1-max", "p_max_mhz=3551", NULL);
    CU_ASSERT_DOUBLE_EQUAL(number(wide, "cpu_p.clock_ghz"), 3.551, 1e-9);
    double three;
    CU_ASSERT_TRUE(chip_number_active(wide, "cpu_p.clock_ghz", 3, &three, NULL));
    CU_ASSERT_DOUBLE_EQUAL(three, 3.036 * 3551 / 3228, 1e-9);
    chip_close(wide);
    /* parts of values that follow from others: of what they are with what was supposed before */
    wide = open_chip(db, "m1", "gpu.clock_ghz=0.73x", NULL);
    CU_ASSERT_DOUBLE_EQUAL(number(wide, "gpu.clock_ghz"), 0.73 * 1.278, 1e-9);
    CU_ASSERT_EQUAL(number(wide, "gpu.cores"), 8);
    chip_close(wide);
    wide = open_chip(db, "m1", "gpu_max_mhz=1000", "gpu.clock_ghz=+20%");
    CU_ASSERT_DOUBLE_EQUAL(number(wide, "gpu.clock_ghz"), 1.2, 1e-9);
    chip_close(wide);
    /* the memory of a machine decides what a channel holds; else the smallest on sale does */
    CU_ASSERT_EQUAL(number(plain, "dram.density"), 8);
    wide = open_chip(db, "m1", "memory_GB=16", NULL);
    CU_ASSERT_EQUAL(number(wide, "dram.density"), 16);
    struct mem_pool_params pool;
    CU_ASSERT_TRUE(chip_memory(wide, 0, &pool, NULL) && pool.capacity_bytes == UINT64_C(16) << 30);
    chip_close(wide);
    chip_close(plain);
    chip_db_close(db);
}

static void test_wrong_overrides(void)
{
    static const struct {
        const char *set, *expected;
    } rows[] = {
        {"gpu_core=8", "did you mean gpu_cores"},
        {"gpu_cores", "KEY=VALUE"},
        {"=3", "KEY=VALUE"},
        {"gpu_cores=many", "not a value"},
        {"gpu_cores=2.5", "--set gpu_cores: expected an integer from 1 to 256 cores, got 2.5"},
        {"gpu_cores=1e9", "from 1 to 256 cores, got 1e+09"},
        {"gpu_cores=nan", "not a value"},
        {"amx.clock_ghz=3.0MHz", "from 0.1 to 10 GHz, got 0.003"},
        {"p_clusters=[]", "--set p_clusters: expected an array of 1 to 4096 items, got 0"},
        {"p_clusters=4,\"a\"", "--set p_clusters: [1]: expected a number, got \"a\""},
        {"dies=2", "dies must have equally many"},
        {"p_opp_table=3", "--set p_opp_table: expected an array [ ... ], got 3"},
        {"p_opp_table=[{}]", "--set p_opp_table: [0]: expected an object {\"name\": number, ...}"},
        {"p_opp_table=[{\"mhz\": \"a\"}]", "--set p_opp_table: [0].mhz: expected a number, got \"a\""},
        {"p_opp_table=[{\"mhz\": 1}], \"x\": [1]", "not a value"},
        {"gpu_clusters=4", "--set gpu_clusters: expected an object {\"name\": number, ...}"},
        {"memory_options_GB=1e999", "--set memory_options_GB: [0]: expected a finite number"},
        {"name=", "--set name: expected a string that is not empty"},
        {"amx.clock_ghz=true", "--set amx.clock_ghz: [0]: expected a number, got true"},
        {"amx.clock_ghz=[3,", "not a value"},
        {"amx_blocks_p=5", "at most one AMX"},
    };
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct chip_overrides overrides = {&rows[i].set, 1};
        struct orch_error error = {0};
        struct chip *chip = chip_open(db, "m1", &overrides, &error);
        CHECK(chip == NULL && error.exit_code == ORCH_USAGE, "%s", rows[i].set);
        CHECK(strstr(error.text, rows[i].expected) != NULL, "%s: %s", rows[i].set, error.text);
        chip_close(chip);
    }
    chip_db_close(db);
}

/* Clocks by the number of active cores: AnandTech 17024 for M1 Max. */
static void test_clock_by_active_cores(void)
{
    static const double expected[] = {3.228, 3.132, 3.036, 3.036, 3.036};
    struct chip_db *db = example_chips();
    struct chip *chip = open_chip(db, "m1-max", NULL, NULL);
    for (unsigned n = 1; n <= 5; n++) {
        double ghz = 0;
        CU_ASSERT_TRUE(chip_number_active(chip, "cpu_p.clock_ghz", n, &ghz, NULL));
        CU_ASSERT_DOUBLE_EQUAL(ghz, expected[n - 1], 1e-9);
    }
    chip_close(chip);
    chip_db_close(db);
}

static void test_unknown_number(void)
{
    struct chip_db *db = example_chips();
    struct chip *m4 = open_chip(db, "m4", NULL, NULL);
    struct orch_error error = {0};
    double value;
    CU_ASSERT_FALSE(chip_number(m4, "p_max_mhz", &value, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_UNMODELLED);
    CHECK(strstr(error.text, "p_max_mhz") != NULL, "%s", error.text);
    chip_close(m4);
    m4 = open_chip(db, "m4", "p_max_mhz=4400", NULL);
    CU_ASSERT_EQUAL(number(m4, "p_max_mhz"), 4400);
    chip_close(m4);
    chip_db_close(db);
}

/* Loads a database of one or two texts. */
static bool load_texts(const char *first, const char *second, struct orch_error *error, uint64_t *hash)
{
    struct chip_db *db = chip_db_new("memory");
    bool ok = chip_db_add(db, "x", first, strlen(first), error) &&
              (!second || chip_db_add(db, "y", second, strlen(second), error)) && chip_db_finish(db, error);
    struct chip *chip = ok ? chip_open(db, "x", NULL, error) : NULL;
    if (chip && hash)
        *hash = chip_hash(chip);
    ok = chip != NULL;
    chip_close(chip);
    chip_db_close(db);
    return ok;
}

#define V(key, value, unit)                                                                                                      \
    "\"" key "\": {\"value\": " value ", \"unit\": \"" unit "\", \"kind\": \"measured\", \"source\": \"s\"}"

static void test_bad_files(void)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"{\"chip\": \"x\", \"values\": {" V("gpu_coers", "8", "cores") "}}", "did you mean gpu_cores"},
        {"{\"chip\": \"x\", \"values\": {" V("gpu_cores", "8", "core") "}}",
         "values.gpu_cores.unit: expected \"cores\", got \"core\""},
        {"{\"chip\": \"x\", \"values\": {" V("gpu_cores", "8.5", "cores") "}}",
         "x.json: values.gpu_cores.value: expected an integer from 1 to 256 cores, got 8.5"},
        {"{\"chip\": \"x\", \"values\": {" V("gpu_cores", "0", "cores") "}}", "from 1 to 256 cores, got 0"},
        {"{\"chip\": \"x\", \"values\": {" V("gpu_cores", "\"8\"", "cores") "}}",
         "values.gpu_cores.value: expected a number, got \"8\""},
        {"{\"chip\": \"x\", \"values\": {\"gpu_cores\": 8}}", "gpu_cores"},
        {"{\"chip\": \"x\", \"values\": {\"gpu_cores\": {\"value\": 8, \"unit\": \"cores\", \"kind\": \"measured\"}}}", "source"},
        {"{\"chip\": \"x\", \"values\": {\"gpu_cores\": {\"value\": 8, \"unit\": \"cores\", \"kind\": \"sure\", \"source\": "
         "\"s\"}}}",
         "sure"},
        {"{\"chip\": \"x\", \"valeus\": {}}", "did you mean values"},
        {"{\"chip\": \"z\", \"values\": {}}", "one name"},
        {"{\"chip\": \"x\", \"values\": {}", "x.json:1"},
        {"{\"chip\": \"x\",\n\"values\": {}},", "x.json:2"},
        {"{\"chip\": \"x\", \"inherits\": [\"w\"], \"values\": {}}", "not there"},
        {"{\"chip\": \"x\", \"inherits\": [\"x\"], \"values\": {}}", "itself"},
        {"{\"chip\": \"x\", \"inherits\": [{\"file\": \"x\"}], \"values\": {}}", "inherits[0].kind: is missing"},
        {"{\"chip\": \"x\", \"values\": {\"amx.set_cycles\": {\"value\": 8, \"unit\": \"cycles\", \"kind\": \"fitted\", "
         "\"source\": \"s\"}}}",
         "fitted_on"},
        {"{\"chip\": \"x\", \"values\": {\"amx.clock_ghz\": {\"value\": [3, 2], \"unit\": \"GHz\", \"kind\": \"guess\", "
         "\"source\": \"s\", \"uncertainties\": [0.1]}}}",
         "expected 2 numbers"},
        {"{\"chip\": \"x\", \"values\": {\"amx.set_cycles\": {\"value\": 8, \"unit\": \"cycles\", \"kind\": \"guess\", "
         "\"source\": \"s\", \"uncertainties\": [0.1]}}}",
         "busy cores"},
        {"{\"chip\": \"x\", \"inherits\": [{\"file\": \"x\", \"kind\": \"guess\"}], \"values\": {}}",
         "inherits[0].note: is missing"},
        {"{\"chip\": \"x\", \"inherits\": [{\"file\": \"x\", \"kind\": \"gess\", \"note\": \"n\"}], \"values\": {}}",
         "did you mean guess"},
        {"{\"chip\": \"x\", \"inherits\": [3], \"values\": {}}", "inherits[0]: expected a string, or an object"},
        {"{\"chip\": \"x\", \"values\": {" V("gpu_cores", "8", "cores\", \"sort\": \"x") "}}", "unknown member \"sort\""},
        {"{\"chip\": \"x\", \"values\": {" V("p_cores", "4", "cores") "," V("p_clusters", "[4, 4]", "cores") "}}", "add up"},
        {"[]", "object"},
        {"", "empty"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct orch_error error = {0};
        CHECK(!load_texts(rows[i].text, NULL, &error, NULL), "%s", rows[i].text);
        CHECK(error.exit_code == ORCH_USAGE, "%s: exit %d", rows[i].text, error.exit_code);
        CHECK(strstr(error.text, rows[i].expected) != NULL, "%s: %s", rows[i].text, error.text);
        CHECK(strstr(error.text, "x") != NULL, "the file is named: %s", error.text);
    }
}

/* The hash depends on values, not on how files spell or distribute them. */
static void test_hash_of_values(void)
{
    struct orch_error error = {0};
    uint64_t a = 0, b = 0, c = 0;
    CHECK(load_texts("{\"chip\": \"x\", \"values\": {" V("gpu_cores", "8", "cores") "," V("slc_MB", "8", "MiB") "}}", NULL,
                     &error, &a),
          "%s", error.text);
    CHECK(load_texts("{\"chip\": \"x\", \"inherits\": [\"y\"], \"values\": {" V("slc_MB", "8.0", "MiB") "}}",
                     "{\"values\": {" V("gpu_cores", "8", "cores") "," V("slc_MB", "4", "MiB") "}}", &error, &b),
          "%s", error.text);
    CHECK(load_texts("{\"chip\": \"x\", \"values\": {" V("gpu_cores", "8", "cores") "," V("slc_MB", "9", "MiB") "}}", NULL,
                     &error, &c),
          "%s", error.text);
    CU_ASSERT_EQUAL(a, b);
    CU_ASSERT_NOT_EQUAL(a, c);
    /* FNV-1a64 of the values, worked out apart; gpu.cores is derived. */
    uint64_t expected = UINT64_C(0xcbf29ce484222325);
    for (const char *t = "gpu.cores=8,\ngpu_cores=8,\nslc_MB=8,\n"; *t; t++)
        expected = (expected ^ (unsigned char)*t) * UINT64_C(0x100000001b3);
    CU_ASSERT_EQUAL(a, expected);
}

static void test_missing_folder(void)
{
    struct orch_error error = {0};
    CU_ASSERT_PTR_NULL(chip_db_open("/nowhere/at/all", &error));
    CHECK(strstr(error.text, "/nowhere/at/all") && error.exit_code == ORCH_USAGE, "%s", error.text);
}

static const struct suite_test tests[] = {
    {"all 31 chips load", test_all_chips},
    {"core counts and bandwidths are Apple's", test_published_figures},
    {"every value has a kind and a source", test_every_value_has_kind_and_source},
    {"aliases are unique and forgiving", test_aliases},
    {"binned chips inherit from the full chip", test_inheritance},
    {"values taken over from a relative are less certain", test_adopted_values_are_weaker},
    {"uncertainties vary with busy cores", test_uncertainty_by_busy_cores},
    {"overrides change derived values", test_override},
    {"wrong overrides are refused by name", test_wrong_overrides},
    {"clocks depend on active cores", test_clock_by_active_cores},
    {"an unknown number is not modelled rather than zero", test_unknown_number},
    {"bad files are refused by name", test_bad_files},
    {"the hash depends on values alone", test_hash_of_values},
    {"a missing folder is named", test_missing_folder},
};
SUITE_MAIN("chip", tests)
