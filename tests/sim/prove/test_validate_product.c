/* Validation as a product: any number of jobs gives the same answer, what is recorded has the scores worked out by hand, history
 * and bounds.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/jobs.h"
#include "sim/prove/validate/memo.h"
#include "sim/prove/validate/record.h"
#include "sim/prove/validate/require.h"
#include "sim/prove/validate/validation.h"
#include "tests/sim/chip_example.h"
#include "tests/sim/db_example.h"

#include <json-c/json.h>
#include <pthread.h>
#include <stdatomic.h>

#define NAMES                            "chip_or_core,item,value,unit,kind,source,note,chip_id\n"
#define P_ROW(item, value, unit, source) "P (Firestorm),\"" item "\"," value "," unit ",measured," source ",,m1_4p4e_8g\n"

static const char loops[] = NAMES P_ROW("FMLA/FMUL vector any type latency", "4", "cycles", "one")
    P_ROW("FADD vector reciprocal throughput", "0.25", "cycles", "one") P_ROW("FDIV 4S latency", "10", "cycles", "two")
        P_ROW("UDIV 64-bit reciprocal throughput", "2", "cycles", "two")
            P_ROW("LDR Q reciprocal throughput", "0.33", "cycles", "three")
                P_ROW("something nobody knows", "1", "cycles",
                      "three") "M1 Pro,memcpy_threads threads=3,48,GB/s,measured,four,,m1_pro_8p2e_16g\n";

#define HW                                                                                                                       \
    "id,family,chip,gpu_cores,unit,workload,precision,shape,metric,value,value_unit,power_W,condition,source,kind,flop,"         \
    "min_bytes,note,chip_id\n"
#define HW_ROW(id, chip, workload, shape)                                                                                        \
    id ",M," chip ",,gpu," workload ",f32," shape ",time,1,ms,,mlx 0.5.0;,someone,measured,,1e6,," chip "\n"

/* Different rows with the same kernels: whoever comes first runs them, whatever the number of jobs. */
static const char kernels[] = HW HW_ROW("A", "m1", "softmax_mlx_gpu", "64x512 axis=all")
    HW_ROW("B", "m1", "softmax_mps", "64x512 axis=all") HW_ROW("C", "m2", "softmax_mps", "64x512 axis=all")
        HW_ROW("D", "m1", "matmul_mlx_gpu", "4x64x64 * 4x64x64") HW_ROW("E", "m1", "matmul_mps", "4x64x64 * 4x64x64")
            HW_ROW("F", "m1", "relu_mps", "2 by 3") HW_ROW("G", "m2", "matmul_mps", "4x64x64 * 4x64x64");

static char *document(const char *table, unsigned jobs)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    CHECK(validation_add_text(v, "table.csv", table, strlen(table), &error) &&
              validation_simulate(v, NULL, NULL, jobs, NULL, &error),
          "%s", error.text);
    struct json_object *o = validation_json(v, NULL, &error);
    char *text = strdup(json_object_to_json_string(o));
    json_object_put(o);
    validation_free(v);
    return text;
}

static void test_jobs(void)
{
    static const char *const tables[] = {loops, kernels};
    for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
        char *one = document(tables[i], 1);
        CHECK(strstr(one, "\"modelled\": 6") != NULL, "%.200s", one);
        char *three = document(tables[i], 3);
        CHECK(strcmp(one, three) == 0, "three jobs answer something else");
        free(three);
        free(one);
    }
}

/* ---- the memo of threads ---- */

struct memo_test {
    struct memo *memo;
    atomic_uint worked;
    unsigned failing; /* attempts that fail before one succeeds */
};

static void *ask(void *context)
{
    struct memo_test *t = context;
    struct orch_error error;
    for (unsigned i = 0; i < 200; i++) {
        char key[16];
        double value = -1;
        snprintf(key, sizeof key, "%u", i % 50);
        while (!memo_recall(t->memo, key, &value)) {
            if (atomic_fetch_add(&t->worked, 1) < t->failing) {
                memo_forget(t->memo, key);
                continue;
            }
            value = 2.0 * (i % 50);
            memo_remember(t->memo, key, &value, &error);
            break;
        }
        if (value != 2.0 * (i % 50))
            return t;
    }
    return NULL;
}

