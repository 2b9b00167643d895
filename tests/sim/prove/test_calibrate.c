/* Calibration against measurements that the simulator itself made with known parameters: these must be found again, and
 * parameters that cannot be found must be refused by name.
 */
#include "isa/array_count.h"
#include "sim/prove/calibrate/calibrate.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli_home home = {.name = "calibrate", .options = "-q"};

/* Loops of AMX, some bound by the array, some by the latency of an accumulator. */
static const struct {
    const char *what;
    unsigned accumulators;
} loops[] = {{"fma32 in matrix mode Z=f32[16][16]", 1}, {"fma32 in matrix mode Z=f32[16][16]", 2},
             {"fma32 in matrix mode Z=f32[16][16]", 4}, {"fma64 in matrix mode Z=f64[8][8]", 1},
             {"fma64 in matrix mode Z=f64[8][8]", 2},   {"fma64 in matrix mode Z=f64[8][8]", 8},
             {"fma16 in matrix mode Z=f16[32][32]", 1}, {"fma16 in matrix mode Z=f16[32][32]", 2}};
enum { LOOPS = ARRAY_COUNT(loops) };

/* Writes lines for loops [first, end) on a chip. `value` NULL = 1 for each. */
static void write_rows(FILE *out, const char *chip, size_t first, size_t end, const double *value)
{
    for (size_t i = first; i < end; i++)
        fprintf(out,
                "%s,%s,\"%u thread(s), %u Z accumulators per thread, no loads or stores\",%.12g,GFLOPS,measured,source %zu,%s\n",
                chip, loops[i].what, 1U, loops[i].accumulators, value ? value[i - first] : 1, i % 3, chip);
}

static char *table(const char *chip, size_t first, size_t end, const double *value, size_t *size)
{
    char *text = NULL;
    FILE *const out = open_memstream(&text, size);
    fprintf(out, "chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n");
    write_rows(out, chip, first, end, value);
    fclose(out);
    return text;
}

/* What the simulator gives with the parameters multiplied. The caller frees the text. */
static char *synthetic(struct calibrate_request q, const char *chip, size_t first, size_t end, const double *log_factor,
                       size_t *size)
{
    struct orch_error error = {0};
    struct calibrate_rows rows;
    double value[LOOPS];
    char *const blank = table(chip, first, end, NULL, size);
    q.text = blank;
    q.size = *size;
    CHECK(calibrate_rows_read(&q, &rows, &error) && calibrate_predict(&q, &rows, log_factor, value, &error), "%s", error.text);
    calibrate_rows_free(&rows);
    free(blank);
    return table(chip, first, end, value, size);
}

/* Hardly anything is known about M4, so that these values may move far. */
static void test_known_parameters_are_recovered(void)
{
    static const char *const keys[] = {"amx.array_f64_cycles", "amx.z_latency_cycles", "amx.array_f32_cycles"};
    const double truth[3] = {log(1.2), log(0.9), log(1.1)};
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct calibrate_request q = {.chips = db, .name = "made.csv", .key = keys, .keys = 3, .folds = 2, .threads = 1};
    struct calibrate_result r = {0};
    char *const text = synthetic(q, "m4", 0, LOOPS, truth, &q.size);
    q.text = text;
    CHECK(calibrate_run(&q, &r, &error), "%s", error.text);
    for (unsigned k = 0; k < 3; k++) {
        CHECK(fabs(log(r.factor[k]) - truth[k]) < 0.01, "%s: %g, not %g", keys[k], r.factor[k], exp(truth[k]));
        CU_ASSERT(!r.at_bound[k] && r.log_error[k] < 0.01);
    }
    CU_ASSERT(r.rows == LOOPS && r.chips == 1 && r.folds == 2 && r.folds_by_source);
    CU_ASSERT(r.before.mape > 0.02 && r.after.mape < 1e-3);
    CHECK(r.out_of_fold.rms_log < r.out_before.rms_log, "%g %g %g", r.out_of_fold.rms_log, r.out_before.rms_log,
          r.in_fold.rms_log);
    calibrate_result_free(&r);
    free(text);
    chip_db_close(db);
}

static void refused(const char *chip, size_t first, size_t end, const char *const *keys, size_t count, const char *said,
                    const char *also)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct calibrate_request q = {.chips = db, .name = "made.csv", .key = keys, .keys = count, .threads = 1};
    struct calibrate_result r = {0};
    char *const text = table(chip, first, end, NULL, &q.size);
    q.text = text;
    CU_ASSERT(!calibrate_run(&q, &r, &error));
    CHECK(strstr(error.text, said) && strstr(error.text, also), "%s", error.text);
    calibrate_result_free(&r);
    free(text);
    chip_db_close(db);
}

