/* Tokenizers of tokenizer.json files against the ids of the library that defined the format, and what is refused. */
#include "sim/language/tokenizer.h"
#include "sim/language/vocabulary_file.h"
#include "tests/sim/language/language_example.h"

enum { TEXTS = 64 };

static const struct vocabulary_ends nobody = {TOKEN_NONE, TOKEN_NONE, TOKEN_NONE};

/* A tokenizer and what it reads from. */
struct opened {
    uint8_t *bytes;
    struct gguf *gguf;
    struct tokenizer *tokenizer;
};

static struct opened open_text(const char *text, struct orch_error *error)
{
    struct opened o = {0};
    size_t size = 0;
    o.bytes = vocabulary_of_json("t.json", text, strlen(text), &nobody, &size, error);
    o.gguf = o.bytes ? gguf_parse("t.json", o.bytes, size, error) : NULL;
    o.tokenizer = o.gguf ? tokenizer_create(o.gguf, error) : NULL;
    return o;
}

static void close_text(struct opened *o)
{
    tokenizer_free(o->tokenizer);
    gguf_close(o->gguf);
    free(o->bytes);
}

static struct opened open_golden(const char *name)
{
    char path[128];
    struct example_file file;
    struct orch_error error = {0};
    snprintf(path, sizeof path, "tokenizer_json/%s.json.gz", name);
    CU_ASSERT_TRUE_FATAL(example_golden(path, &file));
    char *const text = strndup((const char *)file.bytes, file.size);
    const struct opened o = open_text(text, &error);
    CHECK(o.tokenizer != NULL, "%s: %s", name, error.text);
    free(text);
    free(file.bytes);
    return o;
}

/* ---- ids ---- */

static bool same(const struct token_list *tokens, const char *line)
{
    size_t i = 0;
    char *after;
    for (;; i++, line = after) {
        while (*line == ' ')
            line++;
        if (*line == '\n')
            return i == tokens->count;
        const unsigned long token = strtoul(line, &after, 10);
        if (after == line || i >= tokens->count || tokens->token[i] != token)
            return false;
    }
}

static void print(const struct token_list *tokens, char *text, size_t size)
{
    size_t at = 0;
    *text = 0;
    for (size_t i = 0; i < tokens->count && at + 12 < size; i++)
        at += (size_t)snprintf(text + at, size - at, " %u", tokens->token[i]);
}

static void check_ids(const char *name)
{
    static const char divider[] = "\n__ggml_vocab_test__\n";
    char path[128], got[1024];
    struct example_file texts, expected;
    struct opened o = open_golden(name);
    snprintf(path, sizeof path, "tokenizer_json/%s.out", name);
    CU_ASSERT_TRUE_FATAL(example_golden("tokenizer_json/texts.inp", &texts) && example_golden(path, &expected));
    const char *line = (char *)expected.bytes, *text = (char *)texts.bytes;
    unsigned count = 0;
    for (const char *end; o.tokenizer && (end = strstr(text, divider)); text = end + sizeof divider - 1, count++) {
        struct token_list tokens = {0};
        struct orch_error error = {0};
        const bool ok =
            tokenizer_encode(o.tokenizer, text, (size_t)(end - text), TOKENIZE_FRAME | TOKENIZE_SPECIAL, &tokens, &error);
        print(&tokens, got, sizeof got);
        CHECK(ok && same(&tokens, line), "%s, text %u '%.*s':%s, expected %.*s %s", name, count,
              (int)(end - text < 60 ? end - text : 60), text, got, (int)strcspn(line, "\n"), line, error.text);
        token_list_free(&tokens);
        line += strcspn(line, "\n") + 1;
    }
    CHECK(count == TEXTS, "%s: %u texts", name, count);
    free(texts.bytes);
    free(expected.bytes);
    close_text(&o);
}

static void test_word_pieces(void)
{
    check_ids("bert-uncased");
    check_ids("bert-cased");
}

static void test_unigrams(void)
{
    check_ids("t5");
    check_ids("xlm-roberta");
    check_ids("albert");
    check_ids("unigram-bytes");
}

static void test_pairs(void)
{
    check_ids("clip");
    check_ids("bytes-nfc");
    check_ids("roberta");
    check_ids("pairs-bytes");
    check_ids("pairs-unknown");
}

static void test_words(void)
{
    check_ids("words");
}

/* ---- text again ---- */