static void test_memo(void)
{
    enum { THREADS = 4, FAILING = 7 };
    struct memo_test t = {.memo = memo_create(sizeof(double)), .failing = FAILING};
    pthread_t thread[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        CU_ASSERT_FATAL(pthread_create(&thread[i], NULL, ask, &t) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        CHECK(wrong == NULL, "a thread got another key's value");
    }
    CHECK(atomic_load(&t.worked) == 50 + FAILING, "%u pieces of work for 50 keys and %d failures", atomic_load(&t.worked),
          FAILING);
    memo_free(t.memo);
}

/* ---- what is recorded ---- */

/* Every program takes as long as the context says. */
static bool so_long(void *context, const struct validate_program *program, struct validate_timing *result,
                    struct orch_error *error)
{
    const double *const cycles = context;
    (void)error;
    *result = (struct validate_timing){.seconds = *cycles * program->work / 3e9, .threads = 1};
    result->thread_seconds[0] = result->seconds;
    result->thread_cycles[0] = *cycles * program->work;
    return true;
}

/* Two sources and a refused row. */
static const char table[] = NAMES P_ROW("FMLA/FMUL vector any type latency", "4", "cycles", "one")
    P_ROW("FDIV 4S latency", "10", "cycles", "two") P_ROW("something nobody knows", "1", "cycles", "two");

static struct validation *validated(const char *text, double cycles)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    CHECK(validation_add_text(v, "folder/table.csv", text, strlen(text), &error) &&
              validation_run(v, &(struct validate_runner){so_long, &cycles, NULL}, &error),
          "%s", error.text);
    return v;
}

static double one_number(struct orch_db *db, const char *sql)
{
    struct orch_error error = {0};
    sqlite3_stmt *row = db_query(db, &error, sql, "");
    const double value = row && db_step(db, row, &error) == SQLITE_ROW ? sqlite3_column_double(row, 0) : NAN;
    sqlite3_finalize(row);
    return value;
}

/* 8 cycles for everything: 4 -> 8 is +100 % either way, 10 -> 8 is -20 %, or 25 % symmetrically. */
static void test_record(void)
{
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "v.db"), DB_WRITE);
    struct validation *v = validated(table, 8);
    for (int again = 0; again < 2; again++)
        CHECK(validation_record(v, db, "model-1", &error), "%s", error.text);
    CHECK(one_number(db, "SELECT count(*) FROM measurement") == 3, "every row with a value");
    CHECK(one_number(db, "SELECT count(*) FROM validation WHERE unmodelled IS NULL") == 2, "two predictions");
    CHECK(one_number(db, "SELECT count(*) FROM validation_score") == 1 + 1 + 2 + 2, "whole, one chip, two sources, two units");
    static const char whole[] = "FROM validation_score WHERE grouping = '' AND fitted = 0 AND file = 'table.csv'";
    static const struct {
        const char *column;
        double value;
    } expected[] = {{"rows", 3}, {"modelled", 2}, {"mape", 0.6}, {"symmetric", 0.625}, {"bias", 0.4}, {"within25", 0.5}};
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT %s %s", expected[i].column, whole);
        CHECK(fabs(one_number(db, sql) - expected[i].value) < 1e-12, "%s = %g", expected[i].column, one_number(db, sql));
    }
    CHECK(fabs(one_number(db, "SELECT mape FROM validation_score WHERE grouping = 'source' AND grp = 'two'") - 0.2) < 1e-12,
          "source two");
    validation_free(v);
    db_close(db);
    example_remove(folder);
}

static const char *text_at(struct json_object *list, size_t i, const char *key)
{
    struct json_object *value = NULL;
    return json_object_object_get_ex(json_object_array_get_idx(list, i), key, &value) && value ? json_object_get_string(value)
                                                                                               : "-";
}

