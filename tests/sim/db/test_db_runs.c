/* Runs through events into the database and back, and the questions that views answer. */
#include "isa/array_count.h"
#include "sim/base/check.h"
#include "sim/base/content_hash.h"
#include "tests/sim/db_example.h"

static void test_hash_vectors(void)
{
    /* FIPS 180-4 examples (NIST): one block, two blocks, a million bytes. */
    static const struct {
        const char *text;
        unsigned times;
        const char *digest;
    } cases[] = {
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, "248d6a61d20638b8e5c026930c3e6039"},
        {"aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67"},
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb924"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct content_hash h;
        char text[CONTENT_HASH_SIZE];
        content_hash_begin(&h);
        for (unsigned n = 0; n < cases[i].times; n++)
            content_hash_add_bytes(&h, cases[i].text, strlen(cases[i].text));
        content_hash_end(&h, text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].digest);
    }
}

static void test_config_hash(void)
{
    char base[DB_HASH_SIZE], other[DB_HASH_SIZE];
    struct event_run_begin b = example_begin(1);
    db_config_hash(&b, base);
    b.host = "elsewhere";
    db_config_hash(&b, other);
    CU_ASSERT_STRING_EQUAL(base, other); /* where it runs does not matter */
    const char **const fields[] = {&b.workload,  &b.chip_hash, &b.program_hash, &b.device,  &b.unit,
                                   &b.precision, &b.detail,    &b.mode,         &b.options, &b.version};
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        b = example_begin(1);
        *fields[i] = "different";
        db_config_hash(&b, other);
        CHECK(strcmp(base, other) != 0, "field %zu does not count", i);
    }
    b = example_begin(2);
    db_config_hash(&b, other);
    CU_ASSERT_STRING_NOT_EQUAL(base, other);
}

