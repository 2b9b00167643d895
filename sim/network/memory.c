#include "sim/network/memory.h"

#include "isa/rounding.h"
#include "sim/network/cost.h"
#include "sim/network/graph/uses.h"

#include <stdlib.h>
#include <string.h>

static bool is_view(const struct net_node *node)
{
    static const char *const views[] = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Dropout"};
    for (size_t k = 0; !*node->domain && k < sizeof views / sizeof *views; k++)
        if (strcmp(node->op, views[k]) == 0)
            return true;
    return false;
}

/* ---- lives ---- */

static void begin(const struct net_model *model, struct net_memory *memory, net_id id, net_id root, size_t at)
{
    struct net_placement *const p = &memory->of[id];
    uint64_t bytes;
    if (id == NET_NONE || model->value[id].constant)
        return;
    if (!net_value_bytes(model, id, &bytes)) {
        memory->unknown++;
        return;
    }
    *p = (struct net_placement){.placed = true, .root = root, .bytes = bytes, .first = at, .last = at};
}

struct ending {
    struct net_memory *memory;
    size_t at;
};

static void end(const struct ending *e, net_id id)
{
    struct net_placement *const p = id == NET_NONE ? NULL : &e->memory->of[id];
    if (p && p->placed && e->memory->of[p->root].last < e->at)
        e->memory->of[p->root].last = e->at;
}

static void end_graph(struct net_graph *graph, void *context)
{
    for (size_t i = 0; i < graph->nodes; i++) {
        for (size_t k = 0; k < graph->node[i]->inputs; k++)
            end(context, graph->node[i]->input[k]);
        net_subgraphs(graph->node[i], end_graph, context);
    }
    for (size_t k = 0; k < graph->outputs; k++)
        end(context, graph->output[k]);
}

static void find_lives(const struct net_model *model, struct net_memory *memory)
{
    const struct net_graph *const graph = model->graph;
    struct ending e = {memory, 0};
    for (size_t k = 0; k < graph->inputs; k++)
        begin(model, memory, graph->input[k], graph->input[k], 0);
    for (e.at = 0; e.at < graph->nodes; e.at++) {
        const struct net_node *const node = graph->node[e.at];
        const net_id from = net_input(node, 0);
        for (size_t k = 0; k < node->outputs; k++) {
            const bool view = k == 0 && is_view(node) && from != NET_NONE && memory->of[from].placed;
            if (node->output[k] != NET_NONE)
                begin(model, memory, node->output[k], view ? memory->of[from].root : node->output[k], e.at);
        }
        for (size_t k = 0; k < node->inputs; k++)
            end(&e, node->input[k]);
        net_subgraphs(node, end_graph, &e);
    }
    for (size_t k = 0; k < graph->outputs; k++)
        end(&e, graph->output[k]);
}

/* ---- places ---- */

struct piece {
    uint64_t bytes;
    net_id id;
};

static int by_size(const void *a, const void *b)
{
    const struct piece *const x = a, *const y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : (x->id > y->id) - (x->id < y->id);
}

static bool together(const struct net_placement *a, const struct net_placement *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The lowest place that is free as long as it lives: just behind one of those that are there, or 0. */
static uint64_t lowest_place(const struct net_memory *memory, const struct piece *piece, size_t placed,
                             const struct net_placement *p)
{
    uint64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t k = 0; k < placed; k++) {
            const struct net_placement *const q = &memory->of[piece[k].id];
            const uint64_t behind = q->offset_bytes + round_up(q->bytes, NET_MEMORY_ALIGN_BYTES);
            if (together(p, q) && at < behind && q->offset_bytes < at + p->bytes) {
                at = behind;
                moved = true;
            }
        }
    }
    return at;
}

/* Large ones first, each as low as possible. */
static void place_all(struct net_memory *memory, struct piece *piece, size_t count)
{
    qsort(piece, count, sizeof *piece, by_size);
    for (size_t k = 0; k < count; k++) {
        struct net_placement *const p = &memory->of[piece[k].id];
        p->offset_bytes = lowest_place(memory, piece, k, p);
        if (p->offset_bytes + p->bytes > memory->peak_bytes)
            memory->peak_bytes = p->offset_bytes + p->bytes;
        memory->sum_bytes += p->bytes;
    }
}

static void find_floor(struct net_memory *memory, const struct piece *piece, size_t count, size_t nodes)
{
    for (size_t at = 0; at <= nodes; at++) {
        uint64_t alive = 0;
        for (size_t k = 0; k < count; k++) {
            const struct net_placement *const p = &memory->of[piece[k].id];
            alive += p->first <= at && at <= p->last ? p->bytes : 0;
        }
        memory->floor_bytes = alive > memory->floor_bytes ? alive : memory->floor_bytes;
    }
}

bool net_memory_plan(const struct net_model *model, struct net_memory *memory, struct orch_error *error)
{
    *memory = (struct net_memory){.of = calloc(model->values + 1, sizeof *memory->of)};
    struct piece *const piece = calloc(model->values + 1, sizeof *piece);
    size_t count = 0;
    if (!memory->of || !piece) {
        free(piece);
        net_memory_free(memory);
        return orch_no_memory(error);
    }
    find_lives(model, memory);
    for (size_t id = 0; id < model->values; id++)
        if (memory->of[id].placed && memory->of[id].root == id)
            piece[count++] = (struct piece){memory->of[id].bytes, (net_id)id};
    place_all(memory, piece, count);
    find_floor(memory, piece, count, model->graph->nodes);
    for (size_t id = 0; id < model->values; id++)
        if (memory->of[id].placed)
            memory->of[id].offset_bytes = memory->of[memory->of[id].root].offset_bytes;
    free(piece);
    return true;
}

void net_memory_free(struct net_memory *memory)
{
    free(memory->of);
    memory->of = NULL;
}
