#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/api/listing.h"
#include "sim/base/table.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_numbers(void)
{
    static const struct {
        double number;
        int digits;
        const char *plain, *exact;
    } rows[] = {{0, 3, "0", "0.00"},
                {3.228, 4, "3.228", "3.228"},
                {0.5, 3, "0.5", "0.500"},
                {10617, 3, "10617", "10617"},
                {9.996, 3, "10", "10.0"},
                {-2.5, 2, "-2.5", "-2.5"},
                {1e-7, 3, "1.00e-07", "1.00e-07"},
                {0.00123456, 3, "0.00123", "0.00123"}};
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        CHECK(strcmp(format_number(text, rows[i].number, rows[i].digits), rows[i].plain) == 0, "%g: %s", rows[i].number, text);
        CHECK(strcmp(format_digits(text, rows[i].number, rows[i].digits), rows[i].exact) == 0, "%g: %s", rows[i].number, text);
    }
    CU_ASSERT_STRING_EQUAL(format_number(text, NAN, 3), "-");
    CU_ASSERT_STRING_EQUAL(format_number(text, -INFINITY, 3), "-inf");
}

static void test_units(void)
{
    char text[FORMAT_SIZE];
    CU_ASSERT_STRING_EQUAL(format_si(text, 0.0027, "s"), "2.70 ms");
    CU_ASSERT_STRING_EQUAL(format_si(text, 1.4848e12, "FLOPS"), "1.48 TFLOPS");
    CU_ASSERT_STRING_EQUAL(format_si(text, 1174, "GFLOPS"), "1.17 TFLOPS");
    CU_ASSERT_STRING_EQUAL(format_quantity(text, 0.25, "GB/s"), "250 MB/s");
    CU_ASSERT_STRING_EQUAL(format_si(text, 999.9e-6, "s"), "1.00 ms");
    CU_ASSERT_STRING_EQUAL(format_si(text, 0, "W"), "0.00 W");
    CU_ASSERT_STRING_EQUAL(format_si(text, -12.34, "W"), "-12.3 W");
    CU_ASSERT_STRING_EQUAL(format_si(text, 34.9e-6, "s"), "34.9 \xc2\xb5s");
    CU_ASSERT_STRING_EQUAL(format_seconds(text, 189e-6, 79.6e-6, 609e-6), "189 \xc2\xb5s (79.6-609)");
    CU_ASSERT_STRING_EQUAL(format_unit("us"), "\xc2\xb5s");
    CU_ASSERT_STRING_EQUAL(format_unit("GB/s"), "GB/s");
    CU_ASSERT_STRING_EQUAL(format_bytes(text, 12 << 20), "12 MiB");
    CU_ASSERT_STRING_EQUAL(format_bytes(text, 1536), "1.5 KiB");
    CU_ASSERT_STRING_EQUAL(format_bytes(text, 3), "3 B");
    CU_ASSERT_STRING_EQUAL(format_seconds(text, 0.0027, 0.0024, 0.0031), "2.70 ms (2.40-3.10)");
    CU_ASSERT_STRING_EQUAL(format_seconds(text, 0.0027, NAN, NAN), "2.70 ms");
    CU_ASSERT_STRING_EQUAL(format_percent(text, 0.15), "15 %");
}

/* Columns are as wide as characters, not bytes. */
static void test_widths(void)
{
    char text[64] = "";
    FILE *const out = fmemopen(text, sizeof text, "w");
    CU_ASSERT_EQUAL(format_width("34.9 \xc2\xb5s"), 7);
    format_right(out, "34.9 \xc2\xb5s", 9);
    format_right(out, "2.70 ms", 9);
    format_right(out, "longer", 3);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, "  34.9 \xc2\xb5s  2.70 mslonger");
}

static char *printed(const struct table *table, bool color)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_TRUE(table_print(table, out, color));
    fclose(out);
    return text;
}

