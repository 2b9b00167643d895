/* Tokenizers against the token ids that the models' own give, and against facts of their families. */
#include "sim/language/tokenizer.h"
#include "sim/language/text_split.h"
#include "tests/sim/language/language_example.h"

enum { TEXTS = 46 };
static const char divider[] = "\n__ggml_vocab_test__\n";

struct vocabulary {
    struct example_file file;
    struct gguf *gguf;
    struct tokenizer *tokenizer;
};

static bool open_vocabulary(const char *name, struct vocabulary *v)
{
    char path[128];
    struct orch_error error = {0};
    *v = (struct vocabulary){0};
    snprintf(path, sizeof path, "tokenizers/ggml-vocab-%s.gguf.gz", name);
    if (!example_golden(path, &v->file))
        return false;
    v->gguf = gguf_parse(name, v->file.bytes, v->file.size, &error);
    v->tokenizer = v->gguf ? tokenizer_create(v->gguf, &error) : NULL;
    CHECK(v->tokenizer != NULL, "%s: %s", name, error.text);
    return v->tokenizer != NULL;
}

static void close_vocabulary(struct vocabulary *v)
{
    tokenizer_free(v->tokenizer);
    gguf_close(v->gguf);
    free(v->file.bytes);
}

/* ---- the conformance texts ---- */

/* Compares the tokens of a text with a line of numbers; returns whether they are the same. */
static bool same_tokens(const struct token_list *tokens, const char *line)
{
    size_t i = 0;
    char *after;
    for (;; i++, line = after) {
        const unsigned long token = strtoul(line, &after, 10);
        if (after == line || *line == '\n')
            return i == tokens->count;
        if (i >= tokens->count || tokens->token[i] != token)
            return false;
    }
}

static void check_texts(const char *name, const struct vocabulary *v)
{
    struct example_file texts, expected;
    char path[128];
    struct orch_error error = {0};
    unsigned same = 0, count = 0;
    snprintf(path, sizeof path, "tokenizers/ggml-vocab-%s.gguf.out", name);
    CU_ASSERT_TRUE_FATAL(example_golden("tokenizers/texts.inp", &texts) && example_golden(path, &expected));
    const char *line = (char *)expected.bytes, *text = (char *)texts.bytes;
    for (const char *end; (end = strstr(text, divider)); text = end + sizeof divider - 1, count++) {
        struct token_list tokens = {0};
        const bool ok =
            tokenizer_encode(v->tokenizer, text, (size_t)(end - text), 0, &tokens, &error) && same_tokens(&tokens, line);
        CHECK(ok, "%s, text %u: %zu tokens, expected%.*s %s", name, count, tokens.count, (int)strcspn(line, "\n"), line,
              error.text);
        same += ok;
        token_list_free(&tokens);
        line += strcspn(line, "\n") + 1;
    }
    CHECK(count == TEXTS && same == TEXTS, "%s: %u of %u texts", name, same, count);
    free(texts.bytes);
    free(expected.bytes);
}

static void test_conformance(void)
{
    static const char *const names[] = {"gpt-2", "phi-3", "bert-bge"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct vocabulary v;
        CU_ASSERT_TRUE_FATAL(open_vocabulary(names[i], &v));
        check_texts(names[i], &v);
        close_vocabulary(&v);
    }
}

static void test_large_vocabularies(void)
{
    static const char *const names[] = {"falcon", "mpt"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct vocabulary v;
        if (!open_vocabulary(names[i], &v)) {
            suite_skip("the vocabularies of Falcon and MPT are not here");
            return;
        }
        check_texts(names[i], &v);
        close_vocabulary(&v);
    }
}