/* A loop that keeps the array busy takes array_cycles / clock per turn, so only the quotient can be found. */
static void test_parameters_that_appear_only_together_are_refused(void)
{
    static const char *const both[] = {"amx.array_f32_cycles", "amx.clock_ghz"};
    static const size_t peak = 2; /* index of the loop */
    refused("m4", peak, peak + 1, both, 2, "1 rows for 2 parameters", "");
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct calibrate_request q = {.chips = db, .name = "made.csv", .key = both, .keys = 2, .threads = 1};
    struct calibrate_result r = {0};
    char *text = NULL;
    FILE *const out = open_memstream(&text, &q.size);
    fprintf(out, "chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n");
    write_rows(out, "m4", peak, peak + 1, NULL);
    write_rows(out, "m4-pro", peak, peak + 1, NULL);
    write_rows(out, "m4-max", peak, peak + 1, NULL);
    fclose(out);
    q.text = text;
    CU_ASSERT(!calibrate_run(&q, &r, &error));
    CHECK(error.exit_code == ORCH_FAILED && strstr(error.text, "amx.array_f32_cycles, amx.clock_ghz only together"), "%s",
          error.text);
    calibrate_result_free(&r);
    free(text);
    chip_db_close(db);
}

static void test_parameters_that_may_not_move_are_refused(void)
{
    static const char *const idle[] = {"amx.array_f32_cycles", "gpu.interval_cycles"},
                             *const measured[] = {"gpu.l1_latency_cycles"}, *const count[] = {"gpu_cores"},
                             *const wrong[] = {"amx.clock_gzh"}, *const twice[] = {"amx.clock_ghz", "amx.clock_ghz"},
                             *const zero[] = {"amx.load_array_cycles"};
    refused("m1-max", 0, 3, idle, 2, "no row depends on gpu.interval_cycles", "");
    refused("m1-max", 0, 3, measured, 1, "gpu.l1_latency_cycles", "it is measured");
    refused("m1-max", 0, 3, count, 1, "gpu_cores", "not a quantity of a unit's model");
    refused("m1-max", 0, 3, wrong, 1, "unknown key", "did you mean amx.clock_ghz");
    refused("m1-max", 0, 3, twice, 2, "amx.clock_ghz is given twice", "");
    refused("m1-max", 0, 3, zero, 1, "amx.load_array_cycles", "no factor moves");
}

static void test_bounds_follow_from_kind_and_range(void)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct calibrate_bounds b;
    char why[200];
    size_t allowed = 0;
    for (size_t c = 0; c < chip_db_count(db); c++) {
        struct chip *const chip = chip_open(db, chip_db_id(db, c), NULL, &error);
        for (size_t i = 0; chip && i < chip_key_count(); i++) {
            const struct chip_value *const v = chip_value_at(chip, i);
            if (!v || !calibrate_tunable(v, &b, why, sizeof why))
                continue;
            allowed++;
            CHECK(v->kind == CHIP_GUESS || v->kind == CHIP_FITTED || v->kind == CHIP_INFERRED, "%s", v->key->name);
            CHECK(b.low < 0 && b.high >= 0 && b.high <= 3 * log1p(v->uncertainty) + 1e-12, "%s", v->key->name);
            CHECK(v->number * exp(b.high) <= v->key->highest * (1 + 1e-9) && v->number * exp(b.low) >= v->key->lowest, "%s",
                  v->key->name);
        }
        if (chip)
            chip_close(chip);
    }
    CU_ASSERT(allowed > 1000);
    chip_db_close(db);
}

static void test_rows_are_chosen_evenly_and_by_name(void)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct calibrate_rows rows;
    size_t size;
    char *const text = table("M2", 0, LOOPS, NULL, &size);
    struct calibrate_request q = {
        .chips = db, .name = "dir/made.csv", .text = text, .size = size, .most = 4, .folds = 3, .folds_by_row = true};
    CU_ASSERT(calibrate_rows_read(&q, &rows, &error) && rows.count == 4 && !rows.by_source);
    CU_ASSERT_STRING_EQUAL(rows.row[0].id, "made:2");
    CU_ASSERT_STRING_EQUAL(rows.row[3].id, "made:8");
    CU_ASSERT(rows.row[0].fold == 0 && rows.row[1].fold == 1 && rows.row[3].fold == 0);
    calibrate_rows_free(&rows);
    q.most = 0;
    q.rows = "made:9,made:3";
    CU_ASSERT(calibrate_rows_read(&q, &rows, &error) && rows.count == 2 && rows.given == 2);
    CU_ASSERT_STRING_EQUAL(rows.chip[0], "m2_4p4e_10g");
    calibrate_rows_free(&rows);
    static const char *const other[] = {"m1_4p4e_8g"}, *const same[] = {"m1_4p4e_8g", "m2_4p4e_10g"};
    q.chip = same;
    q.chip_count = 2;
    CU_ASSERT(calibrate_rows_read(&q, &rows, &error) && rows.count == 2);
    calibrate_rows_free(&rows);
    q.chip = other;
    q.chip_count = 1;
    CU_ASSERT(!calibrate_rows_read(&q, &rows, &error));
    q.chip_count = 0;
    q.rows = "made:99";
    CU_ASSERT(!calibrate_rows_read(&q, &rows, &error));
    CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, "no row to fit"), "%s", error.text);
    free(text);
    chip_db_close(db);
}

