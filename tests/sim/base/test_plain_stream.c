/* Streams for terminals: what passes and what becomes a question mark, however the bytes are cut into writes. */
#include "sim/base/format.h"
#include "sim/base/plain_stream.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *given, *seen;
} rows[] = {
    {"plain\ttext\n", "plain\ttext\n"},
    {"\033[1mbold\033[0m", "\033[1mbold\033[0m"},
    {"\033[2Jgone", "?[2Jgone"},
    {"\033[1;31m", "?[1;31m"},
    {"\033", "?"},
    {"\033\033[1mx", "?\033[1mx"},
    {"line\r\nover\rwritten", "line\r\nover?written"},
    {"bell\a del\x7f", "bell? del?"},
    {"\xc2\xb5s \xc2\x9b"
     "2J \xe2\x80\x93",
     "\xc2\xb5s ?2J \xe2\x80\x93"},
    {"\xc2", "?"},
};

static void test_streams(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece <= 4; piece++) {
            char *text = NULL;
            size_t size = 0;
            FILE *const to = open_memstream(&text, &size), *const plain = plain_stream_open(to);
            CU_ASSERT_PTR_NOT_NULL_FATAL(plain);
            for (size_t at = 0; at < strlen(rows[i].given); at += piece)
                fwrite(rows[i].given + at, 1, strnlen(rows[i].given + at, piece), plain);
            fclose(plain);
            fclose(to);
            CHECK(strcmp(text, rows[i].seen) == 0, "%zu by %zu: %s", i, piece, text);
            free(text);
        }
}

/* What is written by others between two writes stays between them. */
static void test_order(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const to = open_memstream(&text, &size), *const plain = plain_stream_open(to);
    fprintf(plain, "%s %d ", "one", 2);
    fputs("three ", to);
    fputs("four", plain);
    fclose(plain);
    fclose(to);
    CU_ASSERT_STRING_EQUAL(text, "one 2 three four");
    free(text);
}

static void test_cells_of_spreadsheets(void)
{
    static const char *const cells[][2] = {
        {"=1+1", "'=1+1"}, {"-5", "-5"},        {"-5e3", "-5e3"},      {"@sum(a,b)", "\"'@sum(a,b)\""},
        {"a=b", "a=b"},    {"\033[2J", "?[2J"}, {"+49 30", "'+49 30"}, {"", ""}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *const out = open_memstream(&text, &size);
        format_csv_text(out, cells[i][0]);
        fclose(out);
        CHECK(strcmp(text, cells[i][1]) == 0, "%s: %s", cells[i][0], text);
        free(text);
    }
}

static const struct suite_test tests[] = {
    {"streams", test_streams},
    {"the order stays", test_order},
    {"cells of spreadsheets are no formulas", test_cells_of_spreadsheets},
};
SUITE_MAIN("plain streams", tests)