static void same_values(const struct run_values *a, const struct run_values *b)
{
    CU_ASSERT_EQUAL(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        CHECK(run_values_get(b, a->item[i].name) == a->item[i].value, "%s", a->item[i].name);
}

static void same_text(const char *a, const char *b, const char *what)
{
    CHECK(a == b || (a && b && strcmp(a, b) == 0), "%s: '%s', '%s'", what, a ? a : "NULL", b ? b : "NULL");
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void same_instruction(const struct profile_instruction *a, const struct profile_instruction *b)
{
    CU_ASSERT(a->offset == b->offset && a->file == b->file && a->line == b->line && a->issued == b->issued);
    CU_ASSERT(same_number(a->lanes, b->lanes) && same_number(a->units, b->units) && same_number(a->least_units, b->least_units));
    same_text(a->text ? a->text : "", b->text ? b->text : "", "instruction");
    CU_ASSERT_EQUAL(memcmp(a->cycles, b->cycles, sizeof a->cycles), 0);
}

static void same_profile(const struct line_profile *a, const struct line_profile *b)
{
    CU_ASSERT_FATAL(a && b && a->kernels == b->kernels && a->warnings == b->warnings && a->reasons == b->reasons);
    for (size_t i = 0; i < a->reasons; i++)
        same_text(a->reason[i], b->reason[i], "reason");
    for (size_t i = 0; i < a->kernels; i++) {
        const struct profile_kernel *const x = &a->kernel[i], *const y = &b->kernel[i];
        CU_ASSERT_FATAL(x->instructions == y->instructions && x->files == y->files && x->texts == y->texts);
        CU_ASSERT(x->timed_share == y->timed_share && x->idle_cycles == y->idle_cycles);
        same_text(x->name, y->name, "kernel");
        for (size_t n = 0; n < x->instructions; n++)
            same_instruction(&x->instruction[n], &y->instruction[n]);
        for (size_t n = 0; n < x->files; n++)
            same_text(x->file[n], y->file[n], "file");
        for (size_t n = 0; n < x->texts; n++) {
            same_text(x->text[n].text, y->text[n].text, "text");
            CU_ASSERT(x->text[n].file == y->text[n].file && x->text[n].line == y->text[n].line);
        }
    }
    for (size_t i = 0; i < a->warnings; i++) {
        const struct profile_warning *const x = &a->warning[i], *const y = &b->warning[i];
        same_text(x->kind, y->kind, "kind");
        same_text(x->place, y->place, "place");
        same_text(x->evidence, y->evidence, "evidence");
        same_text(x->fix, y->fix, "fix");
        CU_ASSERT(x->kernel == y->kernel && x->file == y->file && x->line == y->line && x->offset == y->offset);
    }
}

static void same_result(const struct run_result *a, const struct run_result *b)
{
    for (size_t i = 0; i < run_text_field_count(); i++)
        same_text(run_text_of(a, run_text_field(i)), run_text_of(b, run_text_field(i)), run_text_field(i)->name);
    for (size_t i = 0; i < run_number_field_count(); i++)
        CHECK(same_number(run_number_of(a, run_number_field(i)), run_number_of(b, run_number_field(i))), "%s",
              run_number_field(i)->name);
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        CHECK(same_number(a->utilisation[i], b->utilisation[i]), "utilisation %d", i);
    same_values(&a->joules_by, &b->joules_by);
    same_values(&a->stalls, &b->stalls);
    same_values(&a->counters, &b->counters);
    CU_ASSERT_EQUAL_FATAL(a->placement.count, b->placement.count);
    for (size_t i = 0; i < a->placement.count; i++) {
        same_text(a->placement.item[i].op, b->placement.item[i].op, "placement op");
        same_text(a->placement.item[i].unit, b->placement.item[i].unit, "placement unit");
        same_text(a->placement.item[i].kernel, b->placement.item[i].kernel, "placement kernel");
        same_text(a->placement.item[i].why, b->placement.item[i].why, "placement why");
    }
    CU_ASSERT_EQUAL_FATAL(a->assumptions.count, b->assumptions.count);
    same_text(a->assumptions.item[0].effect, b->assumptions.item[0].effect, "assumption");
    CU_ASSERT_EQUAL_FATAL(a->checksum.count, b->checksum.count);
    CU_ASSERT_EQUAL(a->checksum.item[0].fnv1a64, b->checksum.item[0].fnv1a64);
    same_profile(a->profile, b->profile);
}

static void test_round_trip(void)
{
    char folder[64];
    struct orch_error error = {0};
    struct run_result sent, got;
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "c.db"), DB_WRITE);
    const int64_t id = example_record(db, 1, 10, EVENT_RUN_DONE, 0, &error);
    CHECK(id > 0, "%s", error.text);
    example_result(&sent);
    run_result_init(&got);
    CHECK(db_read_run(db, id, &got, &error), "%s", error.text);
    CU_ASSERT_EQUAL(got.run_id, id);
    same_result(&sent, &got);
    run_result_free(&got);
    run_result_init(&got);
    CU_ASSERT(run_result_copy(&got, &sent));
    same_profile(sent.profile, got.profile);
    run_result_free(&sent);
    run_result_free(&got);
    db_close(db);
    example_remove(folder);
}

