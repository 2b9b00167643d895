/* Settings, and answers of studies against fresh simulations. */
#include "isa/array_count.h"
#include "sim/db/db.h"
#include "sim/ask/study/study.h"
#include "tests/sim/chip_example.h"
#include "tests/sim/db_example.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- settings ---- */

static void test_settings_as_json(void)
{
    struct study_setting s = {0}, again = {0};
    struct orch_error error = {0};
    CHECK(study_setting_set(&s, "workload", "gemm:64x64x64"), "set");
    CHECK(study_setting_set(&s, "gpu_max_mhz", "1278"), "set");
    CHECK(study_setting_set(&s, "dram.latency_ns", "9.75e1"), "set");
    CHECK(study_setting_set(&s, "cpu_p.clock_ghz", "[3.2,3.0]"), "set");
    CHECK(study_setting_set(&s, "amx.clock_ghz", "3.2GHz"), "set");
    CHECK(study_setting_set(&s, "gpu_max_mhz", "1300"), "replaced");
    CHECK(s.count == 5 && strcmp(study_setting_get(&s, "gpu_max_mhz"), "1300") == 0, "one value a key");
    CHECK(study_setting_get(&s, "chip") == NULL, "not set");
    char *const json = study_setting_json(&s);
    CHECK(json && strcmp(json, "{\"amx.clock_ghz\":\"3.2GHz\",\"cpu_p.clock_ghz\":\"[3.2,3.0]\",\"dram.latency_ns\":9.75e1,"
                               "\"gpu_max_mhz\":1300,\"workload\":\"gemm:64x64x64\"}") == 0,
          "%s", json ? json : "no memory");
    CHECK(json && study_setting_from_json(&again, json, &error), "%s", error.text);
    for (size_t i = 0; i < s.count; i++)
        CHECK(again.count == s.count && study_setting_get(&again, s.key[i]) &&
                  strcmp(study_setting_get(&again, s.key[i]), s.value[i]) == 0,
              "%s", s.key[i]);
    char *const back = study_setting_json(&again);
    CHECK(json && back && strcmp(json, back) == 0, "%s", back ? back : "no memory");
    free(json);
    free(back);
    study_setting_free(&s);
    study_setting_free(&again);
    CHECK(s.count == 0 && s.key == NULL, "empty");
}

static void test_settings_refused(void)
{
    static const char *const bad[] = {"", "[1]", "{\"a\":true}", "{\"a\":{}}", "{\"a\":1", "{\"a\":null}"};
    struct study_setting s = {0};
    CHECK(study_setting_set(&s, "unit", "gpu"), "set");
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct orch_error error = {0};
        CHECK(!study_setting_from_json(&s, bad[i], &error) && error.exit_code == ORCH_USAGE && error.text[0], "%s", bad[i]);
    }
    CHECK(s.count == 1 && strcmp(study_setting_get(&s, "unit"), "gpu") == 0, "stays as it was");
    study_setting_free(&s);
}

static void test_keys(void)
{
    struct orch_error error = {0};
    CHECK(study_key_check("power-cap", &error) && study_key_check("gpu_cores", &error) &&
              study_key_check("dram.latency_ns", &error),
          "%s", error.text);
    CHECK(study_key_is_chip("gpu_cores") && !study_key_is_chip("unit"), "which are the chip's");
    CHECK(!study_key_check("gpu_corse", &error) && error.exit_code == ORCH_USAGE && strstr(error.text, "gpu_cores"), "%s",
          error.text);
    CHECK(!study_key_check("workloud", &error) && strstr(error.text, "workload"), "%s", error.text);
    CHECK(!study_key_check("xyzzyquux", &error) && !strstr(error.text, "mean"), "%s", error.text);
}

/* ---- answers ---- */

/* A study of the example chips without a database, or in `db`. */
struct bench {
    struct chip_db *chips;
    struct study_base base;
    struct study *study;
};

static struct bench bench_open(const char *workload, const char *unit)
{
    struct bench b = {.chips = example_chips()};
    b.base =
        (struct study_base){.request = {.workload = workload, .unit = unit}, .chip = "m1", .ambient_c = NAN, .chips = b.chips};
    return b;
}

