/* Vocabularies of GGUF files as tokenizer.json and tokenizer.model. */
#ifndef ORCHARD_TESTS_SIM_VOCABULARY_EXAMPLE_H
#define ORCHARD_TESTS_SIM_VOCABULARY_EXAMPLE_H

#include "sim/language/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline FILE *saved_file(const char *path)
{
    FILE *const file = fopen(path, "wb");
    if (!file)
        abort();
    return file;
}

static inline void saved_string(FILE *f, const char *text, size_t length)
{
    putc('"', f);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '"' || text[i] == '\\')
            fprintf(f, "\\%c", text[i]);
        else if ((unsigned char)text[i] < ' ')
            fprintf(f, "\\u%04x", (unsigned)text[i]);
        else
            putc(text[i], f);
    putc('"', f);
}

static inline void saved_vocabulary(FILE *f, const struct tokenizer *t)
{
    fputs("\"added_tokens\":[", f);
    unsigned added = 0;
    for (uint32_t i = 0; i < tokenizer_count(t); i++) {
        const enum token_type type = tokenizer_type(t, i);
        size_t length;
        if (type != TOKEN_CONTROL && type != TOKEN_USER && type != TOKEN_UNKNOWN)
            continue;
        fprintf(f, "%s{\"id\":%u,\"content\":", added++ ? "," : "", i);
        const char *const text = tokenizer_piece(t, i, &length);
        saved_string(f, text, length);
        fprintf(f, ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":%s}",
                type == TOKEN_USER ? "false" : "true");
    }
    fputs("],\"model\":{\"type\":\"BPE\",\"dropout\":null,\"vocab\":{", f);
    for (uint32_t i = 0; i < tokenizer_count(t); i++) {
        size_t length;
        const char *const text = tokenizer_piece(t, i, &length);
        if (i)
            putc(',', f);
        saved_string(f, text, length);
        fprintf(f, ":%u", i);
    }
    fputs("}", f);
}

/* BPE of bytes with the file's own merges; `lists`: each is a list of two. */
static inline void saved_byte_tokenizer(const char *path, const struct gguf *gguf, const struct tokenizer *t, bool lists)
{
    struct gguf_strings merges;
    const char *text;
    size_t length;
    FILE *const f = saved_file(path);
    fputs("{\"version\":\"1.0\",\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
          "\"trim_offsets\":true,\"use_regex\":true},\"post_processor\":{\"type\":\"ByteLevel\",\"trim_offsets\":false},"
          "\"decoder\":{\"type\":\"ByteLevel\"},",
          f);
    saved_vocabulary(f, t);
    fputs(",\"merges\":[", f);
    unsigned count = 0;
    if (gguf_strings_of(gguf_find(gguf, "tokenizer.ggml.merges"), &merges))
        while (gguf_next_string(&merges, &text, &length)) {
            const char *const space = memchr(text, ' ', length);
            fputs(count++ ? "," : "", f);
            if (lists) {
                putc('[', f);
                saved_string(f, text, (size_t)(space - text));
                putc(',', f);
                saved_string(f, space + 1, length - (size_t)(space + 1 - text));
                putc(']', f);
            } else {
                saved_string(f, text, length);
            }
        }
    fputs("]}}\n", f);
    fclose(f);
}

/* A merge of SentencePiece's BPE, with the score of what it makes. */
struct saved_merge {
    double score;
    uint32_t token;
    size_t cut;
};

static inline int saved_best_first(const void *a, const void *b)
{
    const struct saved_merge *const x = a, *const y = b;
    return x->score != y->score ? (x->score > y->score ? -1 : 1) : x->token != y->token ? (x->token < y->token ? -1 : 1) : 0;
}

static inline uint32_t saved_find(const struct tokenizer *t, const char *text, size_t length)
{
    for (uint32_t i = 0; i < tokenizer_count(t); i++) {
        size_t other;
        const char *const piece = tokenizer_piece(t, i, &other);
        if (other == length && memcmp(piece, text, length) == 0)
            return tokenizer_type(t, i) == TOKEN_NORMAL ? i : TOKEN_NONE;
    }
    return TOKEN_NONE;
}

/* SentencePiece's BPE as the tokenizers library keeps it: each way to part a piece into pieces, best pieces first. */
static inline void saved_piece_tokenizer(const char *path, const struct gguf *gguf, const struct tokenizer *t)
{
    const struct gguf_value *const scores = gguf_find(gguf, "tokenizer.ggml.scores");
    struct saved_merge *const merge = calloc(16 * tokenizer_count(t), sizeof *merge);
    size_t count = 0, length;
    for (uint32_t i = 0; merge && i < tokenizer_count(t); i++) {
        const char *const text = tokenizer_piece(t, i, &length);
        for (size_t cut = 1; tokenizer_type(t, i) == TOKEN_NORMAL && cut < length && count < 16 * tokenizer_count(t); cut++)
            if (saved_find(t, text, cut) != TOKEN_NONE && saved_find(t, text + cut, length - cut) != TOKEN_NONE) {
                gguf_number(scores, i, &merge[count].score);
                merge[count].token = i;
                merge[count++].cut = cut;
            }
    }
    qsort(merge, count, sizeof *merge, saved_best_first);
    FILE *const f = saved_file(path);
    fputs(
        "{\"version\":\"1.0\",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"\xe2\x96"
        "\x81\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xe2\x96\x81\"}]},\"pre_tokenizer\":null,"
        "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
        "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{}},\"decoder\":null,",
        f);
    saved_vocabulary(f, t);
    fputs(",\"byte_fallback\":true,\"unk_token\":\"<unk>\",\"merges\":[", f);
    for (size_t i = 0; i < count; i++) {
        const char *const text = tokenizer_piece(t, merge[i].token, &length);
        fputs(i ? ",[" : "[", f);
        saved_string(f, text, merge[i].cut);
        putc(',', f);
        saved_string(f, text + merge[i].cut, length - merge[i].cut);
        putc(']', f);
    }
    fputs("]}}\n", f);
    fclose(f);
    free(merge);
}

static inline void saved_varint(FILE *f, uint64_t number)
{
    for (; number > 127; number >>= 7)
        putc((int)(number & 127) | 128, f);
    putc((int)number, f);
}

/* tokenizer.model: pieces with texts, scores and types, and that they are of BPE. */
static inline void saved_pieces(const char *path, const struct gguf *gguf, const struct tokenizer *t)
{
    const struct gguf_value *const scores = gguf_find(gguf, "tokenizer.ggml.scores");
    FILE *const f = saved_file(path);
    for (uint32_t i = 0; i < tokenizer_count(t); i++) {
        size_t length;
        double score = 0;
        const char *const text = tokenizer_piece(t, i, &length);
        gguf_number(scores, i, &score);
        const float number = (float)score;
        const uint64_t text_bytes = length + (length > 127 ? 3 : 2);
        fputs("\x0a", f);
        saved_varint(f, text_bytes + 5 + 2);
        fputs("\x0a", f);
        saved_varint(f, length);
        fwrite(text, 1, length, f);
        fputs("\x15", f);
        fwrite(&number, 4, 1, f);
        fputs("\x18", f);
        putc(tokenizer_type(t, i), f);
    }
    fputs("\x12\x02\x18\x02", f); /* the trainer's kind is 2 */
    fclose(f);
}

#endif
