#include "sim/run/network/run_network_schedule_internal.h"

#include "isa/list_grow.h"

#include <stdlib.h>

struct network_schedule *network_schedule_create(void)
{
    return calloc(1, sizeof(struct network_schedule));
}

void network_schedule_free(struct network_schedule *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->items; i++)
        free(s->item[i].after);
    free(s->item);
    free(s->access);
    free(s);
}

/* ---- who waits for whom ---- */

static bool overlap(const struct access *a, const char *at, uint64_t bytes)
{
    return a->at < at + bytes && at < a->at + a->bytes;
}

static bool covers(const char *at, uint64_t bytes, const struct access *a)
{
    return at <= a->at && a->at + a->bytes <= at + bytes;
}

void network_schedule_begin(struct network_schedule *s, const void *at, uint64_t bytes)
{
    size_t kept = 0;
    if (!s || !at)
        return;
    for (size_t i = 0; i < s->accesses; i++)
        if (!overlap(&s->access[i], at, bytes))
            s->access[kept++] = s->access[i];
    s->accesses = kept;
}

static struct item *new_item(struct network_schedule *s, enum orch_part part, size_t placement)
{
    struct item *const grown = list_grow(s->item, s->items, &s->item_room, sizeof *grown);
    if (!grown)
        return NULL;
    s->item = grown;
    grown[s->items] = (struct item){.part = part, .placement = placement, .last = placement, .slice = -1};
    return &grown[s->items++];
}

static bool wait_for(struct item *item, size_t other)
{
    for (size_t i = 0; i < item->afters; i++)
        if (item->after[i] == other)
            return true;
    size_t *const grown = list_grow(item->after, item->afters, &item->after_room, sizeof *grown);
    if (!grown)
        return false;
    item->after = grown;
    grown[item->afters++] = other;
    return true;
}

static bool note_access(struct network_schedule *s, size_t item, const void *at, uint64_t bytes, bool writes)
{
    struct access *const grown = list_grow(s->access, s->accesses, &s->access_room, sizeof *grown);
    if (!grown)
        return false;
    s->access = grown;
    grown[s->accesses++] = (struct access){at, bytes, item, writes};
    return true;
}

/* The item reads there: after who wrote there. A request that goes on does so behind what the host did meanwhile in no time. */
static bool reads(struct network_schedule *s, size_t item, const void *at, uint64_t bytes)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->accesses; i++)
        if (s->access[i].writes && s->access[i].item < item && overlap(&s->access[i], at, bytes))
            ok = wait_for(&s->item[item], s->access[i].item);
    return ok && note_access(s, item, at, bytes, false);
}

/* The item writes there: after who read or wrote there, and who comes later has to wait for it alone. */
static bool writes(struct network_schedule *s, size_t item, const void *at, uint64_t bytes)
{
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; i < s->accesses; i++) {
        const struct access a = s->access[i];
        if (a.item < item && overlap(&a, at, bytes))
            ok = ok && wait_for(&s->item[item], a.item);
        if (!covers(at, bytes, &a))
            s->access[kept++] = a;
    }
    s->accesses = kept;
    return ok && note_access(s, item, at, bytes, true);
}

static bool accesses_of(struct network_schedule *s, size_t item, const struct lowered_step *step)
{
    bool ok = true;
    for (unsigned k = 0; ok && k < step->operands.inputs; k++)
        ok = reads(s, item, step->input[k].data, step->input[k].bytes);
    return ok && writes(s, item, step->operands.result, step->operands.result_bytes);
}

bool network_schedule_add(struct network_schedule *s, enum orch_part part, size_t placement, const struct lowered_step *step)
{
    return !s || (new_item(s, part, placement) && accesses_of(s, s->items - 1, step));
}

bool network_schedule_core(struct network_schedule *s, enum soc_core_choice choice)
{
    if (s)
        s->item[s->items - 1].e_core = s->item[s->items - 1].part == PART_CPU && choice == SOC_E_CORE;
    return true;
}

bool network_schedule_add_to_request(struct network_schedule *s, bool begins, size_t placement, const struct lowered_step *step)
{
    if (!s)
        return true;
    if (begins) {
        if (!new_item(s, PART_ANE, placement))
            return false;
        s->request = s->items - 1;
    }
    s->item[s->request].last = placement;
    return accesses_of(s, s->request, step);
}

bool network_schedule_add_host(struct network_schedule *s, const struct net_node *node, struct net_array *const *in,
                               struct net_array *const *out)
{
    bool ok = !s || new_item(s, PART_COUNT, SIZE_MAX);
    for (size_t k = 0; ok && s && k < node->inputs; k++)
        ok = !in[k] || reads(s, s->items - 1, in[k]->data, net_array_bytes(in[k]));
    for (size_t k = 0; ok && s && k < node->outputs; k++)
        ok = !out[k] || writes(s, s->items - 1, out[k]->data, net_array_bytes(out[k]));
    return ok;
}

void network_schedule_took(struct network_schedule *s, size_t placement, double seconds, const struct activity *a)
{
    for (size_t i = 0; s && i < s->items; i++)
        if (s->item[i].placement == placement) {
            struct item *const item = &s->item[i];
            item->ns = 1e9 * seconds;
            item->slc_bytes = (double)(a->count[ACT_SLC_READ_BYTES] + a->count[ACT_SLC_WRITE_BYTES]);
            item->dram_read_bytes = (double)a->count[ACT_DRAM_READ_BYTES];
            item->dram_written_bytes = (double)a->count[ACT_DRAM_WRITE_BYTES];
        }
}