/* What is encoded without loss is decoded to the same text, whole or token by token. */
static void test_round_trip(void)
{
    static const char *const names[] = {"gpt-2", "phi-3"};
    struct example_file texts;
    struct orch_error error = {0};
    CU_ASSERT_TRUE_FATAL(example_golden("tokenizers/texts.inp", &texts));
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct vocabulary v;
        CU_ASSERT_TRUE_FATAL(open_vocabulary(names[i], &v));
        const char *text = (char *)texts.bytes;
        for (const char *end; (end = strstr(text, divider)); text = end + sizeof divider - 1) {
            struct token_list tokens = {0};
            struct token_text back = {0};
            CU_ASSERT_TRUE(tokenizer_encode(v.tokenizer, text, (size_t)(end - text), 0, &tokens, &error));
            CU_ASSERT_TRUE(tokenizer_decode(v.tokenizer, tokens.token, tokens.count, true, &back, &error));
            CHECK(back.length == (size_t)(end - text) && (back.length == 0 || memcmp(back.text, text, back.length) == 0),
                  "%s: '%.*s' became '%.*s'", names[i], (int)(end - text), text, (int)back.length, back.text);
            token_text_free(&back);
            token_list_free(&tokens);
        }
        close_vocabulary(&v);
    }
    free(texts.bytes);
}

/* ---- streams ---- */

static void test_stream(void)
{
    struct vocabulary v;
    struct orch_error error = {0};
    struct token_list tokens = {0};
    static const char text[] = "a\xf0\x9f\x98\x80 z"; /* an emoji of four bytes, none of them a token with another */
    CU_ASSERT_TRUE_FATAL(open_vocabulary("phi-3", &v));
    for (const char *c = text; c < text + 5; c++) {
        char name[8];
        size_t length;
        snprintf(name, sizeof name, "<0x%02X>", (unsigned char)*c);
        for (uint32_t t = 0; t < tokenizer_count(v.tokenizer); t++)
            if (tokenizer_type(v.tokenizer, t) == TOKEN_BYTE && memcmp(tokenizer_piece(v.tokenizer, t, &length), name, 6) == 0)
                token_list_add(&tokens, t, &error);
    }
    CU_ASSERT_EQUAL_FATAL(tokens.count, 5);
    struct token_stream stream;
    struct token_text out = {0};
    token_stream_start(&stream, v.tokenizer, false);
    static const size_t lengths[] = {1, 1, 1, 1, 5};
    for (size_t i = 0; i < 5; i++) {
        CU_ASSERT_TRUE(token_stream_add(&stream, tokens.token[i], &out, &error));
        CHECK(out.length == lengths[i], "after %zu tokens %zu bytes", i + 1, out.length);
    }
    CU_ASSERT_EQUAL(memcmp(out.text, text, 5), 0);
    /* A beginning that is not completed becomes U+FFFD, at the end or before what follows. */
    CU_ASSERT_TRUE(token_stream_add(&stream, tokens.token[1], &out, &error) && out.length == 5);
    CU_ASSERT_TRUE(token_stream_add(&stream, tokens.token[0], &out, &error) && out.length == 9);
    CU_ASSERT_EQUAL(memcmp(out.text + 5,
                           "\xef\xbf\xbd"
                           "a",
                           4),
                    0);
    CU_ASSERT_TRUE(token_stream_add(&stream, tokens.token[1], &out, &error) && token_stream_end(&stream, &out, &error));
    CU_ASSERT_TRUE(out.length == 12 && memcmp(out.text + 9, "\xef\xbf\xbd", 3) == 0);
    CU_ASSERT_FALSE(token_stream_add(&stream, 1000000, &out, &error));
    CHECK(strstr(error.text, "token 1000000: the vocabulary has 32064 tokens") != NULL, "%s", error.text);
    token_text_free(&out);
    token_list_free(&tokens);
    close_vocabulary(&v);
}

static void expect_tokens(const struct vocabulary *v, const char *text, unsigned flags, size_t count, const uint32_t *expected)
{
    struct token_list tokens = {0};
    struct orch_error error = {0};
    CHECK(tokenizer_encode(v->tokenizer, text, strlen(text), flags, &tokens, &error), "%s", error.text);
    CHECK(tokens.count == count && (count == 0 || memcmp(tokens.token, expected, count * sizeof *expected) == 0),
          "'%s': %zu tokens, the first %u", text, tokens.count, tokens.count ? tokens.token[0] : 0);
    token_list_free(&tokens);
}

