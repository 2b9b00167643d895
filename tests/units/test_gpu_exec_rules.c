/* Rules of the Apple GPU that no published vector tells apart, worked by hand or held to plain loops in double: numbers, masks
 * and lanes that do not exist, moves between lanes, reductions, matrices, memory, control flow. */
#include "isa/array_count.h"
#include "isa/float_bits.h"
#include "tests/units/gpu_exec_example.h"

#include <math.h>

static struct gpu_lanes in, out;
static struct unit_fault fault;

static bool runs_on(const char *text, const char *path)
{
    const struct gpu_example e = {.text = text, .in = &in, .path = path, .threadgroup_memory = 512, .stack_bytes = 64};
    const bool good = gpu_example_run(&e, &out, &fault, NULL) == GPU_STEP_DONE;
    CHECK(good, "%s: %s", path, fault.text);
    return good && out.mask != 0; /* 0: the host lacks this instruction set */
}

static void clear(void)
{
    memset(&in, 0, sizeof in);
    in.mask = UINT32_MAX;
}

/* --- numbers: lane 0 of r1, r2, r3 in, of r4 out --- */

struct number_case {
    const char *text;
    uint32_t a, b, c, wanted;
};

static const struct number_case cases[] = {
    {"fadd32 r4l, r1, r2\nstop", 0x3f800000, 0x3a000200, 0, 0x3c00},    /* two roundings; one would give 3c01 */
    {"fmul32 r4, r1, r2\nstop", 0x3f7fffff, 0x00800000, 0, 0x00000000}, /* exact product below 2^-126 */
    {"fmadd32 r4, r1, r2, r3\nstop", 0x33800000, 0x80000000, 0x00800000, 0x00800000},
    {"fmadd32 r4, r1, r2, r3\nstop", 0x1a800000, 0x9a800000, 0x00800000,
     0x00000000}, /* 2^-126 - 2^-148: one that FTZ flushes too */
    {"fmadd32 r4, r1, r2, r3\nstop", 0x19800000, 0x99800000, 0x00800000,
     0x00000000}, /* 2^-126 - 2^-152 rounds up, unrounded below */
    {"fmadd32 r4, r1, r2, r3\nstop", 0x19800000, 0x19800000, 0x80800000, 0x80000000}, /* the same below zero */
    {"fmadd32 r4, r1, r2, r3\nstop", 0x19800000, 0x19800000, 0x00800000, 0x00800000}, /* just above */
    {"fadd32 r4, r1, r2\nstop", 0x00000001, 0x80000000, 0, 0x00000000},               /* denormal in */
    {"fmul32 r4, r1, r2\nstop", 0x80000001, 0x3f800000, 0, 0x80000000},               /* keeps its sign */
    {"fmul32 r4, r1, r2\nstop", 0xbf800000, 0x00000000, 0, 0x80000000},               /* IEEE sign of zero */
    {"fmul32 r4, r1, r2\nstop", 0x7f800000, 0x00000000, 0, 0x7fc00000},               /* one NaN, positive */
    {"fadd32 r4, r1, r2\nstop", 0xffc12345, 0x3f800000, 0, 0x7fc00000},               /* no payloads */
    {"fadd32 r4, r1, r2\nstop", 0x7f7fffff, 0x7f7fffff, 0, 0x7f800000},
    {"fadd32.sat r4, r1, r2\nstop", 0x7fc00000, 0, 0, 0x00000000},
    {"fadd32.sat r4, r1, r2\nstop", 0x80000000, 0x80000000, 0, 0x00000000},
    {"fadd32.sat r4, r1, r2\nstop", 0x40000000, 0, 0, 0x3f800000},
    {"fadd16 r4l, r1l, r2l\nstop", 0x0001, 0x0001, 0, 0x0002}, /* half denormals stay */
    {"fmadd16 r4l, r1l, r2l, r3l\nstop", 0x3c01, 0x3c01, 0x0001, 0x3c02},
    {"floor r4, r1\nstop", 0xbf000000, 0, 0, 0xbf800000},
    {"ceil r4, r1\nstop", 0xbf000000, 0, 0, 0x80000000},
    {"trunc r4, r1\nstop", 0xbff00000, 0, 0, 0xbf800000},
    {"rint r4, r1\nstop", 0x40200000, 0, 0, 0x40000000}, /* 2.5 to even */
    {"rcp r4, r1\nstop", 0x40400000, 0, 0, 0x3eaaaaab},
    {"rcp r4, r1\nstop", 0x80000001, 0, 0, 0xff800000},
    {"rcp r4, r1\nstop", 0x7f000000, 0, 0, 0x00000000}, /* 2^-127 */
    {"rsqrt r4, r1\nstop", 0x40800000, 0, 0, 0x3f000000},
    {"rsqrt r4, r1\nstop", 0xbf800000, 0, 0, 0x7fc00000},
    {"exp2 r4, r1\nstop", 0xc3000000, 0, 0, 0x00000000}, /* 2^-128 */
    {"exp2 r4, r1\nstop", 0xc2fc0000, 0, 0, 0x00800000},
    {"exp2 r4, r1\nstop", 0x43000000, 0, 0, 0x7f800000},
    {"log2 r4, r1\nstop", 0x41000000, 0, 0, 0x40400000},
    {"log2 r4, r1\nstop", 0x00000000, 0, 0, 0xff800000},
    {"sin_pt_1 r4, r1\nstop", 0x40200000, 0, 0, 0xbf000000}, /* 2 - 2.5 */
    {"sin_pt_1 r4, r1\nstop", 0x40600000, 0, 0, 0xbf000000}, /* 3.5 - 4 */
    {"sin_pt_2 r4, r1\nstop", 0x3f800000, 0, 0, 0x3f800000}, /* sin(pi/2) / 1 */
    {"sin_pt_2 r4, r1\nstop", 0x00000000, 0, 0, 0x3fc90fdb}, /* pi/2 */
    {"convert f_to_u32, r4, r1, rtz\nstop", 0xbf800000, 0, 0, 0},
    {"convert f_to_s32, r4, r1, rtz\nstop", 0x4f800000, 0, 0, 0x7fffffff},
    {"convert f_to_s32, r4, r1, rtz\nstop", 0xc0200000, 0, 0, 0xfffffffe},
    {"convert u32_to_f, r4, r1, rte\nstop", 0xffffffff, 0, 0, 0x4f800000},
    {"convert u32_to_f, r4, r1, rtz\nstop", 0xffffffff, 0, 0, 0x4f7fffff},
    {"convert s8_to_f, r4, r1, rte\nstop", 0x00000180, 0, 0, 0xc3000000},
    {"intl r4, r1, r2\nstop", 0x0000ffff, 0, 0, 0x55555555},
    {"intl r4, r1, r2\nstop", 0, 0x00000003, 0, 0x0000000a},
};