static bool bench_start(struct bench *b, struct orch_db *db)
{
    struct orch_error error = {0};
    b->study = study_create(&b->base, db, &error);
    CHECK(b->study != NULL, "%s", error.text);
    return b->study != NULL;
}

static void bench_close(struct bench *b)
{
    study_free(b->study);
    chip_db_close(b->chips);
}

/* At "KEY=VALUE KEY=VALUE ...". */
static bool ask(struct bench *b, const char *words, bool fresh, struct study_answer *answer, struct orch_error *error)
{
    struct study_setting s = {0};
    char copy[512], *save = NULL;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *const equals = strchr(word, '=');
        *equals = 0;
        study_setting_set(&s, word, equals + 1);
    }
    const bool ok = (fresh ? study_evaluate_fresh : study_evaluate)(b->study, &s, answer, error);
    study_setting_free(&s);
    return ok;
}

static void test_wrong_settings(void)
{
    static const struct {
        const char *words, *told;
    } bad[] = {
        {"unit=gpuu", "gpu"},          {"gpu_corse=4", "gpu_cores"},
        {"chip=m1-mx", "m1-max"},      {"cores=0", "1..64"},
        {"cores=x", "not a number"},   {"policy=balanced", "device"},
        {"gpu_max_mhz=fast", "fast"},  {"device=macbook-ait", "macbook-air"},
        {"workload=gem:1x1x1", "gem"}, {"device=macbook-air policy=pce", "pace"},
    };
    struct bench b = bench_open("gemm:64x64x64", "gpu");
    struct study_answer answer;
    study_answer_init(&answer);
    for (size_t i = 0; bench_start(&b, NULL) && i < ARRAY_COUNT(bad); i++) {
        struct orch_error error = {0};
        CHECK(!ask(&b, bad[i].words, false, &answer, &error) && error.exit_code == ORCH_USAGE && strstr(error.text, bad[i].told),
              "%s: %s", bad[i].words, error.text);
        study_free(b.study);
        b.study = NULL;
    }
    study_answer_free(&answer);
    bench_close(&b);
}

static void test_settings_change_answers(void)
{
    struct bench b = bench_open("gemm:64x64x64", "gpu");
    struct study_answer plain, fast, amx;
    struct orch_error error = {0};
    study_answer_init(&plain);
    study_answer_init(&fast);
    study_answer_init(&amx);
    if (bench_start(&b, NULL)) {
        CHECK(ask(&b, "", false, &plain, &error) && ask(&b, "gpu_max_mhz=2000", false, &fast, &error) &&
                  ask(&b, "unit=amx chip=m2-max", false, &amx, &error),
              "%s", error.text);
        CHECK(fast.result.device_seconds < plain.result.device_seconds, "%g < %g", fast.result.device_seconds,
              plain.result.device_seconds);
        CHECK(strcmp(amx.result.unit, "amx") == 0 && strncmp(amx.result.chip, "m2_max", 6) == 0, "%s %s", amx.result.unit,
              amx.result.chip);
        CHECK(plain.result.checksum.count == 0 && plain.result.joules > 0, "timing only, with energy");
    }
    study_answer_free(&plain);
    study_answer_free(&fast);
    study_answer_free(&amx);
    bench_close(&b);
}

/* ---- known and fresh ---- */

static bool same_number(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static bool same_values(const struct run_values *a, const struct run_values *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->item[i].name, b->item[i].name) == 0 && a->item[i].value == b->item[i].value;
    return same;
}

