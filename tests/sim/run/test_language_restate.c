/* Blocks that are placed in another format than the file's have the same values, to the bit. */
#include "sim/run/language/language_step_internal.h"
#include "tests/support/suite.h"

#include <string.h>

enum { ROWS = 3, COLUMNS = 256 };

/* Random bytes; scales of whole blocks are halves of about 1, or powers of two. */
static void fill(uint8_t *to, const struct block_format *f, unsigned power)
{
    uint32_t state = 1;
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS / f->values * f->bytes; i++) {
        state = state * 1664525 + 1013904223;
        to[i] = (uint8_t)(state >> 24);
    }
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS / f->values; i++) {
        uint8_t *const block = to + i * f->bytes;
        if (strcmp(f->name, "mxfp4") == 0)
            block[0] = (uint8_t)(power + i % 3);
        else
            block[1] = 0x3C;
    }
}

static void check_format(const char *name, unsigned power, const char *expected)
{
    static uint8_t data[ROWS * COLUMNS * 4], placed[ROWS * COLUMNS * 4];
    static float before[ROWS * COLUMNS], after[ROWS * COLUMNS];
    const struct block_format *const f = block_format_named(name);
    const struct weight_tensor t = {
        .name = "t", .format = f, .dims = 2, .shape = {COLUMNS, ROWS}, .count = ROWS * COLUMNS, .data = data};
    const struct decoder_matrix all = {.tensor = &t, .rows = ROWS, .columns = COLUMNS},
                                part = {.tensor = &t, .first_row = 1, .rows = ROWS - 1, .columns = COLUMNS};
    fill(data, f, power);
    CU_ASSERT_STRING_EQUAL(language_restated(&all), expected);
    block_decode(f, data, 0, (size_t)ROWS * COLUMNS, before);
    for (unsigned some = 0; some < 2; some++) {
        const struct decoder_matrix *const m = some ? &part : &all;
        const size_t count = (size_t)m->rows * COLUMNS;
        language_restate(m, expected, placed);
        block_decode(block_format_named(expected), placed, 0, count, after);
        size_t other = 0;
        for (size_t i = 0; i < count; i++)
            other += after[i] > before[m->first_row * COLUMNS + i] || after[i] < before[m->first_row * COLUMNS + i];
        CHECK(other == 0, "%s as %s: %zu values differ", name, expected, other);
    }
}

/* Scales of MXFP4 from 2^-23 to 2^16 are halves of q8_0 when its bytes hold twice the values. */
static void test_formats(void)
{
    check_format("q5_0", 0, "q8_0");
    check_format("mxfp4", 124, "q8_0");
    check_format("mxfp4", 104, "q8_0");
    check_format("mxfp4", 141, "q8_0");
    check_format("mxfp4", 90, "f32");
    check_format("mxfp4", 142, "f32");
    check_format("q4_1", 0, "f32");
    check_format("q5_1", 0, "f32");
}

/* What has products stays as it is. */
static void test_others(void)
{
    static const char *const names[] = {"f32", "f16", "bf16", "q4_0", "q8_0", "q4_k", "q6_k"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct weight_tensor t = {.name = "t", .format = block_format_named(names[i])};
        const struct decoder_matrix m = {.tensor = &t};
        CU_ASSERT_STRING_EQUAL(language_restated(&m), names[i]);
    }
}

static const struct suite_test tests[] = {{"blocks that no kernel multiplies by keep their values", test_formats},
                                          {"what has products stays as it is", test_others}};
SUITE_MAIN("language restate", tests)