static void test_numbers(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        for (unsigned p = 0; p < GPU_PATHS; p++) {
            const struct number_case *c = &cases[i];
            clear();
            for (unsigned lane = 0; lane < GPU_LANES; lane++) {
                in.word[1][lane] = c->a;
                in.word[2][lane] = c->b;
                in.word[3][lane] = c->c;
            }
            if (runs_on(c->text, gpu_paths[p]))
                CHECK(out.word[4][0] == c->wanted && out.word[4][31] == c->wanted,
                      "%s: %s of %08x %08x %08x gives %08x, not %08x", gpu_paths[p], c->text, c->a, c->b, c->c, out.word[4][0],
                      c->wanted);
        }
}

/* Half an ulp and a little of long double's own error, of results that are neither flushed nor infinite. */
static void check_function(const char *text, long double (*truth)(long double x), uint32_t low, uint32_t span)
{
    uint64_t seed = 5;
    for (unsigned round = 0; round < 200; round++) {
        clear();
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            in.word[1][lane] = low + (uint32_t)(suite_random(&seed) % span);
        if (!runs_on(text, "reference"))
            return;
        for (unsigned lane = 0; lane < GPU_LANES; lane++) {
            const long double wanted = truth((long double)f32_of_bits(in.word[1][lane]));
            const float got = f32_of_bits(out.word[4][lane]);
            const long double ulp = (long double)nextafterf(fabsf(got), INFINITY) - (long double)fabsf(got);
            const long double error = fabsl((long double)got - wanted) / ulp;
            if (error > 0.50001L && fabsl(wanted) > 1e-37L) {
                CHECK(false, "%s of %08x is off by %.3Lf ulp", text, in.word[1][lane], error);
                return;
            }
        }
    }
}

static long double rsqrt_truth(long double x)
{
    return 1 / sqrtl(x);
}

static long double sinc_truth(long double x)
{
    return sinl(x * 1.57079632679489661923132169163975144L) / x;
}

static void test_functions(void)
{
    check_function("exp2 r4, r1\nstop", exp2l, 0x2f800000, 0x13000000);
    check_function("log2 r4, r1\nstop", log2l, 0x00800000, 0x7e000000);
    check_function("rsqrt r4, r1\nstop", rsqrt_truth, 0x00800000, 0x7e000000);
    check_function("sin_pt_2 r4, r1\nstop", sinc_truth, 0x30000000, 0x0f800000);
}

