/* Instructions per second of the AMX executing side, per class of instruction and per kernel set.
 *
 *     bench_amx_exec [SET ...]      sets: avx512fp16 avx512 avx2 portable reference; default: the best and reference
 */
#include "isa/array_count.h"
#include "units/amx/amx_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES (64 * 1024) /* stays in the host's caches, as packed tiles do */
#define RUN_SECONDS  0.006
#define RUNS         16 /* the best one counts, because other programs share the host */

#define MAX_BODY   512
#define LIST_COUNT 4096 /* about as many instructions as the library's kernels hand over at once */

struct bench {
    struct amx_core *core;
    uint64_t buffer;
    uint8_t op[MAX_BODY];
    uint64_t operand[MAX_BODY];
    unsigned count;
    unsigned counted;                       /* instructions per pass that the rate counts */
    uint8_t list_op[LIST_COUNT + MAX_BODY]; /* the body, repeated */
    uint64_t list_operand[LIST_COUNT + MAX_BODY];
    unsigned list_bodies;
};

static void fill_list(struct bench *b)
{
    b->list_bodies = (LIST_COUNT + b->count - 1) / b->count;
    for (unsigned n = 0; n < b->list_bodies * b->count; n++) {
        b->list_op[n] = b->op[n % b->count];
        b->list_operand[n] = b->operand[n % b->count];
    }
}

static void add(struct bench *b, unsigned op, uint64_t operand)
{
    if (op <= AMX_STZI)
        operand += b->buffer;
    b->op[b->count] = (uint8_t)op;
    b->operand[b->count++] = operand;
}

/* X, Y register and accumulator fields of an outer product. */
static uint64_t registers(unsigned x, unsigned y, unsigned accumulator)
{
    return (uint64_t)x << 16 | (uint64_t)y << 6 | (uint64_t)accumulator << 20;
}

static void outer(struct bench *b, unsigned op, uint64_t mode, unsigned accumulators)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, op, mode | registers(n % 8, (n + n / 8) % 8, n % accumulators));
}

#define BIT(n)   (UINT64_C(1) << (n))
#define LANES(n) ((uint64_t)(n) << 42)
#define ALU(n)   ((uint64_t)(n) << 47)

static void body_fma64(struct bench *b)
{
    outer(b, AMX_FMA64, 0, 8);
}
static void body_fma32(struct bench *b)
{
    outer(b, AMX_FMA32, 0, 4);
}
static void body_fma32_one(struct bench *b)
{
    outer(b, AMX_FMA32, 0, 1);
}
static void body_fms32(struct bench *b)
{
    outer(b, AMX_FMS32, 0, 4);
}
static void body_fma32_masked(struct bench *b)
{
    outer(b, AMX_FMA32, BIT(46 + 1) | (uint64_t)5 << 41, 4);
}
static void body_fma32_odd(struct bench *b)
{
    outer(b, AMX_FMA32, 4, 4);
}
static void body_fma16(struct bench *b)
{
    outer(b, AMX_FMA16, 0, 2);
}
static void body_fma16_f32(struct bench *b)
{
    outer(b, AMX_FMA16, BIT(62), 1);
}
static void body_bf16_f32(struct bench *b)
{
    outer(b, AMX_MATFP, LANES(1), 1);
}
static void body_bf16(struct bench *b)
{
    outer(b, AMX_MATFP, LANES(0), 2);
}
static void body_mac16(struct bench *b)
{
    outer(b, AMX_MAC16, 0, 2);
}
static void body_mac16_i32(struct bench *b)
{
    outer(b, AMX_MAC16, BIT(62), 1);
}
static void body_mac16_i8(struct bench *b)
{
    outer(b, AMX_MAC16, BIT(60) | BIT(61) | BIT(62), 1);
}
static void body_mac16_shift(struct bench *b)
{
    outer(b, AMX_MAC16, (uint64_t)7 << 55, 1);
}
static void body_matint_i8_i32(struct bench *b)
{
    outer(b, AMX_MATINT, BIT(63) | BIT(26) | LANES(10) | ALU(8), 1);
}
static void body_matint_i8_i16(struct bench *b)
{
    outer(b, AMX_MATINT, BIT(63) | BIT(26) | LANES(11) | ALU(8), 1);
}

