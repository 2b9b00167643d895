/* "Did you mean": distances between words, and which candidate is near enough to be offered. */
#include "isa/array_count.h"
#include "sim/base/suggest.h"
#include "tests/support/suite.h"

#include <limits.h>
#include <string.h>

/* Distances worked out by hand. */
static void test_distance(void)
{
    static const struct {
        const char *a, *b;
        unsigned distance;
    } rows[] = {{"", "", 0},         {"abc", "abc", 0},        {"", "abc", 3},         {"abc", "abd", 1},
                {"abcd", "acbd", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},       {"chip", "chips", 1},
                {"Chip", "chip", 0}, {"sweep", "swepe", 1},    {"m2-prp", "m2-pro", 1}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        CHECK(suggest_distance(rows[i].a, rows[i].b) == rows[i].distance, "%s %s: %u", rows[i].a, rows[i].b,
              suggest_distance(rows[i].a, rows[i].b));
        CHECK(suggest_distance(rows[i].b, rows[i].a) == rows[i].distance, "%s %s", rows[i].b, rows[i].a);
    }
}

/* Of three candidates; NULL = none is near. */
static const char *nearest(const char *word, const char *a, const char *b, const char *c)
{
    struct suggest s;
    suggest_start(&s, word);
    suggest_offer(&s, a);
    suggest_offer(&s, b);
    suggest_offer(&s, c);
    return suggest_best(&s);
}

static void test_nearest(void)
{
    static const struct {
        const char *word, *best; /* NULL = none */
    } rows[] = {{"gpu_coers", "gpu_cores"},
                {"GPU_cores", "gpu_cores"},
                {"gpu_cor", "gpu_cores"},
                {"gpu_c", "gpu_cores"},
                {"gpu_cores_per", "gpu_cores"},
                {"gpu_cores_perfect", NULL},
                {"slc", "slc_"},
                {"sl", NULL},
                {"", NULL},
                {"slc__", "slc_"},
                {"fabric", NULL}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *const best = nearest(rows[i].word, "p_cores_max", "gpu_cores", "slc_");
        CHECK(rows[i].best ? best && strcmp(best, rows[i].best) == 0 : !best, "%s: %s", rows[i].word, best ? best : "none");
    }
}

/* A word that only begins like a name is not that name, however long both are. */
static void test_long_words(void)
{
    enum { LONG = 100000 };
    static char word[LONG + 1], name[SUGGEST_LETTERS + 1], longer[SUGGEST_LETTERS + 2];
    char phrase[96];
    struct suggest s;
    memset(word, 'a', LONG);
    memset(name, 'a', SUGGEST_LETTERS);
    memset(longer, 'a', SUGGEST_LETTERS + 1);
    CU_ASSERT_PTR_NULL(nearest(word, name, "gpu_cores", longer));
    CU_ASSERT_PTR_NULL(nearest("gpu_cores", word, longer, name));
    CU_ASSERT_EQUAL(suggest_distance(word, name), UINT_MAX);
    CU_ASSERT_EQUAL(suggest_distance(name, word), UINT_MAX);
    CU_ASSERT_EQUAL(suggest_distance(name, name), 0);
    CU_ASSERT_EQUAL(suggest_distance(name, ""), SUGGEST_LETTERS);
    name[20] = 'b'; /* the longest name can still be meant */
    longer[SUGGEST_LETTERS] = 0;
    CU_ASSERT_PTR_EQUAL(nearest(longer, "gpu_cores", name, word), name);
    suggest_start(&s, word);
    suggest_offer(&s, name);
    CU_ASSERT_STRING_EQUAL(suggest_phrase(&s, phrase, sizeof phrase), "");
}

static const struct suite_test tests[] = {
    {"edit distances match those worked out by hand", test_distance},
    {"the nearest candidate, if it is near", test_nearest},
    {"long words", test_long_words},
};
SUITE_MAIN("suggest", tests)
