/* Files: transformers, configuration_utils.py, modeling_utils.py and tokenization_utils_base.py. */
#include "sim/language/transformers.h"

#include "sim/base/json_read.h"
#include "sim/language/mapped_file.h"
#include "sim/language/safetensors.h"
#include "sim/language/tokenizer.h"
#include "sim/language/transformers_weights.h"
#include "sim/language/vocabulary_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WEIGHTS_FILE "model.safetensors"
#define INDEX_FILE   "model.safetensors.index.json"

enum { PATH_BYTES = 4096 };

struct transformers {
    struct safetensors *file;
    struct transformers_weights *weights;
    struct language_shape shape;
    bool head_said; /* whether config.json says that the output matrix is the embedding, or that it is not */
    struct gguf *vocabulary;
    uint8_t *vocabulary_bytes;
};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), count = strlen(end);
    return length > count && strcmp(text + length - count, end) == 0;
}

static bool is_of_kind(const char *path, unsigned kind)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* A file of the folder that the path is or stands in. */
static const char *beside(const char *path, const char *name, char *full, size_t size)
{
    const char *const slash = strrchr(path, '/');
    if (is_of_kind(path, S_IFDIR))
        snprintf(full, size, "%.3900s/%s", path, name);
    else
        snprintf(full, size, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
    return full;
}

static bool has(const char *path, const char *name)
{
    char full[PATH_BYTES];
    return is_of_kind(beside(path, name, full, sizeof full), S_IFREG);
}

bool transformers_is(const char *path)
{
    if (ends_with(path, ".safetensors") || ends_with(path, ".safetensors.index.json"))
        return true;
    return is_of_kind(path, S_IFDIR) && has(path, "config.json") && (has(path, WEIGHTS_FILE) || has(path, INDEX_FILE));
}

/* A copy of a file of text with a NUL behind it. */
static char *read_text(const char *path, size_t *size, struct orch_error *error)
{
    struct mapped_file file;
    if (!mapped_file_open(&file, path, error))
        return NULL;
    char *const text = malloc(file.size + 1);
    if (text) {
        memcpy(text, file.bytes, file.size);
        text[file.size] = 0;
        *size = file.size;
    } else {
        orch_no_memory(error);
    }
    mapped_file_close(&file);
    return text;
}

/* ---- config.json ---- */

/* "eos_token_id" is a number, or a list of those that end a text and a turn. */
static bool read_ends(struct transformers *m, const char *file, const char *text, size_t size, struct vocabulary_ends *ends,
                      struct orch_error *error)
{
    struct json_reader reader;
    struct json_node item;
    *ends = (struct vocabulary_ends){TOKEN_NONE, TOKEN_NONE, TOKEN_NONE};
    if (!json_reader_open(&reader, file, text, size, error))
        return false;
    reader.null_is_absent = true;
    const struct json_node top = json_top(&reader), end = json_member(&top, "eos_token_id");
    m->head_said = json_has(&top, "tie_word_embeddings");
    ends->begin = (uint32_t)json_find_integer(&top, "bos_token_id", 0, INT32_MAX, TOKEN_NONE);
    if (!json_object_is_type(end.value, json_type_array)) {
        ends->end = (uint32_t)json_find_integer(&top, "eos_token_id", 0, INT32_MAX, TOKEN_NONE);
    } else {
        const struct json_node list = json_get_array(&top, "eos_token_id", 0, 64);
        for (struct json_walk walk = {.of = &list}; json_next(&walk, &item);)
            if (item.index < 2)
                *(item.index ? &ends->end_of_turn : &ends->end) = (uint32_t)json_get_integer(&item, NULL, 0, INT32_MAX);
    }
    return json_reader_close(&reader);
}

static bool read_config(struct transformers *m, const char *path, struct vocabulary_ends *ends, struct orch_error *error)
{
    char full[PATH_BYTES];
    size_t size = 0;
    char *const text = read_text(beside(path, "config.json", full, sizeof full), &size, error);
    if (!text)
        return orch_fail_in(error, "%.300s: its dimensions stand in config.json beside it", path);
    const bool ok = shape_of_config(full, text, size, &m->shape, error) && read_ends(m, full, text, size, ends, error);
    free(text);
    return ok;
}

/* ---- tokenizers ---- */

static bool read_vocabulary(struct transformers *m, const char *path, const struct vocabulary_ends *ends,
                            struct orch_error *error)
{
    const bool json = has(path, "tokenizer.json");
    char full[PATH_BYTES];
    size_t size = 0, bytes = 0;
    if (!json && !has(path, "tokenizer.model"))
        return orch_fail(error, ORCH_USAGE, "%.300s: neither tokenizer.json nor tokenizer.model is beside it", path);
    char *const text = read_text(beside(path, json ? "tokenizer.json" : "tokenizer.model", full, sizeof full), &size, error);
    if (!text)
        return false;
    m->vocabulary_bytes = json ? vocabulary_of_json(full, text, size, ends, &bytes, error)
                               : vocabulary_of_pieces(full, (const uint8_t *)text, size, ends, &bytes, error);
    free(text);
    m->vocabulary = m->vocabulary_bytes ? gguf_parse(full, m->vocabulary_bytes, bytes, error) : NULL;
    return m->vocabulary != NULL;
}

/* ---- weights ---- */

static bool read_weights(struct transformers *m, const char *path, struct orch_error *error)
{
    char full[PATH_BYTES];
    const char *file = path;
    if (is_of_kind(path, S_IFDIR))
        file = beside(path, has(path, WEIGHTS_FILE) ? WEIGHTS_FILE : INDEX_FILE, full, sizeof full);
    m->file = safetensors_open(file, error);
    if (!m->file)
        return false;
    m->weights = transformers_weights_of(&m->shape, safetensors_weights(m->file), error);
    if (!m->weights)
        return orch_fail_in(error, "%.300s", file);
    if (!m->head_said && !weight_find(transformers_list(m), "output.weight"))
        m->shape.tied = true;
    return true;
}

struct transformers *transformers_open(const char *path, struct orch_error *error)
{
    struct transformers *const m = calloc(1, sizeof *m);
    struct vocabulary_ends ends;
    if (!m)
        orch_no_memory(error);
    if (m && read_config(m, path, &ends, error) && read_weights(m, path, error) && read_vocabulary(m, path, &ends, error))
        return m;
    transformers_close(m);
    return NULL;
}

void transformers_close(struct transformers *model)
{
    if (!model)
        return;
    gguf_close(model->vocabulary);
    free(model->vocabulary_bytes);
    transformers_weights_free(model->weights);
    safetensors_close(model->file);
    free(model);
}

const struct language_shape *transformers_shape(const struct transformers *model)
{
    return &model->shape;
}

const struct weight_list *transformers_list(const struct transformers *model)
{
    return transformers_weights_list(model->weights);
}

const struct gguf *transformers_vocabulary(const struct transformers *model)
{
    return model->vocabulary;
}

uint64_t transformers_file_bytes(const struct transformers *model)
{
    return safetensors_file_bytes(model->file);
}