/* Every number, name and assumption; the host's time apart. NULL = the same, else what differs. */
static const char *difference(const struct run_result *a, const struct run_result *b)
{
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const struct run_number_field *f = run_number_field(i);
        if (strcmp(f->name, "host_seconds") != 0 && !same_number(run_number_of(a, f), run_number_of(b, f)))
            return f->name;
    }
    for (size_t i = 0; i < run_text_field_count(); i++) {
        const char *x = run_text_of(a, run_text_field(i)), *y = run_text_of(b, run_text_field(i));
        if (strcmp(x ? x : "", y ? y : "") != 0)
            return run_text_field(i)->name;
    }
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        if (!same_number(a->utilisation[i], b->utilisation[i]))
            return "utilisation";
    if (a->assumptions.count != b->assumptions.count || a->placement.count != b->placement.count || a->placement.count == 0)
        return "assumptions or placement";
    for (size_t i = 0; i < a->assumptions.count; i++)
        if (strcmp(a->assumptions.item[i].key, b->assumptions.item[i].key) != 0 ||
            strcmp(a->assumptions.item[i].effect, b->assumptions.item[i].effect) != 0)
            return a->assumptions.item[i].key;
    return !same_values(&a->joules_by, &b->joules_by) ? "joules_by"
           : !same_values(&a->stalls, &b->stalls)     ? "stalls"
           : !same_values(&a->counters, &b->counters) ? "counters"
                                                      : NULL;
}

/* Asks, checks how it was answered, and that a fresh simulation says the same. */
static void check_answer(struct bench *b, const char *words, enum study_method method, struct study_answer *answer)
{
    struct study_answer fresh;
    struct orch_error error = {0};
    study_answer_init(&fresh);
    CHECK(ask(b, words, false, answer, &error), "%s: %s", words, error.text);
    CHECK(answer->method == method, "%s %s", words, method == STUDY_KNOWN ? "is known" : "is simulated");
    CHECK(ask(b, words, true, &fresh, &error) && fresh.method == STUDY_SIMULATED, "%s: %s", words, error.text);
    const char *const differs = difference(&answer->result, &fresh.result);
    CHECK(differs == NULL, "%s: %s differs", words, differs ? differs : "");
    study_answer_free(&fresh);
}

/* One kernel of each unit; a key that its timing reads, and one that only another unit's reads. */
static const struct {
    const char *workload, *unit, *read, *unread;
} kernels[] = {
    {"gemm:64x64x64", "gpu", "gpu.latency_32_cycles=9", "ane.clock_ghz=1.0"},
    {"gemm:32x32x32", "amx", "amx.z_latency_cycles=8", "gpu.submit_us=10"},
    {"conv2d:n=1,c=16,h=8,w=8,k=16,r=3,s=3,stride=1,pad=1,groups=1", "ane", "ane.dma_GBps=20", "cpu_p.dispatch_width=4"},
    {"stream-triad:16K", "cpu", "cpu_p.dispatch_width=4", "gpu.latency_32_cycles=9"},
};
enum { KERNELS = ARRAY_COUNT(kernels) };

static void check_kernel(struct bench *b, const char *read, const char *unread)
{
    struct study_answer plain, other;
    char both[128];
    study_answer_init(&plain);
    study_answer_init(&other);
    check_answer(b, "", STUDY_SIMULATED, &plain);
    check_answer(b, "", STUDY_KNOWN, &plain);
    CHECK(strcmp(plain.result.detail, "op") == 0 && plain.result.checksum.count == 0, "%s, no values", plain.result.detail);
    check_answer(b, unread, STUDY_KNOWN, &other);
    CHECK(other.result.seconds == plain.result.seconds, "%s does not matter", unread);
    check_answer(b, read, STUDY_SIMULATED, &other);
    CHECK(other.result.seconds != plain.result.seconds, "%s matters: %.17g", read, plain.result.seconds);
    snprintf(both, sizeof both, "%s %s", read, unread);
    check_answer(b, both, STUDY_KNOWN, &other);
    check_answer(b, "power.gpu.leakage_w=9", STUDY_KNOWN, &other);
    CHECK(other.result.seconds == plain.result.seconds && other.result.joules != plain.result.joules,
          "energy alone: %.17g, %.17g", plain.result.joules, other.result.joules);
    study_answer_free(&plain);
    study_answer_free(&other);
}

