/* Characteristics, measurements, fitted sets, queries of users, pruning, merging. */
#include "isa/array_count.h"
#include "sim/base/check.h"
#include "sim/chip/chip.h"
#include "tests/sim/db_example.h"

static const struct db_characteristic_key gemm_key = {.program_hash = "feed",
                                                      .kernel = "gemm_f32",
                                                      .shape = "64x64x64",
                                                      .precision = "f32",
                                                      .detail = "sampled",
                                                      .version = "0.1.0",
                                                      .part = PART_AMX};

static void example_characteristic(struct db_characteristic *c, double cycles)
{
    db_characteristic_init(c);
    c->cycles = cycles;
    c->activity.count[ACT_AMX_F32_MACS] = 262144;
    c->activity.count[ACT_L2_READ_BYTES] = UINT64_C(1) << 40;
    run_values_set(&c->traffic, "dram_read", 16384);
    run_values_set(&c->stalls, "amx.array", cycles * 0.75);
    run_values_set(&c->stalls, "amx.issue", cycles * 0.25);
    run_values_set(&c->other, "flops", 524288);
}

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

static bool put(struct orch_db *db, const struct db_characteristic_key *key, double z_latency, double cycles,
                struct orch_error *error)
{
    struct db_characteristic c;
    const struct db_parameter read = {"amx.z_latency_cycles", z_latency};
    example_characteristic(&c, cycles);
    const bool ok = db_put_characteristic(db, key, &read, 1, &c, error);
    db_characteristic_free(&c);
    return ok;
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
    struct db_characteristic_key key = gemm_key;
    CU_ASSERT_EQUAL(get(db, &key, (struct settings){4, 3.2, 0}), -1);
    CHECK(put(db, &key, 4, 1234.5, &error), "%s", error.text);
    CHECK(put(db, &key, 8, 2000, &error), "%s", error.text);
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
        key = gemm_key;
        memcpy((char *)&key + fields[i].offset, &other, sizeof other);
        CHECK(get(db, &key, (struct settings){4, 3.2, 0}) == -1, "field %zu does not count", i);
    }
    key = gemm_key;
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
    CU_ASSERT_TRUE(put(db, &gemm_key, 4, 1234.5, &error) && put(db, &gemm_key, 4, 1234.5, &error));
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM characteristic"), 1);
    CU_ASSERT_FALSE(put(db, &gemm_key, 4, 1235, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_INTERNAL);
    CU_ASSERT_EQUAL(get(db, &gemm_key, (struct settings){4, 0, 0}), 1234.5);
    /* The order of parameters does not matter. */
    struct db_characteristic c;
    struct db_characteristic_key key = gemm_key;
    const struct db_parameter a[] = {{"amx.clock_ghz", 3}, {"amx.z_latency_cycles", 4}}, b[] = {a[1], a[0]};
    key.shape = "1x1x1";
    example_characteristic(&c, 10);
    CU_ASSERT_TRUE(db_put_characteristic(db, &key, a, 2, &c, &error) && db_put_characteristic(db, &key, b, 2, &c, &error));
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM characteristic"), 2);
    db_characteristic_free(&c);
    db_close(db);
    example_remove(folder);
}

static const struct db_measurement example_measurement = {.label = "HW1",
                                                          .chip = "m1_4p4e_8g",
                                                          .unit = "gpu",
                                                          .workload = "softmax",
                                                          .precision = "f32",
                                                          .shape = "64x1000000",
                                                          .metric = "time",
                                                          .value_unit = "ms",
                                                          .kind = "measured",
                                                          .source = "a paper",
                                                          .value = 20,
                                                          .watts = (double)NAN,
                                                          .flops = 1e9,
                                                          .min_bytes = (double)NAN};

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
    v.predicted = 24; /* the same prediction again replaces it */
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

/* --- queries ------------------------------------------------------------------------------------------------------ */

static void printed(struct orch_db *db, const char *sql, enum db_format format, char *text, size_t size)
{
    struct orch_error error = {0};
    FILE *out = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CHECK(db_print_query(db, sql, format, out, &error), "%s: %s", sql, error.text);
    rewind(out);
    text[fread(text, 1, size - 1, out)] = 0;
    fclose(out);
}

