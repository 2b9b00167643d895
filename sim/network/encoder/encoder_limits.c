#include "sim/network/encoder/encoder.h"

#include <string.h>

static net_id constant_named(const struct net_model *model, const char *name)
{
    for (size_t i = 0; i < model->values; i++)
        if (model->value[i].constant && strcmp(model->value[i].name, name) == 0)
            return (net_id)i;
    return NET_NONE;
}

struct encoder_limits encoder_limits_of(const struct net_model *model)
{
    const net_id words = constant_named(model, ENCODER_WORDS ".weight"), places = constant_named(model, ENCODER_PLACES ".weight");
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