static void test_known_as_fresh(void)
{
    for (size_t i = 0; i < KERNELS; i++) {
        struct bench b = bench_open(kernels[i].workload, kernels[i].unit);
        if (bench_start(&b, NULL))
            check_kernel(&b, kernels[i].read, kernels[i].unread);
        bench_close(&b);
    }
}

/* A number of the chip a little larger, or NULL when it has none. */
static const char *larger(const struct chip *chip, size_t key, char *words, size_t size)
{
    const struct chip_value *v = chip_value_at(chip, key);
    if (!v->known || (v->key->type != CHIP_INT && v->key->type != CHIP_REAL))
        return NULL;
    snprintf(words, size, "%s=%.9g", v->key->name, v->key->type == CHIP_INT ? v->number + 1 : v->number * 1.03);
    return words;
}

/* Whatever key is changed: what is known then is what a fresh simulation says. Few are read, so most must be known. */
static void test_any_key(void)
{
    const char *const more = getenv("ORCHARD_TEST_KEYS"); /* all of them: 1000 */
    uint64_t state = 11;
    for (size_t i = 0; i < KERNELS; i++) {
        struct bench b = bench_open(kernels[i].workload, kernels[i].unit);
        struct chip *const chip = example_chip(b.chips, "m1", NULL);
        struct study_answer known, fresh;
        struct orch_error error = {0}, again = {0};
        char words[128];
        int hits = 0, asked = 0;
        study_answer_init(&known);
        study_answer_init(&fresh);
        bool ok = chip && bench_start(&b, NULL) && ask(&b, "", false, &known, &error);
        CHECK(ok, "%s", error.text);
        for (size_t k = 0; ok && k < (more ? chip_key_count() : 12); k++) {
            const size_t key = more ? k : suite_random(&state) % chip_key_count();
            if (!larger(chip, key, words, sizeof words))
                continue;
            const bool answered = ask(&b, words, false, &known, &error);
            CHECK(ask(&b, words, true, &fresh, &again) == answered, "%s %s: %s %s", kernels[i].unit, words, error.text,
                  again.text);
            const char *const differs = answered ? difference(&known.result, &fresh.result) : NULL;
            CHECK(differs == NULL, "%s %s: %s differs", kernels[i].unit, words, differs ? differs : "");
            hits += answered && known.method == STUDY_KNOWN;
            asked += answered;
        }
        CHECK(2 * hits > asked, "%s: %d of %d known", kernels[i].unit, hits, asked);
        if (more)
            printf("  %s: %d of %d known\n", kernels[i].unit, hits, asked);
        study_answer_free(&known);
        study_answer_free(&fresh);
        chip_close(chip);
        bench_close(&b);
    }
}

/* Asked one after another in one study, every chip has its own answer. */
static void test_every_chip(void)
{
    for (size_t i = 0; i < KERNELS; i++) {
        struct bench b = bench_open(kernels[i].workload, kernels[i].unit);
        struct study_answer known, fresh;
        struct orch_error error = {0}, again = {0};
        study_answer_init(&known);
        study_answer_init(&fresh);
        bench_start(&b, NULL);
        for (size_t c = 0; b.study && c < chip_db_count(b.chips); c++) {
            char words[96];
            snprintf(words, sizeof words, "chip=%s", chip_db_id(b.chips, c));
            const bool answered = ask(&b, words, false, &known, &error);
            CHECK(ask(&b, words, true, &fresh, &again) == answered, "%s: %s %s", words, error.text, again.text);
            const char *const differs = answered ? difference(&known.result, &fresh.result) : NULL;
            CHECK(differs == NULL, "%s %s: %s differs", kernels[i].unit, words, differs ? differs : "");
        }
        study_answer_free(&known);
        study_answer_free(&fresh);
        bench_close(&b);
    }
}

