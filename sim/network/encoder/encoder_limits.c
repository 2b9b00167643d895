#include "sim/network/encoder/encoder.h"

#include "isa/array_count.h"

#include <string.h>

/* The constant under one of several names. */
static net_id constant_named(const struct net_model *model, const char *const *names, size_t count)
{
    for (size_t i = 0; i < model->values; i++)
        for (size_t k = 0; model->value[i].constant && k < count; k++)
            if (strcmp(model->value[i].name, names[k]) == 0)
                return (net_id)i;
    return NET_NONE;
}

struct encoder_limits encoder_limits_of(const struct net_model *model)
{
    static const char *const tables[] = {"embeddings.word_embeddings.weight", "token_embd.weight"};
    static const char *const rows[] = {"embeddings.position_embeddings.weight", "position_embd.weight", ENCODER_COSINES,
                                       ENCODER_DISTANCES};
    const net_id words = constant_named(model, tables, ARRAY_COUNT(tables)),
                 places = constant_named(model, rows, ARRAY_COUNT(rows));
    struct encoder_limits most = {UINT64_MAX, UINT64_MAX};
    if (words == NET_NONE || places == NET_NONE)
        return most;
    most.words = (uint64_t)model->value[words].constant->shape[0];
    for (size_t k = 0; k < model->graph->nodes; k++) { /* the slice of places begins behind those that no text has */
        const struct net_node *const node = model->graph->node[k];
        const struct net_array *const first =
            node->inputs > 1 && node->input[0] == places ? model->value[node->input[1]].constant : NULL;
        if (first)
            most.tokens = (uint64_t)(model->value[places].constant->shape[0] - net_array_integer(first, 0));
    }
    return most;
}

bool encoder_pools(const struct net_model *model)
{
    for (size_t k = 0; k < model->output_names; k++)
        if (strcmp(model->output_name[k], ENCODER_EMBEDDING) == 0)
            return true;
    return false;
}
