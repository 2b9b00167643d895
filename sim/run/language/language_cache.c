#include "sim/run/language/language_cache.h"

#include "sim/base/checksum.h"
#include "sim/base/file_read.h"
#include "sim/base/output_file.h"
#include "sim/run/language/language_step_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST (UINT64_C(1) << 36)

/* ---- reading ---- */

static uint32_t word_at(const uint8_t *bytes, uint64_t i)
{
    uint32_t word;
    memcpy(&word, bytes + 4 * i, sizeof word);
    return word;
}

/* Keys and values of the first tokens. */
static void fill(const struct prompt_cache_shape *shape, const struct prompt_cache_view *view, struct language_stepper *s,
                 unsigned tokens)
{
    const uint64_t row = (uint64_t)shape->row * shape->value_bytes, all = row * view->tokens;
    for (unsigned i = 0; i < shape->layers; i++) {
        memcpy(s->layer[i].keys.host, view->rows + 2 * i * all, row * tokens);
        memcpy(s->layer[i].values.host, view->rows + (2 * i + 1) * all, row * tokens);
    }
    s->position = tokens;
}

/* All of the prompt that the file begins with; what the last token says must be known, or it is read again. */
static bool take(const struct prompt_cache_shape *shape, const struct prompt_cache_view *view, struct language_stepper *s,
                 const struct token_list *prompt, unsigned *taken, float **logits, struct orch_error *error)
{
    unsigned same = 0;
    while (same < view->tokens && same < prompt->count && word_at(view->token, same) == prompt->token[same])
        same++;
    if (same == prompt->count && same == view->tokens) {
        *logits = malloc(4 * (size_t)shape->vocabulary);
        if (!*logits)
            return orch_no_memory(error);
        memcpy(*logits, view->logits, 4 * (size_t)shape->vocabulary);
    } else if (same == prompt->count) {
        same--;
    }
    fill(shape, view, s, same);
    *taken = same;
    return true;
}

bool language_cache_take(const char *path, const struct prompt_cache_shape *shape, struct language_stepper *s,
                         const struct token_list *prompt, unsigned *taken, float **logits, struct orch_error *error)
{
    struct prompt_cache_view view;
    uint8_t *bytes = NULL;
    size_t size = 0;
    FILE *const f = fopen(path, "rb");
    *taken = 0;
    *logits = NULL;
    if (!f)
        return errno == ENOENT || orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompt-cache") " %.300s: %s", path, strerror(errno));
    const bool read = file_read_all(f, FILE_MOST, &bytes, &size);
    if (!read)
        orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompt-cache") " %.300s: %s", path, strerror(errno));
    fclose(f);
    const bool ok =
        read && prompt_cache_view(path, bytes, size, shape, &view, error) && take(shape, &view, s, prompt, taken, logits, error);
    free(bytes);
    return ok;
}

/* ---- writing ---- */

struct writer {
    FILE *file;
    uint64_t sum;
};

static void put(struct writer *w, const void *bytes, size_t size)
{
    w->sum = checksum_add(w->sum, bytes, size);
    fwrite(bytes, 1, size, w->file);
}

bool language_cache_save(const char *path, const struct prompt_cache_shape *shape, const struct language_stepper *s,
                         const struct token_list *prompt, const float *logits, struct orch_error *error)
{
    struct prompt_cache_head h = {.model = shape->model,
                                  .layers = shape->layers,
                                  .row = shape->row,
                                  .value_bytes = shape->value_bytes,
                                  .vocabulary = shape->vocabulary,
                                  .tokens = (uint32_t)prompt->count};
    const size_t rows = prompt->count * shape->row * shape->value_bytes;
    struct output_file *const f = output_file_open(path, OUTPUT_PLAIN, error);
    if (!f)
        return false;
    struct writer w = {output_file_stream(f), CHECKSUM_START};
    memcpy(h.magic, PROMPT_CACHE_MAGIC, sizeof h.magic);
    put(&w, &h, sizeof h);
    put(&w, prompt->token, 4 * prompt->count);
    put(&w, logits, 4 * (size_t)shape->vocabulary);
    for (unsigned i = 0; i < shape->layers; i++) {
        put(&w, s->layer[i].keys.host, rows);
        put(&w, s->layer[i].values.host, rows);
    }
    const uint64_t sum = w.sum;
    fwrite(&sum, 1, sizeof sum, w.file);
    return output_file_commit(f, error);
}