/* A set is saved. A run with it is what the same --set gives, under a configuration of its own, and the set is named. */
static void test_a_run_uses_the_set_only_by_name(void)
{
    static const char *const keys[] = {"amx.array_f32_cycles"};
    const double truth[1] = {log(1.25)};
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct calibrate_request q = {.chips = db, .name = "made.csv", .key = keys, .keys = 1, .threads = 1};
    char path[128];
    double seconds[3] = {0};
    static const char *const with[] = {"", "--fitted mine", "--set amx.array_f32_cycles="};
    char *const text = synthetic(q, "m4", 0, 6, truth, &q.size);
    cli_home_open(&home);
    snprintf(path, sizeof path, "%s/made.csv", home.folder);
    FILE *const file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL);
    fputs(text, file);
    fclose(file);
    free(text);
    struct chip *const chip = chip_open(db, "m4", NULL, &error);
    const double value = chip_value(chip, keys[0])->number * 1.25;
    chip_close(chip);
    chip_db_close(db);
    if (!cli_ask(&home, "calibrate $/made.csv --vary amx.array_f32_cycles --save mine"))
        return;
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "1.25"), "%s%s", home.outcome.out, home.outcome.err);
    for (unsigned i = 0; i < 3; i++) {
        char set[64] = "";
        if (i == 2)
            snprintf(set, sizeof set, "%.10g", value);
        if (!cli_ask(&home, "run gemm:256x256x256 --unit amx --chip m4 --mode timing --json %s%s", with[i], set))
            return;
        json_object *const d = cli_document(&home.outcome);
        seconds[i] = document_number(d, "seconds");
        CU_ASSERT_EQUAL(strstr(home.outcome.out, "calibrated mine ") != NULL, i == 1);
        json_object_put(d);
    }
    CHECK(seconds[1] > 1.1 * seconds[0] && fabs(seconds[1] / seconds[2] - 1) < 5e-3, "%g %g %g", seconds[0], seconds[1],
          seconds[2]);
    if (cli_ask(&home, "run gemm:64x64x64 --unit amx --chip m1 --mode timing --fitted mine --json"))
        CU_ASSERT_EQUAL(home.outcome.code, 0); /* the set was made for another chip */
}

static void test_wrong_use_is_reported(void)
{
    static const struct {
        const char *arguments, *said;
    } wrong[] = {
        {"calibrate", "is missing"},
        {"calibrate $/made.csv", "--vary KEY is missing"},
        {"calibrate $/none.csv --vary amx.clock_ghz", "No such file"},
        {"calibrate $/made.csv --vary amx.clock_ghz --folds 1", "two at least"},
        {"calibrate $/made.csv --vary amx.clock_ghz --folds-by sources", "did you mean source?"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
        if (cli_ask(&home, "%s", wrong[i].arguments))
            CHECK(home.outcome.code == 2 && strstr(home.outcome.err, wrong[i].said), "%s: %d %s", wrong[i].arguments,
                  home.outcome.code, home.outcome.err);
    if (cli_ask(&home, "calibrate --keys --chip m2"))
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "amx.z_latency_cycles"), "%s", home.outcome.out);
    CU_ASSERT(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"known parameters are recovered", test_known_parameters_are_recovered},
    {"parameters that appear only together are refused by name", test_parameters_that_appear_only_together_are_refused},
    {"parameters that may not move are refused with the reason", test_parameters_that_may_not_move_are_refused},
    {"bounds follow from kind and range", test_bounds_follow_from_kind_and_range},
    {"rows are chosen evenly and by name", test_rows_are_chosen_evenly_and_by_name},
    {"a run uses the set only by name", test_a_run_uses_the_set_only_by_name},
    {"wrong use is reported", test_wrong_use_is_reported},
};
SUITE_MAIN("calibrate", tests)