static void test_printing(void)
{
    char folder[64], text[2000];
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    const char *sql = "SELECT 1 AS a, 0.1 AS b, 'x,\"y\"' AS c, NULL AS d UNION ALL SELECT -2, 1e300, 'plain', 7";
    printed(db, sql, DB_FORMAT_CSV, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a,b,c,d\n1,0.1,\"x,\"\"y\"\"\",\n-2,1e+300,plain,7\n");
    printed(db, sql, DB_FORMAT_JSONL, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "{\"a\":1,\"b\":0.1,\"c\":\"x,\\\"y\\\"\",\"d\":null}\n"
                                 "{\"a\":-2,\"b\":1e+300,\"c\":\"plain\",\"d\":7}\n");
    printed(db, sql, DB_FORMAT_TABLE, text, sizeof text);
    CU_ASSERT_TRUE(strstr(text, "1e+300") && strstr(text, "x,\"y\""));
    printed(db, "SELECT op FROM op LIMIT 0", DB_FORMAT_JSON, text, sizeof text);
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
    printed(db, "EXPLAIN QUERY PLAN SELECT * FROM run", DB_FORMAT_CSV, text, sizeof text);
    printed(db, "PRAGMA table_info(run)", DB_FORMAT_CSV, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "celsius_max"));
    printed(db, "PRAGMA user_version;", DB_FORMAT_CSV, text, sizeof text);
    struct orch_error error = {0};
    CU_ASSERT_FALSE(db_export(db, "run\" UNION SELECT 1 --", DB_FORMAT_CSV, stdout, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    db_close(db);
    example_remove(folder);
}

/* --- prune and merge ------------------------------------------------------------------------------------------------ */

static void test_prune(void)
{
    char folder[64];
    struct orch_error error = {0};
    struct db_pruned n;
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    for (uint64_t i = 0; i < 6; i++)
        example_record(db, i, 2, i < 2 ? EVENT_RUN_FAILED : EVENT_RUN_DONE, 0, &error);
    CU_ASSERT_TRUE(put(db, &gemm_key, 4, 10, &error));
    CU_ASSERT_TRUE(db_run_sql(db, "UPDATE run SET started = '2001-01-01T00:00:00.000Z' WHERE seed IN (0, 3)", &error));
    const struct db_prune nothing = {NULL, false, "0.1.0", false}, dry = {NULL, true, NULL, true};
    const struct db_prune failed = {NULL, true, NULL, false}, old = {"2002-01-01", false, "9.9", false};
    CU_ASSERT_TRUE(db_prune(db, &nothing, &n, &error) && n.runs == 0 && n.characteristics == 0);
    CU_ASSERT_TRUE(db_prune(db, &dry, &n, &error) && n.runs == 2);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run"), 6);
    CU_ASSERT_TRUE(db_prune(db, &failed, &n, &error) && n.runs == 2);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM op"), 8);
    CU_ASSERT_TRUE(db_prune(db, &old, &n, &error) && n.runs == 1 && n.characteristics == 1);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run"), 3);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM characteristic_value"), 0);
    struct check_report report = {0};
    CU_ASSERT_TRUE(db_check(db, &report, &error) && report.failed == 0);
    check_report_free(&report);
    db_close(db);
    example_remove(folder);
}