static void body_vecfp(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_VECFP, LANES(4) | registers(n % 8, (n + 3) % 8, n));
}

static void body_vecfp_f16(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_VECFP, LANES(2) | registers(n % 8, (n + 3) % 8, n));
}

static void body_fma32_vector(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_FMA32, BIT(63) | registers(n % 8, (n + 3) % 8, n));
}

static void body_vecint(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_VECINT, BIT(63) | BIT(26) | registers(n % 8, (n + 3) % 8, n));
}

static void loads(struct bench *b, unsigned op, uint64_t pair)
{
    const unsigned bytes = pair ? 128 : 64;
    for (unsigned n = 0; n < 256; n++)
        add(b, op, (uint64_t)n * bytes | (uint64_t)(n % 4) << 57 | pair);
}

static void body_ldx(struct bench *b)
{
    loads(b, AMX_LDX, 0);
}
static void body_ldx_pair(struct bench *b)
{
    loads(b, AMX_LDX, BIT(62));
}

static void body_stz(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_STZ, (uint64_t)n * 64 | (uint64_t)n << 56);
}

static void body_ldz(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_LDZ, (uint64_t)n * 64 | (uint64_t)n << 56);
}

static void body_extrh(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_EXTRX, BIT(28) | (uint64_t)(n % 8) << 16 | (uint64_t)n << 20);
}

static void body_extrv(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_EXTRY, BIT(28) | (uint64_t)(n % 8) << 6 | (uint64_t)n << 20);
}

static void body_genlut(struct bench *b)
{
    for (unsigned n = 0; n < 64; n++)
        add(b, AMX_GENLUT, (uint64_t)11 << 53 | (uint64_t)(n % 4) << 6 | (uint64_t)(4 + n % 4) << 20 | (uint64_t)7 << 60);
}

/* The inner loop of a 32 x 32 f32 tile: per step of k one pair of X, one pair of Y registers, 4 outer products. */
static void gemm_steps(struct bench *b, unsigned op, uint64_t mode)
{
    for (unsigned k = 0; k < 64; k++) {
        const uint64_t first = 2 * (k % 4);
        add(b, AMX_LDX, (uint64_t)k * 128 | first << 56 | BIT(62));
        add(b, AMX_LDY, ((uint64_t)k * 128 + 16384) | first << 56 | BIT(62));
        for (unsigned n = 0; n < 4; n++)
            add(b, op, mode | registers((unsigned)first + n % 2, (unsigned)first + n / 2, n));
    }
    b->counted = 256;
}

static void body_gemm(struct bench *b)
{
    gemm_steps(b, AMX_FMA32, 0);
}

