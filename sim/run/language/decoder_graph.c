#include "sim/run/language/decoder_graph.h"

#include <stdio.h>
#include <string.h>

static const struct net_value *input_of(const struct net_model *m, size_t k)
{
    return &m->value[m->graph->input[k]];
}

/* "past_key_values.3.key": place of what a layer keeps; DECODER_NOWHERE: another name. */
static size_t place_of(const char *name, const char *before)
{
    const size_t length = strlen(before);
    char kind[8];
    unsigned layer;
    int end = 0;
    if (strncmp(name, before, length) != 0 || sscanf(name + length, ".%u.%7[a-z]%n", &layer, kind, &end) != 2 ||
        name[length + (size_t)end] || layer >= DECODER_LAYERS_MOST)
        return DECODER_NOWHERE;
    return strcmp(kind, "key") == 0 ? 2 * layer : strcmp(kind, "value") == 0 ? 2 * layer + 1 : DECODER_NOWHERE;
}

static bool is_whole(enum net_type type)
{
    return type == NET_I64 || type == NET_I32;
}

/* [batch][heads][past][d], of which heads and d are numbers. */
static bool read_past(const struct net_model *m, struct decoder_graph *g, size_t place, size_t input, struct orch_error *error)
{
    const struct net_value *const v = input_of(m, input);
    const struct net_shape *const s = &v->shape;
    if (!s->known || s->dims != 4 || s->dim[1] < 1 || s->dim[3] < 1 || !net_type_is_float(v->type))
        return orch_fail(error, ORCH_USAGE,
                         "%s: input '%s' is no [batch][heads][past][d] of floating-point numbers with heads and d as numbers",
                         m->path, v->name);
    g->past[place] = input;
    g->heads[place] = s->dim[1];
    g->depth[place] = s->dim[3];
    return true;
}

static bool read_input(const struct net_model *m, struct decoder_graph *g, size_t k, struct orch_error *error)
{
    const struct net_value *const v = input_of(m, k);
    const struct {
        const char *name;
        size_t *place;
    } single[] = {{"input_ids", &g->ids}, {"attention_mask", &g->mask}, {"position_ids", &g->places}};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (strcmp(v->name, single[i].name) == 0) {
            *single[i].place = k;
            return (is_whole(v->type) && v->shape.known && v->shape.dims == 2) ||
                   orch_fail(error, ORCH_USAGE, "%s: input '%s' is no [batch][tokens] of i64 or i32", m->path, v->name);
        }
    if (strcmp(v->name, "use_cache_branch") == 0 && v->type == NET_BOOL) {
        g->branch = k;
        return true;
    }
    const size_t place = place_of(v->name, "past_key_values");
    if (place != DECODER_NOWHERE)
        return read_past(m, g, place, k, error);
    return v->constant ||
           orch_fail(error, ORCH_USAGE,
                     "%s: input '%s' is none of a decoder's (input_ids, attention_mask, position_ids, past_key_values.N.key and "
                     ".value)",
                     m->path, v->name);
}

/* Layers from 0 on without a gap, each with keys and values that come in and go out. */
static bool count_kept(const struct net_model *m, struct decoder_graph *g, struct orch_error *error)
{
    unsigned last = 0;
    for (unsigned i = 0; i < DECODER_KEPT; i++)
        last = g->past[i] != DECODER_NOWHERE ? i + 1 : last;
    g->kept = (last + 1) / 2 * 2;
    for (unsigned i = 0; i < g->kept; i++) {
        const char *const kind = i % 2 ? "value" : "key";
        if (g->past[i] == DECODER_NOWHERE)
            return orch_fail(error, ORCH_USAGE, "%s: there is no input 'past_key_values.%u.%s', but one of layer %u", m->path,
                             i / 2, kind, g->kept / 2 - 1);
        if (g->present[i] == DECODER_NOWHERE)
            return orch_fail(error, ORCH_USAGE, "%s: there is no output 'present.%u.%s' for the input 'past_key_values.%u.%s'",
                             m->path, i / 2, kind, i / 2, kind);
        if (g->heads[i] != g->heads[0] || input_of(m, g->past[i])->type != input_of(m, g->past[0])->type)
            return orch_fail(error, ORCH_USAGE,
                             "%s: input 'past_key_values.%u.%s' has other heads or another type than 'past_key_values.0.key'",
                             m->path, i / 2, kind);
    }
    return true;
}