/* All content without row numbers, as one text. */
static void content_of(struct orch_db *db, char *text, size_t size)
{
    static const char *const queries[] = {
        "SELECT uid, status, config_hash, workload, chip, version, seed, started, seconds, cycles, native_mac_share FROM run "
        "ORDER BY uid",
        "SELECT r.uid, o.op, o.name, o.kernel, o.shape, o.seconds, o.cycles FROM v_op o JOIN run r ON r.id = run_id ORDER BY 1, "
        "2",
        "SELECT r.uid, t.name, t.value, t.unit FROM v_activity t JOIN run r ON r.id = run_id ORDER BY 1, 2",
        "SELECT r.uid, t.reason, t.fraction FROM v_stalls t JOIN run r ON r.id = run_id ORDER BY 1, 2",
        "SELECT r.uid, t.op, t.name, t.value FROM v_op_counters t JOIN run r ON r.id = run_id ORDER BY 1, 2, 3",
        "SELECT r.uid, t.series, t.time_seconds, t.value FROM v_samples t JOIN run r ON r.id = run_id ORDER BY 1, 2, 3",
        "SELECT r.uid, t.bytes FROM transfer t JOIN run r ON r.id = run_id ORDER BY 1, 2",
        "SELECT r.uid, t.seq, t.op, t.why FROM v_placement t JOIN run r ON r.id = run_id ORDER BY 1, 2",
        "SELECT r.uid, c.output, c.fnv1a64 FROM checksum c JOIN run r ON r.id = run_id ORDER BY 1, 2",
        "SELECT hash, cycles FROM characteristic ORDER BY 1",
        "SELECT c.hash, m.kind, m.name, v.value FROM characteristic_value v JOIN characteristic c ON "
        "c.id = v.characteristic_id JOIN metric m ON m.id = v.metric_id ORDER BY 1, 2, 3",
        "SELECT c.hash, n.text, p.value FROM characteristic_parameter p JOIN characteristic c ON "
        "c.id = p.characteristic_id JOIN name n ON n.id = p.key_id ORDER BY 1, 2",
        "SELECT label, measured, source, predicted FROM v_validation ORDER BY 1",
        "SELECT w.hash, p.point, p.settings, p.status, r.uid FROM sweep_point p JOIN sweep w ON w.id = p.sweep_id "
        "LEFT JOIN run r ON r.id = p.run_id ORDER BY 1, 2",
        "SELECT baseline, chip, key, value FROM v_baseline ORDER BY 1, 2, 3",
    };
    size_t used = 0;
    for (size_t i = 0; i < ARRAY_COUNT(queries); i++) {
        CHECK(used + 1 < size, "content longer than %zu", size);
        const size_t before = used;
        printed(db, queries[i], DB_FORMAT_CSV, text + used, size - used);
        used += strlen(text + used);
        CHECK(strchr(text + before, '\n') + 1 < text + used, "no rows: %s", queries[i]);
    }
}

/* Shard i of a sweep with four points; point 1 is in both. */
static void fill_shard(struct orch_db *db, int shard)
{
    struct orch_error error = {0};
    int64_t id;
    for (uint64_t i = 0; i < 3; i++) {
        const int64_t run = example_record(db, (uint64_t)shard * 10 + i, 5 + i, EVENT_RUN_DONE, 0, &error);
        CHECK(run > 0, "%s", error.text);
        CU_ASSERT_TRUE(db_exec(db, &error,
                               "INSERT OR IGNORE INTO sweep (hash, workload, specification, version, created) VALUES "
                               "('5eed', 'gemm:64x64x64', '{}', '0.1.0', ?)",
                               "t", shard ? "2026-01-02" : "2026-01-01"));
        CU_ASSERT_TRUE(db_exec(db, &error,
                               "INSERT INTO sweep_point (sweep_id, point, settings, run_id, status) "
                               "SELECT id, ?, '{}', ?, ? FROM sweep",
                               "iit", (int64_t)(i + (uint64_t)shard * 2), run, i == 2 && !shard ? "failed" : "done"));
    }
    CHECK(put(db, &gemm_key, 4, 1000, &error) && put(db, &gemm_key, 10 + shard, 1001 + shard, &error), "%s", error.text);
    struct db_measurement m = example_measurement;
    m.label = shard ? "HW10" : "HW11";
    CU_ASSERT_TRUE_FATAL(db_begin(db, &error));
    CHECK(db_put_measurement(db, &m, &id, &error), "%s", error.text);
    const struct db_validation v = {
        .measurement_id = id, .chip_hash = "c", .version = "1", .predicted = 21, .low = 20, .high = 22};
    CHECK(db_put_validation(db, &v, &error), "%s", error.text);
    CHECK(db_name_id(db, shard ? "peak_b" : "peak_a", &id, &error), "%s", error.text);
    CU_ASSERT_TRUE(db_exec(db, &error, "INSERT INTO baseline (name, version, created) VALUES (?, '1', '2026-01-01')", "t",
                           shard ? "two" : "one"));
    CU_ASSERT_TRUE(db_exec(db, &error,
                           "INSERT INTO baseline_value (baseline_id, chip, key_id, value, tolerance) "
                           "SELECT max(id), 'm1', ?, ?, 0.01 FROM baseline",
                           "id", id, 5.0 + shard));
    CU_ASSERT_TRUE(db_commit(db, &error));
}

