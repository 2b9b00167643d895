/* Products of the NEON library on the machine itself, one core: `make native` on a Mac. Prints a line for each: seconds of the
 * best of several runs, operations a second, and whether sampled elements are what a plain sum gives. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void function(const void *args, uint64_t first, uint64_t end, uint64_t thread);
function neon_gemm_pack_f32, neon_gemm_f32, neon_gemm_pack_f16, neon_gemm_f16, neon_gemm_pack_f16_sums, neon_gemm_f16_sums,
    neon_gemm_pack_bf16, neon_gemm_bf16, neon_gemm_pack_i8, neon_gemm_i8;

static const struct row {
    const char *name;
    function *pack, *run;
    int bytes, out_bytes, columns, packed_bytes;
    double tolerance; /* of an element, as a share of the sum of sizes */
} rows[] = {
    {"f32", neon_gemm_pack_f32, neon_gemm_f32, 4, 4, 12, 4, 1e-5},
    {"f16", neon_gemm_pack_f16, neon_gemm_f16, 2, 2, 12, 4, 1e-3},
    {"f16,acc=f16", neon_gemm_pack_f16_sums, neon_gemm_f16_sums, 2, 2, 24, 2, 3e-2},
    {"bf16", neon_gemm_pack_bf16, neon_gemm_bf16, 2, 2, 12, 4, 1e-2},
    {"i8", neon_gemm_pack_i8, neon_gemm_i8, 1, 4, 12, 1, 0},
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double get(const struct row *r, const uint8_t *at, int64_t i, int out)
{
    uint32_t bits = 0;
    float f;
    if (r->bytes == 1 && out)
        return ((const int32_t *)(const void *)at)[i];
    if (r->bytes == 1)
        return ((const int8_t *)at)[i];
    if (r->bytes == 4)
        return ((const float *)(const void *)at)[i];
    if (r->name[0] == 'f')
        return (double)((const __fp16 *)(const void *)at)[i];
    bits = (uint32_t)((const uint16_t *)(const void *)at)[i] << 16;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* Small whole numbers over 16 are exact in every type. */
static void fill(const struct row *r, uint8_t *to, int64_t count)
{
    uint32_t state = 12345;
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        const int number = (int)(state >> 27) - 16;
        const float f = (float)number / 16;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        if (r->bytes == 1)
            ((int8_t *)to)[i] = (int8_t)number;
        else if (r->bytes == 4)
            ((float *)(void *)to)[i] = f;
        else if (r->name[0] == 'f')
            ((__fp16 *)(void *)to)[i] = (__fp16)f;
        else
            ((uint16_t *)(void *)to)[i] = (uint16_t)(bits >> 16);
    }
}

static int is_right(const struct row *r, const uint8_t *a, const uint8_t *b, const uint8_t *c, int64_t size)
{
    int right = 1;
    for (int64_t at = 0; at < size * size; at += size * size / 97 + 1) {
        double sum = 0, sizes = 0;
        for (int64_t l = 0; l < size; l++) {
            const double product = get(r, a, at / size * size + l, 0) * get(r, b, l * size + at % size, 0);
            sum += product;
            sizes += fabs(product);
        }
        right &= fabs(get(r, c, at, 1) - sum) <= r->tolerance * sizes;
    }
    return right;
}

enum { A, B, C, PACKED, OWN, BUFFERS };

static void release(uint8_t *const at[BUFFERS])
{
    for (unsigned i = 0; i < BUFFERS; i++)
        free(at[i]);
}

/* All of them, zeroed; false when memory is out. */
static bool take(uint8_t *at[BUFFERS], const size_t bytes[BUFFERS])
{
    bool ok = true;
    for (unsigned i = 0; i < BUFFERS; i++) {
        void *room = NULL;
        ok = posix_memalign(&room, 128, bytes[i]) == 0 && ok;
        at[i] = ok ? room : NULL;
        if (at[i])
            memset(at[i], 0, bytes[i]);
    }
    return ok;
}

/* False when the product is wrong or memory is out. */
static bool bench(const struct row *r, int64_t size)
{
    enum { BEST_OF = 7 };
    const int64_t panels = (size + r->columns - 1) / r->columns, depth = (size + 3) / 4 * 4 * r->packed_bytes;
    const size_t operand = (size_t)(size * size * r->bytes);
    uint8_t *at[BUFFERS];
    if (!take(at, (const size_t[BUFFERS]){operand, operand, (size_t)(size * size * r->out_bytes),
                                          (size_t)(panels * r->columns * depth), (size_t)(64 * depth)})) {
        fprintf(stderr, "memory is out\n");
        release(at);
        return false;
    }
    const double alpha = 1;
    double best = INFINITY;
    uint64_t args[15] = {(uint64_t)at[A],        (uint64_t)at[B], (uint64_t)at[C], (uint64_t)at[PACKED], (uint64_t)at[OWN],
                         (uint64_t)(64 * depth), (uint64_t)size,  (uint64_t)size,  (uint64_t)size,       1};
    memcpy(&args[12], &alpha, sizeof alpha);
    fill(r, at[A], size * size);
    fill(r, at[B], size * size);
    for (int i = 0; i < BEST_OF; i++) {
        const double begin = now_s();
        r->pack(args, 0, (uint64_t)panels, 0);
        r->run(args, 0, (uint64_t)(size + 7) / 8, 0);
        best = fmin(best, now_s() - begin);
    }
    const bool right = is_right(r, at[A], at[B], at[C], size);
    printf("gemm,%lldx%lldx%lld,%s,%.9g,%.5g,%s\n", (long long)size, (long long)size, (long long)size, r->name, best,
           2e-9 * (double)size * (double)size * (double)size / best, right ? "right" : "wrong");
    release(at);
    return right;
}

int main(int argc, char **argv)
{
    const int64_t most = argc > 1 ? atoll(argv[1]) : 1024;
    bool right = true;
    printf("kernel,shape,precision,seconds,gflops,result\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int64_t size = 64; size <= most; size *= 2)
            right = bench(&rows[i], size) && right;
    return right ? 0 : 1;
}
