/* Decides whose time it is: operators contain operators, host calls launch work on the device, and that work belongs to an
 * operator. */
#include "sim/trace/import_pytorch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- who contains whom ---- */

static int by_place(const void *a, const void *b)
{
    const struct host_op *const x = a, *const y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return x->dur > y->dur ? -1 : x->dur < y->dur;
}

static int by_correlation(const void *a, const void *b)
{
    const struct runtime_call *const x = a, *const y = b;
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

static int by_time(const void *a, const void *b)
{
    const struct device_event *const x = a, *const y = b;
    return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static void find_parents(struct pytorch_profile *p)
{
    p->host_ops = p->ops.count;
    if (p->ops.count)
        qsort(p->ops.item, p->ops.count, sizeof(struct host_op), by_place);
    for (size_t i = 1; i < p->ops.count; i++) {
        struct host_op *const op = pytorch_op_at(p, i);
        uint32_t around = (uint32_t)i - 1;
        while (around != PYTORCH_NOBODY && (pytorch_op_at(p, around)->tid != op->tid ||
                                            pytorch_op_at(p, around)->ts + pytorch_op_at(p, around)->dur < op->ts + op->dur))
            around = pytorch_op_at(p, around)->tid != op->tid ? PYTORCH_NOBODY : pytorch_op_at(p, around)->parent;
        op->parent = around;
    }
}

/* The innermost operator that a thread was in at a time; PYTORCH_NOBODY when there was none. */
static uint32_t op_around(const struct pytorch_profile *p, uint64_t tid, double ts)
{
    size_t low = 0, high = p->host_ops;
    while (low < high) { /* finds the last operator that begins no later */
        const size_t middle = low + (high - low) / 2;
        const struct host_op *const op = pytorch_op_at(p, middle);
        if (op->tid < tid || (op->tid == tid && op->ts <= ts))
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t at = low ? (uint32_t)low - 1 : PYTORCH_NOBODY;
    if (at == PYTORCH_NOBODY || pytorch_op_at(p, at)->tid != tid)
        return PYTORCH_NOBODY;
    while (at != PYTORCH_NOBODY && pytorch_op_at(p, at)->ts + pytorch_op_at(p, at)->dur < ts)
        at = pytorch_op_at(p, at)->parent;
    return at;
}

static int compare_external(const void *a, const void *b)
{
    const uint64_t *const x = a, *const y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Pairs of external id and operator, sorted by id. */
static uint64_t *index_externals(const struct pytorch_profile *p)
{
    uint64_t *const index = malloc((p->ops.count + 1) * 2 * sizeof *index);
    for (size_t i = 0; index && i < p->ops.count; i++) {
        index[2 * i] = pytorch_op_at(p, i)->external;
        index[2 * i + 1] = i;
    }
    if (index && p->ops.count)
        qsort(index, p->ops.count, 2 * sizeof *index, compare_external);
    return index;
}

static uint32_t by_external(const struct pytorch_profile *p, const uint64_t *index, uint64_t external)
{
    const uint64_t key[2] = {external, 0};
    const uint64_t *const found =
        external && p->host_ops ? bsearch(key, index, p->host_ops, 2 * sizeof *index, compare_external) : NULL;
    return found ? (uint32_t)found[1] : PYTORCH_NOBODY;
}

/* Finds the operator that launched a device event: by its runtime call, or else by its external id. */
static uint32_t launcher(const struct pytorch_profile *p, const uint64_t *externals, const struct device_event *d)
{
    const struct runtime_call key = {.correlation = d->correlation};
    const struct runtime_call *const call =
        p->calls.count ? bsearch(&key, p->calls.item, p->calls.count, sizeof key, by_correlation) : NULL;
    uint32_t op = call ? op_around(p, call->tid, call->ts) : PYTORCH_NOBODY;
    if (op == PYTORCH_NOBODY && call)
        op = by_external(p, externals, call->external);
    if (op == PYTORCH_NOBODY)
        op = by_external(p, externals, d->external);
    /* The shapes may have been recorded at an operator around it. */
    uint32_t told = op;
    while (told != PYTORCH_NOBODY && !(pytorch_op_at(p, told)->args && import_is_known(pytorch_op_at(p, told)->name)))
        told = pytorch_op_at(p, told)->parent;
    if (told != PYTORCH_NOBODY)
        return pytorch_op_at(p, op)->args ? op : told;
    for (told = op; told != PYTORCH_NOBODY && !pytorch_op_at(p, told)->args;)
        told = pytorch_op_at(p, told)->parent;
    return told != PYTORCH_NOBODY ? told : op;
}

/* ---- time ---- */

/* A copy that no operator launched becomes an operator of its own, after those of the host. */
static bool add_copy(struct pytorch_profile *p, const struct device_event *d, uint32_t *at, struct orch_error *error)
{
    struct host_op *const op = pytorch_grow(&p->ops, sizeof *op, error);
    if (!op)
        return false;
    *at = (uint32_t)(p->ops.count - 1);
    op->ts = d->ts;
    op->tid = UINT64_MAX;
    op->parent = PYTORCH_NOBODY;
    op->name = strdup(d->name);
    return op->name || orch_no_memory(error);
}

static bool attribute_device(struct pytorch_profile *p, double *zero_us, struct orch_error *error)
{
    uint64_t *const externals = index_externals(p);
    const struct device_event *const d = p->device.item;
    if (!externals)
        return orch_no_memory(error);
    if (p->calls.count)
        qsort(p->calls.item, p->calls.count, sizeof(struct runtime_call), by_correlation);
    qsort(p->device.item, p->device.count, sizeof *d, by_time);
    *zero_us = d[0].ts;
    for (size_t i = 0; i < p->device.count; i++) {
        uint32_t at = launcher(p, externals, &d[i]);
        if (at == PYTORCH_NOBODY && !(d[i].bytes > 0)) {
            import_emit_unknown(p->emit, d[i].name, d[i].dur * 1e-6);
            continue;
        }
        if (at == PYTORCH_NOBODY && !add_copy(p, &d[i], &at, error)) {
            free(externals);
            return false;
        }
        struct host_op *const op = pytorch_op_at(p, at);
        if (op->last_us <= 0) {
            op->first_us = d[i].ts;
            op->stream = d[i].stream;
            *zero_us = fmin(*zero_us, op->ts);
        }
        op->device_us += d[i].dur;
        op->bytes += d[i].bytes;
        op->last_us = fmax(op->last_us, d[i].ts + d[i].dur);
    }
    free(externals);
    return true;
}

/* In a profile without a device, an operator with a kernel takes all of its time, including that of operators inside it; any
 * other operator takes what those inside leave. */
static void attribute_host(struct pytorch_profile *p, double *zero_us)
{
    *zero_us = INFINITY;
    for (size_t i = 0; i < p->ops.count; i++) {
        struct host_op *const op = pytorch_op_at(p, i);
        struct host_op *const around = op->parent == PYTORCH_NOBODY ? NULL : pytorch_op_at(p, op->parent);
        *zero_us = fmin(*zero_us, op->ts);
        op->claimed = around && around->claimed;
        if (op->claimed)
            continue;
        op->claimed = op->args && import_is_known(op->name);
        op->device_us = op->dur;
        op->first_us = op->ts;
        op->last_us = op->ts + op->dur;
        if (around)
            around->device_us = fmax(0, around->device_us - op->dur);
    }
    /* An operator that only contains others has no work; its own time is overhead of the host. */
    for (size_t i = 0; i < p->ops.count; i++) {
        struct host_op *const op = pytorch_op_at(p, i);
        const bool contains = op->device_us < op->dur;
        if (op->last_us > 0 && contains && !import_is_known(op->name))
            op->last_us = 0;
    }
}

bool pytorch_attribute(struct pytorch_profile *p, double *zero_us, struct orch_error *error)
{
    find_parents(p);
    if (p->device.count)
        return attribute_device(p, zero_us, error);
    attribute_host(p, zero_us);
    return true;
}