static void merge(struct orch_db *db, const char *shard, int64_t runs, int64_t points)
{
    struct orch_error error = {0};
    struct db_merged n;
    CHECK(db_merge(db, shard, &n, &error), "%s", error.text);
    CHECK(n.runs == runs && n.sweep_points == points, "%lld runs, %lld points", (long long)n.runs, (long long)n.sweep_points);
}

static void test_merge(void)
{
    enum { SIZE = 1 << 18 };
    char folder[64], *texts[3];
    example_folder(folder);
    const char *paths[2] = {example_file(folder, "s 1?#%.db"), example_file(folder, "s2.db")};
    for (int i = 0; i < 2; i++) {
        struct orch_db *shard = example_open(paths[i], DB_WRITE);
        fill_shard(shard, i);
        db_close(shard);
    }
    for (int order = 0; order < 2; order++) {
        char name[20];
        snprintf(name, sizeof name, "all%d.db", order);
        struct orch_db *all = example_open(example_file(folder, name), DB_WRITE);
        merge(all, paths[order], 3, 3);
        merge(all, paths[!order], 3, 2);
        texts[order] = malloc(SIZE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(texts[order]);
        content_of(all, texts[order], SIZE);
        merge(all, paths[0], 0, 0); /* once more: nothing new */
        merge(all, paths[1], 0, 0);
        texts[2] = malloc(SIZE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(texts[2]);
        content_of(all, texts[2], SIZE);
        CU_ASSERT_STRING_EQUAL(texts[order], texts[2]);
        free(texts[2]);
        CU_ASSERT_EQUAL(example_number(all, "SELECT count(*) FROM sweep_point WHERE status = 'done'"), 5);
        CU_ASSERT_EQUAL(example_number(all, "SELECT count(*) FROM characteristic"), 3);
        struct check_report report = {0};
        struct orch_error error = {0};
        CU_ASSERT_TRUE(db_check(all, &report, &error));
        CHECK(report.failed == 0, "%s", report.failures.count ? report.failures.text[0] : "");
        check_report_free(&report);
        db_close(all);
    }
    CU_ASSERT_STRING_EQUAL(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    example_remove(folder);
}

static void test_merge_refusals(void)
{
    char folder[64];
    struct orch_error error = {0};
    struct db_merged n;
    example_folder(folder);
    struct orch_db *a = example_open(example_file(folder, "a.db"), DB_WRITE);
    struct orch_db *b = example_open(example_file(folder, "b.db"), DB_WRITE);
    CU_ASSERT_TRUE(put(a, &gemm_key, 4, 1000, &error) && put(b, &gemm_key, 4, 1001, &error));
    CHECK(example_record(b, 1, 1, EVENT_RUN_DONE, 0, &error) > 0, "%s", error.text);
    CU_ASSERT_FALSE(db_merge(a, db_path(b), &n, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_FAILED);
    CU_ASSERT_EQUAL(example_number(a, "SELECT count(*) FROM run"), 0);
    CU_ASSERT_FALSE(db_merge(a, db_path(a), &n, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    CU_ASSERT_FALSE(db_merge(a, example_file(folder, "absent.db"), &n, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    CHECK(example_record(a, 1, 1, EVENT_RUN_DONE, 0, &error) > 0, "%s", error.text); /* still works */
    db_close(a);
    db_close(b);
    example_remove(folder);
}

static const struct suite_test tests[] = {
    {"characteristics are found by what decides them", test_characteristics},
    {"a stored characteristic never changes", test_characteristics_never_change},
    {"measurements, predictions, accuracy", test_measurements},
    {"fitted sets", test_fitted_sets},
    {"chips with all their values", test_chips},
    {"rows as CSV, JSON and table", test_printing},
    {"queries can only read", test_only_reading},
    {"prune removes what it should", test_prune},
    {"merging is a union: any order, any number of times", test_merge},
    {"merging refuses disagreement and nonsense", test_merge_refusals},
};
SUITE_MAIN("db store", tests)