/* --- lanes --- */

static void number_lanes(void)
{
    clear();
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        in.word[1][lane] = 100 + lane;
        in.word[2][lane] = f32_bits((float)lane - 7.25f);
        in.word[3][lane] = lane;
    }
}

static void test_missing_lanes(void)
{
    /* 20 threads: lanes 20..31 count down with the others and must stay off. */
    static const char text[] = "mov_imm r0l, 0\nif_icmp r0l, ult, r3, 10, 1\nmov_imm r4, 1, 0b0\nelse_fcmp r0l, eq, 0.0, 0.0, 1\n"
                               "mov_imm r4, 2, 0b0\npop_exec r0l, 1\niadd r5, r4, 1\nstop";
    for (unsigned p = 0; p < GPU_PATHS; p++) {
        number_lanes();
        const struct gpu_example e = {.text = text, .in = &in, .threads = 20, .path = gpu_paths[p]};
        CHECK(gpu_example_run(&e, &out, &fault, NULL) == GPU_STEP_DONE, "%s", fault.text);
        if (out.mask == 0)
            continue; /* not on this host */
        CU_ASSERT_EQUAL(out.mask, 0xfffff);
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            CHECK(out.word[5][lane] == (lane < 10   ? 2u
                                        : lane < 20 ? 3u
                                                    : 0u),
                  "%s lane %u: %u", gpu_paths[p], lane, out.word[5][lane]);
    }
}

static void test_shuffles(void)
{
    for (unsigned by = 0; by < 32; by++) {
        static const char *const names[] = {"simd_shuffle",           "simd_shuffle_xor", "simd_shuffle_up", "simd_shuffle_down",
                                            "simd_shuffle_rotate_up", "quad_shuffle",     "quad_shuffle_xor"};
        for (unsigned n = 0; n < 7; n++) {
            char text[80];
            number_lanes();
            snprintf(text, sizeof text, "%s r4, r1, %u\nstop", names[n], n >= 5 ? by & 3 : by);
            for (unsigned p = 0; p < GPU_PATHS; p++) {
                if (!runs_on(text, gpu_paths[p]))
                    continue;
                for (int t = 0; t < GPU_LANES; t++) {
                    const int b = (int)by;
                    const int from[] = {b, t ^ b, t - b, t + b, (t - b) & 31, (t & ~3) + (b & 3), t ^ (b & 3)};
                    const int lane = from[n] < 0 || from[n] > 31 ? t : from[n];
                    CHECK(out.word[4][t] == 100u + (unsigned)lane, "%s: %s lane %d", gpu_paths[p], text, t);
                }
            }
        }
    }
}

static void test_reductions(void)
{
    number_lanes();
    in.mask = 0x80f0f00f;
    double sum = 0, least = INFINITY;
    uint32_t total = 0, prefix[GPU_LANES];
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        prefix[lane] = total;
        if (!(in.mask >> lane & 1))
            continue;
        total += in.word[1][lane];
        sum += (double)f32_of_bits(in.word[2][lane]); /* multiples of 1/4: exact in any order */
        least = fmin(least, (double)f32_of_bits(in.word[2][lane]));
    }
    if (!runs_on("simd_iadd r4, r1\nsimd_fadd r5, r2\nsimd_min.f r6, r2\nsimd_prefix_iadd r7, r1\nstop", "reference"))
        return;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const bool on = in.mask >> lane & 1;
        CHECK(out.word[4][lane] == (on ? total : 0), "sum in lane %u", lane);
        CHECK(out.word[5][lane] == (on ? f32_bits((float)sum) : 0), "float sum in lane %u", lane);
        CHECK(out.word[6][lane] == (on ? f32_bits((float)least) : 0), "minimum in lane %u", lane);
        CHECK(out.word[7][lane] == (on ? prefix[lane] : 0), "prefix in lane %u", lane);
    }
}

