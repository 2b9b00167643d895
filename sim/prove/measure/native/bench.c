/* Times products of orchard's NEON and AMX libraries on the machine itself; `orchard measure` writes it with the cases beside it.
 *
 *     bench MACHINE P_CORES E_CORES GPU_CORES OS PASSES > result.csv
 *
 * One thread. A pass repeats the product until a millisecond is over and prints the mean; the first one, which warms up, is not
 * printed. Elements of the last result are compared with plain sums.
 */
#include "units/amx/kernels/gemm.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __APPLE__
#include <pthread.h>
#endif

#define PASS_S 1e-3

typedef void function(const void *args, uint64_t first, uint64_t end, uint64_t thread);
function neon_gemm_pack_f32, neon_gemm_f32, neon_gemm_pack_f16, neon_gemm_f16, neon_gemm_pack_bf16, neon_gemm_bf16,
    neon_gemm_pack_i8, neon_gemm_i8;

/* Element types; `packed_bytes` and `columns` are those of panels of b (units/cpu/kernels/native/gemm*.c). */
static const struct type {
    const char *name;
    int bytes, out_bytes, columns, packed_bytes;
    double tolerance; /* of an element, as a share of the sum of sizes */
    function *pack, *run;
    int amx; /* enum gemm_kind; -1 = not on AMX */
} types[] = {
    {"f32", 4, 4, 12, 4, 1e-5, neon_gemm_pack_f32, neon_gemm_f32, GEMM_F32},
    {"f16", 2, 2, 12, 4, 1e-3, neon_gemm_pack_f16, neon_gemm_f16, -1},
    {"bf16", 2, 2, 12, 4, 1e-2, neon_gemm_pack_bf16, neon_gemm_bf16, -1},
    {"i8", 1, 4, 12, 1, 0, neon_gemm_pack_i8, neon_gemm_i8, GEMM_I8_I32},
    {"f64", 8, 8, 0, 0, 1e-12, NULL, NULL, GEMM_F64},
};

static const struct case_of {
    const char *unit, *precision;
    int64_t m, n, k;
} cases[] = {
#define X(unit, precision, m, n, k) {unit, precision, m, n, k},
#include <cases.inc> /* beside this file (-I.) */
#undef X
};

struct product {
    const struct case_of *asked;
    const struct type *type;
    uint8_t *a, *b, *c, *panels, *own;
    uint64_t panels_bytes, own_bytes;
    bool quad_loads;
};

/* macOS rounds CLOCK_MONOTONIC to microseconds. */
static double now_s(void)
{
#ifdef __APPLE__
    return 1e-9 * (double)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
}

static double get(const struct type *t, const uint8_t *from, int64_t i, int bytes)
{
    const uint8_t *const at = from + i * bytes;
    uint32_t word = 0;
    float f;
    double d;
    __fp16 half;
    if (strcmp(t->name, "i8") == 0) {
        memcpy(&word, at, (size_t)bytes);
        return bytes == 1 ? (int8_t)word : (int32_t)word;
    }
    if (bytes == 8)
        return memcpy(&d, at, sizeof d), d;
    if (bytes == 2 && t->name[0] == 'f')
        return memcpy(&half, at, sizeof half), (double)half;
    memcpy(bytes == 2 ? (uint8_t *)&word + 2 : (uint8_t *)&word, at, (size_t)bytes);
    return memcpy(&f, &word, sizeof f), (double)f;
}

/* Whole numbers below 16, over 16 where there are fractions: exact in every type. */
static void fill(const struct type *t, uint8_t *to, int64_t count)
{
    uint32_t state = 12345;
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        const int number = (int)(state >> 27) - 16;
        const double d = number / 16.0;
        const float f = (float)d;
        const __fp16 half = (__fp16)f;
        const int8_t byte = (int8_t)number;
        uint32_t word;
        memcpy(&word, &f, sizeof word);
        const uint16_t brain = (uint16_t)(word >> 16);
        memcpy(to + i * t->bytes,
               t->bytes == 8       ? (const void *)&d
               : t->bytes == 4     ? (const void *)&f
               : t->bytes == 1     ? (const void *)&byte
               : t->name[0] == 'f' ? (const void *)&half
                                   : (const void *)&brain,
               (size_t)t->bytes);
    }
}

static void run_neon(const struct product *p)
{
    const struct case_of *const q = p->asked;
    const double alpha = 1;
    uint64_t args[15] = {(uint64_t)p->a, (uint64_t)p->b, (uint64_t)p->c, (uint64_t)p->panels, (uint64_t)p->own,
                         p->own_bytes,   (uint64_t)q->m, (uint64_t)q->n, (uint64_t)q->k,      1};
    memcpy(&args[12], &alpha, sizeof alpha);
    p->type->pack(args, 0, (uint64_t)((q->n + p->type->columns - 1) / p->type->columns), 0);
    p->type->run(args, 0, (uint64_t)(q->m + 7) / 8, 0);
}

static void run_amx(const struct product *p)
{
    const struct case_of *const q = p->asked;
    const double one = 1;
    const float one_f = 1;
    struct gemm_args args = {.a = (uint64_t)p->a,
                             .b = (uint64_t)p->b,
                             .c = (uint64_t)p->c,
                             .workspace = (uint64_t)p->panels,
                             .lda = (uint64_t)q->k,
                             .ldb = (uint64_t)q->n,
                             .ldc = (uint64_t)q->n,
                             .m = (uint32_t)q->m,
                             .n = (uint32_t)q->n,
                             .k = (uint32_t)q->k,
                             .batch = 1,
                             .kind = (uint32_t)p->type->amx,
                             .quad_loads = p->quad_loads,
                             .alpha_bits = 1};
    if (p->type->amx == GEMM_F64)
        memcpy(&args.alpha_bits, &one, sizeof one);
    else if (p->type->amx == GEMM_F32) {
        args.alpha_bits = 0;
        memcpy(&args.alpha_bits, &one_f, sizeof one_f);
    }
    gemm_run(NULL, &args);
}

