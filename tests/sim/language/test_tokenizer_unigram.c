/* The unigram tokenizer against every way to cut a text, its table of replacements, and what is refused. */
#include "sim/language/tokenizer.h"
#include "tests/sim/language/language_example.h"

#include <math.h>

#define TEST_SPACE "\xe2\x96\x81"

static const char *const pieces[] = {"<unk>",        TEST_SPACE, "a",  "b",  "c",   "ab", "bc",      "abc",
                                     TEST_SPACE "a", "cab",      "ba", "bb", "aba", "ca", "\xc3\xa9"};
static const float piece_scores[] = {0,     -2.5f, -3,    -3.25f, -2.75f, -4.5f, -4.75f, -7,
                                     -4.9f, -6.5f, -5.1f, -5.6f,  -7.25f, -5.2f, -6};

/* Of three values, and what follows. */
static void unigram_header(struct example_writer *w, unsigned values)
{
    example_header(w, 3, 0, values);
    example_text(w, "tokenizer.ggml.model", "t5");
    example_strings(w, "tokenizer.ggml.tokens", pieces, ARRAY_COUNT(pieces));
    example_key(w, "tokenizer.ggml.scores", GGUF_ARRAY);
    example_u32(w, GGUF_F32);
    example_u64(w, ARRAY_COUNT(pieces));
    example_bytes(w, piece_scores, sizeof piece_scores);
}

/* The best sum over all ways to cut a text, each tried. */
static double best_sum(const char *text)
{
    double best = *text ? -INFINITY : 0;
    for (size_t i = 1; *text && i < ARRAY_COUNT(pieces); i++)
        if (strncmp(text, pieces[i], strlen(pieces[i])) == 0)
            best = fmax(best, (double)piece_scores[i] + best_sum(text + strlen(pieces[i])));
    return best;
}

/* All texts of a, b, c and spaces up to five characters: tokens join to the text, and their scores are the best there are. */
static void check_cuts(const struct tokenizer *t)
{
    for (unsigned number = 0; number < 1024; number++) {
        char text[8] = "", spaced[32] = TEST_SPACE, joined[64] = "";
        struct token_list tokens = {0};
        struct orch_error error = {0};
        double sum = 0;
        unsigned length = 0;
        for (unsigned rest = number; length < 5; rest /= 4, length++)
            text[length] = "abc "[rest % 4];
        for (unsigned i = 0, begun = 0, space = 0; i < length; space = text[i++] == ' ') {
            if (text[i] != ' ' && space && begun)
                strcat(spaced, TEST_SPACE);
            if (text[i] != ' ')
                strncat(spaced, text + i, begun = 1);
        }
        CHECK(tokenizer_encode(t, text, length, 0, &tokens, &error), "%s", error.text);
        for (size_t i = 0; i < tokens.count; i++) {
            strcat(joined, pieces[tokens.token[i]]);
            sum += (double)piece_scores[tokens.token[i]];
        }
        if (strspn(text, " ") == length)
            CHECK(tokens.count == 0, "'%s' has %zu tokens", text, tokens.count);
        else
            CHECK(strcmp(joined, spaced) == 0 && fabs(sum - best_sum(spaced)) < 1e-6, "'%s': '%s', %g of %g", text, joined, sum,
                  best_sum(spaced));
        token_list_free(&tokens);
    }
}

static void expect_cut(const struct tokenizer *t, const char *text, const uint32_t *token, size_t count)
{
    struct token_list tokens = {0};
    struct orch_error error = {0};
    const bool ok = tokenizer_encode(t, text, strlen(text), 0, &tokens, &error);
    CHECK(ok && tokens.count == count && memcmp(tokens.token, token, count * sizeof *token) == 0, "'%s': %zu tokens, %s", text,
          tokens.count, error.text);
    token_list_free(&tokens);
}

/* Darts-clone's units of a table with one entry: "B" becomes "b ". Unit 0 leads to unit 1 ^ 'B', that to its value. */
static void put_table(struct example_writer *w)
{
    uint32_t unit[128] = {0};
    unit[0] = 1u << 10;
    unit[1 ^ 'B'] = (uint32_t)'B' | 1u << 8 | (1 ^ 'B' ^ 100u) << 10;
    unit[100] = 1u << 31 | 0;
    example_key(w, "tokenizer.ggml.precompiled_charsmap", GGUF_ARRAY);
    example_u32(w, GGUF_U8);
    example_u64(w, 4 + sizeof unit + 3);
    example_u32(w, sizeof unit);
    example_bytes(w, unit, sizeof unit);
    example_bytes(w, "b ", 3);
}

static void test_unigram(void)
{
    static struct example_writer w;
    for (unsigned table = 0; table < 2; table++) {
        struct orch_error error = {0};
        unigram_header(&w, 4 + table);
        example_number(&w, "tokenizer.ggml.unknown_token_id", 0);
        if (table)
            put_table(&w);
        struct gguf *const g = gguf_parse("v.gguf", w.bytes, w.size, &error);
        struct tokenizer *const t = g ? tokenizer_create(g, &error) : NULL;
        CHECK(t != NULL, "%s", error.text);
        if (t) {
            check_cuts(t);
            /* Characters that no piece has are one token; others are replaced. */
            expect_cut(t, "a??\xc3\xa9", (const uint32_t[]){8, 0, 14}, 3);
            if (table)
                expect_cut(t, "aBB", (const uint32_t[]){1, 5, 1, 3}, 4);
            else
                expect_cut(t, "aBB", (const uint32_t[]){8, 0}, 2);
        }
        tokenizer_free(t);
        gguf_close(g);
    }
}

static void refused(const struct example_writer *w, const char *what)
{
    struct orch_error error = {0};
    struct gguf *const g = gguf_parse("v.gguf", w->bytes, w->size, &error);
    struct tokenizer *const t = g ? tokenizer_create(g, &error) : NULL;
    CHECK(!t && strstr(error.text, what), "expected '%s', got '%s'", what, error.text);
    tokenizer_free(t);
    gguf_close(g);
}

static void test_damaged(void)
{
    static struct example_writer w;
    const float none = NAN;
    unigram_header(&w, 4);
    example_key(&w, "tokenizer.ggml.precompiled_charsmap", GGUF_ARRAY);
    example_u32(&w, GGUF_U8);
    example_u64(&w, 5);
    example_bytes(&w, "\x04\0\0\0\0", 5);
    refused(&w, "tokenizer.ggml.precompiled_charsmap: a trie of 4 bytes");
    unigram_header(&w, 4);
    example_key(&w, "tokenizer.ggml.precompiled_charsmap", GGUF_STRING);
    example_string(&w, "table");
    refused(&w, "tokenizer.ggml.precompiled_charsmap: expected bytes");
    unigram_header(&w, 3);
    memcpy(w.bytes + w.size - sizeof none, &none, sizeof none);
    refused(&w, "tokenizer.ggml.scores[14]: expected a finite number");
}

static const struct suite_test tests[] = {
    {"cuts texts by the best sum of scores", test_unigram},
    {"refuses damaged vocabularies", test_damaged},
};
SUITE_MAIN("tokenizer_unigram", tests)
