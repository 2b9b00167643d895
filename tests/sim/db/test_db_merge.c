/* Pruning a database, and merging shards of a sweep into one. */
#include "isa/array_count.h"
#include "tests/sim/db_store_example.h"

static void test_prune(void)
{
    char folder[64];
    struct orch_error error = {0};
    struct db_pruned n;
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    for (uint64_t i = 0; i < 6; i++)
        example_record(db, i, 2, i < 2 ? EVENT_RUN_FAILED : EVENT_RUN_DONE, 0, &error);
    CU_ASSERT_TRUE(example_put(db, &example_gemm_key, 4, 10, &error));
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

/* The whole content without row numbers, as one text. */
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
        "SELECT r.uid, p.kernel, p.file, p.line, p.text, p.instructions, p.cycles, p.share FROM v_profile_lines p "
        "JOIN run r ON r.id = run_id ORDER BY 1, 2, 3, 4",
        "SELECT r.uid, p.kernel, p.position, m.name, p.cycles FROM profile_stall p JOIN metric m ON m.id = metric_id "
        "JOIN run r ON r.id = run_id ORDER BY 1, 2, 3, 4",
        "SELECT r.uid, p.seq, p.place, p.fix FROM profile_warning p JOIN run r ON r.id = run_id ORDER BY 1, 2",
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
        example_printed(db, queries[i], DB_FORMAT_CSV, text + used, size - used);
        used += strlen(text + used);
        CHECK(strchr(text + before, '\n') + 1 < text + used, "no rows: %s", queries[i]);
    }
}

/* One of two shards of a sweep of five points. Both hold point 2. */
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
    CHECK(example_put(db, &example_gemm_key, 4, 1000, &error) &&
              example_put(db, &example_gemm_key, 10 + shard, 1001 + shard, &error),
          "%s", error.text);
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
        merge(all, paths[0], 0, 0); /* merging again adds nothing */
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
    CU_ASSERT_TRUE(example_put(a, &example_gemm_key, 4, 1000, &error) && example_put(b, &example_gemm_key, 4, 1001, &error));
    CHECK(example_record(b, 1, 1, EVENT_RUN_DONE, 0, &error) > 0, "%s", error.text);
    CU_ASSERT_FALSE(db_merge(a, db_path(b), &n, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_FAILED);
    CU_ASSERT_EQUAL(example_number(a, "SELECT count(*) FROM run"), 0);
    CU_ASSERT_FALSE(db_merge(a, db_path(a), &n, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    CU_ASSERT_FALSE(db_merge(a, example_file(folder, "absent.db"), &n, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    CHECK(example_record(a, 1, 1, EVENT_RUN_DONE, 0, &error) > 0, "%s", error.text); /* the database still works */
    db_close(a);
    db_close(b);
    example_remove(folder);
}

static const struct suite_test tests[] = {
    {"prune removes what was asked for, and nothing else", test_prune},
    {"merging is a union, in any order and any number of times", test_merge},
    {"merging refuses disagreement and nonsense", test_merge_refusals},
};
SUITE_MAIN("db merge", tests)