static void test_rows(void)
{
    static const struct {
        const char *sql;
        double expect;
    } questions[] = {
        {"SELECT count(*) FROM op", 10},
        {"SELECT sum(seconds) FROM op", 10 * 5e-7},
        {"SELECT count(*) FROM v_op WHERE kernel = 'gemm_f32_16x16' AND unit = 'amx' AND instance = 1", 10},
        {"SELECT submitted_ns FROM v_op WHERE op = 7", 7000},
        {"SELECT started_ns FROM v_op WHERE op = 7", 7250},
        {"SELECT ops FROM v_op_time WHERE shape = '32x32x32'", 4}, /* ops 1, 4, 7, 10 */
        {"SELECT sum(share) FROM v_op_time", 1},
        {"SELECT value FROM v_activity WHERE name = 'DRAM_READ_BYTES'", 55},
        {"SELECT value FROM v_activity WHERE name = 'AMX_F32_MACS'", 2621440},
        {"SELECT fraction FROM v_stalls WHERE reason = 'amx.array'", 0.625},
        {"SELECT fraction FROM v_op_stalls WHERE reason = 'amx.issue' AND op = 3", 600.0 / 1600},
        {"SELECT value FROM v_counters WHERE name = 'cpu.instructions'", 4503599627370497.0},
        {"SELECT value FROM v_op_counters WHERE name = 'cpu.instructions' AND op = 9", 90},
        {"SELECT value FROM v_samples WHERE series = 'power' AND time_seconds > 1.5e-8", 4.5},
        {"SELECT bytes FROM transfer WHERE to_part = 'amx'", 16384},
        {"SELECT to_mhz FROM dvfs_change WHERE volts IS NULL", 3204},
        {"SELECT utilisation FROM v_parts WHERE part = 'amx'", 0.75},
        {"SELECT count(*) FROM v_placement WHERE kernel IS NULL AND why = 'not on amx'", 1},
        {"SELECT seconds FROM v_run_summary WHERE status = 'done' AND workload = 'gemm:64x64x64'", 0.25},
        {"SELECT count(*) FROM metric WHERE definition = ''", 0},
        {"SELECT count(*) FROM run r JOIN program p ON p.id = r.program_id WHERE p.name = 'gemm_f32'", 1},
        {"SELECT count(*) FROM run r JOIN chip c ON c.id = r.chip_id WHERE c.hash = '00000000c0ffee00'", 1},
    };
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    CHECK(example_record(db, 1, 10, EVENT_RUN_DONE, 0, &error) > 0, "%s", error.text);
    for (size_t i = 0; i < ARRAY_COUNT(questions); i++) {
        const double got = example_number(db, questions[i].sql);
        CHECK(fabs(got - questions[i].expect) <= 1e-12 * fabs(questions[i].expect), "%s: %.17g", questions[i].sql, got);
    }
    db_close(db);
    example_remove(folder);
}

/* Many small chunks and one large one give the same rows. */
static void test_chunks(void)
{
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    const int64_t whole = example_record(db, 1, 50, EVENT_RUN_DONE, 0, &error);
    const int64_t pieces = example_record(db, 1, 50, EVENT_RUN_DONE, 7, &error);
    CHECK(whole > 0 && pieces > whole, "%s", error.text);
    static const char *const tables[] = {"op",
                                         "activity",
                                         "stall",
                                         "counter",
                                         "sample",
                                         "transfer",
                                         "dvfs_change",
                                         "run_part",
                                         "placement",
                                         "assumption",
                                         "checksum",
                                         "profile_kernel",
                                         "profile_file",
                                         "profile_text",
                                         "profile_instruction",
                                         "profile_stall",
                                         "profile_warning"};
    for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
        char sql[256];
        snprintf(sql, sizeof sql, "SELECT sum(run_id = %lld) - sum(run_id = %lld) FROM %s", (long long)whole, (long long)pieces,
                 tables[i]);
        CHECK(example_number(db, sql) == 0, "%s", tables[i]);
    }
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM op"), 100);
    db_close(db);
    example_remove(folder);
}

static void test_find_and_resolve(void)
{
    char folder[64], hash[DB_HASH_SIZE];
    struct orch_error error = {0};
    int64_t found = -1;
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    const struct event_run_begin wanted = example_begin(2), other = example_begin(3);
    const int64_t failed = example_record(db, 2, 1, EVENT_RUN_FAILED, 0, &error);
    CHECK(failed > 0, "%s", error.text);
    db_config_hash(&wanted, hash);
    CU_ASSERT_TRUE(db_find_run(db, hash, &found, &error));
    CU_ASSERT_EQUAL(found, 0); /* a failed run is no answer */
    const int64_t first = example_record(db, 2, 1, EVENT_RUN_DONE, 0, &error);
    const int64_t second = example_record(db, 2, 1, EVENT_RUN_DONE, 0, &error);
    CU_ASSERT_TRUE(db_find_run(db, hash, &found, &error) && found == second);
    db_config_hash(&other, hash);
    CU_ASSERT_TRUE(db_find_run(db, hash, &found, &error) && found == 0);
    CU_ASSERT_TRUE(db_resolve_run(db, "last", &found, &error) && found == second);
    CU_ASSERT_TRUE(db_resolve_run(db, "2", &found, &error) && found == first);
    CU_ASSERT_FALSE(db_resolve_run(db, "999999999999", &found, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    CU_ASSERT_FALSE(db_resolve_run(db, "nonsense", &found, &error));
    struct run_result r;
    run_result_init(&r);
    CU_ASSERT_FALSE(db_read_run(db, failed, &r, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    run_result_free(&r);
    db_close(db);
    example_remove(folder);
}

static void test_failed_run_keeps_its_story(void)
{
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    CHECK(example_record(db, 1, 3, EVENT_RUN_FAILED, 0, &error) > 0, "%s", error.text);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE status = 'failed' AND error = 'it went wrong'"), 1);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM op"), 3);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE seconds IS NOT NULL"), 0);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM fault WHERE part = 'cpu' AND instance = 3 AND fault = 'unmapped' "
                                       "AND pc = '0000000100004000' AND address = 'fffffffffffffff8' AND text = 'load'"),
                    1);
    db_close(db);
    example_remove(folder);
}

