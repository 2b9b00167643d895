/* Texts of lines: those with code and some around them, of the source and of folders that #include may reach, of nothing else. */
#include "isa/array_count.h"
#include "sim/compile/compile_lines.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64] = "/tmp/orchard-lines-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

static const char *text_at(const struct abi_source *s, uint32_t file, uint32_t line)
{
    for (size_t i = 0; i < s->texts; i++)
        if (s->text[i].file == file && s->text[i].line == line)
            return s->text[i].text;
    return NULL;
}

static void test_texts(void)
{
    char inside[128], outside[128], link[160], up[128];
    struct orch_error error = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(inside, sizeof inside, "%s/in.h", folder);
    snprintf(outside, sizeof outside, "/etc/passwd");
    snprintf(up, sizeof up, "%s/../../etc/passwd", folder);
    snprintf(link, sizeof link, "%s/link.h", folder);
    write_file("in.h", "one\ntwo\r\n\tthree\n");
    CU_ASSERT_EQUAL(symlink("/etc/passwd", link), 0);
    char main_name[] = "main.metal", *files[] = {main_name, inside, outside, up, link};
    struct compile_line lines[] = {{0, 0, 10}, {4, 1, 2}, {8, 2, 1}, {12, 3, 1}, {16, 4, 1}, {20, 0, 0}};
    const struct compile_result r = {
        .line = lines, .lines = ARRAY_COUNT(lines), .file = files, .files = ARRAY_COUNT(files), .spills = 3};
    const char *const folders[] = {folder};
    static const char text[] = {'\n', '\n', '\n', '\n', '\n', '6', '\n', '7', '\n', '\n', '\n', /* without a NUL behind it */
                                't',  'e',  'n',  '\n', '1',  '1', '\n', '1', '2'};
    const struct compile_request q = {
        .path = "main.metal", .text = text, .text_bytes = sizeof text, .include = folders, .includes = 1};
    struct abi_source *s;
    CU_ASSERT_FATAL(compile_lines(&r, &q, &s, &error));
    CU_ASSERT_EQUAL(s->spills, 3);
    CU_ASSERT(text_at(s, 0, 10) && strcmp(text_at(s, 0, 10), "ten") == 0);
    CU_ASSERT(text_at(s, 0, 7) && strcmp(text_at(s, 0, 7), "7") == 0 && !text_at(s, 0, 6) && !text_at(s, 0, 13));
    CU_ASSERT(text_at(s, 0, 12) && strcmp(text_at(s, 0, 12), "12") == 0);
    CU_ASSERT(text_at(s, 1, 2) && strcmp(text_at(s, 1, 2), "two") == 0);
    CU_ASSERT(text_at(s, 1, 3) && strcmp(text_at(s, 1, 3), "\tthree") == 0);
    for (uint32_t file = 2; file < ARRAY_COUNT(files); file++)
        CHECK(!text_at(s, file, 1), "%s was read: %s", files[file], text_at(s, file, 1));
    const struct {
        uint32_t offset, line;
    } found[] = {{0, 10}, {3, 10}, {4, 2}, {15, 1}, {20, 0}, {4000, 0}};
    for (size_t i = 0; i < ARRAY_COUNT(found); i++)
        CU_ASSERT_EQUAL(abi_source_find(s, found[i].offset)->line, found[i].line);
    abi_source_free(s);
    unlink(link);
    unlink(inside);
    rmdir(folder);
}

/* A table without any entry, and a source that is gone. */
static void test_nothing(void)
{
    struct orch_error error = {0};
    const struct compile_result none = {.lines = 0};
    char gone[] = "/nowhere/gone.cl", *files[] = {gone};
    struct compile_line line = {8, 0, 3};
    const struct compile_result lost = {.line = &line, .lines = 1, .file = files, .files = 1};
    const struct compile_request q = {.path = gone};
    struct abi_source *s;
    CU_ASSERT_FATAL(compile_lines(&none, &q, &s, &error));
    CU_ASSERT_PTR_NULL(abi_source_find(s, 0));
    abi_source_free(s);
    CU_ASSERT_FATAL(compile_lines(&lost, &q, &s, &error));
    CU_ASSERT_EQUAL(s->texts, 0);
    CU_ASSERT_PTR_NULL(abi_source_find(s, 4));
    abi_source_free(s);
}

/* What would steer a terminal, or is no UTF-8, is not shown; other letters are. */
static void test_clean(void)
{
    static const struct {
        const char *text, *clean;
    } rows[] = {{"a\tb \xc3\xa4 \xe2\x82\xac \xf0\x9f\x8d\x8e", "a\tb \xc3\xa4 \xe2\x82\xac \xf0\x9f\x8d\x8e"},
                {"\x1b[2Jx\x7f", "?[2Jx?"},
                {"\xe4\xff\xc0\xaf\xed\xa0\x80", "???????"},
                {"cut \xe2\x82", "cut ??"},
                {"", ""}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", rows[i].text);
        CU_ASSERT_STRING_EQUAL(abi_source_clean(text), rows[i].clean);
    }
    CU_ASSERT_PTR_NULL(abi_source_clean(NULL));
}

static const struct suite_test tests[] = {
    {"what is shown is text", test_clean},
    {"texts of lines", test_texts},
    {"nothing to show", test_nothing},
};
SUITE_MAIN("compile lines", tests)
