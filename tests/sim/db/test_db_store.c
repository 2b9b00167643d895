/* Characteristics, measurements, fitted sets, chips, and queries of users. */
#include "isa/array_count.h"
#include "sim/chip/chip.h"
#include "tests/sim/db_store_example.h"

/* Parameters of an imaginary chip. */
struct settings {
    double z_latency, clock;
    unsigned asked;
};

static bool look_up(void *context, const char *key, double *value)
{
    struct settings *s = context;
    s->asked++;
    if (strcmp(key, "amx.z_latency_cycles") == 0)
        *value = s->z_latency;
    else if (strcmp(key, "amx.clock_ghz") == 0)
        *value = s->clock;
    else
        return false;
    return true;
}

static double get(struct orch_db *db, const struct db_characteristic_key *key, struct settings settings)
{
    struct orch_error error = {0};
    struct db_characteristic c;
    bool found;
    db_characteristic_init(&c);
    CHECK(db_get_characteristic(db, key, look_up, &settings, &c, &found, &error), "%s", error.text);
    const double cycles = found ? c.cycles : -1;
    if (found) {
        CU_ASSERT_EQUAL(c.activity.count[ACT_AMX_F32_MACS], 262144);
        CU_ASSERT_EQUAL(c.activity.count[ACT_L2_READ_BYTES], UINT64_C(1) << 40);
        CU_ASSERT_EQUAL(c.activity.count[ACT_CPU_LOADS], 0);
        CU_ASSERT_EQUAL(run_values_get(&c.traffic, "dram_read"), 16384);
        CU_ASSERT_EQUAL(run_values_get(&c.stalls, "amx.array"), cycles * 0.75);
        CU_ASSERT_EQUAL(run_values_get(&c.stalls, "amx.issue"), cycles * 0.25);
        CU_ASSERT_EQUAL(run_values_get(&c.other, "flops"), 524288);
        CU_ASSERT_EQUAL(c.stalls.count, 2);
    }
    db_characteristic_free(&c);
    return cycles;
}

static void test_characteristics(void)
{
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    struct db_characteristic_key key = example_gemm_key;
    CU_ASSERT_EQUAL(get(db, &key, (struct settings){4, 3.2, 0}), -1);
    CHECK(example_put(db, &key, 4, 1234.5, &error), "%s", error.text);
    CHECK(example_put(db, &key, 8, 2000, &error), "%s", error.text);
    CU_ASSERT_EQUAL(get(db, &key, (struct settings){4, 3.2, 0}), 1234.5);
    CU_ASSERT_EQUAL(get(db, &key, (struct settings){8, 3.2, 0}), 2000);
    CU_ASSERT_EQUAL(get(db, &key, (struct settings){5, 3.2, 0}), -1);
    CU_ASSERT_EQUAL(get(db, &key, (struct settings){4, 1.0, 0}), 1234.5); /* the clock was not read */
    static const struct {
        size_t offset;
    } fields[] = {{offsetof(struct db_characteristic_key, program_hash)}, {offsetof(struct db_characteristic_key, kernel)},
                  {offsetof(struct db_characteristic_key, shape)},        {offsetof(struct db_characteristic_key, precision)},
                  {offsetof(struct db_characteristic_key, detail)},       {offsetof(struct db_characteristic_key, version)}};
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        const char *other = "other";
        key = example_gemm_key;
        memcpy((char *)&key + fields[i].offset, &other, sizeof other);
        CHECK(get(db, &key, (struct settings){4, 3.2, 0}) == -1, "field %zu does not count", i);
    }
    key = example_gemm_key;
    key.part = PART_CPU;
    CU_ASSERT_EQUAL(get(db, &key, (struct settings){4, 3.2, 0}), -1);
    db_close(db);
    example_remove(folder);
}

