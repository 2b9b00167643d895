/* The estimate of lossless compression: lines whose answer is known, and an encoder of the same scheme written out the other way
 * round. */
#include "tests/support/suite.h"
#include "units/mem/line_compress.h"

#include <stdlib.h>
#include <string.h>

static uint32_t of_values(uint64_t base, uint64_t step, unsigned bytes)
{
    uint8_t line[MEM_LINE_BYTES];
    for (unsigned i = 0; i < MEM_LINE_BYTES / bytes; i++) {
        const uint64_t v = base + i * step;
        memcpy(line + i * bytes, &v, bytes);
    }
    return mem_line_compressed_bytes(line);
}

static void test_known_lines(void)
{
    CU_ASSERT_EQUAL(of_values(0, 0, 8), 32);
    CU_ASSERT_EQUAL(of_values(UINT64_C(0x123456789abcdef0), 0, 8), 32);
    CU_ASSERT_EQUAL(of_values(0x40490fdb, 0, 4), 32);
    /* Sixteen pointers some bytes apart: 8 + 16 x 1 + 2 = 26. */
    CU_ASSERT_EQUAL(of_values(UINT64_C(0x7fff12345000), 8, 8), 32);
    /* A page apart: 8 + 16 x 2 + 2 = 42. */
    CU_ASSERT_EQUAL(of_values(UINT64_C(0x7fff12345000), 1024, 8), 64);
    /* Numbers 0, 1, 2 ... of 4 bytes: differences of one byte from zero, 4 + 32 + 4 = 40. */
    CU_ASSERT_EQUAL(of_values(0, 1, 4), 64);
    /* 64 numbers of 2 bytes: 2 + 64 + 8 = 74. */
    CU_ASSERT_EQUAL(of_values(1000, 1, 2), 96);
    CU_ASSERT_EQUAL(of_values(1, UINT64_C(0x9E3779B97F4A7C15), 8), 128);
}

/* Zeros among values near one another: the immediate of the scheme. */
static void test_zeros_between(void)
{
    uint8_t line[MEM_LINE_BYTES] = {0};
    for (unsigned i = 0; i < 16; i += 2) {
        const uint64_t v = UINT64_C(0x600000000000) + 16 * i;
        memcpy(line + 8 * i, &v, 8);
    }
    CU_ASSERT_EQUAL(mem_line_compressed_bytes(line), 64);
    line[8] = 1; /* still small beside zero */
    CU_ASSERT_EQUAL(mem_line_compressed_bytes(line), 64);
    const uint64_t far = UINT64_C(0xdeadbeefcafe);
    memcpy(line + 8, &far, 8);
    CU_ASSERT_EQUAL(mem_line_compressed_bytes(line), 128);
}

static void test_random_lines_stay(void)
{
    uint64_t seed = 5;
    for (int i = 0; i < 500; i++) {
        uint8_t line[MEM_LINE_BYTES];
        for (unsigned k = 0; k < sizeof line; k++)
            line[k] = (uint8_t)suite_random(&seed);
        CU_ASSERT_EQUAL(mem_line_compressed_bytes(line), MEM_LINE_BYTES);
    }
}

static void test_share_of_a_space(void)
{
    struct mem_space *space = mem_space_create(UINT64_C(1) << 30);
    CU_ASSERT_EQUAL(mem_space_compressed_share(space, 1000), 1);
    const uint64_t noise = mem_space_alloc(space, 1 << 20, 128), same = mem_space_alloc(space, 1 << 20, 128);
    mem_space_alloc(space, 1 << 22, 128); /* never written */
    uint64_t seed = 1;
    uint8_t *a = mem_at(space, noise, 1 << 20, MEM_WRITE), *b = mem_at(space, same, 1 << 20, MEM_WRITE);
    CU_ASSERT_FATAL(a && b);
    for (unsigned i = 0; i < 1 << 20; i += 8) {
        const uint64_t v = suite_random(&seed);
        memcpy(a + i, &v, 8);
    }
    memset(b, 0x5a, 1 << 20);
    /* Half stays, half takes a quarter. */
    CHECK(mem_space_compressed_share(space, 0) == 0.625, "%g", mem_space_compressed_share(space, 0));
    const double sampled = mem_space_compressed_share(space, 1000);
    CHECK(sampled > 0.6 && sampled < 0.65, "%g", sampled);
    mem_space_free(space);
}

static const struct suite_test tests[] = {
    {"known lines", test_known_lines},
    {"zeros between", test_zeros_between},
    {"random lines stay", test_random_lines_stay},
    {"share of a space", test_share_of_a_space},
};
SUITE_MAIN("line compress", tests)