static void test_frames(void)
{
    struct vocabulary v;
    CU_ASSERT_TRUE_FATAL(open_vocabulary("bert-bge", &v));
    expect_tokens(&v, "hello", TOKENIZE_FRAME, 3, (const uint32_t[]){101, 7592, 102}); /* [CLS] hello [SEP]: BERT's vocabulary */
    expect_tokens(&v, "H\u00e9llo", 0, 1, (const uint32_t[]){7592});
    close_vocabulary(&v);
    CU_ASSERT_TRUE_FATAL(open_vocabulary("gpt-2", &v));
    expect_tokens(&v, "Hello world", TOKENIZE_FRAME, 2, (const uint32_t[]){15496, 995});
    expect_tokens(&v, "<|endoftext|>", TOKENIZE_SPECIAL, 1, (const uint32_t[]){50256});
    expect_tokens(&v, "<|endoftext|>", 0, 7, (const uint32_t[]){27, 91, 437, 1659, 5239, 91, 29});
    CU_ASSERT_TRUE(tokenizer_ends(v.tokenizer, 50256) && !tokenizer_ends(v.tokenizer, 0));
    close_vocabulary(&v);
}

static void test_bad_texts(void)
{
    struct vocabulary v;
    static const char *const bad[] = {"ab\xff", "\xc3", "x\xed\xa0\x80", "\x80"};
    static const size_t at[] = {2, 0, 1, 0};
    CU_ASSERT_TRUE_FATAL(open_vocabulary("phi-3", &v));
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct token_list tokens = {0};
        struct orch_error error = {0};
        char what[64];
        snprintf(what, sizeof what, "the text is not UTF-8 at byte %zu", at[i]);
        CHECK(!tokenizer_encode(v.tokenizer, bad[i], strlen(bad[i]), 0, &tokens, &error) && strstr(error.text, what), "%s",
              error.text);
        token_list_free(&tokens);
    }
    expect_tokens(&v, "", 0, 0, NULL);
    close_vocabulary(&v);
}

/* ---- families ---- */

/* Pieces are divided by | in what is expected. */
static void expect_pieces(const char *family, const char *text, const char *expected)
{
    struct orch_error error = {0};
    const struct split_family *const f = split_family_named(family);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    struct splitter *const s = splitter_create(f, &error);
    CHECK(s != NULL, "%s: %s", family, error.text);
    size_t *ends = NULL, count = 0, used = 0;
    char got[512] = "";
    CU_ASSERT_TRUE_FATAL(s && splitter_run(s, text, strlen(text), &ends, &count, &error));
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(got + used, sizeof got - used, "%s%.*s", i ? "|" : "", (int)(ends[i] - (i ? ends[i - 1] : 0)),
                                 text + (i ? ends[i - 1] : 0));
    CHECK(strcmp(got, expected) == 0, "%s: '%s', expected '%s'", family, got, expected);
    free(ends);
    splitter_free(s);
}

/* Worked out by hand from the expressions that the models publish. */
static void test_families(void)
{
    expect_pieces("gpt-2", "We'll go  to 12345 x\n\ny", "We|'ll| go| | to| 12345| x|\n|\n|y");
    expect_pieces("gpt-2", "end  ", "end|  ");
    expect_pieces("falcon", "a+b 12345", "a|+|b| |123|45"); /* digits part from their space when three are cut out */
    expect_pieces("llama-bpe", "We'LL pay 12345!\n\n  ok", "We|'LL| pay| |123|45|!\n\n| | ok");
    expect_pieces("llama-bpe", "(foo)  \n bar", "(foo|)|  \n| bar");
    expect_pieces("qwen2", "x=12 \u00e9t\u00e9", "x|=|1|2| \u00e9t\u00e9");
    expect_pieces("starcoder", "a12 b", "a|1|2| b");
    expect_pieces("deepseek-coder", "f(x) 12\n", "f|(|x|)| |1|2|\n");
    expect_pieces("deepseek-llm", "Hi, \u4f60\u597d 42 \n", "Hi|,| |\u4f60\u597d| |42| |\n");
    expect_pieces("deepseek-v3", "1234 \u4f60\u597d .foo", "123|4| |\u4f60\u597d| .|foo");
    expect_pieces("gpt-4o", "CamelCase HTMLParser it's 1234/\n", "Camel|Case| HTMLParser| it's| |123|4|/\n");
    expect_pieces("default", "a,b 1234", "a|,|b| |123|4");
    CU_ASSERT_PTR_NULL(split_family_named("gpt"));
    CU_ASSERT_PTR_NULL(split_family_named(""));
    CU_ASSERT_PTR_NULL(split_family_named("gpt-2 mpt"));
}

