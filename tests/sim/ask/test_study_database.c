/* Characteristics in a database: what one study stores, another one finds, unless another version wrote it. */
#include "sim/db/db.h"
#include "tests/sim/db_example.h"
#include "tests/sim/study_example.h"

#include <sys/wait.h>
#include <unistd.h>

/* The second round finds in the file what the first one put there. Another chip with the same GPU and memory would find it, too.
 */
static void test_known_from_a_file(void)
{
    char folder[64];
    example_folder(folder);
    const char *const path = example_file(folder, "study.db");
    for (int round = 0; round < 2; round++) {
        struct orch_db *const db = example_open(path, DB_WRITE);
        for (size_t i = 0; db && i < STUDY_KERNELS; i++) {
            struct study_example b = study_example_open(study_kernels[i].workload, study_kernels[i].unit);
            struct study_answer answer;
            study_answer_init(&answer);
            if (study_example_start(&b, db)) {
                example_check_answer(&b, "", round ? STUDY_KNOWN : STUDY_SIMULATED, &answer);
                example_check_answer(&b, study_kernels[i].read, round ? STUDY_KNOWN : STUDY_SIMULATED, &answer);
                example_check_answer(&b, study_kernels[i].unread, STUDY_KNOWN, &answer);
            }
            study_answer_free(&answer);
            study_example_close(&b);
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

/* A forged row is believed under this version, which shows that rows are read, but not when another version wrote it. */
static void test_other_versions(void)
{
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    const char *const path = example_file(folder, "study.db");
    struct orch_db *const db = example_open(path, DB_WRITE);
    struct study_example b = study_example_open("gemm:32x32x32", "amx");
    struct study_answer answer;
    study_answer_init(&answer);
    if (db && study_example_start(&b, db)) {
        CHECK(example_ask(&b, "", false, &answer, &error), "%s", error.text);
        const double right = answer.result.seconds;
        CHECK(db_run_sql(db, "UPDATE characteristic SET timing = json_set(timing, '$.result.seconds', 123.5)", &error), "%s",
              error.text);
        study_free(b.study);
        if (study_example_start(&b, db) && example_ask(&b, "", false, &answer, &error))
            CHECK(answer.result.seconds == 123.5 && answer.method == STUDY_KNOWN, "the row is read: %g", answer.result.seconds);
        /* The same row as another version would have written it. */
        CHECK(db_run_sql(db,
                         "UPDATE characteristic SET version = '0.0.1+1', hash = substr(hash, 2) || 'x', base_hash = "
                         "substr(base_hash, 2) || 'x'",
                         &error),
              "%s", error.text);
        study_free(b.study);
        if (study_example_start(&b, db) && example_ask(&b, "", false, &answer, &error))
            CHECK(answer.result.seconds == right && answer.method == STUDY_SIMULATED, "%g", answer.result.seconds);
        CHECK(number_of(db, "SELECT count(DISTINCT version) FROM characteristic") == 2, "both are there");
    }
    study_answer_free(&answer);
    study_example_close(&b);
    db_close(db);
    example_remove(folder);
}

/* Characteristics of a shard are known where it was merged. */
static void test_merged(void)
{
    static const char *const settings[] = {"amx.z_latency_cycles=5", "amx.z_latency_cycles=6"};
    char folder[64];
    struct orch_error error = {0};
    struct db_merged merged;
    example_folder(folder);
    for (int i = 0; i < 3; i++) {
        struct orch_db *const db = example_open(example_file(folder, i == 1 ? "b.db" : "a.db"), DB_WRITE);
        struct study_example b = study_example_open("gemm:16x16x16", "amx");
        struct study_answer answer;
        study_answer_init(&answer);
        if (i == 2) {
            CHECK(db_merge(db, example_file(folder, "b.db"), &merged, &error) && merged.characteristics == 1, "%s", error.text);
            CHECK(db_merge(db, example_file(folder, "b.db"), &merged, &error) && merged.characteristics == 0, "%s", error.text);
        }
        if (db && study_example_start(&b, db)) {
            example_check_answer(&b, settings[i % 2], i < 2 ? STUDY_SIMULATED : STUDY_KNOWN, &answer);
            if (i == 2)
                example_check_answer(&b, settings[1], STUDY_KNOWN, &answer);
            CHECK(i < 2 || db_run_sql(db, "UPDATE characteristic SET timing = json_set(timing, '$.end_ns', 1)", &error), "%s",
                  error.text);
        }
        if (i == 2)
            CHECK(!db_merge(db, example_file(folder, "b.db"), &merged, &error) && error.exit_code == ORCH_FAILED,
                  "another timing: %s", error.text);
        study_answer_free(&answer);
        study_example_close(&b);
        db_close(db);
    }
    example_remove(folder);
}

static int work_in_child(const char *path, int child)
{
    struct orch_error error = {0};
    struct orch_db *const db = db_open(path, DB_WRITE, &error);
    struct study_example b = study_example_open("gemm:16x16x16", "amx");
    struct study_answer answer;
    bool ok = db != NULL && study_example_start(&b, db);
    study_answer_init(&answer);
    for (int i = 0; ok && i < 24; i++) {
        char words[48];
        snprintf(words, sizeof words, "amx.z_latency_cycles=%d",
                 2 + (child ? 23 - i : i) / 2); /* each value twice, from both ends */
        ok = example_ask(&b, words, false, &answer, &error);
    }
    study_answer_free(&answer);
    study_example_close(&b);
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

static const struct suite_test tests[] = {
    {"characteristics are found in a file", test_known_from_a_file},
    {"characteristics of other versions are ignored", test_other_versions},
    {"merged characteristics are found", test_merged},
    {"two processes write one file", test_two_processes},
};
SUITE_MAIN("study database", tests)
