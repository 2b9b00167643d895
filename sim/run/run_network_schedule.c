#include "sim/run/run_network_schedule.h"

#include "isa/list_grow.h"
#include "sim/chip/chip_units.h"
#include "sim/soc/dram_share.h"
#include "sim/soc/slices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel, or what the host does between kernels. */
struct item {
    enum orch_part part;
    size_t placement; /* SIZE_MAX = the host */
    size_t *after, afters, after_room;
    double ns, rank_ns; /* alone; from its beginning to the end of everything that waits for it */
    double slc_bytes, dram_read_bytes, dram_written_bytes;
    unsigned buffer; /* of the GPU: its command buffer, from 0 on */
    bool leaves;     /* of the GPU: others wait for it, so that its command buffer ends behind it */
    int slice;
};

/* Memory that an item reads or writes. */
struct access {
    const char *at;
    uint64_t bytes;
    size_t item;
    bool writes;
};

struct network_schedule {
    struct item *item;
    size_t items, item_room;
    struct access *access;
    size_t accesses, access_room;
};

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
    grown[s->items] = (struct item){.part = part, .placement = placement, .slice = -1};
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

static bool note_access(struct network_schedule *s, const void *at, uint64_t bytes, bool writes)
{
    struct access *const grown = list_grow(s->access, s->accesses, &s->access_room, sizeof *grown);
    if (!grown)
        return false;
    s->access = grown;
    grown[s->accesses++] = (struct access){at, bytes, s->items - 1, writes};
    return true;
}

/* The latest item reads there: after who wrote there. */
static bool reads(struct network_schedule *s, const void *at, uint64_t bytes)
{
    struct item *const item = &s->item[s->items - 1];
    bool ok = true;
    for (size_t i = 0; ok && i < s->accesses; i++)
        if (s->access[i].writes && s->access[i].item != s->items - 1 && overlap(&s->access[i], at, bytes))
            ok = wait_for(item, s->access[i].item);
    return ok && note_access(s, at, bytes, false);
}

/* The latest item writes there: after who read or wrote there, and who comes later has to wait for it alone. */
static bool writes(struct network_schedule *s, const void *at, uint64_t bytes)
{
    struct item *const item = &s->item[s->items - 1];
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; i < s->accesses; i++) {
        const struct access a = s->access[i];
        if (a.item != s->items - 1 && overlap(&a, at, bytes))
            ok = ok && wait_for(item, a.item);
        if (!covers(at, bytes, &a))
            s->access[kept++] = a;
    }
    s->accesses = kept;
    return ok && note_access(s, at, bytes, true);
}

bool network_schedule_add(struct network_schedule *s, enum orch_part part, size_t placement, const struct lowered_step *step)
{
    bool ok = !s || new_item(s, part, placement);
    for (unsigned k = 0; ok && s && k < step->operands.inputs; k++)
        ok = reads(s, step->input[k].data, step->input[k].bytes);
    return ok && (!s || writes(s, step->operands.result, step->operands.result_bytes));
}