/* What one study puts into a file another one finds there; so does one of another chip with the same GPU and memory side. */
static void test_known_from_a_file(void)
{
    char folder[64];
    example_folder(folder);
    const char *const path = example_file(folder, "study.db");
    for (int round = 0; round < 2; round++) {
        struct orch_db *const db = example_open(path, DB_WRITE);
        for (size_t i = 0; db && i < KERNELS; i++) {
            struct bench b = bench_open(kernels[i].workload, kernels[i].unit);
            struct study_answer answer;
            study_answer_init(&answer);
            if (bench_start(&b, db)) {
                check_answer(&b, "", round ? STUDY_KNOWN : STUDY_SIMULATED, &answer);
                check_answer(&b, kernels[i].read, round ? STUDY_KNOWN : STUDY_SIMULATED, &answer);
                check_answer(&b, kernels[i].unread, STUDY_KNOWN, &answer);
            }
            study_answer_free(&answer);
            bench_close(&b);
        }
        db_close(db);
    }
    example_remove(folder);
}

static int64_t number_of(struct orch_db *db, const char *sql)
{
    struct orch_error error = {0};
    int64_t n = -1;
    CHECK(db_number(db, &error, -1, &n, sql, ""), "%s", error.text);
    return n;
}

/* A poisoned row is believed under this version, as it must be if it was read at all, and not under another one. */
static void test_other_versions(void)
{
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    const char *const path = example_file(folder, "study.db");
    struct orch_db *const db = example_open(path, DB_WRITE);
    struct bench b = bench_open("gemm:32x32x32", "amx");
    struct study_answer answer;
    study_answer_init(&answer);
    if (db && bench_start(&b, db)) {
        CHECK(ask(&b, "", false, &answer, &error), "%s", error.text);
        const double right = answer.result.seconds;
        CHECK(db_run_sql(db, "UPDATE characteristic SET timing = json_set(timing, '$.result.seconds', 123.5)", &error), "%s",
              error.text);
        study_free(b.study);
        if (bench_start(&b, db) && ask(&b, "", false, &answer, &error))
            CHECK(answer.result.seconds == 123.5 && answer.method == STUDY_KNOWN, "the row is read: %g", answer.result.seconds);
        /* The same row as another version would have written it. */
        CHECK(db_run_sql(db,
                         "UPDATE characteristic SET version = '0.0.1+1', hash = substr(hash, 2) || 'x', base_hash = "
                         "substr(base_hash, 2) || 'x'",
                         &error),
              "%s", error.text);
        study_free(b.study);
        if (bench_start(&b, db) && ask(&b, "", false, &answer, &error))
            CHECK(answer.result.seconds == right && answer.method == STUDY_SIMULATED, "%g", answer.result.seconds);
        CHECK(number_of(db, "SELECT count(DISTINCT version) FROM characteristic") == 2, "both are there");
    }
    study_answer_free(&answer);
    bench_close(&b);
    db_close(db);
    example_remove(folder);
}

/* A shard's characteristics are known where it was merged. */
static void test_merged(void)
{
    static const char *const settings[] = {"amx.z_latency_cycles=5", "amx.z_latency_cycles=6"};
    char folder[64];
    struct orch_error error = {0};
    struct db_merged merged;
    example_folder(folder);
    for (int i = 0; i < 3; i++) {
        struct orch_db *const db = example_open(example_file(folder, i == 1 ? "b.db" : "a.db"), DB_WRITE);
        struct bench b = bench_open("gemm:16x16x16", "amx");
        struct study_answer answer;
        study_answer_init(&answer);
        if (i == 2) {
            CHECK(db_merge(db, example_file(folder, "b.db"), &merged, &error) && merged.characteristics == 1, "%s", error.text);
            CHECK(db_merge(db, example_file(folder, "b.db"), &merged, &error) && merged.characteristics == 0, "%s", error.text);
        }
        if (db && bench_start(&b, db)) {
            check_answer(&b, settings[i % 2], i < 2 ? STUDY_SIMULATED : STUDY_KNOWN, &answer);
            if (i == 2)
                check_answer(&b, settings[1], STUDY_KNOWN, &answer);
            CHECK(i < 2 || db_run_sql(db, "UPDATE characteristic SET timing = json_set(timing, '$.end_ns', 1)", &error), "%s",
                  error.text);
        }
        if (i == 2)
            CHECK(!db_merge(db, example_file(folder, "b.db"), &merged, &error) && error.exit_code == ORCH_FAILED,
                  "another timing: %s", error.text);
        study_answer_free(&answer);
        bench_close(&b);
        db_close(db);
    }
    example_remove(folder);
}

