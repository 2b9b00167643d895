/* Formats of weights against gguf-py, and the readers of GGUF and safetensors files with good and damaged ones. */
#include "sim/language/safetensors.h"
#include "tests/sim/language/language_example.h"

#include <math.h>
#include <unistd.h>

/* ---- formats ---- */

static size_t from_hex(const char *text, size_t length, uint8_t *bytes)
{
    for (size_t i = 0; i + 1 < length; i += 2) {
        unsigned byte = 0;
        sscanf(text + i, "%2x", &byte);
        bytes[i / 2] = (uint8_t)byte;
    }
    return length / 2;
}

/* A line: name, the block's bytes, the values as floats, all in hexadecimal. */
static void check_line(char *line)
{
    char *const block_text = strchr(line, '\t') + 1, *const value_text = strchr(block_text, '\t') + 1;
    uint8_t block[512], expected[4 * BLOCK_VALUES_MAX];
    float value[BLOCK_VALUES_MAX];
    block_text[-1] = 0;
    for (char *c = line; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    const struct block_format *const format = block_format_named(line);
    CU_ASSERT_PTR_NOT_NULL_FATAL(format);
    const size_t block_bytes = from_hex(block_text, (size_t)(value_text - 1 - block_text), block),
                 bytes = from_hex(value_text, strcspn(value_text, "\n"), expected);
    CHECK(block_bytes == format->bytes && bytes == 4 * format->values, "%s: %zu bytes, %zu values", line, block_bytes, bytes / 4);
    block_decode(format, block, 0, format->values, value);
    for (unsigned i = 0; i < format->values; i++) {
        float want;
        memcpy(&want, expected + 4 * i, sizeof want);
        CHECK(memcmp(&value[i], &want, sizeof want) == 0 || (value[i] == 0 && want == 0), "%s: value %u is %.9g, expected %.9g",
              line, i, (double)value[i], (double)want);
    }
}

static void test_formats(void)
{
    struct example_file file;
    unsigned lines = 0;
    CU_ASSERT_TRUE_FATAL(example_golden("blocks.txt.gz", &file));
    for (char *line = strtok((char *)file.bytes, "\n"); line; line = strtok(NULL, "\n"), lines++)
        check_line(line);
    CHECK(lines == 76, "%u blocks", lines);
    free(file.bytes);
}

static void test_format_table(void)
{
    const struct block_format *f;
    for (size_t i = 0; (f = block_format_at(i)); i++) {
        CU_ASSERT_PTR_EQUAL(block_format_numbered(f->number), f);
        CU_ASSERT_PTR_EQUAL(block_format_named(f->name), f);
        CU_ASSERT_TRUE(f->values <= BLOCK_VALUES_MAX);
    }
    CU_ASSERT_PTR_NULL(block_format_numbered(4)); /* q4_2 is gone from ggml */
    CU_ASSERT_PTR_NULL(block_format_named("q9_9"));
}

/* ---- GGUF: good files ---- */

/* One tensor "a" of 4 x 2 floats behind the metadata that `values` metadata were written by. */
static void finish(struct example_writer *w, const char *name, uint32_t type, uint64_t offset)
{
    const uint64_t shape[] = {4, 2};
    const float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    example_tensor(w, name, 2, shape, type, offset);
    example_align(w);
    example_bytes(w, data, sizeof data);
}

static struct gguf *parse(const struct example_writer *w, struct orch_error *error)
{
    *error = (struct orch_error){0};
    return gguf_parse("x.gguf", w->bytes, w->size, error);
}

static void test_values(void)
{
    static struct example_writer w;
    struct orch_error error;
    double number;
    uint64_t whole;
    const double pi = 3.25;
    for (uint32_t version = 2; version <= 3; version++) {
        example_header(&w, version, 1, 6);
        example_number(&w, "n", 7);
        example_text(&w, "t", "text");
        example_key(&w, "f", GGUF_F64);
        example_bytes(&w, &pi, sizeof pi);
        example_key(&w, "i", GGUF_I8);
        example_bytes(&w, "\xff", 1);
        example_key(&w, "s", GGUF_ARRAY);
        example_u32(&w, GGUF_STRING);
        example_u64(&w, 2);
        example_string(&w, "one");
        example_string(&w, "");
        example_key(&w, "nested", GGUF_ARRAY);
        example_u32(&w, GGUF_ARRAY);
        example_u64(&w, 1);
        example_u32(&w, GGUF_U32);
        example_u64(&w, 1);
        example_u32(&w, 9);
        finish(&w, "a", 0, 0);
        struct gguf *const g = parse(&w, &error);
        CHECK(g != NULL, "%s", error.text);
        if (!g)
            return;
        CU_ASSERT_EQUAL(gguf_version(g), version);
        CU_ASSERT_TRUE(gguf_whole(gguf_find(g, "n"), 0, &whole) && whole == 7);
        CU_ASSERT_TRUE(gguf_number(gguf_find(g, "f"), 0, &number) && number == 3.25);
        CU_ASSERT_TRUE(gguf_number(gguf_find(g, "i"), 0, &number) && number == -1);
        CU_ASSERT_FALSE(gguf_whole(gguf_find(g, "i"), 0, &whole));
        CU_ASSERT_FALSE(gguf_whole(gguf_find(g, "n"), 1, &whole));
        char text[8];
        CU_ASSERT_STRING_EQUAL(gguf_text(gguf_find(g, "t"), text, sizeof text), "text");
        CU_ASSERT_STRING_EQUAL(gguf_text(gguf_find(g, "n"), text, sizeof text), "");
        struct gguf_strings strings;
        const char *item;
        size_t length;
        CU_ASSERT_TRUE(gguf_strings_of(gguf_find(g, "s"), &strings));
        CU_ASSERT_TRUE(gguf_next_string(&strings, &item, &length) && length == 3 && memcmp(item, "one", 3) == 0);
        CU_ASSERT_TRUE(gguf_next_string(&strings, &item, &length) && length == 0);
        CU_ASSERT_FALSE(gguf_next_string(&strings, &item, &length));
        float row[4];
        const struct weight_tensor *const a = weight_find(gguf_weights(g), "a");
        CU_ASSERT_PTR_NOT_NULL_FATAL(a);
        weight_row(a, 1, row);
        CU_ASSERT_EQUAL(row[3], 8);
        CU_ASSERT_EQUAL(a->bytes, 32);
        gguf_close(g);
    }
}

/* ---- GGUF: damaged files ---- */

static void refused(const struct example_writer *w, const char *what)
{
    struct orch_error error;
    struct gguf *const g = parse(w, &error);
    CHECK(!g && strstr(error.text, what) && strncmp(error.text, "x.gguf: ", 8) == 0 && !strchr(error.text, '\n'),
          "expected '%s', got '%s'", what, error.text);
    gguf_close(g);
}

static void test_damaged_headers(void)
{
    static struct example_writer w;
    example_header(&w, 3, 0, 0);
    w.bytes[0] = 'g';
    refused(&w, "does not begin with GGUF");
    example_header(&w, 1, 0, 0);
    refused(&w, "version 1 of the format; versions 2 and 3 are read, convert it again");
    example_header(&w, 3u << 24, 0, 0);
    refused(&w, "big-endian");
    example_header(&w, 3, UINT64_MAX, 0);
    refused(&w, "byte 8: 18446744073709551615 tensors do not fit into the 8 bytes");
    example_header(&w, 3, 0, UINT64_MAX);
    refused(&w, "byte 16: 18446744073709551615 metadata do not fit");
    example_header(&w, 3, 0, 0);
    w.size = 10;
    refused(&w, "byte 8: 8 bytes are announced, 2 are left");
}

static void test_damaged_values(void)
{
    static struct example_writer w;
    example_header(&w, 3, 0, 1);
    example_u64(&w, UINT64_MAX);
    example_u64(&w, 0);
    refused(&w, "metadata 1 of 1: byte 24: a key of the metadata is no text");
    example_header(&w, 3, 0, 1);
    example_number(&w, "a\nb", 1);
    refused(&w, "is no text of 1 to 1024 bytes");
    example_header(&w, 3, 0, 1);
    example_key(&w, "k", 99);
    example_u64(&w, 0);
    refused(&w, "metadata 1 of 1, k: byte 33: unknown type");
    example_header(&w, 3, 0, 1);
    example_key(&w, "k", GGUF_ARRAY);
    example_u32(&w, GGUF_U64);
    example_u64(&w, UINT64_MAX / 8 + 1);
    refused(&w, "items of an array do not fit");
    example_header(&w, 3, 0, 1);
    example_key(&w, "k", GGUF_BOOL);
    example_bytes(&w, "\2", 1);
    refused(&w, "neither 0 nor 1");
    example_header(&w, 3, 0, 2);
    example_number(&w, "k", 1);
    example_number(&w, "k", 2);
    refused(&w, "key 'k' stands there twice");
    example_header(&w, 3, 0, 1);
    example_number(&w, "general.alignment", 24);
    refused(&w, "general.alignment is no u32 that is a power of two");
    example_header(&w, 3, 0, 1);
    example_key(&w, "k", GGUF_ARRAY);
    for (unsigned i = 0; i < 6; i++) {
        example_u32(&w, GGUF_ARRAY);
        example_u64(&w, 1);
    }
    example_u64(&w, 0);
    refused(&w, "arrays within arrays");
}

static void test_damaged_tensors(void)
{
    static struct example_writer w;
    const uint64_t small[] = {4, 2}, huge[] = {UINT64_C(1) << 40, UINT64_C(1) << 40}, odd[] = {33, 1}, none[] = {0, 1},
                   long_row[] = {1000, 1};
    const struct {
        const uint64_t *shape;
        uint32_t type;
        uint64_t offset;
        const char *what;
    } cases[] = {
        {small, 4, 0, "tensor 1 of 1, t: byte 53: tensor type 4 is not known; convert"},
        {small, 0, 8, "tensor 't': offset 8 is no multiple of the alignment 32"},
        {small, 0, UINT64_MAX - 31, "tensor 't': its 32 bytes at 18446744073709551584 of the data end behind the file"},
        {small, 0, 32, "end behind the file"},
        {huge, 0, 0, "its dimensions multiply to more than 2^63 values"},
        {odd, 2, 0, "rows of 33 values are no multiple of q4_0's blocks of 32"},
        {none, 0, 0, "dimension 0 is 0"},
        {long_row, 0, 0, "its 4000 bytes at 0 of the data end behind the file"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        example_header(&w, 3, 1, 0);
        example_tensor(&w, "t", 2, cases[i].shape, cases[i].type, cases[i].offset);
        example_align(&w);
        example_u64(&w, 0);
        example_u64(&w, 0);
        example_u64(&w, 0);
        example_u64(&w, 0);
        refused(&w, cases[i].what);
    }
    example_header(&w, 3, 2, 0);
    example_tensor(&w, "a", 2, small, 0, 0);
    finish(&w, "a", 0, 32);
    example_u64(&w, 0);
    example_u64(&w, 0);
    example_u64(&w, 0);
    example_u64(&w, 0);
    refused(&w, "two tensors are called 'a'");
    example_header(&w, 3, 2, 0);
    example_tensor(&w, "a", 2, small, 0, 0);
    finish(&w, "b", 0, 0);
    refused(&w, "tensors 'a' and 'b' overlap");
    example_header(&w, 3, 1, 0);
    example_string(&w, "t");
    example_u32(&w, 5);
    for (unsigned i = 0; i < 5; i++)
        example_u64(&w, 1);
    refused(&w, "more than 4 dimensions");
}

/* Cutting a good file anywhere gives an error, never a crash or a file. */
static void test_cut_off(void)
{
    static struct example_writer w;
    example_header(&w, 3, 1, 2);
    example_number(&w, "n", 7);
    example_text(&w, "t", "text");
    finish(&w, "a", 0, 0);
    for (size_t size = 0; size < w.size; size++) {
        struct orch_error error = {0};
        uint8_t *const exact = malloc(size ? size : 1); /* so that sanitizers see reads beyond */
        memcpy(exact, w.bytes, size);
        struct gguf *const g = gguf_parse("x.gguf", exact, size, &error);
        CHECK(!g && *error.text, "%zu of %zu bytes", size, w.size);
        gguf_close(g);
        free(exact);
    }
}

/* ---- files on disk, several parts ---- */

static char folder[] = "/tmp/orchard_weights_XXXXXX";

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const out = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fwrite(bytes, 1, size, out);
    fclose(out);
}

static void write_part(const char *name, unsigned part, unsigned tensors)
{
    static struct example_writer w;
    char tensor[8];
    example_header(&w, 3, 1, 3);
    example_number(&w, "split.no", part);
    example_number(&w, "split.count", 2);
    example_number(&w, "split.tensors.count", tensors);
    snprintf(tensor, sizeof tensor, "t%u", part);
    finish(&w, tensor, 0, 0);
    write_file(name, w.bytes, w.size);
}

static void opens(const char *name, bool good, const char *what)
{
    char path[256];
    struct orch_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct gguf *const g = gguf_open(path, &error);
    CHECK((g != NULL) == good && (good || strstr(error.text, what)), "%s: '%s'", name, error.text);
    if (g)
        CU_ASSERT_TRUE(gguf_parts(g) == 2 && weight_find(gguf_weights(g), "t0") && weight_find(gguf_weights(g), "t1")->part == 1);
    gguf_close(g);
}

static void test_parts(void)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    write_part("m-00001-of-00002.gguf", 0, 2);
    opens("m-00001-of-00002.gguf", false, "m-00002-of-00002.gguf: No such file");
    write_part("m-00002-of-00002.gguf", 1, 2);
    opens("m-00001-of-00002.gguf", true, NULL);
    opens("m-00002-of-00002.gguf", false, "is part 2 of 2; give the first");
    write_part("renamed.gguf", 0, 2);
    opens("renamed.gguf", false, "its name has to end in -00001-of-00002.gguf");
    write_part("m-00001-of-00002.gguf", 0, 3);
    opens("m-00001-of-00002.gguf", false, "not as many as split.tensors.count");
    write_file("empty.gguf", "", 0);
    opens("empty.gguf", false, "is empty");
    opens(".", false, "is no regular file");
    opens("absent.gguf", false, "No such file");
    CU_ASSERT_TRUE(suite_remove(folder));
}

