#include "sim/run/network/run_network_schedule_internal.h"

#include "isa/list_grow.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_slices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order ---- */

/* What the GPU's command buffers cost before and behind, as the chip has it, and requests to the Neural Engine. */
struct hand_over {
    double submit_ns, complete_ns, request_ns;
};

static struct hand_over hand_over_of(const struct run_network *n)
{
    struct gpu_params gpu;
    if (!chip_gpu_params(n->request->chip, &gpu, NULL))
        return (struct hand_over){0, 0, n->request_ns};
    return (struct hand_over){1e3 * gpu.submit_us, 1e3 * gpu.round_trip_us, n->request_ns};
}

static double between(const struct hand_over *h, const struct item *from, const struct item *to)
{
    const bool leaves = from->part == PART_GPU && to->part != PART_GPU, enters = to->part == PART_GPU && from->part != PART_GPU;
    const double request = to->part == PART_ANE ? h->request_ns : 0;
    return request + (leaves ? h->complete_ns : enters ? h->submit_ns : 0);
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

/* Queues: one kernel of a P core, of an E core, of an AMX block, of the GPU, one request to the Neural Engine at a time. */
static int queue_of(const struct item *item)
{
    return item->part == PART_COUNT ? SLICES_NO_QUEUE : item->e_core ? PART_COUNT : (int)item->part;
}

/* Command buffers: what each waited for before it was submitted, and when it completed. */
struct buffer {
    int submitted, latest, completed; /* slices; -1 = none */
    bool open;
};

struct builder {
    struct network_schedule *s;
    struct hand_over cost;
    struct run_slices memory;
    struct buffer *buffer;
    size_t buffers, room;
    int *after; /* slices that the one to be added waits for */
    size_t afters;
    bool *encoded; /* by item: the open buffer's submission came behind it */
};

static int add_wait(struct builder *b, double ns, const char *name)
{
    return run_slices_wait(&b->memory, name, ns, b->after, b->afters);
}

/* The slice that says when what a GPU kernel computed can be read by others. */
static int completion(struct builder *b, struct buffer *buffer)
{
    if (buffer->completed >= 0)
        return buffer->completed;
    const int latest = buffer->latest;
    buffer->open = false;
    return buffer->completed = run_slices_wait(&b->memory, "completion", b->cost.complete_ns, &latest, 1);
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
    if (item->part != PART_ANE)
        return true;
    b->after[0] = add_wait(b, b->cost.request_ns, "request");
    b->afters = 1;
    return b->after[0] >= 0;
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
    const struct run_piece piece = {item->ns, item->slc_bytes, item->dram_read_bytes, item->dram_written_bytes};
    if (!(item->part == PART_GPU ? add_gpu(b, item) : add_others(b, item)))
        return false;
    item->slice = run_slices_add(&b->memory, &piece, queue_of(item), b->after, b->afters);
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
    *b = (struct builder){.s = s, .cost = hand_over_of(n)};
    if (!run_slices_open(&b->memory, n->request->chip, error))
        return false;
    b->after = calloc(s->items + 2, sizeof *b->after);
    b->encoded = calloc(s->items + 1, sizeof *b->encoded);
    return (b->after && b->encoded) || orch_no_memory(error);
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
            kernel[count++] = slices_outcome(b->memory.slices, b->s->item[i].slice);
    if (kernel)
        qsort(kernel, count, sizeof(*kernel), by_begin);
    for (size_t i = 0; i < count; i++) {
        r->busy_ns += fmax(0, kernel[i]->end_ns - fmax(until, kernel[i]->start_ns));
        until = fmax(until, kernel[i]->end_ns);
    }
    free(kernel);
    return kernel != NULL;
}

/* Kernels of a request follow one another, all of them as much slower as the whole. */
static bool tell_request(const struct item *item, const struct slice_outcome *o, struct run_network *n)
{
    const double slower = item->ns > 0 ? (o->end_ns - o->start_ns) / item->ns : 1;
    double at_s = 1e-9 * o->start_ns;
    bool ok = true;
    for (size_t line = item->placement; ok && line <= item->last; line++) {
        char name[60], begin[60];
        snprintf(name, sizeof name, RUN_NETWORK_SECONDS, line + 1);
        snprintf(begin, sizeof begin, RUN_NETWORK_BEGIN, line + 1);
        const double seconds = slower * run_values_get(&n->result->counters, name);
        if (isnan(seconds))
            continue;
        ok = run_values_set(&n->result->counters, begin, at_s) && run_values_set(&n->result->counters, name, seconds);
        at_s += seconds;
    }
    return ok;
}

static bool tell_kernel(const struct builder *b, const struct item *item, struct run_network *n, struct network_scheduled *r)
{
    const struct slice_outcome *const o = slices_outcome(b->memory.slices, item->slice);
    char name[60];
    for (unsigned j = 0; j < RUN_SHARED; j++)
        r->lost_ns += o->lost_ns[j];
    if (item->placement == SIZE_MAX)
        return true;
    if (item->part == PART_ANE)
        return tell_request(item, o, n);
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
    ok = ok && ((order && build(&b, order)) || orch_no_memory(error)) &&
         slices_run(b.memory.slices, NULL, NULL, &r->end_ns, error);
    for (size_t i = 0; ok && i < s->items; i++)
        ok = tell_kernel(&b, &s->item[i], n, r) || orch_no_memory(error);
    ok = ok && (read_busy(&b, r) || orch_no_memory(error));
    r->command_buffers = (unsigned)b.buffers;
    free(order);
    run_slices_close(&b.memory);
    free(b.buffer);
    free(b.after);
    free(b.encoded);
    return ok;
}
