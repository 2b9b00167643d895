/* Pages of a cache: how they are asked for, and a pool that sequences take them from by chance, against a plain list of who has
 * what. */
#include "isa/array_count.h"
#include "sim/language/block_format.h"
#include "sim/run/language/language_pages.h"
#include "tests/support/suite.h"

#include <string.h>

static void test_forms(void)
{
    static const struct {
        const char *text, *type;
        unsigned page, pages;
    } good[] = {
        {NULL, NULL, 0, 0},        {"f16", "f16", 0, 0},      {"q8_0", "q8_0", 0, 0},      {"paged", NULL, 16, 0},
        {"paged:64", NULL, 64, 0}, {"paged:4:9", NULL, 4, 9}, {"f16,paged", "f16", 16, 0}, {"q8_0,paged:32:7", "q8_0", 32, 7}};
    static const char *const bad[] = {"",         "f32",        "paged:",    "paged:0",     "paged:6",
                                      "paged:2",  "paged:8192", "paged:x",   "paged:16:",   "paged:8:0",
                                      "f16,",     "f16,q8_0",   "paged,f16", "q8_0paged",   "paged16",
                                      "paged:4 ", "paged:-4",   "f16:4",     "paged:4:4:4", "paged:99999999999999999999"};
    struct language_cache_form form;
    struct orch_error error;
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        const bool ok = language_cache_form_read(good[i].text, &form, &error);
        CHECK(ok && form.page == good[i].page && form.pages == good[i].pages, "%s: %u, %u",
              good[i].text ? good[i].text : "nothing", form.page, form.pages);
        CHECK(good[i].type ? form.type && strcmp(form.type->name, good[i].type) == 0 : !form.type, "%s: type", good[i].text);
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        CHECK(!language_cache_form_read(bad[i], &form, &error) && error.exit_code == ORCH_USAGE, "'%s' is taken", bad[i]);
        CHECK(strstr(error.text, "kv-cache") != NULL, "'%s': %s", bad[i], error.text);
    }
}

enum { PAGE = 4, POOL = 19, CONTEXT = 30, LANES = 4, WORDS = (CONTEXT + PAGE - 1) / PAGE * LANES };

struct plain {
    unsigned owner[POOL]; /* by page; 0 = nobody, else lane + 1 */
    unsigned tokens[LANES];
};

static unsigned pages_of(unsigned tokens)
{
    return (tokens + PAGE - 1) / PAGE;
}

/* Every token has a row of its own in a page that its sequence alone has; rows that shall follow one another do. */
static void check_rows(const struct language_pages *pages, const struct plain *p, const uint32_t *table)
{
    bool taken[POOL * PAGE] = {false};
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned t = 0; t < p->tokens[lane]; t++) {
            unsigned together, next;
            const uint64_t row = language_pages_row(pages, lane, t, p->tokens[lane] - t, &together);
            const uint64_t first = language_pages_first(pages, lane);
            CHECK(row == (uint64_t)table[first + t / PAGE] * PAGE + t % PAGE, "row of token %u", t);
            CHECK(row < POOL * PAGE && !taken[row], "row %llu has two tokens", (unsigned long long)row);
            taken[row % (POOL * PAGE)] = true;
            CHECK(together >= 1 && together <= p->tokens[lane] - t, "%u together", together);
            if (together > 1)
                CHECK(language_pages_row(pages, lane, t + 1, 1, &next) == row + 1, "token %u does not follow", t + 1);
        }
}

static void test_pool(void)
{
    uint32_t table[WORDS] = {0};
    struct language_pages *const pages = language_pages_create(PAGE, POOL, CONTEXT, LANES, table);
    struct plain p = {{0}, {0}};
    uint64_t seed = 5;
    unsigned most = 0, refused = 0;
    CHECK(pages != NULL && language_pages_table_words(PAGE, CONTEXT, LANES) == WORDS, "a pool");
    for (unsigned step = 0; pages && step < 400; step++) {
        const unsigned lane = (unsigned)(suite_random(&seed) >> 40) % LANES, what = (unsigned)(suite_random(&seed) >> 40) % 8;
        unsigned taken = 0;
        for (unsigned i = 0; i < LANES; i++)
            taken += pages_of(p.tokens[i]);
        if (what == 0) {
            language_pages_end(pages, lane);
            p.tokens[lane] = 0;
        } else if (what == 1 && p.tokens[lane]) {
            language_pages_cut(pages, lane, --p.tokens[lane]);
        } else {
            const unsigned wanted = p.tokens[lane] + what < CONTEXT ? p.tokens[lane] + what : CONTEXT;
            const bool fits = taken - pages_of(p.tokens[lane]) + pages_of(wanted) <= POOL;
            CHECK(language_pages_reach(pages, lane, wanted) == fits, "%u tokens of sequence %u", wanted, lane);
            refused += !fits;
            if (!fits)
                language_pages_cut(pages, lane, p.tokens[lane]);
            else
                p.tokens[lane] = wanted;
        }
        taken = 0;
        for (unsigned i = 0; i < LANES; i++)
            taken += pages_of(p.tokens[i]);
        most = taken > most ? taken : most;
        check_rows(pages, &p, table);
    }
    const struct language_pages_use use = language_pages_use(pages);
    CHECK(refused > 0 && use.pool == POOL && use.taken >= most && use.taken <= POOL, "%u of %u taken, %u refused", use.taken,
          most, refused);
    CHECK(use.pieces > 1, "%u pieces", use.pieces);
    language_pages_free(pages);
}

/* What is promised to some is not promised to others, until they end. */
static void test_promises(void)
{
    uint32_t table[WORDS] = {0};
    struct language_pages *const pages = language_pages_create(PAGE, 10, CONTEXT, LANES, table);
    CHECK(pages && language_pages_promise(pages, 0, 17) && language_pages_promise(pages, 1, 20), "5 and 5 pages");
    CHECK(!language_pages_promise(pages, 2, 1), "an eleventh page");
    CHECK(language_pages_promise(pages, 1, 13), "4 pages of 5");
    CHECK(language_pages_promise(pages, 2, 4), "the one that is left");
    language_pages_end(pages, 0);
    CHECK(!language_pages_promise(pages, 3, 21) && language_pages_promise(pages, 3, 20), "5 pages again");
    language_pages_free(pages);
}

static const struct suite_test tests[] = {
    {"forms of a cache", test_forms}, {"pages of a pool", test_pool}, {"promises", test_promises}};
SUITE_MAIN("language pages", tests)