static void test_table(void)
{
    static const struct table_column columns[] = {{"id", NULL, false, 6}, {"peak", "GB/s", true, 0}, {"note", "", false, 0}};
    struct table *table = table_create(columns, 3);
    table_row(table);
    table_cell(table, "%s", "m1");
    table_cell(table, "%.1f", 68.3);
    table_cell(table, "%s", "\xc3\xa9\xc3\xa9");
    CU_ASSERT_TRUE(table_row(table));
    table_cell(table, "%s", "m1-ultra");
    char *text = printed(table, false);
    CU_ASSERT_STRING_EQUAL(text, "id      peak [GB/s]  note\n"
                                 "m1             68.3  \xc3\xa9\xc3\xa9\n"
                                 "m1-ul~            -  -\n");
    free(text);
    text = printed(table, true);
    CU_ASSERT(strncmp(text, "\033[1m", 4) == 0);
    free(text);
    table_cell(table, "1");
    table_cell(table, "2");
    CU_ASSERT_FALSE(table_cell(table, "a fourth"));
    CU_ASSERT_EQUAL(table_rows(table), 2);
    table_free(table);
}

/* What table_create returns when memory has run out. */
static void test_table_without_memory(void)
{
    CU_ASSERT_FALSE(table_row(NULL));
    CU_ASSERT_FALSE(table_cell(NULL, "%d", 1));
    CU_ASSERT_EQUAL(table_rows(NULL), 0);
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_FALSE(table_print(NULL, out, true));
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, "");
    free(text);
}

static void test_json(void)
{
    json_object *object = json_object_new_object();
    json_add_number(object, "a", 0.1);
    json_add_number(object, "b", NAN);
    json_add_hash(object, "c", UINT64_C(0xfedcba9876543210));
    json_add_text(object, "d", NULL);
    json_add_count(object, "e", UINT64_C(18446744073709551615));
    CU_ASSERT_STRING_EQUAL(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
                           "{\"a\":0.1,\"b\":null,\"c\":\"0xfedcba9876543210\",\"d\":null,\"e\":18446744073709551615}");
    json_object_put(object);
}

struct collected {
    char text[4096];
    unsigned lines;
};

static void collect(void *context, const struct listing_line *line)
{
    struct collected *c = context;
    const size_t used = strlen(c->text);
    snprintf(c->text + used, sizeof c->text - used, "%s\n", line->label ? line->label : line->text);
    c->lines++;
}

/* Operands are loaded with movz and movk into x0 (encodings: Arm Architecture Reference Manual). */
static void test_assembly(void)
{
    static const uint32_t expected[] = {0x00201220, 0x00201185, 0xd2a00200, 0xf2e00100, 0x00201180, 0xd2800000, 0x00201180};
    struct orch_error error = {0};
    uint32_t *words = NULL;
    size_t count = 0;
    CHECK(listing_assemble("set\n; nothing\n\n  fma32 x5 ; comment\nfma32 {raw=0x0008000000100000}\nfma32 {}\n", &words, &count,
                           &error),
          "%s", error.text);
    CU_ASSERT_EQUAL(count, 7);
    for (size_t i = 0; i < 7 && i < count; i++)
        CHECK(words[i] == expected[i], "word %zu: %08x", i, words[i]);
    free(words);
    CU_ASSERT_FALSE(listing_assemble("set\nfma33 x5\n", &words, &count, &error));
    CHECK(strncmp(error.text, "2:", 2) == 0 && error.exit_code == ORCH_USAGE, "%s", error.text);
}