/* Four models over one table, then other measurements. */
static void test_history(void)
{
    static const double cycles[] = {8, 6, 6, 20};
    static const char *const change[] = {"-", "better", "same", "worse", "other measurements"};
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *db = example_open(example_file(folder, "v.db"), DB_WRITE);
    CHECK(!validation_history_json(db, NULL, &error) && error.exit_code == ORCH_USAGE, "nothing recorded yet");
    for (size_t i = 0; i < 5; i++) {
        char version[16], *other = strdup(table);
        snprintf(version, sizeof version, "model-%zu", i);
        if (i == 4)
            *strstr(other, "10,cycles") = '2';
        struct validation *v = validated(other, i < 4 ? cycles[i] : 20);
        CHECK(validation_record(v, db, version, &error), "%s", error.text);
        validation_free(v);
        free(other);
        usleep(2000); /* validations are distinguished by their time in milliseconds */
    }
    struct json_object *o = validation_history_json(db, "table.csv", &error), *list = NULL;
    CU_ASSERT_FATAL(o && json_object_object_get_ex(o, "history", &list) && json_object_array_length(list) == 5);
    for (size_t i = 0; i < 5; i++)
        CHECK(strcmp(text_at(list, i, "change"), change[i]) == 0, "model-%zu: %s", i, text_at(list, i, "change"));
    json_object_put(o);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CHECK(validation_history_text(db, NULL, out, &error), "%s", error.text);
    fclose(out);
    CHECK(strstr(text, "model-3") && strstr(text, "worse"), "%s", text);
    free(text);
    db_close(db);
    example_remove(folder);
}

/* Two sources with one row each: neither lies inside the interval of the other (+100 % against -20 %). A single source says
 * nothing. */
static void test_across(void)
{
    struct orch_error error = {0};
    struct validation *v = validated(table, 8);
    struct validation_groups groups;
    CHECK(validation_cross_validate(v, &error) && validation_group_rows(v, "source", &groups, &error), "%s", error.text);
    CHECK(groups.all.score.cross_coverage == 0, "%g of two rows", groups.all.score.cross_coverage);
    validation_groups_free(&groups);
    validation_free(v);
    v = validated(loops, 4);
    v->rows = 2; /* both rows of source "one" */
    CHECK(validation_cross_validate(v, &error) && validation_group_rows(v, "source", &groups, &error), "%s", error.text);
    CHECK(isnan(groups.all.score.cross_coverage), "%g of one source", groups.all.score.cross_coverage);
    validation_groups_free(&groups);
    validation_free(v);
}

static void test_require(void)
{
    static const struct {
        const char *bounds;
        int exit_code;
        const char *says;
    } cases[] = {
        {"mape<0.61,within25>0.4", 0, ""},
        {"mape<0.6", ORCH_FAILED, "mape is 0.6, not < 0.6"},
        {"bias<0.1,within10>0.5", ORCH_FAILED, "bias is 0.4, not < 0.1; within10 is 0, not > 0.5"},
        {"interval_coverage_across_sources>0", ORCH_FAILED, "interval_coverage_across_sources is"},
        {"mapes<1", ORCH_USAGE, "mape"},
        {"mape=1", ORCH_USAGE, "expected NAME<NUMBER"},
        {"mape<x", ORCH_USAGE, "not a number"},
    };
    struct validation *v = validated(table, 8);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct orch_error error = {0};
        const bool ok = validation_require(v, cases[i].bounds, &error);
        CHECK(ok == (cases[i].exit_code == 0) && error.exit_code == cases[i].exit_code && strstr(error.text, cases[i].says),
              "%s: %s", cases[i].bounds, error.text);
    }
    validation_free(v);
}

static void test_markdown(void)
{
    struct orch_error error = {0};
    struct validation *v = validated(table, 8);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CHECK(validation_write_markdown(v, "orchard 1+2", out, &error), "%s", error.text);
    fclose(out);
    CHECK(strstr(text, "orchard 1+2") && strstr(text, "| table.csv | 3 | 2 | 0 | 0 | 60 % | 62 % | 60 % | 40 % | 0.0 % | 50 % |"),
          "%s", text);
    free(text);
    validation_free(v);
}

static const struct suite_test tests[] = {
    {"any number of jobs gives the same document", test_jobs},
    {"threads do every piece of work once", test_memo},
    {"scores as worked out by hand", test_record},
    {"the history says what improved and what got worse", test_history},
    {"a row is judged by other sources", test_across},
    {"a score must keep its bounds", test_require},
    {"the table for a README is Markdown", test_markdown},
};
SUITE_MAIN("validate_product", tests)