static const struct {
    const char *name;
    void (*fill)(struct bench *b);
} classes[] = {
    {"fma64", body_fma64},
    {"fma32", body_fma32},
    {"fma32, one accumulator", body_fma32_one},
    {"fms32", body_fms32},
    {"fma32, X mask", body_fma32_masked},
    {"fma32, odd offset", body_fma32_odd},
    {"fma16 f16", body_fma16},
    {"fma16 f16->f32", body_fma16_f32},
    {"matfp bf16->f32", body_bf16_f32},
    {"matfp bf16->bf16", body_bf16},
    {"mac16 i16", body_mac16},
    {"mac16 i16->i32", body_mac16_i32},
    {"mac16 i8->i32", body_mac16_i8},
    {"mac16 i16, shift", body_mac16_shift},
    {"matint i8->i32", body_matint_i8_i32},
    {"matint i8->i16", body_matint_i8_i16},
    {"vecfp f32", body_vecfp},
    {"vecfp f16", body_vecfp_f16},
    {"fma32 vector", body_fma32_vector},
    {"vecint i16", body_vecint},
    {"ldx", body_ldx},
    {"ldx pair", body_ldx_pair},
    {"ldz", body_ldz},
    {"stz", body_stz},
    {"extrh", body_extrh},
    {"extrv", body_extrv},
    {"genlut lookup", body_genlut},
    {"gemm f32 (per fma32)", body_gemm},
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(bool ok, const struct unit_fault *fault)
{
    if (ok)
        return;
    fprintf(stderr, "fault: %s\n", fault->text);
    exit(1);
}

static void run_list(const struct bench *b)
{
    struct unit_fault fault;
    const size_t count = (size_t)b->list_bodies * b->count;
    check(amx_core_execute_list(b->core, b->list_op, b->list_operand, count, &fault) == count, &fault);
}

static void run_body(const struct bench *b)
{
    struct unit_fault fault;
    for (size_t n = 0, count = b->count; n < count; n++)
        check(amx_core_execute(b->core, b->op[n], b->operand[n], &fault), &fault);
}

static double timed_passes(const struct bench *b, uint64_t passes, bool as_list)
{
    const double start = now_s();
    for (uint64_t n = 0; n < passes; n++) {
        if (as_list)
            run_list(b);
        else
            run_body(b);
    }
    amx_core_finish(b->core);
    return now_s() - start;
}

/* Nanoseconds per counted instruction: the best of several runs, each of as many passes as fill the time. */
static double measure(const struct bench *b, bool as_list)
{
    uint64_t passes = 1;
    double best = timed_passes(b, passes, as_list);
    while (best < RUN_SECONDS) {
        passes *= 2;
        best = timed_passes(b, passes, as_list);
    }
    for (int run = 1; run < RUNS; run++) {
        const double again = timed_passes(b, passes, as_list);
        best = again < best ? again : best;
    }
    return best * 1e9 / (double)(passes * b->counted * (as_list ? b->list_bodies : 1));
}

/* Small numbers in every format, so that sums neither overflow nor become denormal. */
static void fill_state(struct amx_core *core)
{
    static struct amx_state state;
    memset(&state, 0, sizeof state);
    for (unsigned n = 0; n < 512; n += 2) {
        const uint16_t value = (uint16_t)(0x3c00 + 37 * n % 256);
        memcpy(state.x + n, &value, 2);
        memcpy(state.y + n, &value, 2);
    }
    amx_core_write_state(core, &state);
}

static struct amx_core *create(const char *set, struct mem_space *space)
{
    if (strcmp(set, "best") == 0)
        return amx_core_create(AMX_GEN_M3, space, AMX_PATH_FAST);
    if (strcmp(set, "reference") == 0)
        return amx_core_create(AMX_GEN_M3, space, AMX_PATH_REFERENCE);
    return amx_core_create_named(AMX_GEN_M3, space, set);
}

static bool run_set(const char *set, const char *only)
{
    struct mem_space *space = mem_space_create(UINT64_C(1) << 24);
    struct bench *b = calloc(1, sizeof *b);
    bool ok = false;
    if (space && b && (b->core = create(set, space))) {
        b->buffer = mem_space_alloc(space, BUFFER_BYTES, 256);
        printf("\nkernels: %s\n%-26s %12s %10s %12s %10s\n", amx_core_path_name(b->core), "class", "M instr/s", "ns", "as a list",
               "ns");
        for (size_t c = 0; c < ARRAY_COUNT(classes); c++) {
            if (only && !strstr(classes[c].name, only))
                continue;
            b->count = b->counted = 0;
            classes[c].fill(b);
            if (b->counted == 0)
                b->counted = b->count;
            fill_list(b);
            fill_state(b->core);
            const double ns = measure(b, false), list_ns = measure(b, true);
            printf("%-26s %12.2f %10.2f %12.2f %10.2f\n", classes[c].name, 1e3 / ns, ns, 1e3 / list_ns, list_ns);
        }
        ok = true;
    } else {
        fprintf(stderr, "bench_amx_exec: this host has no kernel set \"%s\"\n", set);
    }
    if (b)
        amx_core_free(b->core);
    free(b);
    mem_space_free(space);
    return ok;
}

int main(int argc, char **argv)
{
    const char *only = getenv("BENCH_ONLY"); /* part of a class name */
    bool ok = true;
    if (argc < 2)
        return run_set("best", only) && run_set("reference", only) ? 0 : 1;
    for (int i = 1; i < argc; i++)
        ok = run_set(argv[i], only) && ok;
    return ok ? 0 : 1;
}