/* What the assembler reads back from a listing is the file that was listed. */
static void test_listing_round_trip(void)
{
    uint8_t bytes[4 * 64];
    uint64_t seed = 1;
    for (unsigned i = 0; i < 64; i++) {
        const uint32_t word =
            i % 4 == 3 ? (uint32_t)suite_random(&seed) : AMX_WORD_BASE | (i % 23) << 5 | (i % 23 == 17 ? i & 1 : i & 31);
        for (unsigned b = 0; b < 4; b++)
            bytes[4 * i + b] = (uint8_t)(word >> 8 * b);
    }
    struct collected c = {0};
    const struct listing_sink sink = {collect, &c};
    struct orch_error error = {0};
    CU_ASSERT_TRUE_FATAL(listing_walk(LISTING_AMX, bytes, sizeof bytes, &sink, &error));
    CU_ASSERT_EQUAL(c.lines, 64);
    uint32_t *words = NULL;
    size_t count = 0;
    CHECK(listing_assemble(c.text, &words, &count, &error), "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(count, 64);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t word = 0;
        for (unsigned b = 0; b < 4; b++)
            word |= (uint32_t)bytes[4 * i + b] << 8 * b;
        CHECK(words[i] == word, "word %u: %08x became %08x", i, word, words[i]);
    }
    free(words);
}

static void test_listing_of_bad_files(void)
{
    struct collected c = {0};
    const struct listing_sink sink = {collect, &c};
    struct orch_error error = {0};
    CU_ASSERT_FALSE(listing_walk(LISTING_A64, (const uint8_t *)"abc", 3, &sink, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    CU_ASSERT_FALSE(listing_walk(LISTING_A64, (const uint8_t *)"\177ELF\2\1\1", 7, &sink, &error));
    CU_ASSERT_FALSE(listing_walk(LISTING_A64, (const uint8_t *)"", 0, &sink, &error));
    CU_ASSERT_EQUAL(c.lines, 0);
}

/* nop, add x0, x1, x2, fma32 x5, ret: words of the Arm manual and of corsix/amx. */
static void test_a64_listing(void)
{
    static const uint8_t bytes[] = {0x1f, 0x20, 0x03, 0xd5, 0x20, 0x00, 0x02, 0x8b,
                                    0x85, 0x11, 0x20, 0x00, 0xc0, 0x03, 0x5f, 0xd6};
    struct collected c = {0};
    const struct listing_sink sink = {collect, &c};
    struct orch_error error = {0};
    CU_ASSERT_TRUE(listing_walk(LISTING_A64, bytes, sizeof bytes, &sink, &error));
    CU_ASSERT_STRING_EQUAL(c.text, "nop\nadd\tx0, x1, x2\nfma32 x5\nret\n");
}

/* movz x0, #0x10, lsl #16; fma32 x0: z = 1 stands in bit 20 (corsix/amx). After a branch nothing is known. */
static void test_operands_in_listing(void)
{
    static const uint32_t words[] = {0xd2a00200, 0x00201180, 0x14000001, 0x00201180};
    uint8_t bytes[sizeof words];
    for (unsigned i = 0; i < sizeof words; i++)
        bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    struct collected c = {0};
    const struct listing_sink sink = {collect, &c};
    struct orch_error error = {0};
    CU_ASSERT_TRUE(listing_walk(LISTING_A64, bytes, sizeof bytes, &sink, &error));
    CHECK(strstr(c.text, "fma32 x0\t// z=1\n") != NULL, "%s", c.text);
    CHECK(strstr(c.text, "fma32 x0\n") != NULL, "%s", c.text);
}

static const struct suite_test tests[] = {
    {"numbers have a sensible number of digits", test_numbers},
    {"numbers get units", test_units},
    {"columns are as wide as their characters", test_widths},
    {"columns of tables are aligned", test_table},
    {"a table without memory prints nothing and says so", test_table_without_memory},
    {"JSON numbers read back to the same value", test_json},
    {"AMX assembly becomes words", test_assembly},
    {"AMX listings are assembler input", test_listing_round_trip},
    {"bad files are not listed", test_listing_of_bad_files},
    {"A64 listings show AMX words", test_a64_listing},
    {"A64 listings show known AMX operands", test_operands_in_listing},
};
SUITE_MAIN("cli_text", tests)
