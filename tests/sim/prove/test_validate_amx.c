/* Validation of the AMX timing model alone: the programs of rows about AMX run on a small in-order core in this file, which
 * executes what sim/prove/validate emits and feeds amx_block. There is no memory system, caches always hit. The published figures
 * of corsix/amx, zhen8838 and eugenehp/amx-rs (GitHub) are the truth.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/validate.h"
#include "tests/support/suite.h"
#include "tests/units/amx_timing_example.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct amx_params p_block = {AMX_EXAMPLE_FIELDS(2.904, 32, 64), .array_turn_power = 2};

struct chip_case {
    const char *chip;
    enum amx_gen gen;
    unsigned p_clusters;
    double clock[4]; /* by number of active cores in the cluster */
    double cross, array_clock, vector_shared, further_pass;
};

/* Clocks: states of the device trees (Asahi Linux) closest to 4 / (time of one dependent instruction). */
static const struct chip_case chips[] = {
    {"m1_max_8p2e_32g", AMX_GEN_M1, 2, {2.904, 2.208, 2.208, 2.676}, 1, 3.132, 0.5, 0.36},
    {"m2_4p4e_10g", AMX_GEN_M2, 1, {3.204, 2.568, 2.568, 2.424}, 0, 3.204, 0.34, 0.36},
    {"m2_pro_8p4e_19g", AMX_GEN_M2, 2, {3.264, 2.616, 2.616, 2.472}, 0, 3.264, 0.34, 0.36},
};

struct bench {
    const struct amx_params *params;
    unsigned runs;
};

struct lane {
    uint64_t x[32];
    size_t pc;
    double ns, cpu_step;
    bool zero, done;
};

static void step_amx(struct lane *l, struct amx_block *block, unsigned slot, enum amx_gen gen, uint32_t word)
{
    const unsigned op = amx_word_op(word), field = amx_word_register(word);
    const uint64_t operand = op == AMX_SETCLR ? field : field == 31 ? 0 : l->x[field];
    l->ns = amx_block_send_cached(block, slot, l->ns, op, operand, gen);
}

/* Executes the other instructions that emit.c writes for AMX rows. False: it is none of them. */
static bool step_other(struct lane *l, uint32_t w)
{
    const unsigned rd = w & 31, rn = w >> 5 & 31;
    if ((w & 0xff800000) == 0xd2800000) /* movz */
        l->x[rd] = (uint64_t)(w >> 5 & 0xffff) << 16 * (w >> 21 & 3);
    else if ((w & 0xff800000) == 0xf2800000) /* movk */
        l->x[rd] = (l->x[rd] & ~(UINT64_C(0xffff) << 16 * (w >> 21 & 3))) | (uint64_t)(w >> 5 & 0xffff) << 16 * (w >> 21 & 3);
    else if ((w & 0xff800000) == 0x91000000) /* add */
        l->x[rd] = l->x[rn] + ((uint64_t)(w >> 10 & 0xfff) << (w & 0x400000 ? 12 : 0));
    else if ((w & 0xff800000) == 0xf1000000) /* subs */
        l->x[rd] = l->x[rn] - (w >> 10 & 0xfff), l->zero = l->x[rd] == 0;
    else if ((w & 0xff00001f) == 0x54000001) { /* b.ne */
        if (!l->zero)
            l->pc = (size_t)((int64_t)l->pc + ((int32_t)(w << 8) >> 13) - 1);
    } else if (w == 0xd4000001)
        l->done = true;
    else
        return false;
    l->ns += l->cpu_step;
    return true;
}

static bool run_lanes(const struct validate_program *p, const struct chip_case *chip, struct lane *lanes, unsigned threads,
                      struct amx_block **block, struct orch_error *error)
{
    for (unsigned left = threads; left;)
        for (unsigned t = 0; t < threads; t++)
            /* Short turns keep the threads of a block close in time. */
            for (unsigned i = 0; i < 64 && !lanes[t].done; i++) {
                const uint32_t word = p->code[lanes[t].pc++];
                if (amx_is_word(word))
                    step_amx(&lanes[t], block[t % chip->p_clusters], t / chip->p_clusters, chip->gen, word);
                else if (!step_other(&lanes[t], word))
                    return orch_fail(error, ORCH_UNMODELLED, "the core of this test has no %08x", word);
                left -= lanes[t].done;
            }
    return true;
}