/* Every expression compiles, and pieces always cover the text. */
static void test_all_families(void)
{
    const struct split_family *f;
    struct example_file texts;
    CU_ASSERT_TRUE_FATAL(example_golden("tokenizers/texts.inp", &texts));
    for (size_t i = 0; (f = split_family_at(i)); i++) {
        struct orch_error error = {0};
        struct splitter *const s = splitter_create(f, &error);
        size_t *ends = NULL, count = 0;
        CHECK(s && splitter_run(s, (char *)texts.bytes, texts.size, &ends, &count, &error), "%s: %s", f->names, error.text);
        CHECK(count && ends[count - 1] == texts.size, "%s: %zu pieces", f->names, count);
        for (size_t k = 1; k < count; k++)
            if (ends[k] <= ends[k - 1])
                CHECK(false, "%s: piece %zu is empty", f->names, k);
        free(ends);
        splitter_free(s);
    }
    free(texts.bytes);
}

/* ---- damaged vocabularies ---- */

static void refused(const struct example_writer *w, const char *what)
{
    struct orch_error error = {0};
    struct gguf *const g = gguf_parse("v.gguf", w->bytes, w->size, &error);
    struct tokenizer *const t = g ? tokenizer_create(g, &error) : NULL;
    CHECK(!t && strncmp(error.text, "v.gguf: ", 8) == 0 && strstr(error.text, what), "expected '%s', got '%s'", what, error.text);
    tokenizer_free(t);
    gguf_close(g);
}

static void test_damaged(void)
{
    static struct example_writer w;
    static const char *const words[] = {"a", "b"};
    example_header(&w, 3, 0, 0);
    refused(&w, "tokenizer.ggml.model is missing");
    example_header(&w, 3, 0, 1);
    example_text(&w, "tokenizer.ggml.model", "t6");
    refused(&w, "tokenizer.ggml.model 't6' is not known (llama, gpt2, bert and t5 are)");
    example_header(&w, 3, 0, 1);
    example_text(&w, "tokenizer.ggml.model", "llama");
    refused(&w, "tokenizer.ggml.tokens is missing");
    example_header(&w, 3, 0, 2);
    example_text(&w, "tokenizer.ggml.model", "llama");
    example_strings(&w, "tokenizer.ggml.tokens", words, 2);
    refused(&w, "tokenizer.ggml.scores is missing");
    example_header(&w, 3, 0, 3);
    example_text(&w, "tokenizer.ggml.model", "gpt2");
    example_strings(&w, "tokenizer.ggml.tokens", words, 2);
    example_number(&w, "tokenizer.ggml.bos_token_id", 2);
    refused(&w, "tokenizer.ggml.bos_token_id: expected a number below 2");
    example_header(&w, 3, 0, 4);
    example_text(&w, "tokenizer.ggml.model", "gpt2");
    example_strings(&w, "tokenizer.ggml.tokens", words, 2);
    example_strings(&w, "tokenizer.ggml.merges", words, 2);
    example_text(&w, "tokenizer.ggml.pre", "martian");
    refused(&w, "tokenizer.ggml.pre 'martian': how that family splits texts is not known");
    example_header(&w, 3, 0, 3);
    example_text(&w, "tokenizer.ggml.model", "bert");
    example_strings(&w, "tokenizer.ggml.tokens", words, 2);
    example_number(&w, "tokenizer.ggml.token_type", 1);
    refused(&w, "tokenizer.ggml.token_type: expected one number for each of 2 tokens");
}

static const struct suite_test tests[] = {
    {"gives the tokens of the models' own tokenizers", test_conformance},
    {"does so with larger vocabularies", test_large_vocabularies},
    {"decodes what it encoded", test_round_trip},
    {"streams whole characters", test_stream},
    {"frames texts and finds control tokens", test_frames},
    {"refuses texts that are not UTF-8", test_bad_texts},
    {"splits as families do", test_families},
    {"covers texts in all families", test_all_families},
    {"refuses damaged vocabularies", test_damaged},
};
SUITE_MAIN("tokenizer", tests)