/* Two runs with interleaved events, and a metric that nothing defines. */
static void test_interleaved_and_unknown(void)
{
    char folder[64];
    struct orch_error error = {0};
    int64_t ids[2];
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "x.db"), DB_WRITE);
    struct event_bus *bus = event_bus_create();
    struct db_writer *w = db_writer_create(db);
    event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, w, false});
    for (uint64_t run = 1; run <= 2; run++) {
        struct event e = {.kind = EVENT_RUN_BEGIN, .run = run};
        e.run_begin = example_begin(run);
        event_bus_emit(bus, &e);
    }
    for (uint64_t op = 1; op <= 6; op++)
        example_emit_op(bus, 1 + op % 2, op);
    struct event odd = {.kind = EVENT_SAMPLE, .run = 2};
    odd.sample = (struct event_sample){"humidity", "1", {PART_SOC, 0}, 0.4};
    event_bus_emit(bus, &odd);
    CU_ASSERT_FALSE(db_writer_result(w, 1, &ids[0], &error)); /* it has not ended */
    example_emit_end(bus, 2, EVENT_RUN_DONE);
    example_emit_end(bus, 1, EVENT_RUN_DONE);
    CU_ASSERT_TRUE(db_writer_result(w, 1, &ids[0], &error) && db_writer_result(w, 2, &ids[1], &error));
    CU_ASSERT_NOT_EQUAL(ids[0], ids[1]);
    CU_ASSERT_EQUAL(example_number(db, "SELECT sum(op % 2 = 0 AND seed = 1) + sum(op % 2 = 1 AND seed = 2) FROM op "
                                       "JOIN run ON run.id = run_id"),
                    6);
    struct check_report report = {0};
    CU_ASSERT_TRUE(db_check(db, &report, &error));
    CU_ASSERT_EQUAL(report.failed, 1);
    CU_ASSERT_TRUE(report.failures.count == 1 && strstr(report.failures.text[0], "humidity"));
    check_report_free(&report);
    CU_ASSERT_TRUE(db_define_metric(db, "sample", "humidity", "1", "relative humidity", -1, &error));
    CU_ASSERT_TRUE(db_check(db, &report, &error) && report.failed == 0 && report.passed >= 10);
    check_report_free(&report);
    db_writer_free(w);
    event_bus_free(bus);
    db_close(db);
    example_remove(folder);
}

static const struct suite_test tests[] = {
    {"hashes are SHA-256", test_hash_vectors},
    {"the hash of a configuration covers what matters and nothing else", test_config_hash},
    {"a run comes back as it went in", test_round_trip},
    {"every event is in the rows and views", test_rows},
    {"chunks give the same rows as one write", test_chunks},
    {"equal runs are found, and names of runs are resolved", test_find_and_resolve},
    {"a failed run keeps its rows and error", test_failed_run_keeps_its_story},
    {"interleaved runs and undefined metrics are kept apart", test_interleaved_and_unknown},
};
SUITE_MAIN("db runs", tests)