/* A product is done when its last element can be read: the next one must not begin beside it. */
static void run(const struct product *p)
{
    const int64_t bytes = p->asked->m * p->asked->n * p->type->out_bytes;
    (p->asked->unit[0] == 'a' ? run_amx : run_neon)(p);
    (void)*(const volatile uint8_t *)(p->c + bytes - 1);
    __asm__ volatile("dsb sy\n\tisb" ::: "memory");
}

static bool is_right(const struct product *p)
{
    const struct case_of *const q = p->asked;
    const int64_t count = q->m * q->n;
    for (int64_t at = 0; at < count; at += count / 97 + 1) {
        double sum = 0, sizes = 0;
        for (int64_t l = 0; l < q->k; l++) {
            const double product = get(p->type, p->a, at / q->n * q->k + l, p->type->bytes) *
                                   get(p->type, p->b, l * q->n + at % q->n, p->type->bytes);
            sum += product;
            sizes += fabs(product);
        }
        if (!(fabs(get(p->type, p->c, at, p->type->out_bytes) - sum) <= p->type->tolerance * sizes))
            return false;
    }
    return true;
}

/* Zeros from a page's beginning on; NULL when memory is out. */
static uint8_t *room(uint64_t bytes)
{
    void *at = NULL;
    return posix_memalign(&at, 16384, (size_t)bytes + 128) == 0 ? memset(at, 0, (size_t)bytes + 128) : NULL;
}

/* False when memory is out; close_product follows all the same. */
static bool open_product(struct product *p)
{
    const struct case_of *const q = p->asked;
    const struct type *const t = p->type;
    if (q->unit[0] == 'a') {
        p->panels_bytes = gemm_workspace_bytes((enum gemm_kind)t->amx, (uint32_t)q->m, (uint32_t)q->n, (uint32_t)q->k);
    } else {
        const uint64_t depth = (uint64_t)((q->k + 3) / 4 * 4 * t->packed_bytes);
        p->panels_bytes = (uint64_t)((q->n + t->columns - 1) / t->columns * t->columns) * depth;
        p->own_bytes = 64 * depth;
    }
    p->a = room((uint64_t)(q->m * q->k * t->bytes));
    p->b = room((uint64_t)(q->k * q->n * t->bytes));
    p->c = room((uint64_t)(q->m * q->n * t->out_bytes));
    p->panels = room(p->panels_bytes);
    p->own = room(p->own_bytes);
    if (!p->a || !p->b || !p->c || !p->panels || !p->own)
        return false;
    fill(t, p->a, q->m * q->k);
    fill(t, p->b, q->k * q->n);
    return true;
}

static void close_product(const struct product *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->panels);
    free(p->own);
}

/* Mean seconds of a product over a pass; how many it takes is found by the first. */
static double pass(const struct product *p, int64_t *times)
{
    const bool first = *times == 0;
    double took = 0;
    int64_t done = 0;
    for (const double begin = now_s(); first ? took < PASS_S : done < *times; done++) {
        run(p);
        if (first)
            took = now_s() - begin;
        else if (done + 1 == *times)
            took = now_s() - begin;
    }
    *times = done;
    return took / (double)done;
}

static bool measure(const struct case_of *q, char **argv, int passes)
{
    struct product p = {.asked = q, .quad_loads = strncmp(argv[1], "Apple M1", 8) != 0};
    int64_t times = 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, q->precision) == 0)
            p.type = &types[i];
    if (!p.type || (q->unit[0] == 'a' ? p.type->amx < 0 : !p.type->run)) {
        fprintf(stderr, "bench: no product in %s on %s\n", q->precision, q->unit);
        return false;
    }
    if (!open_product(&p)) {
        fprintf(stderr, "bench: memory is out\n");
        close_product(&p);
        return false;
    }
    pass(&p, &times);
    const bool right = is_right(&p);
    for (int i = 1; i <= passes; i++) {
        const double seconds = pass(&p, &times);
        printf("%s,%s,%s,%s,\"%s\",%s,gemm:%lldx%lldx%lld,%s,%d,%.9g,%s\n", argv[1], argv[2], argv[3], argv[4], argv[5], q->unit,
               (long long)q->m, (long long)q->n, (long long)q->k, q->precision, i, seconds, right ? "right" : "wrong");
    }
    close_product(&p);
    return right;
}

int main(int argc, char **argv)
{
    if (argc != 7 || atoi(argv[6]) < 1) {
        fprintf(stderr, "usage: bench MACHINE P_CORES E_CORES GPU_CORES OS PASSES\n");
        return 2;
    }
#ifdef __APPLE__
    pthread_set_qos_class_self_np(QOS_CLASS_USER_INTERACTIVE, 0); /* macOS then prefers P cores */
#endif
    bool right = true;
    printf("machine,p_cores,e_cores,gpu_cores,os,unit,workload,precision,pass,seconds,result\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        right = measure(&cases[i], argv, atoi(argv[6])) && right;
    return right ? 0 : 1;
}