/* ---- safetensors ---- */

static struct safetensors *parse_tensors(const char *header, size_t data_bytes, struct orch_error *error)
{
    static uint8_t bytes[4096];
    const uint64_t length = strlen(header);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < data_bytes; i++)
        bytes[8 + length + i] = (uint8_t)i;
    *error = (struct orch_error){0};
    return safetensors_parse("x.safetensors", bytes, 8 + length + data_bytes, error);
}

static void test_safetensors(void)
{
    struct orch_error error;
    struct safetensors *const s =
        parse_tensors("{\"__metadata__\":{\"format\":\"pt\"},\"b\":{\"dtype\":\"I8\",\"shape\":[2,3],\"data_offsets\":[4,10]},"
                      "\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}}   ",
                      10, &error);
    CHECK(s != NULL, "%s", error.text);
    if (!s)
        return;
    const struct weight_tensor *const b = weight_find(safetensors_weights(s), "b");
    float row[3];
    CU_ASSERT_TRUE_FATAL(b && b->dims == 2 && b->shape[0] == 3 && b->shape[1] == 2);
    weight_row(b, 1, row);
    CU_ASSERT_TRUE(row[0] == 7 && row[2] == 9);
    safetensors_close(s);
}

static void test_damaged_safetensors(void)
{
    static const struct {
        const char *header;
        size_t data;
        const char *what;
    } cases[] = {
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
         "a.data_offsets: expected 8 bytes for that type and shape, got 0 to 4"},
        {"{\"a\":{\"dtype\":\"F99\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "a.dtype: type \"F99\" is not known"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,5]}}", 4,
         "a.data_offsets[1]: expected an integer from 0 to 4"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[4,0]}}", 4, "expected 4 bytes"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 5, "its tensors have 4 bytes, but 5 follow"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":["
         "2,6]}}",
         8, "tensors 'a' and 'b' overlap"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[9223372036854775807,4],\"data_offsets\":[0,4]}}", 4, "more than 2^63 values"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[-4],\"data_offsets\":[0,4]}}", 4, "a.shape[0]"},
        {"{\"a\":{\"dtype\":\"I8\",\"data_offsets\":[0,4]}}", 4, "a.shape: is missing"},
        {"{\"a\":7}", 0, "a: expected an object"},
        {"{\"a\":", 0, "x.safetensors:1:"},
    };
    struct orch_error error;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct safetensors *const s = parse_tensors(cases[i].header, cases[i].data, &error);
        CHECK(!s && strstr(error.text, cases[i].what) && strstr(error.text, "x.safetensors"), "expected '%s', got '%s'",
              cases[i].what, error.text);
        safetensors_close(s);
    }
    CU_ASSERT_PTR_NULL(safetensors_parse("x", (const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, &error));
    CHECK(strstr(error.text, "ends behind the file") != NULL, "%s", error.text);
}