bool network_schedule_add_host(struct network_schedule *s, const struct net_node *node, struct net_array *const *in,
                               struct net_array *const *out)
{
    bool ok = !s || new_item(s, PART_COUNT, SIZE_MAX);
    for (size_t k = 0; ok && s && k < node->inputs; k++)
        ok = !in[k] || reads(s, in[k]->data, net_array_bytes(in[k]));
    for (size_t k = 0; ok && s && k < node->outputs; k++)
        ok = !out[k] || writes(s, out[k]->data, net_array_bytes(out[k]));
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

/* ---- the order ---- */

/* What the GPU's command buffers cost before and behind, as the chip has it. */
struct hand_over {
    double submit_ns, complete_ns;
};

static struct hand_over hand_over_of(const struct run_network *n)
{
    struct gpu_params gpu;
    if (!chip_gpu_params(n->request->chip, &gpu, NULL))
        return (struct hand_over){0, 0};
    return (struct hand_over){1e3 * gpu.submit_us, 1e3 * gpu.round_trip_us};
}

static double between(const struct hand_over *h, const struct item *from, const struct item *to)
{
    const bool leaves = from->part == PART_GPU && to->part != PART_GPU, enters = to->part == PART_GPU && from->part != PART_GPU;
    return leaves ? h->complete_ns : enters ? h->submit_ns : 0;
}

static double rank_all(struct network_schedule *s, const struct hand_over *h)
{
    double longest = 0;
    for (size_t i = s->items; i-- > 0;) {
        struct item *const item = &s->item[i];
        item->rank_ns += item->ns; /* so far what waits for it */
        longest = fmax(longest, item->rank_ns);
        for (size_t k = 0; k < item->afters; k++) {
            struct item *const before = &s->item[item->after[k]];
            before->rank_ns = fmax(before->rank_ns, item->rank_ns + between(h, before, item));
            before->leaves |= item->part != PART_GPU;
        }
    }
    return longest;
}

struct place {
    double rank_ns;
    size_t item;
};

static int by_rank(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;
    return x->rank_ns > y->rank_ns ? -1 : x->rank_ns < y->rank_ns ? 1 : x->item < y->item ? -1 : 1;
}

/* Items with the longest way to the end first, which never puts one before what it waits for. */
static struct place *in_order(const struct network_schedule *s)
{
    struct place *const order = calloc(s->items + 1, sizeof *order);
    for (size_t i = 0; order && i < s->items; i++)
        order[i] = (struct place){s->item[i].rank_ns, i};
    if (order)
        qsort(order, s->items, sizeof *order, by_rank);
    return order;
}

/* ---- slices ---- */

enum { SLC, DRAM, RESOURCES };
/* Queues: one kernel of cores, of an AMX block, of the GPU at a time. */
static int queue_of(const struct item *item)
{
    return item->part == PART_COUNT ? SLICES_NO_QUEUE : (int)item->part;
}

/* Command buffers: what each waited for before it was submitted, and when it completed. */
struct buffer {
    int submitted, latest, completed; /* slices; -1 = none */
    bool open;
};

struct builder {
    struct network_schedule *s;
    struct hand_over cost;
    struct dram_share share;
    double capacity[RESOURCES];
    struct slices *slices;
    struct buffer *buffer;
    size_t buffers, room;
    int *after; /* slices that the one to be added waits for */
    size_t afters;
    bool *encoded; /* by item: the open buffer's submission came behind it */
};

static int add_wait(struct builder *b, double ns, const char *name)
{
    const struct slice wait = {.name = name, .queue = SLICES_NO_QUEUE, .alone_ns = ns};
    return slices_add(b->slices, &wait, b->after, b->afters);
}

/* The slice that says when what a GPU kernel computed can be read by others. */
static int completion(struct builder *b, struct buffer *buffer)
{
    if (buffer->completed >= 0)
        return buffer->completed;
    const int latest = buffer->latest;
    const struct slice wait = {.name = "completion", .queue = SLICES_NO_QUEUE, .alone_ns = b->cost.complete_ns};
    buffer->open = false;
    return buffer->completed = slices_add(b->slices, &wait, &latest, 1);
}

/* Of an item that is not the GPU's. */
static bool add_others(struct builder *b, const struct item *item)
{
    b->afters = 0;
    for (size_t k = 0; k < item->afters; k++) {
        const struct item *const before = &b->s->item[item->after[k]];
        const int slice = before->part == PART_GPU ? completion(b, &b->buffer[before->buffer]) : before->slice;
        if (slice < 0)
            return false;
        b->after[b->afters++] = slice;
    }
    return true;
}

static bool new_buffer(struct builder *b, const struct item *item)
{
    struct buffer *const grown = list_grow(b->buffer, b->buffers, &b->room, sizeof *grown);
    if (!grown)
        return false;
    b->buffer = grown;
    if (b->buffers)
        grown[b->buffers - 1].open = false;
    b->afters = 0;
    memset(b->encoded, 0, b->s->items * sizeof *b->encoded);
    for (size_t k = 0; k < item->afters; k++)
        if (b->s->item[item->after[k]].part != PART_GPU) {
            b->after[b->afters++] = b->s->item[item->after[k]].slice;
            b->encoded[item->after[k]] = true;
        }
    const int submitted = add_wait(b, b->cost.submit_ns, "submission");
    grown[b->buffers++] = (struct buffer){.submitted = submitted, .latest = -1, .completed = -1, .open = true};
    return submitted >= 0;
}

static bool add_gpu(struct builder *b, struct item *item)
{
    bool goes_on = b->buffers > 0 && b->buffer[b->buffers - 1].open;
    for (size_t k = 0; goes_on && k < item->afters; k++)
        goes_on = b->s->item[item->after[k]].part == PART_GPU || b->encoded[item->after[k]];
    if (!goes_on && !new_buffer(b, item))
        return false;
    item->buffer = (unsigned)b->buffers - 1;
    b->after[0] = b->buffer[item->buffer].submitted;
    b->afters = 1;
    for (size_t k = 0; k < item->afters; k++)
        if (b->s->item[item->after[k]].part == PART_GPU)
            b->after[b->afters++] = b->s->item[item->after[k]].slice;
    return true;
}

static bool add_item(struct builder *b, struct item *item)
{
    const double dram = dram_share_bytes(&b->share, item->dram_read_bytes, item->dram_written_bytes);
    /* With bursts a mean rate may come out above the capacity, although that sufficed when alone. */
    const double bytes[RESOURCES] = {
        [SLC] = fmin(item->slc_bytes, item->ns * b->capacity[SLC]), [DRAM] = fmin(dram, item->ns * b->capacity[DRAM])};
    if (!(item->part == PART_GPU ? add_gpu(b, item) : add_others(b, item)))
        return false;
    const struct slice slice = {.name = "kernel", .queue = queue_of(item), .alone_ns = item->ns, .bytes = bytes, .requesters = 1};
    item->slice = slices_add(b->slices, &slice, b->after, b->afters);
    if (item->part == PART_GPU) {
        b->buffer[item->buffer].latest = item->slice;
        b->buffer[item->buffer].open = !item->leaves;
    }
    return item->slice >= 0;
}

static bool build(struct builder *b, const struct place *order)
{
    bool ok = true;
    for (size_t i = 0; ok && i < b->s->items; i++)
        ok = add_item(b, &b->s->item[order[i].item]);
    for (size_t i = 0; ok && i < b->buffers; i++)
        ok = completion(b, &b->buffer[i]) >= 0;
    return ok;
}

static bool open_builder(struct builder *b, const struct run_network *n, struct network_schedule *s, struct orch_error *error)
{
    struct mem_params memory;
    *b = (struct builder){.s = s, .cost = hand_over_of(n)};
    if (!chip_mem_params(n->request->chip, NULL, &memory, error))
        return false;
    const double dies = memory.dies;
    const struct fair_resource resource[RESOURCES] = {
        [SLC] = {"slc", memory.slc.kib ? dies * memory.slc_gbps : INFINITY, FAIR_LINE_BYTES},
        [DRAM] = {"dram", dies * memory.dram_peak_gbps, FAIR_LINE_BYTES}};
    b->share = dram_share_of(&memory);
    for (unsigned j = 0; j < RESOURCES; j++)
        b->capacity[j] = resource[j].capacity_gbps;
    b->slices = slices_create(resource, RESOURCES);
    b->after = calloc(s->items + 2, sizeof *b->after);
    b->encoded = calloc(s->items + 1, sizeof *b->encoded);
    return (b->slices && b->after && b->encoded) || orch_no_memory(error);
}

/* ---- what came of it ---- */

static int by_begin(const void *a, const void *b)
{
    const struct slice_outcome *const *const x = a, *const *const y = b;
    return (*x)->start_ns < (*y)->start_ns ? -1 : (*x)->start_ns > (*y)->start_ns;
}

/* The time in which some kernel runs. */
static bool read_busy(const struct builder *b, struct network_scheduled *r)
{
    const struct slice_outcome **const kernel = calloc(b->s->items + 1, sizeof(*kernel));
    size_t count = 0;
    double until = 0;
    for (size_t i = 0; kernel && i < b->s->items; i++)
        if (b->s->item[i].ns > 0)
            kernel[count++] = slices_outcome(b->slices, b->s->item[i].slice);
    if (kernel)
        qsort(kernel, count, sizeof(*kernel), by_begin);
    for (size_t i = 0; i < count; i++) {
        r->busy_ns += fmax(0, kernel[i]->end_ns - fmax(until, kernel[i]->start_ns));
        until = fmax(until, kernel[i]->end_ns);
    }
    free(kernel);
    return kernel != NULL;
}

static bool tell_kernel(const struct builder *b, const struct item *item, struct run_network *n, struct network_scheduled *r)
{
    const struct slice_outcome *const o = slices_outcome(b->slices, item->slice);
    char name[60];
    for (unsigned j = 0; j < RESOURCES; j++)
        r->lost_ns += o->lost_ns[j];
    if (item->placement == SIZE_MAX)
        return true;
    snprintf(name, sizeof name, RUN_NETWORK_BEGIN, item->placement + 1);
    if (!run_values_set(&n->result->counters, name, 1e-9 * o->start_ns))
        return false;
    snprintf(name, sizeof name, RUN_NETWORK_SECONDS, item->placement + 1);
    return run_values_set(&n->result->counters, name, 1e-9 * (o->end_ns - o->start_ns));
}

bool network_schedule_run(struct network_schedule *s, struct run_network *n, struct network_scheduled *r,
                          struct orch_error *error)
{
    struct builder b;
    *r = (struct network_scheduled){0};
    bool ok = open_builder(&b, n, s, error);
    r->chain_ns = ok ? rank_all(s, &b.cost) : 0;
    struct place *const order = in_order(s);
    ok = ok && ((order && build(&b, order)) || orch_no_memory(error)) && slices_run(b.slices, NULL, NULL, &r->end_ns, error);
    for (size_t i = 0; ok && i < s->items; i++)
        ok = tell_kernel(&b, &s->item[i], n, r) || orch_no_memory(error);
    ok = ok && (read_busy(&b, r) || orch_no_memory(error));
    r->command_buffers = (unsigned)b.buffers;
    free(order);
    slices_free(b.slices);
    free(b.buffer);
    free(b.after);
    free(b.encoded);
    return ok;
}
