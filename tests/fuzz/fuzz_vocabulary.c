/* Vocabularies beside safetensors: the input is a tokenizer.json, a part of one, or a tokenizer.model. What is taken makes a
 * tokenizer, which splits a text. */
#include "sim/language/gguf.h"
#include "sim/language/tokenizer.h"
#include "sim/language/vocabulary_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        __builtin_trap();
}

static void try_tokenizer(uint8_t *bytes, size_t size, struct orch_error *error)
{
    static const char text[] = "a ab <0x41> \xc3\xa9\n12";
    struct token_list tokens = {0};
    struct gguf *const gguf = bytes ? gguf_parse("v", bytes, size, error) : NULL;
    struct tokenizer *const t = gguf ? tokenizer_create(gguf, error) : NULL;
    if (t)
        (void)!tokenizer_encode(t, text, strlen(text), TOKENIZE_FRAME | TOKENIZE_SPECIAL, &tokens, error);
    else
        check(error->text[0] != 0 && !strchr(error->text, '\n'));
    token_list_free(&tokens);
    tokenizer_free(t);
    gguf_close(gguf);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const forms[] = {
        "%.*s",
        "{\"decoder\":{\"type\":\"ByteLevel\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"model\":{%.*s}}",
        "{\"model\":{\"byte_fallback\":true,\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"<0x41>\":3},\"merges\":[%.*s]}}",
        "{\"decoder\":{\"type\":\"ByteLevel\"},\"pre_tokenizer\":{%.*s},\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}",
        "{\"normalizer\":{%.*s},\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}}",
        "{\"pre_tokenizer\":{%.*s},\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":0,\"##b\":1},\"unk_token\":\"a\"}}",
        "{\"post_processor\":{%.*s},\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}}",
        "{\"pre_tokenizer\":{\"type\":\"Metaspace\"},\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[%.*s]}}",
        "{\"normalizer\":{\"type\":\"Lowercase\"},\"added_tokens\":[%.*s],\"model\":{\"type\":\"BPE\",\"unk_token\":\"a\","
        "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}",
        "{\"decoder\":{\"type\":\"ByteLevel\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"added_tokens\":[%.*s],\"model\":{"
        "\"vocab\":"
        "{\"a\":0},\"merges\":[]}}",
    };
    static const struct vocabulary_ends ends = {0, TOKEN_NONE, TOKEN_NONE};
    enum { FORMS = sizeof forms / sizeof *forms };
    static char text[1 << 17];
    struct orch_error error = {0};
    size_t made = 0;
    if (size == 0 || size > sizeof text - 512)
        return 0;
    const unsigned which = data[0] % (FORMS + 1);
    if (which == FORMS) {
        uint8_t *const bytes = vocabulary_of_pieces("v", data + 1, size - 1, &ends, &made, &error);
        try_tokenizer(bytes, made, &error);
        return 0;
    }
    const char *const hole = strstr(forms[which], "%.*s");
    char *const middle = strndup((const char *)data + 1, size - 1);
    if (!middle)
        return 0;
    const int length = snprintf(text, sizeof text, "%.*s%s%s", (int)(hole - forms[which]), forms[which], middle, hole + 4);
    uint8_t *const bytes = vocabulary_of_json("v", text, (size_t)length, &ends, &made, &error);
    try_tokenizer(bytes, made, &error);
    free(middle);
    return 0;
}