static int work_in_child(const char *path, int child)
{
    struct orch_error error = {0};
    struct orch_db *const db = db_open(path, DB_WRITE, &error);
    struct bench b = bench_open("gemm:16x16x16", "amx");
    struct study_answer answer;
    bool ok = db != NULL && bench_start(&b, db);
    study_answer_init(&answer);
    for (int i = 0; ok && i < 24; i++) {
        char words[48];
        snprintf(words, sizeof words, "amx.z_latency_cycles=%d", 2 + (child ? 23 - i : i) / 2); /* each twice, from both ends */
        ok = ask(&b, words, false, &answer, &error);
    }
    study_answer_free(&answer);
    bench_close(&b);
    db_close(db);
    return ok ? 0 : 1;
}

static void test_two_processes(void)
{
    char folder[64];
    pid_t child[2];
    example_folder(folder);
    const char *const path = example_file(folder, "study.db");
    db_close(example_open(path, DB_WRITE));
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(work_in_child(path, i));
    }
    for (int i = 0; i < 2; i++) {
        int status = -1;
        CHECK(waitpid(child[i], &status, 0) == child[i] && status == 0, "process %d: %d", i, status);
    }
    struct orch_db *const db = example_open(path, DB_READ);
    if (db)
        CHECK(number_of(db, "SELECT count(*) FROM characteristic") == 12, "one characteristic a setting");
    db_close(db);
    example_remove(folder);
}

static void test_reads(void)
{
    struct bench b = bench_open("gemm:32x32x32", "amx");
    struct study_answer answer;
    struct orch_error error = {0};
    struct study_reads reads;
    bool z = false, leakage = false, gpu = false, pressure = false;
    study_answer_init(&answer);
    if (bench_start(&b, NULL) && ask(&b, "", false, &answer, &error)) {
        study_last_reads(b.study, &reads);
        for (size_t i = 0; i < reads.timing_count; i++) {
            z |= strcmp(reads.timing[i], "amx.z_latency_cycles") == 0;
            gpu |= strncmp(reads.timing[i], "ane", 3) == 0 || strncmp(reads.timing[i], "power.", 6) == 0;
            pressure |= strncmp(reads.timing[i], "cpu_e.dispatch", 14) == 0;
        }
        for (size_t i = 0; i < reads.energy_count; i++)
            leakage |= strcmp(reads.energy[i], "power.leakage_per_k") == 0;
        CHECK(z && leakage && !gpu && !pressure, "what timing and energy read: %zu, %zu", reads.timing_count, reads.energy_count);
    }
    study_answer_free(&answer);
    bench_close(&b);
}

/* An operator's time is that of a run of the same kernel, whatever the chip. */
static void test_operators_against_runs(void)
{
    static const char *const chips[] = {"m1", "m1-max", "m2-pro", "m3"};
    struct chip_db *const db = example_chips();
    uint64_t state = 7;
    for (int i = 0; db && i < 12; i++) {
        struct orch_error error = {0};
        char workload[48], set[64];
        const bool gpu = suite_random(&state) % 2;
        snprintf(workload, sizeof workload, "gemm:%dx%dx%d", 16 * (1 + (int)(suite_random(&state) % 6)),
                 16 * (1 + (int)(suite_random(&state) % 6)), 16 * (1 + (int)(suite_random(&state) % 6)));
        snprintf(set, sizeof set, "%s=%d", gpu ? "gpu_max_mhz" : "p_max_mhz", 900 + (int)(suite_random(&state) % 900));
        struct chip *const chip = example_chip(db, chips[suite_random(&state) % 4], set);
        struct run_request q = {
            .chip = chip, .workload = workload, .unit = gpu ? "gpu" : "amx", .detail = gpu ? "sampled" : NULL};
        struct run_result whole, op;
        run_result_init(&whole);
        run_result_init(&op);
        struct run *const run = chip ? run_prepare(&q, &error) : NULL;
        CHECK(run && run_execute(run, NULL, 1, &whole, &error), "%s: %s", workload, error.text);
        q.detail = "op";
        struct run *const again = chip ? run_prepare(&q, &error) : NULL;
        CHECK(again && run_execute(again, NULL, 1, &op, &error), "%s: %s", workload, error.text);
        CHECK(fabs(op.seconds / whole.seconds - 1) <= 0.03 && fabs(op.joules / whole.joules - 1) <= 0.03, "%s %s %s: %g s, %g s",
              workload, q.unit, set, op.seconds, whole.seconds);
        CHECK(op.checksum.count == 0 && run_energy(again) != NULL, "no values, but energy");
        run_free(run);
        run_free(again);
        run_result_free(&whole);
        run_result_free(&op);
        chip_close(chip);
    }
    chip_db_close(db);
}