bool decoder_graph_read(const struct net_model *m, struct decoder_graph *g, struct orch_error *error)
{
    g->ids = g->mask = g->places = g->branch = g->logits = DECODER_NOWHERE;
    g->kept = 0;
    for (unsigned i = 0; i < DECODER_KEPT; i++)
        g->past[i] = g->present[i] = DECODER_NOWHERE;
    for (size_t k = 0; k < m->graph->inputs; k++)
        if (!read_input(m, g, k, error))
            return false;
    for (size_t k = 0; k < m->graph->outputs; k++) {
        const size_t place = place_of(m->output_name[k], "present");
        if (place != DECODER_NOWHERE)
            g->present[place] = k;
        if (strcmp(m->output_name[k], "logits") == 0)
            g->logits = k;
    }
    if (g->ids == DECODER_NOWHERE)
        return orch_fail(error, ORCH_USAGE, "%s: there is no input 'input_ids', so that it is no decoder of tokens", m->path);
    if (g->logits == DECODER_NOWHERE)
        return orch_fail(error, ORCH_USAGE, "%s: there is no output 'logits', so that it is no decoder of tokens", m->path);
    return count_kept(m, g, error);
}

/* [1][count] whole numbers. */
static struct net_array *numbers(const struct net_model *m, size_t input, size_t count, struct orch_error *error)
{
    return net_array_new(input_of(m, input)->type, (const int64_t[]){1, (int64_t)count}, 2, error);
}

static void put(struct net_array *a, size_t i, int64_t value)
{
    if (a->type == NET_I64)
        ((int64_t *)a->data)[i] = value;
    else
        ((int32_t *)a->data)[i] = (int32_t)value;
}

/* The past of a step, or one of no tokens. */
static struct net_array *past_of(const struct net_model *m, const struct decoder_graph *g, unsigned i, struct net_array *kept,
                                 struct orch_error *error)
{
    const int64_t nothing[] = {1, g->heads[i], 0, g->depth[i]};
    return kept ? net_array_retain(kept) : net_array_new(input_of(m, g->past[i])->type, nothing, 4, error);
}

static bool branch_of(const struct decoder_graph *g, size_t past, struct net_array **input, struct orch_error *error)
{
    if (g->branch == DECODER_NOWHERE)
        return true;
    input[g->branch] = net_array_new(NET_BOOL, (const int64_t[]){1}, 1, error);
    if (input[g->branch])
        *(uint8_t *)input[g->branch]->data = past > 0;
    return input[g->branch] != NULL;
}

bool decoder_graph_inputs(const struct net_model *m, const struct decoder_graph *g, const uint32_t *token, size_t count,
                          size_t past, struct net_array *const *kept, struct net_array **input, struct orch_error *error)
{
    struct net_array *const ids = input[g->ids] = numbers(m, g->ids, count, error);
    bool ok = ids && branch_of(g, past, input, error);
    for (size_t i = 0; ok && i < count; i++)
        put(ids, i, token[i]);
    if (ok && g->mask != DECODER_NOWHERE) {
        ok = (input[g->mask] = numbers(m, g->mask, past + count, error)) != NULL;
        for (size_t i = 0; ok && i < past + count; i++)
            put(input[g->mask], i, 1);
    }
    if (ok && g->places != DECODER_NOWHERE) {
        ok = (input[g->places] = numbers(m, g->places, count, error)) != NULL;
        for (size_t i = 0; ok && i < count; i++)
            put(input[g->places], i, (int64_t)(past + i));
    }
    for (unsigned i = 0; ok && i < g->kept; i++)
        ok = (input[g->past[i]] = past_of(m, g, i, kept[i], error)) != NULL;
    return ok;
}