static bool run(void *context, const struct validate_program *p, struct validate_timing *result, struct orch_error *error)
{
    struct bench *bench = context;
    const struct chip_case *chip = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(chips); i++)
        if (strcmp(chips[i].chip, p->chip) == 0)
            chip = &chips[i];
    if (!chip || p->core == VALIDATE_E_CORE || !p->code || p->threads < 1 || p->threads > 4 * chip->p_clusters)
        return orch_fail(error, ORCH_UNMODELLED, "not one of the P blocks of this test");
    struct lane lanes[8];
    memset(lanes, 0, sizeof lanes);
    struct amx_block *block[2];
    for (unsigned c = 0; c < chip->p_clusters; c++) {
        struct amx_params params = *bench->params;
        const unsigned active = (p->threads + chip->p_clusters - 1 - c) / chip->p_clusters;
        params.clock_ghz = chip->clock[active ? active - 1 : 0] * bench->params->clock_ghz / p_block.clock_ghz;
        params.vector_cross_cycles = fmin(chip->cross, bench->params->vector_cross_cycles);
        params.array_clock_ghz = chip->array_clock;
        params.vector_shared_cycles = chip->vector_shared;
        params.vector_shared_pass_cycles = chip->further_pass;
        block[c] = amx_block_create(&params, 4);
        for (unsigned t = c; t < p->threads; t += chip->p_clusters)
            lanes[t].cpu_step = 1 / (8 * params.clock_ghz);
    }
    const bool ran = run_lanes(p, chip, lanes, p->threads, block, error);
    result->threads = p->threads;
    for (unsigned t = 0; ran && t < p->threads; t++) {
        const double ns = fmax(lanes[t].ns, amx_block_idle_at(block[t % chip->p_clusters], t / chip->p_clusters));
        result->thread_seconds[t] = ns * 1e-9;
        result->seconds = fmax(result->seconds, ns * 1e-9);
    }
    for (unsigned c = 0; c < chip->p_clusters; c++)
        amx_block_free(block[c]);
    bench->runs++;
    return ran;
}

static double number(struct json_object *o, const char *key)
{
    struct json_object *value = NULL;
    return json_object_object_get_ex(o, key, &value) && value ? json_object_get_double(value) : NAN;
}

static struct json_object *validate_text(const char *text, const struct amx_params *params, const char *group_by)
{
    struct orch_error error = {0};
    struct bench bench = {.params = params};
    struct validation *v = validation_create();
    const bool ok = validation_add_text(v, "amx.csv", text, strlen(text), &error) &&
                    validation_run(v, &(struct validate_runner){run, &bench, NULL}, &error);
    CHECK(ok, "%s", error.text);
    struct json_object *o = validation_json(v, group_by, &error);
    validation_free(v);
    return o;
}

#define NAMES "chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n"
#define M1(what, threads, n, value, unit)                                                                                        \
    "M1 Max,\"" what "\",\"" #threads " thread(s), " #n " Z accumulators per thread, no loads or stores\"," #value "," unit      \
    ",measured,corsix/amx,m1_max_8p2e_32g\n"

/* A selection of the published tables (github corsix/amx fma.md, mac16.md, matfp.md, vecfp.md), one row of each kind. */
static const char selection[] = NAMES M1("fma32 in matrix mode Z=f32[16][16]", 1, 1, 367.6, "GFLOPS") M1(
    "fma32 in matrix mode Z=f32[16][16]", 1, 3, 1108.4, "GFLOPS") M1("fma32 in matrix mode Z=f32[16][16]", 2, 4, 2956.7, "GFLOPS")
    M1("fma64 in matrix mode Z=f64[8][8]", 1, 8, 369.2, "GFLOPS") M1("fma16 in matrix mode Z=f16[32][32]", 2, 2, 5915.7, "GFLOPS")
        M1("fma16 in matrix mode Z=f32[32][32]", 1, 1, 1459.7, "GFLOPS")
            M1("mac16 in matrix mode, with both of XY=i8, and each Z accumulator being i32[32][32]", 1, 1, 1476.7, "GOPS") M1(
                "mac16 in vector mode, with X or Y or both being i16, and each Z accumulator being i16[32]", 1, 7, 185.6, "GOPS")
                M1("matfp XY=f64[8] Z=f64[8][8]", 2, 5, 731.0, "GFLOPS") M1("vecfp XY=f32[16] Z=f32[16]", 1, 6, 138.4, "GFLOPS")
                    M1("vecfp XY=f16[32] Z=f32[2][16]", 2, 16, 369.2, "GFLOPS")
                        M1("fma64 in vector mode Z=f64[8]", 2, 9, 169.9, "GFLOPS")
                            M1("vecfp XY=f64[8] Z=f64[8]", 1, 14, 92.7, "GFLOPS");

static void test_selection(void)
{
    struct json_object *o = validate_text(selection, &p_block, NULL);
    CHECK(number(o, "coverage") == 1, "coverage %f", number(o, "coverage"));
    CHECK(number(o, "mape") < 0.015, "MAPE %f", number(o, "mape"));
    CHECK(number(o, "p90_ape") < 0.035, "p90 %f", number(o, "p90_ape"));
    CHECK(number(o, "spearman") > 0.95, "rank %f", number(o, "spearman"));
    json_object_put(o);
}

/* Rows of the selection whose prediction changes by more than 0.5 % under other parameters: bit i = row i. */
static unsigned moved(const struct amx_params *params)
{
    struct json_object *a = validate_text(selection, &p_block, NULL), *b = validate_text(selection, params, NULL), *x, *y;
    json_object_object_get_ex(a, "rows_detail", &x);
    json_object_object_get_ex(b, "rows_detail", &y);
    unsigned rows = 0;
    for (size_t i = 0; i < json_object_array_length(x); i++) {
        const double p = number(json_object_array_get_idx(x, i), "predicted");
        rows |= (unsigned)(fabs(number(json_object_array_get_idx(y, i), "predicted") - p) > 0.005 * p) << i;
    }
    json_object_put(a);
    json_object_put(b);
    return rows;
}

