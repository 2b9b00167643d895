#include "sim/network/encoder/encoder_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool encoder_find_prefix(struct encoder *e)
{
    char words[ENCODER_NAME_BYTES];
    const size_t length = (size_t)snprintf(words, sizeof words, "%s.weight", e->config.family->names->words);
    for (size_t i = 0; i < e->list->count; i++) {
        const char *const name = e->list->tensor[i].name, *const at = strstr(name, words);
        if (!at || at[length] || (size_t)(at - name) >= sizeof e->prefix || (at > name && at[-1] != '.'))
            continue;
        memcpy(e->prefix, name, (size_t)(at - name));
        return true;
    }
    return orch_fail(e->error, ORCH_USAGE, "there is no tensor '%s'", words);
}

const struct weight_tensor *encoder_find(struct encoder *e, const char *stem, const char *end)
{
    char full[2 * ENCODER_NAME_BYTES + sizeof e->prefix];
    snprintf(full, sizeof full, "%s%s.%s", e->prefix, stem, end);
    const struct weight_tensor *const t = weight_find(e->list, full);
    if (t)
        e->used[t - e->list->tensor] = true;
    return t;
}

static net_id refuse(struct encoder *e, const struct encoder_part *p, const char *what)
{
    if (!e->error->exit_code)
        orch_fail(e->error, ORCH_USAGE, "tensor '%s%s.%s': %s", e->prefix, p->stem, p->end, what);
    e->starved = true;
    return NET_NONE;
}

static bool read_rows(const struct weight_tensor *t, const struct encoder_part *p, float *to)
{
    for (unsigned y = 0; y < p->rows; y++)
        weight_row(t, p->first + y, to + (size_t)y * p->columns);
    return true;
}

/* Numbers of a list. */
static bool read_list(const struct weight_tensor *t, const struct encoder_part *p, float *to)
{
    float *const all = malloc(sizeof *all * t->shape[0]);
    if (!all)
        return false;
    weight_row(t, 0, all);
    memcpy(to, all + p->first, sizeof *to * p->columns);
    free(all);
    return true;
}

/* Some rows at a time, so that what is written lies together. */
static bool read_turned(const struct weight_tensor *t, const struct encoder_part *p, float *to)
{
    enum { TOGETHER = 16 };
    const unsigned rows = p->rows, columns = p->columns;
    float *const row = malloc(sizeof *row * columns * TOGETHER);
    for (unsigned y = 0; row && y < rows; y += TOGETHER) {
        const unsigned some = rows - y < TOGETHER ? rows - y : TOGETHER;
        for (unsigned k = 0; k < some; k++)
            weight_row(t, p->first + y + k, row + (size_t)k * columns);
        for (unsigned x = 0; x < columns; x++)
            for (unsigned k = 0; k < some; k++)
                to[(size_t)x * rows + y + k] = row[(size_t)k * columns + x];
    }
    free(row);
    return row != NULL;
}

/* A matrix of one row may be written as a list. */
static bool has_shape(const struct weight_tensor *t, const struct encoder_part *p)
{
    const uint64_t rows = p->rows ? p->whole ? p->whole : p->rows : 1, columns = !p->rows && p->whole ? p->whole : p->columns;
    return t->shape[0] == columns && t->count == rows * columns && (p->rows ? t->dims == 2 || rows == 1 : t->dims == 1);
}

net_id encoder_constant(struct encoder *e, const struct encoder_part *p)
{
    char name[2 * ENCODER_NAME_BYTES];
    const struct weight_tensor *t = encoder_find(e, p->stem, p->end);
    if (!t && p->old_end)
        t = encoder_find(e, p->stem, p->old_end);
    if (!t)
        return refuse(e, p, "is missing");
    if (!has_shape(t, p))
        return refuse(e, p, "has another shape than the model is said to have");
    if (!t->format->decode)
        return refuse(e, p, "is of a type that is not read");
    const int64_t shape[2] = {p->turns || !p->rows ? p->columns : p->rows, p->turns ? p->rows : p->columns};
    struct net_array *const a = net_array_new(NET_F32, shape, p->rows ? 2 : 1, e->error);
    e->starved |= !a || !(p->turns ? read_turned : p->rows ? read_rows : read_list)(t, p, a->data);
    snprintf(name, sizeof name, p->first ? "%s.%s.%u" : "%s.%s", p->stem, p->end, p->first);
    return net_constant_add(e->model, name, a);
}

bool encoder_all_used(struct encoder *e)
{
    static const char *const heads[] = {"cls.", "lm_head.", "classifier.", "pre_classifier.", "qa_outputs.", "vocab_"};
    for (size_t i = 0; i < e->list->count; i++) {
        const char *const name = e->list->tensor[i].name, *const dot = strrchr(name, '.');
        bool known = e->used[i] || (dot && (strcmp(dot, ".position_ids") == 0 || strcmp(dot, ".token_type_ids") == 0));
        for (size_t k = 0; !known && k < sizeof heads / sizeof *heads; k++)
            known = strncmp(name, heads[k], strlen(heads[k])) == 0;
        if (!known)
            return orch_fail(e->error, ORCH_UNMODELLED, "tensor '%.120s' is none of such an encoder", name);
    }
    return true;
}
