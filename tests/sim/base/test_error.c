#include "isa/array_count.h"
#include "sim/base/error.h"
#include "tests/support/suite.h"

#include <string.h>

static void test_spellings(void)
{
    static const struct {
        const char *marked, *dashes, *plain;
    } rows[] = {
        {"nothing to spell", "nothing to spell", "nothing to spell"},
        {ORCH_OPTION("unit") " foo", "--unit foo", "unit foo"},
        {"use " ORCH_OPTION("power-mode") " or " ORCH_OPTION("set"), "use --power-mode or --set", "use power-mode or set"},
        {"asm needs " ORCH_LETTER("o", "output") " OUT", "asm needs -o OUT", "asm needs output OUT"},
        {ORCH_LETTER("L", "list") ": why", "-L: why", "list: why"},
        {"", "", ""},
        {"\001", "--", ""},
        {"\001o\002", "-o", ""},
    };
    char text[80];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        orch_spell_options(rows[i].marked, true, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].dashes);
        orch_spell_options(rows[i].marked, false, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].plain);
    }
    orch_spell_options(ORCH_OPTION("unit") " foo", true, text, 4);
    CU_ASSERT_STRING_EQUAL(text, "--u");
}

static void test_both_texts_of_an_error(void)
{
    struct orch_error e = {0};
    CU_ASSERT_FALSE(orch_fail(&e, ORCH_USAGE, ORCH_OPTION("%s") " %d", "cores", 99));
    CU_ASSERT_EQUAL(e.exit_code, ORCH_USAGE);
    CU_ASSERT_FALSE(orch_fail_in(&e, ORCH_LETTER("L", "list")));
    CU_ASSERT_FALSE(orch_fail_more(&e, "; try " ORCH_OPTION("%s"), "help"));
    CU_ASSERT_STRING_EQUAL(e.text, "-L: --cores 99; try --help");
    CU_ASSERT_STRING_EQUAL(e.plain, "list: cores 99; try help");
    CU_ASSERT_FALSE(orch_fail(NULL, ORCH_USAGE, "nobody listens"));
    CU_ASSERT_FALSE(orch_fail_in(NULL, "nobody"));
    CU_ASSERT_FALSE(orch_fail_more(NULL, "nobody"));
}

/* What does not fit is cut off; both texts stay one line of at most 511 bytes. */
static void test_long_texts(void)
{
    char word[2 * ORCH_ERROR_SIZE];
    struct orch_error e = {0};
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = 0;
    orch_fail(&e, ORCH_USAGE, ORCH_OPTION("set") " %s", word);
    CU_ASSERT_EQUAL(strlen(e.text), ORCH_ERROR_SIZE - 1);
    CU_ASSERT_EQUAL(strncmp(e.text, "--set xx", 8), 0);
    orch_fail_in(&e, "%s", word);
    orch_fail_more(&e, "more");
    CU_ASSERT_EQUAL(strlen(e.text), ORCH_ERROR_SIZE - 1);
    CU_ASSERT_EQUAL(strlen(e.plain), ORCH_ERROR_SIZE - 1);
}

static const struct suite_test tests[] = {
    {"options are spelt in two ways", test_spellings},
    {"an error keeps both texts", test_both_texts_of_an_error},
    {"long texts are cut off", test_long_texts},
};
SUITE_MAIN("error", tests)
