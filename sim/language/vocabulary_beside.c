#include "sim/language/vocabulary_beside.h"

#include "sim/base/file_read.h"
#include "sim/base/json_read.h"
#include "sim/language/gguf.h"
#include "sim/language/vocabulary_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 28 };

struct vocabulary_beside {
    uint8_t *bytes;
    struct gguf *gguf;
    struct tokenizer *tokenizer;
};

/* Of the folder of a file; NULL without an error where there is none. */
static char *read_beside(const char *file, const char *name, char *path, size_t room, size_t *size, bool *damaged,
                         struct orch_error *error)
{
    const char *const slash = strrchr(file, '/');
    uint8_t *bytes = NULL;
    snprintf(path, room, "%.*s%s", slash ? (int)(slash + 1 - file) : 0, file, name);
    FILE *const f = fopen(path, "rb");
    *damaged = false;
    if (!f)
        return NULL;
    *damaged = !file_read_all(f, FILE_MOST, &bytes, size);
    fclose(f);
    if (*damaged)
        orch_fail(error, ORCH_USAGE, "%.300s: %s", path, strerror(errno));
    return (char *)bytes;
}

/* "eos_token_id" is a number, or a list, whose first two count. */
static bool read_ends(const char *file, struct vocabulary_ends *ends, struct orch_error *error)
{
    char path[4096];
    size_t size = 0;
    struct json_reader reader;
    struct json_node item;
    bool damaged;
    *ends = (struct vocabulary_ends){TOKEN_NONE, TOKEN_NONE, TOKEN_NONE};
    char *const text = read_beside(file, "config.json", path, sizeof path, &size, &damaged, error);
    if (!text)
        return !damaged;
    const bool opened = json_reader_open(&reader, path, text, size, error);
    bool ok = opened;
    if (ok) {
        reader.null_is_absent = true;
        const struct json_node top = json_top(&reader), end = json_member(&top, "eos_token_id");
        ends->begin = (uint32_t)json_find_integer(&top, "bos_token_id", 0, INT32_MAX, TOKEN_NONE);
        if (!json_object_is_type(end.value, json_type_array)) {
            ends->end = (uint32_t)json_find_integer(&top, "eos_token_id", 0, INT32_MAX, TOKEN_NONE);
        } else {
            const struct json_node list = json_get_array(&top, "eos_token_id", 0, 64);
            for (struct json_walk walk = {.of = &list}; json_next(&walk, &item);)
                if (item.index < 2)
                    *(item.index ? &ends->end_of_turn : &ends->end) = (uint32_t)json_get_integer(&item, NULL, 0, INT32_MAX);
        }
        ok = json_reader_close(&reader);
    }
    free(text);
    return ok;
}

bool vocabulary_beside_open(const char *file, struct vocabulary_beside **vocabulary, struct orch_error *error)
{
    char path[4096];
    size_t size = 0, bytes = 0;
    struct vocabulary_ends ends;
    bool damaged;
    *vocabulary = NULL;
    char *text = read_beside(file, "tokenizer.json", path, sizeof path, &size, &damaged, error);
    const bool lines = !text && !damaged;
    if (lines)
        text = read_beside(file, "vocab.txt", path, sizeof path, &size, &damaged, error);
    if (!text)
        return !damaged;
    struct vocabulary_beside *const v = calloc(1, sizeof *v);
    bool ok = (v || orch_no_memory(error)) && read_ends(file, &ends, error);
    if (ok)
        v->bytes = lines ? vocabulary_of_lines(path, text, size, &bytes, error)
                         : vocabulary_of_json(path, text, size, &ends, &bytes, error);
    if (ok && v->bytes)
        v->gguf = gguf_parse(path, v->bytes, bytes, error);
    if (ok && v->gguf)
        v->tokenizer = tokenizer_create(v->gguf, error);
    ok = ok && v->tokenizer;
    free(text);
    if (ok)
        *vocabulary = v;
    else
        vocabulary_beside_close(v);
    return ok;
}

bool vocabulary_within_open(const char *file, struct vocabulary_beside **vocabulary, struct orch_error *error)
{
    struct vocabulary_beside *const v = calloc(1, sizeof *v);
    *vocabulary = NULL;
    if (!v)
        return orch_no_memory(error);
    v->gguf = gguf_open(file, error);
    v->tokenizer = v->gguf ? tokenizer_create(v->gguf, error) : NULL;
    if (v->tokenizer)
        *vocabulary = v;
    else
        vocabulary_beside_close(v);
    return *vocabulary != NULL;
}

void vocabulary_beside_close(struct vocabulary_beside *vocabulary)
{
    if (!vocabulary)
        return;
    tokenizer_free(vocabulary->tokenizer);
    gguf_close(vocabulary->gguf);
    free(vocabulary->bytes);
    free(vocabulary);
}

const struct tokenizer *vocabulary_beside_tokenizer(const struct vocabulary_beside *vocabulary)
{
    return vocabulary->tokenizer;
}