static void test_safetensors_index(void)
{
    static const char part[] = "\x38\0\0\0\0\0\0\0{\"%c\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}    x";
    char text[sizeof part], path[256], name[] = "part-0.safetensors";
    struct orch_error error = {0};
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    for (char c = 'a'; c <= 'b'; c++) {
        memcpy(text, part, 8);
        const int length = snprintf(text + 8, sizeof text - 8, part + 8, c);
        text[0] = (char)(length - 1);
        name[5] = (char)('0' + c - 'a');
        write_file(name, text, (size_t)length + 8);
    }
    snprintf(path, sizeof path, "%s/index.json", folder);
    suite_write_text(folder, "index.json", "{\"weight_map\":{\"a\":\"part-0.safetensors\",\"b\":\"part-1.safetensors\"}}");
    struct safetensors *s = safetensors_open(path, &error);
    CHECK(s && safetensors_parts(s) == 2 && safetensors_weights(s)->count == 2, "%s", error.text);
    safetensors_close(s);
    suite_write_text(folder, "index.json", "{\"weight_map\":{\"a\":\"../part-0.safetensors\"}}");
    s = safetensors_open(path, &error);
    CHECK(!s && strstr(error.text, "is no name of a file in the folder"), "%s", error.text);
    suite_write_text(folder, "index.json", "{\"weight_map\":{\"c\":\"part-0.safetensors\"}}");
    s = safetensors_open(path, &error);
    CHECK(!s && strstr(error.text, "has no such tensor"), "%s", error.text);
    CU_ASSERT_TRUE(suite_remove(folder));
}

static const struct suite_test tests[] = {
    {"decodes blocks as gguf-py does", test_formats},
    {"has every format once", test_format_table},
    {"reads values of all kinds", test_values},
    {"refuses damaged headers", test_damaged_headers},
    {"refuses damaged metadata", test_damaged_values},
    {"refuses damaged tensors", test_damaged_tensors},
    {"refuses what is cut off", test_cut_off},
    {"opens all parts of a file", test_parts},
    {"reads safetensors", test_safetensors},
    {"refuses damaged safetensors", test_damaged_safetensors},
    {"opens safetensors by an index", test_safetensors_index},
};
SUITE_MAIN("weights", tests)