static void test_operators_only(void)
{
    struct chip_db *const db = example_chips();
    struct chip *const chip = example_chip(db, "m1", NULL);
    struct orch_error error = {0};
    struct run_request q = {.chip = chip, .workload = "/proc/self/exe", .detail = "op"};
    CHECK(run_prepare(&q, &error) == NULL && error.exit_code == ORCH_UNMODELLED && strstr(error.text, "not an operator"), "%s",
          error.text);
    q = (struct run_request){.chip = chip, .workload = "gemm:16x16x16", .detail = "op", .mode = RUN_FUNCTIONAL};
    CHECK(run_prepare(&q, &error) == NULL && error.exit_code == ORCH_USAGE, "%s", error.text);
    q = (struct run_request){.chip = chip, .workload = "gemm:16x16x16", .detail = "oop"};
    CHECK(run_prepare(&q, &error) == NULL && strstr(error.text, "did you mean op"), "%s", error.text);
    chip_close(chip);
    chip_db_close(db);
}

static void test_in_a_device(void)
{
    static const char words[] = "device=macbook-air duration=60 ambient=30", hot[] = "device=macbook-air duration=60 ambient=40";
    struct bench b = bench_open("gemm:64x64x64", "amx");
    struct study_answer first, second;
    struct orch_error error = {0};
    study_answer_init(&first);
    study_answer_init(&second);
    if (bench_start(&b, NULL)) {
        CHECK(ask(&b, words, false, &first, &error) && first.method == STUDY_SIMULATED, "%s", error.text);
        CHECK(ask(&b, hot, false, &second, &error) && second.method == STUDY_KNOWN, "only the room is warmer: %s", error.text);
        CHECK(second.result.celsius_max > first.result.celsius_max + 5, "%g, %g", first.result.celsius_max,
              second.result.celsius_max);
        CHECK(ask(&b, words, true, &second, &error), "%s", error.text);
        CHECK(first.result.seconds == second.result.seconds && first.result.joules == second.result.joules &&
                  first.result.celsius_max == second.result.celsius_max,
              "as a fresh run: %.17g J, %.17g J", first.result.joules, second.result.joules);
    }
    study_answer_free(&first);
    study_answer_free(&second);
    bench_close(&b);
}

static const struct suite_test tests[] = {
    {"known answers are fresh answers", test_known_as_fresh},
    {"whatever key is changed", test_any_key},
    {"every chip has its own answers", test_every_chip},
    {"characteristics in a file are found", test_known_from_a_file},
    {"other versions are other models", test_other_versions},
    {"characteristics are merged", test_merged},
    {"two processes share a file", test_two_processes},
    {"what an answer read", test_reads},
    {"operators against runs", test_operators_against_runs},
    {"programs are no operators", test_operators_only},
    {"machines by known timings", test_in_a_device},
    {"wrong settings are named", test_wrong_settings},
    {"settings change answers", test_settings_change_answers},
    {"settings are JSON with sorted keys, and back", test_settings_as_json},
    {"settings that are none are refused", test_settings_refused},
    {"unknown keys get the nearest name", test_keys},
};
SUITE_MAIN("study", tests)