/* Changing one parameter moves the rows that depend on it, and no others. */
static void test_mutations(void)
{
    struct amx_params p = p_block;
    p.z_latency_cycles = 5;
    /* Rows limited by the chain: n <= 4 x rate, and one accumulator of a four-cycle type (5 > 4). Nine vector rows (bit 11) stay,
     * because the lane crossing limits them to 9 / 5 anyway. */
    CHECK(moved(&p) == (1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 9), "moved %#x", moved(&p));
    p = p_block;
    p.array_f64_cycles = 1.5;
    CHECK(moved(&p) == (1u << 3 | 1u << 8), "moved %#x", moved(&p));
    p = p_block;
    p.load_issue_cycles = 3.5;
    CHECK(moved(&p) == 0, "no row loads: moved %#x", moved(&p));
    p = p_block;
    p.vector_cross_cycles = 0;
    CHECK(moved(&p) == 1u << 11, "only nine rows: moved %#x", moved(&p));
    p = p_block;
    p.clock_ghz *= 1.1;
    CHECK(moved(&p) == 0x1fff, "the clock moves all: %#x", moved(&p));
}

static const struct json_object *group_of(struct json_object *o, const char *chip)
{
    struct json_object *groups, *by, *name;
    json_object_object_get_ex(o, "groups", &groups);
    for (size_t i = 0; i < json_object_array_length(groups); i++) {
        struct json_object *g = json_object_array_get_idx(groups, i);
        json_object_object_get_ex(g, "group", &by);
        if (json_object_object_get_ex(by, "chip", &name) && strcmp(json_object_get_string(name), chip) == 0)
            return g;
    }
    return NULL;
}

static bool one_or_two(const char *line)
{
    return (strncmp(line, "M1 Max,", 7) == 0 || strncmp(line, "M2,", 3) == 0 || strncmp(line, "M2 Pro,", 7) == 0) &&
           (strstr(line, "1 thread(s),") || strstr(line, "2 thread(s),"));
}

/* As many threads on each block. */
static bool several(const char *line)
{
    return (strncmp(line, "M1 Max,", 7) == 0 && (strstr(line, "4 thread(s),") || strstr(line, "6 thread(s),"))) ||
           (strncmp(line, "M2,", 3) == 0 && (strstr(line, "2 thread(s),") || strstr(line, "3 thread(s),")));
}

/* Lines of the published table about the arithmetic of P blocks. */
static char *read_selected(bool (*selected)(const char *line))
{
    FILE *in = fopen(ORCHARD_SOURCE_DIR "/sim/prove/tables/amx-timing.csv", "r");
    char *text = NULL, *line = NULL;
    size_t size = 0, room = 0;
    FILE *out = open_memstream(&text, &size);
    while (in && getline(&line, &room, in) > 0)
        if (strncmp(line, "chip,", 5) == 0 || selected(line))
            fputs(line, out);
    free(line);
    fclose(out);
    if (in)
        fclose(in);
    return text;
}

static void test_whole_table(void)
{
    char *text = read_selected(one_or_two);
    struct json_object *o = validate_text(text, &p_block, "chip");
    const double coverage = number(o, "coverage"), mape = number(o, "mape");
    printf("  %g rows, %g modelled, MAPE %.2f%%, median %.2f%%, bias %.2f%%\n", number(o, "rows"), number(o, "modelled"),
           100 * mape, 100 * number(o, "median_ape"), 100 * number(o, "bias"));
    CHECK(number(o, "rows") > 380, "%g rows", number(o, "rows"));
    CHECK(coverage >= 0.9, "coverage %f", coverage);
    CHECK(mape <= 0.015, "MAPE %f", mape);
    CHECK(group_of(o, "M2") != NULL && group_of(o, "M1 Max") != NULL, "groups by chip");
    json_object_put(o);
    free(text);
}

static double error_of_several(const struct amx_params *params)
{
    char *text = read_selected(several);
    struct json_object *o = validate_text(text, params, "chip");
    const double mape = number(o, "mape");
    CHECK(number(o, "rows") > 370, "%g rows", number(o, "rows"));
    json_object_put(o);
    free(text);
    return mape;
}

/* One mechanism with one number for both chips takes a quarter off the error. */
static void test_several_threads(void)
{
    struct amx_params none = p_block;
    none.array_turn_power = 0;
    const double with = error_of_several(&p_block), without = error_of_several(&none);
    printf("  MAPE %.2f%%, without waiting for turns %.2f%%\n", 100 * with, 100 * without);
    CHECK(with <= 0.065 && with < 0.75 * without, "%f, without turns %f", with, without);
}

static const struct suite_test tests[] = {
    {"a selection of the published tables is reproduced", test_selection},
    {"one parameter moves its rows", test_mutations},
    {"the whole table for one and two threads is reproduced", test_whole_table},
    {"several threads on a block wait for each other", test_several_threads},
};
SUITE_MAIN("validate amx", tests)
