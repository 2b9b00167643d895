#include "sim/cmd/progress.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

/* What is drawn by up to three reports. */
static size_t drawn(struct progress p, const struct orchard_progress *told, size_t count, char *text, size_t size)
{
    FILE *out = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    p.out = out;
    for (size_t i = 0; i < count; i++)
        progress_tell(&p, &told[i]);
    progress_end(&p);
    rewind(out);
    const size_t length = fread(text, 1, size - 1, out);
    text[length] = 0;
    fclose(out);
    return length;
}

static const struct progress terminal = {.terminal = true, .lines = true}, file = {.terminal = false};

static size_t bar_of(struct progress p, double host_seconds, char *text, size_t size)
{
    const struct orchard_progress now = {"timing gemm  simulated 5.00 ms, host 5 s, 5 s to go", 0.5, 0, 0, host_seconds, NULL};
    return drawn(p, (const struct orchard_progress[]){now, now}, 2, text, size); /* at once again: not drawn again */
}

static void test_a_run(void)
{
    char text[2000];
    CU_ASSERT_EQUAL(bar_of(file, 5, text, sizeof text), 0);       /* no terminal: silent */
    CU_ASSERT_EQUAL(bar_of(terminal, 0.9, text, sizeof text), 0); /* too early */
    CU_ASSERT_EQUAL(bar_of((struct progress){.terminal = true, .lines = true, .quiet = true}, 5, text, sizeof text), 0);
    CU_ASSERT_TRUE(bar_of(terminal, 5, text, sizeof text) > 0);
    CHECK(strstr(text, "[############............]  50 % timing gemm  simulated 5.00 ms, host 5 s, 5 s to go") != NULL, "%s",
          text);
    const char *first = strstr(text, "50 %");
    CU_ASSERT_TRUE(first && !strstr(first + 1, "50 %"));
    CU_ASSERT_STRING_EQUAL(text + strlen(text) - 4, "\r\033[K"); /* wiped at the end */
    FILE *out = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    struct progress p = progress_on(out, false); /* a file is no terminal */
    progress_tell(&p, &(struct orchard_progress){"x", 0.5, 0, 0, 10, NULL});
    progress_end(&p);
    CU_ASSERT_EQUAL(ftell(out), 0);
    fclose(out);
}

/* On a terminal one line that is drawn again; elsewhere a line every ten seconds. */
static void test_a_sweep(void)
{
    const struct orchard_progress told[] = {{"one", NAN, 1, 9, 2, NULL},
                                            {"two", NAN, 2, 9, 2.1, NULL},
                                            {"three", NAN, 3, 9, 11, NULL},
                                            {"four", NAN, 4, 9, 20.9, NULL},
                                            {NULL, 1, 9, 9, NAN, NULL}};
    char text[200];
    drawn(terminal, told, 5, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "\r\033[Kone\r\033[Kthree\r\033[Kfour\r\033[K");
    drawn(file, told, 5, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "three\n");
}

static void test_steps(void)
{
    const struct orchard_progress told[] = {{"1/2", NAN, 1, 2, NAN, NULL}, {"2/2", NAN, 2, 2, NAN, NULL}};
    char text[200];
    drawn(terminal, told, 2, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "1/2\n2/2\n");
    CU_ASSERT_EQUAL(drawn(file, told, 2, text, sizeof text), 0);
}

static const struct suite_test tests[] = {
    {"the bar of a run", test_a_run},
    {"the counter of a sweep", test_a_sweep},
    {"steps are lines", test_steps},
};
SUITE_MAIN("progress", tests)