static void check_text(const char *name, const char *text, const char *want)
{
    struct opened o = open_golden(name);
    struct token_list tokens = {0};
    struct token_text back = {0};
    struct orch_error error = {0};
    bool ok = o.tokenizer && tokenizer_encode(o.tokenizer, text, strlen(text), 0, &tokens, &error);
    ok = ok && tokenizer_decode(o.tokenizer, tokens.token, tokens.count, true, &back, &error);
    CHECK(ok && back.length == strlen(want) && memcmp(back.text, want, back.length) == 0, "%s: '%.*s' %s", name, (int)back.length,
          back.text, error.text);
    token_text_free(&back);
    token_list_free(&tokens);
    close_text(&o);
}

static void test_texts(void)
{
    check_text("bert-uncased", "Hello, wörld! Don't", "hello, world! don ' t");
    check_text("t5", "The  quick brown fox", "The  quick brown fox");
    check_text("unigram-bytes", "hello \xf0\x9f\x9a\x80", "hello \xf0\x9f\x9a\x80");
    check_text("bytes-nfc", " a\n\xf0\x9f\x9a\x80", " a\n\xf0\x9f\x9a\x80");
    check_text("clip", "A Cat", "a cat ");
}

/* ---- what is wrong ---- */

static void refuse(const char *text, int code, const char *wrong)
{
    struct orch_error error = {0};
    struct opened o = open_text(text, &error);
    CHECK(!o.tokenizer && error.exit_code == code && strstr(error.text, wrong) && !strchr(error.text, '\n'), "%s: %s", wrong,
          error.text);
    close_text(&o);
}

#define WITH(more) "{" more ",\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}}"

static void test_refused(void)
{
    refuse(WITH("\"normalizer\":{\"type\":\"Magic\"}"), ORCH_UNMODELLED, "normalizer.type: \"Magic\" is not modelled");
    refuse(WITH("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Magic\"}]}"), ORCH_UNMODELLED,
           "normalizer.normalizers[0].type: \"Magic\"");
    refuse(WITH("\"normalizer\":{\"type\":\"Prepend\"}"), ORCH_USAGE, "normalizer.prepend");
    refuse(WITH("\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"abc\"}"), ORCH_USAGE, "base 64");
    refuse(WITH("\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"ab?d\"}"), ORCH_USAGE, "byte 2");
    refuse(WITH("\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"/////w==\"}"), ORCH_USAGE,
           "precompiled_charsmap");
    refuse(WITH("\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"}"), ORCH_UNMODELLED, "\"UnicodeScripts\" is not modelled");
    refuse(WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a\"}}"), ORCH_USAGE, "no ) closes");
    refuse(WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"\"}}"), ORCH_USAGE, "0 bytes");
    refuse(WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},\"behavior\":\"Eaten\"}"), ORCH_UNMODELLED,
           "\"Eaten\"");
    refuse(WITH("\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"last\"}"), ORCH_UNMODELLED, "\"last\"");
    refuse(WITH("\"post_processor\":{\"type\":\"Pairs\"}"), ORCH_UNMODELLED, "\"Pairs\"");
    refuse(WITH("\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":[\"c\",7],\"sep\":[\"s\",0]}"), ORCH_USAGE,
           "before[0]: expected a number below 1");
    refuse("{\"model\":{\"type\":\"Letters\",\"vocab\":{}}}", ORCH_UNMODELLED, "\"Letters\" is not read");
    refuse("{\"model\":{\"type\":\"Unigram\",\"unk_id\":3,\"vocab\":[[\"a\",-1]]}}", ORCH_USAGE, "model.unk_id");
    refuse("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", ORCH_USAGE, "model.vocab[0]");
    refuse("{\"model\":{\"type\":\"BPE\",\"continuing_subword_prefix\":\"##\",\"vocab\":{},\"merges\":[]}}", ORCH_UNMODELLED,
           "a prefix within words");
}

/* Expressions that would take for ever end with an error. */
static void test_long_expression(void)
{
    struct orch_error error = {0};
    struct opened o = open_text(WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a*)*b\"}}"), &error);
    struct token_list tokens = {0};
    const bool ok = o.tokenizer && tokenizer_encode(o.tokenizer, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 32, 0, &tokens, &error);
    CHECK(!ok && strstr(error.text, "takes too many steps"), "%s", error.text);
    token_list_free(&tokens);
    close_text(&o);
}

static const struct suite_test tests[] = {
    {"word pieces", test_word_pieces},
    {"unigrams", test_unigrams},
    {"pairs", test_pairs},
    {"words", test_words},
    {"tokens become text", test_texts},
    {"what is refused", test_refused},
    {"expressions without an end", test_long_expression},
};
SUITE_MAIN("tokenizer_json", tests)