static void test_characteristics_never_change(void)
{
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    CU_ASSERT_TRUE(example_put(db, &example_gemm_key, 4, 1234.5, &error) &&
                   example_put(db, &example_gemm_key, 4, 1234.5, &error));
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM characteristic"), 1);
    CU_ASSERT_FALSE(example_put(db, &example_gemm_key, 4, 1235, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_INTERNAL);
    CU_ASSERT_EQUAL(get(db, &example_gemm_key, (struct settings){4, 0, 0}), 1234.5);
    /* The order of parameters does not matter. */
    struct db_characteristic c;
    struct db_characteristic_key key = example_gemm_key;
    const struct db_parameter a[] = {{"amx.clock_ghz", 3}, {"amx.z_latency_cycles", 4}}, b[] = {a[1], a[0]};
    key.shape = "1x1x1";
    example_characteristic(&c, 10);
    CU_ASSERT_TRUE(db_put_characteristic(db, &key, a, 2, &c, &error) && db_put_characteristic(db, &key, b, 2, &c, &error));
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM characteristic"), 2);
    db_characteristic_free(&c);
    db_close(db);
    example_remove(folder);
}

static void test_measurements(void)
{
    char folder[64];
    struct orch_error error = {0};
    int64_t id, again;
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    struct db_measurement m = example_measurement;
    CU_ASSERT_TRUE_FATAL(db_begin(db, &error));
    CHECK(db_put_measurement(db, &m, &id, &error) && db_put_measurement(db, &m, &again, &error), "%s", error.text);
    CU_ASSERT_EQUAL(id, again);
    struct db_validation v = {
        .measurement_id = id, .chip_hash = "c0ffee", .version = "0.1.0", .predicted = 25, .low = 18, .high = 30};
    CHECK(db_put_validation(db, &v, &error), "%s", error.text);
    v.predicted = 24; /* the second prediction replaces the first */
    CHECK(db_put_validation(db, &v, &error), "%s", error.text);
    m.label = "HW2";
    m.workload = "sort";
    CU_ASSERT_TRUE(db_put_measurement(db, &m, &again, &error) && again != id);
    v = (struct db_validation){.measurement_id = again,
                               .chip_hash = "c0ffee",
                               .version = "0.1.0",
                               .predicted = (double)NAN,
                               .low = (double)NAN,
                               .high = (double)NAN,
                               .unmodelled = "no sort kernel"};
    CHECK(db_put_validation(db, &v, &error), "%s", error.text);
    m.source = "";
    m.label = "HW3";
    CU_ASSERT_FALSE(db_put_measurement(db, &m, &again, &error));
    CU_ASSERT_TRUE(db_commit(db, &error));
    CU_ASSERT_DOUBLE_EQUAL(example_number(db, "SELECT mape FROM v_accuracy"), 0.2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(example_number(db, "SELECT bias FROM v_accuracy"), 0.2, 1e-12);
    CU_ASSERT_EQUAL(example_number(db, "SELECT coverage FROM v_accuracy"), 0.5);
    CU_ASSERT_EQUAL(example_number(db, "SELECT within25 FROM v_accuracy"), 1);
    CU_ASSERT_EQUAL(example_number(db, "SELECT within10 FROM v_accuracy"), 0);
    CU_ASSERT_EQUAL(example_number(db, "SELECT interval_coverage FROM v_accuracy"), 1);
    db_close(db);
    example_remove(folder);
}

static void test_fitted_sets(void)
{
    char folder[64], hash[DB_HASH_SIZE], later[DB_HASH_SIZE], *body;
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    CHECK(db_put_fitted_set(db, "winter", "tuned", "{\"tile\":32}", &error), "%s", error.text);
    CU_ASSERT_TRUE_FATAL(db_get_fitted_set(db, "winter", &body, hash, &error));
    CU_ASSERT_STRING_EQUAL(body, "{\"tile\":32}");
    free(body);
    CU_ASSERT_TRUE(db_put_fitted_set(db, "winter", "tuned", "{\"tile\":64}", &error));
    CU_ASSERT_TRUE_FATAL(db_get_fitted_set(db, "winter", &body, later, &error));
    CU_ASSERT_STRING_NOT_EQUAL(hash, later);
    free(body);
    CU_ASSERT_FALSE(db_get_fitted_set(db, "wimter", &body, later, &error));
    CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, "winter"), "%s", error.text);
    CU_ASSERT_FALSE(db_put_fitted_set(db, "x", "guessed", "{}", &error));
    db_close(db);
    example_remove(folder);
}

static void put_chip(struct orch_db *db, struct chip_db *chips, const char *id, const char *set, int64_t *row)
{
    struct orch_error error = {0};
    const struct chip_overrides overrides = {&set, set ? 1 : 0};
    struct chip *chip = chip_open(chips, id, &overrides, &error);
    CHECK(chip && db_put_chip(db, chip, row, &error), "%s", error.text);
    chip_close(chip);
}

