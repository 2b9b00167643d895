/* Tokenizers of all kinds: the input is words for the vocabulary and its merges, divided by line ends, and a text behind an empty
 * line. Byte-level BPE gives every text back.
 */
#include "sim/language/tokenizer.h"
#include "sim/language/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_MAX = 1 << 17, WORDS_MAX = 64 };

static struct {
    uint8_t bytes[FILE_MAX];
    size_t size;
} file;

static void check(int ok)
{
    if (!ok)
        __builtin_trap();
}

static void put(const void *bytes, size_t size)
{
    check(file.size + size <= sizeof file.bytes);
    memcpy(file.bytes + file.size, bytes, size);
    file.size += size;
}

static void put_number(uint64_t number, size_t bytes)
{
    put(&number, bytes);
}

static void put_string(const char *text, size_t length)
{
    put_number(length, 8);
    put(text, length);
}

static void put_key(const char *key, unsigned type)
{
    put_string(key, strlen(key));
    put_number(type, 4);
}

static void put_array(const char *key, unsigned type, size_t count)
{
    put_key(key, GGUF_ARRAY);
    put_number(type, 4);
    put_number(count, 8);
}

struct word {
    const char *text;
    size_t length;
};

/* The 256 characters of byte-level BPE, or SentencePiece's tokens for bytes. */
static void put_bytes(unsigned kind)
{
    char text[8];
    for (unsigned byte = 0, others = 0; byte < 256; byte++) {
        const int printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
        size_t length = 6;
        if (kind == 1)
            length = utf8_write(printable ? byte : 0x100 + others++, text);
        else
            snprintf(text, sizeof text, "<0x%02X>", byte);
        put_string(text, length);
    }
}

/* A table of replacements made of a text: half of it the trie, the other half what replaces. */
static void put_table(const char *text, size_t length)
{
    const size_t units = length / 8 * 4;
    put_array("tokenizer.ggml.precompiled_charsmap", GGUF_U8, 4 + length + 1);
    put_number(units, 4);
    put(text, length);
    put("", 1);
}

static void make_file(unsigned kind, const struct word *word, size_t words, const char *text, size_t length)
{
    static const char *const names[] = {"llama", "gpt2", "bert", "t5"}, *const families[] = {"gpt-2", "llama-bpe", "deepseek-v3",
                                                                                             "gpt-4o"};
    file.size = 0;
    put("GGUF\3\0\0\0\0\0\0\0\0\0\0\0\10", 17);
    put_number(0, 7);
    put_key("tokenizer.ggml.model", GGUF_STRING);
    put_string(names[kind], strlen(names[kind]));
    put_key("tokenizer.ggml.pre", GGUF_STRING);
    put_string(families[words % 4], strlen(families[words % 4]));
    put_array("tokenizer.ggml.tokens", GGUF_STRING, 256 + words);
    put_bytes(kind);
    for (size_t i = 0; i < words; i++)
        put_string(word[i].text, word[i].length);
    put_array("tokenizer.ggml.token_type", GGUF_I32, 256 + words);
    for (size_t i = 0; i < 256 + words; i++)
        put_number(i < 256 ? (kind == 0 ? TOKEN_BYTE : TOKEN_NORMAL) : 1 + word[i - 256].length % 5, 4);
    put_array("tokenizer.ggml.scores", GGUF_F32, 256 + words);
    for (size_t i = 0; i < 256 + words; i++)
        put_number(i * 0x9e3779b9 >> 3, 4);
    put_array("tokenizer.ggml.merges", GGUF_STRING, words + 1);
    put_string("a b", 3);
    for (size_t i = 0; i < words; i++)
        put_string(word[i].text, word[i].length);
    put_key("tokenizer.ggml.unknown_token_id", GGUF_U32);
    put_number(0, 4);
    put_table(text, length);
}

static void encode(const struct tokenizer *t, unsigned kind, const char *text, size_t length)
{
    struct token_list tokens = {0};
    struct token_text back = {0};
    struct orch_error error = {0};
    const int valid = utf8_is_valid(text, length, NULL);
    const int encoded = tokenizer_encode(t, text, length, length % 4, &tokens, &error);
    check(encoded == valid || (kind == 3 && valid && strstr(error.text, "what replaces a character is no UTF-8")));
    if (valid && !encoded) {
        token_list_free(&tokens);
        return;
    }
    for (size_t i = 0; i < tokens.count; i++)
        check(tokens.token[i] < tokenizer_count(t));
    if (valid) {
        check(tokenizer_decode(t, tokens.token, tokens.count, true, &back, &error));
        check(utf8_is_valid(back.text, back.length, NULL));
        int plain = kind == 1; /* control tokens do not come back */
        for (size_t i = 0; i < tokens.count; i++)
            plain = plain && tokens.token[i] < 256;
        check(!plain || (back.length == length && (length == 0 || memcmp(back.text, text, length) == 0)));
    } else {
        check(strncmp(error.text, "the text is not UTF-8 at byte", 29) == 0);
    }
    token_text_free(&back);
    token_list_free(&tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct word word[WORDS_MAX];
    size_t words = 0;
    struct orch_error error = {0};
    if (size == 0 || size > 4096)
        return 0;
    const unsigned kind = data[0] % 4;
    const char *at = (const char *)data + 1, *const end = (const char *)data + size, *line;
    while (words < WORDS_MAX && at < end && (line = memchr(at, '\n', (size_t)(end - at)))) {
        const size_t length = (size_t)(line - at);
        at = line + 1;
        if (length == 0)
            break;
        word[words++] = (struct word){line - length, length};
    }
    make_file(kind, word, words, at, (size_t)(end - at));
    struct gguf *const gguf = gguf_parse("f", file.bytes, file.size, &error);
    check(gguf != NULL);
    struct tokenizer *const t = tokenizer_create(gguf, &error);
    check(t != NULL);
    encode(t, kind, at, (size_t)(end - at));
    tokenizer_free(t);
    gguf_close(gguf);
    return 0;
}