/* Layout of 8x8 matrices: philipturner/metal-flash-attention, MLX. */
static void test_matrix(void)
{
    uint64_t seed = 3;
    float m[3][8][8], d[8][8];
    clear();
    for (unsigned k = 0; k < 3; k++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            for (unsigned i = 0; i < 2; i++) {
                const float x = (float)(suite_random(&seed) >> 40) * 0x1p-23f - 1;
                const unsigned row = (lane >> 4 & 1) * 4 + (lane >> 1 & 3), column = (lane >> 3 & 1) * 4 + (lane & 1) * 2;
                in.word[2 + 2 * k + i][lane] = f32_bits(x);
                m[k][row][column + i] = x;
            }
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 8; column++) {
            d[row][column] = m[2][row][column];
            for (unsigned k = 0; k < 8; k++)
                d[row][column] = fmaf(m[0][row][k], m[1][k][column], d[row][column]);
        }
    for (unsigned p = 0; p < GPU_PATHS; p++) {
        if (!runs_on("simd_matrix_fmadd32 r8_r9, r2_r3, r4_r5, r6_r7\nstop", gpu_paths[p]))
            continue;
        for (unsigned lane = 0; lane < GPU_LANES; lane++) {
            const unsigned row = (lane >> 4 & 1) * 4 + (lane >> 1 & 3), column = (lane >> 3 & 1) * 4 + (lane & 1) * 2;
            CHECK(out.word[8][lane] == f32_bits(d[row][column]) && out.word[9][lane] == f32_bits(d[row][column + 1]),
                  "%s lane %u", gpu_paths[p], lane);
        }
    }
}

/* A number of 24 bits with an exponent around `exponent`, now and then zero or its neighbour's opposite, so that sums cancel. */
static uint32_t value_near(uint64_t *seed, int exponent, uint32_t before)
{
    const uint64_t x = suite_random(seed);
    if ((x & 15) == 0)
        return (uint32_t)x & 0x80000000;
    if ((x & 15) == 1)
        return before ^ 0x80000000;
    return f32_bits(ldexpf((float)(x >> 40 | 1U << 23), exponent - 23 + (int)(x >> 8 & 3) - 2)) ^ ((uint32_t)x & 0x80000000);
}

/* Handlers take a short way where no sum can come near the denormal numbers: factors from 2^-39, C from 2^-101 on. */
static void test_matrix_ranges(void)
{
    static const struct {
        int a, b, c;
    } ranges[] = {{-38, -38, -100}, {-39, -40, -101}, {-63, -63, -126}, {-20, -100, -124},
                  {-60, -64, -120}, {60, 66, 126},    {0, 0, 0}};
    uint64_t seed = 5;
    for (unsigned turn = 0; turn < 40 * ARRAY_COUNT(ranges); turn++) {
        struct gpu_lanes plain;
        const unsigned r = turn % ARRAY_COUNT(ranges);
        const int exponent[3] = {ranges[r].a, ranges[r].b, ranges[r].c};
        clear();
        for (unsigned k = 0; k < 6; k++)
            for (unsigned lane = 0; lane < GPU_LANES; lane++)
                in.word[2 + k][lane] = value_near(&seed, exponent[k / 2], lane ? in.word[2 + k][lane - 1] : 0);
        for (unsigned p = 0; p < GPU_PATHS; p++) {
            if (!runs_on("simd_matrix_fmadd32 r8_r9, r2_r3, r4_r5, r6_r7\nstop", gpu_paths[p]))
                continue;
            plain = p ? plain : out;
            CHECK(memcmp(out.word, plain.word, sizeof out.word) == 0, "%s differs at 2^%d 2^%d + 2^%d", gpu_paths[p], exponent[0],
                  exponent[1], exponent[2]);
        }
    }
}

/* --- threadgroup memory, stack, calls --- */

static void test_threadgroup_atomics(void)
{
    /* All lanes add their number to one word; each old value is the sum of the lanes before. */
    number_lanes();
    if (!runs_on("mov_imm r5, 0, 0b0\nmov_imm r6, 8, 0b0\nthreadgroup_store i32, x, r5, r6l, 0\n"
                 "threadgroup_atomic add, r4, r6l, 0, r3, 0, 2, 128, 0\nthreadgroup_load i32, x, r7, r6l, 0\nstop",
                 "reference"))
        return;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        CU_ASSERT_EQUAL(out.word[4][lane], lane * (lane - 1) / 2);
        CU_ASSERT_EQUAL(out.word[7][lane], 496);
    }
}

static void test_call(void)
{
    number_lanes();
    if (runs_on("call work\niadd r5, r4, 1\nstop\nwork: iadd r4, r3, 10\nret r1\n", "reference"))
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            CU_ASSERT_EQUAL(out.word[5][lane], lane + 11);
}

static const struct suite_test tests[] = {{"numbers by hand", test_numbers},
                                          {"functions are correctly rounded", test_functions},
                                          {"lanes that do not exist", test_missing_lanes},
                                          {"shuffles", test_shuffles},
                                          {"reductions under a mask", test_reductions},
                                          {"matrices against plain loops", test_matrix},
                                          {"matrices of small and large numbers on every path", test_matrix_ranges},
                                          {"threadgroup atomics", test_threadgroup_atomics},
                                          {"call and return", test_call}};
SUITE_MAIN("gpu execution rules", tests)