static void test_chips(void)
{
    char folder[64];
    struct orch_error error = {0};
    int64_t rows[4];
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    struct chip_db *chips = chip_db_open(NULL, &error);
    CHECK(chips != NULL, "%s", error.text);
    put_chip(db, chips, "m1", NULL, &rows[0]);
    put_chip(db, chips, "m1", NULL, &rows[1]);
    put_chip(db, chips, "m1", "gpu_max_mhz=1000", &rows[2]);
    put_chip(db, chips, "m2", NULL, &rows[3]);
    CU_ASSERT_TRUE(rows[0] == rows[1] && rows[2] != rows[0] && rows[3] != rows[2]);
    CU_ASSERT_EQUAL(example_number(db, "SELECT value FROM v_chip_values WHERE key = 'gpu_max_mhz' AND modified"), 1000);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(DISTINCT chip_hash) FROM v_chip_values"), 3);
    CU_ASSERT_EQUAL(example_number(db, "SELECT value FROM v_chip_values WHERE key = 'p_cores' AND chip = 'm1_4p4e_8g' "
                                       "AND NOT modified"),
                    4);
    CU_ASSERT_TRUE(example_number(db, "SELECT count(*) FROM v_chip_values WHERE kind = 'measured' AND source <> ''") > 10);
    struct check_report report = {0};
    CU_ASSERT_TRUE(db_check(db, &report, &error));
    CHECK(report.failed == 0, "%s", report.failures.count ? report.failures.text[0] : "");
    check_report_free(&report);
    chip_db_close(chips);
    db_close(db);
    example_remove(folder);
}

static void test_printing(void)
{
    char folder[64], text[2000];
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    const char *sql = "SELECT 1 AS a, 0.1 AS b, 'x,\"y\"' AS c, NULL AS d UNION ALL SELECT -2, 1e300, 'plain', 7";
    example_printed(db, sql, DB_FORMAT_CSV, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a,b,c,d\n1,0.1,\"x,\"\"y\"\"\",\n-2,1e+300,plain,7\n");
    example_printed(db, sql, DB_FORMAT_JSONL, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "{\"a\":1,\"b\":0.1,\"c\":\"x,\\\"y\\\"\",\"d\":null}\n"
                                 "{\"a\":-2,\"b\":1e+300,\"c\":\"plain\",\"d\":7}\n");
    example_printed(db, sql, DB_FORMAT_TABLE, text, sizeof text);
    CU_ASSERT_TRUE(strstr(text, "1e+300") && strstr(text, "x,\"y\""));
    example_printed(db, "SELECT op FROM op LIMIT 0", DB_FORMAT_JSON, text, sizeof text);
    db_close(db);
    example_remove(folder);
}

static void test_only_reading(void)
{
    static const char *const refused[] = {
        "DELETE FROM metric",
        "INSERT INTO name (text) VALUES ('x')",
        "WITH t AS (SELECT 1) UPDATE metric SET unit = ''",
        "DROP TABLE run",
        "CREATE TEMP TABLE t (a)",
        "ATTACH '/tmp/orchard-attached.db' AS x",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 9",
        "PRAGMA writable_schema = 1",
        "VACUUM INTO '/tmp/orchard-vacuumed.db'",
        "BEGIN IMMEDIATE",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM metric",
        "SELEC 1",
        "SELECT * FROM nowhere",
        "",
        " ; ",
    };
    char folder[64], text[20000];
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    const double before = example_number(db, "SELECT count(*) FROM metric");
    for (size_t i = 0; i < ARRAY_COUNT(refused); i++) {
        struct orch_error error = {0};
        CHECK(!db_print_query(db, refused[i], DB_FORMAT_CSV, stdout, &error), "%s", refused[i]);
        CHECK(error.exit_code == ORCH_USAGE, "%s: %s", refused[i], error.text);
    }
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM metric"), before);
    example_printed(db, "EXPLAIN QUERY PLAN SELECT * FROM run", DB_FORMAT_CSV, text, sizeof text);
    example_printed(db, "PRAGMA table_info(run)", DB_FORMAT_CSV, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "celsius_max"));
    example_printed(db, "PRAGMA user_version;", DB_FORMAT_CSV, text, sizeof text);
    struct orch_error error = {0};
    CU_ASSERT_FALSE(db_export(db, "run\" UNION SELECT 1 --", DB_FORMAT_CSV, stdout, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    db_close(db);
    example_remove(folder);
}

static const struct suite_test tests[] = {
    {"characteristics are found by the values they depend on", test_characteristics},
    {"a stored characteristic never changes", test_characteristics_never_change},
    {"predictions of measurements give the accuracy", test_measurements},
    {"fitted sets are stored by name", test_fitted_sets},
    {"chips are stored with all their values", test_chips},
    {"rows are printed as CSV, JSON and table", test_printing},
    {"queries can only read", test_only_reading},
};
SUITE_MAIN("db store", tests)
