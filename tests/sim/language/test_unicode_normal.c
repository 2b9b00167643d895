/* Normal forms of texts against those that the standard tells and NormalizationTest.txt of the Debian package unicode-data. */
#include "sim/language/tokenizer_internal.h"
#include "sim/language/unicode_normal.h"
#include "sim/language/utf8.h"
#include "tests/sim/language/language_example.h"

/* A field of code points as UTF-8; what follows its semicolon. */
static const char *read_column(const char *line, struct token_text *text)
{
    char *after = NULL;
    text->length = 0;
    for (; *line && *line != ';'; line = after) {
        char bytes[UTF8_MAX];
        struct orch_error error = {0};
        const unsigned length = utf8_write((uint32_t)strtoul(line, &after, 16), bytes);
        CU_ASSERT_TRUE_FATAL(token_text_add(text, bytes, length, &error));
    }
    return line + (*line == ';');
}

static bool is_form(enum unicode_form form, const struct token_text *from, const struct token_text *to)
{
    struct token_text made = {0};
    struct orch_error error = {0};
    const bool ok = unicode_normalise(form, from->text, from->length, &made, &error) && made.length == to->length &&
                    memcmp(made.text, to->text, to->length) == 0;
    token_text_free(&made);
    return ok;
}

/* NormalizationTest.txt: columns are a text and its forms C, D, KC and KD. */
static bool check_forms(const char *line)
{
    struct token_text column[5] = {{0}};
    const char *at = line;
    bool ok = true;
    for (unsigned i = 0; i < 5; i++)
        at = read_column(at, &column[i]);
    for (unsigned i = 0; i < 5; i++) {
        ok = ok && is_form(UNICODE_NFC, &column[i], &column[i < 3 ? 1 : 3]) &&
             is_form(UNICODE_NFD, &column[i], &column[i < 3 ? 2 : 4]);
        ok = ok && is_form(UNICODE_NFKC, &column[i], &column[3]) && is_form(UNICODE_NFKD, &column[i], &column[4]);
    }
    for (unsigned i = 0; i < 5; i++)
        token_text_free(&column[i]);
    return ok;
}

/* Unicode's own conformance test; of its 19 thousand lines every third, which takes all its parts. */
static void test_conformance(void)
{
    char line[1024], command[600];
    unsigned lines = 0, wrong = 0;
    snprintf(command, sizeof command, "bzcat %.500s/NormalizationTest.txt.bz2 2>/dev/null", "/usr/share/unicode");
    FILE *const in = popen(command, "r");
    while (in && fgets(line, sizeof line, in))
        if (*line != '#' && *line != '@' && lines++ % 3 == 0 && !check_forms(line))
            CHECK(wrong++ > 5, "line of %.60s", line);
    if (in)
        pclose(in);
    if (lines == 0)
        suite_skip("NormalizationTest.txt of the package unicode-data is not there, or bzip2");
    CU_ASSERT_TRUE(wrong == 0 && (lines == 0 || lines > 18000));
}

/* Texts whose forms are told in Unicode Standard Annex 15. */
static void test_known_forms(void)
{
    static const struct {
        const char *text, *form[4]; /* D, C, KD, KC */
    } known[] = {
        {"\u1e9b\u0323", {"\u017f\u0323\u0307", "\u1e9b\u0323", "s\u0323\u0307", "\u1e69"}},
        {"\ufb01", {"\ufb01", "\ufb01", "fi", "fi"}},
        {"2\u2075", {"2\u2075", "2\u2075", "25", "25"}},
        {"\u212b", {"A\u030a", "\u00c5", "A\u030a", "\u00c5"}},
        {"\ud55c", {"\u1112\u1161\u11ab", "\ud55c", "\u1112\u1161\u11ab", "\ud55c"}},
        {"\u0958", {"\u0915\u093c", "\u0915\u093c", "\u0915\u093c", "\u0915\u093c"}}, /* excluded from composition */
        {"", {"", "", "", ""}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(known); i++)
        for (unsigned form = 0; form < 4; form++) {
            struct token_text from = {(char *)known[i].text, strlen(known[i].text), 0};
            struct token_text to = {(char *)known[i].form[form], strlen(known[i].form[form]), 0};
            CHECK(is_form((enum unicode_form)form, &from, &to), "text %zu, form %u", i, form);
        }
}

static const struct suite_test tests[] = {
    {"normal forms are those that the standard tells", test_known_forms},
    {"normal forms pass Unicode's own test", test_conformance},
};
SUITE_MAIN("unicode_normal", tests)
