/* Products of matrices and vectors of the NEON library, executed, against sums in double precision of what the blocks of weights
 * mean; the same bytes on three threads. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

static void test_elements(void)
{
    static const char *const workloads[] = {"gemv:1x1",  "gemv:2x3",   "gemv:3x7",    "gemv:4x16",  "gemv:7x17",
                                            "gemv:9x33", "gemv:17x64", "gemv:5x1003", "gemv:33x129"};
    static const char *const types[] = {"f32", "f16", "bf16", "i8"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_blocks(void)
{
    static const char *const workloads[] = {"gemv:1x256", "gemv:3x512", "gemv:7x768", "gemv:33x1024"};
    static const char *const types[] = {"q4_0", "q8_0", "q4_k", "q6_k"};
    static const char *const short_rows[] = {"gemv:1x32", "gemv:5x96"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
    neon_all(short_rows, ARRAY_COUNT(short_rows), types, 2);
}

/* Vectors in f32 beside matrices in 16 bits: results are not rounded to 16 bits. */
static void test_wide_vectors(void)
{
    static const char *const workloads[] = {"gemv:1x1,vectors=f32", "gemv:3x7,vectors=f32", "gemv:7x17,vectors=f32",
                                            "gemv:64x172,vectors=f32", "gemv:5x1003,vectors=f32"};
    static const char *const types[] = {"f32", "f16", "bf16"};
    static const char *const of_blocks[] = {"gemv:3x256,vectors=f32"};
    static const char *const blocks[] = {"q4_0", "q8_0", "q4_k", "q6_k"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
    neon_all(of_blocks, ARRAY_COUNT(of_blocks), blocks, ARRAY_COUNT(blocks));
}

/* One q4_0 block by hand: scale 0.5, numbers 0 .. 15 twice, against ones. */
static void test_decoding_by_hand(void)
{
    uint8_t block[144] = {0x00, 0x38};
    const struct routine_operand q4_0 = {.type = ROUTINE_Q4_0, .count = 32};
    for (int i = 0; i < 16; i++)
        block[2 + i] = (uint8_t)(i | (15 - i) << 4);
    double *const values = routine_values(&q4_0, block);
    for (int i = 0; values && i < 16; i++)
        CHECK(values[i] == 0.5 * (i - 8) && values[16 + i] == 0.5 * (7 - i), "%d: %g %g", i, values[i], values[16 + i]);
    free(values);
}

static void test_refusals(void)
{
    neon_refused("gemv:8x33", "q4_0", "whole blocks of 32");
    neon_refused("gemv:8x32", "q4_k", "whole blocks of 256");
    neon_refused("gemv:8x128", "q6_k", "whole blocks of 256");
    neon_refused("gemv:8x32,vectors=f32", "i8", "floating point");
    neon_refused("gemv:8", NULL, "n is missing");
}

static const struct suite_test tests[] = {
    {"elements", test_elements},           {"blocks", test_blocks},
    {"vectors in f32", test_wide_vectors}, {"a block by hand", test_decoding_by_hand},
    {"refusals", test_refusals},
};
SUITE_MAIN("neon gemv", tests)
