/* Chrome traces of PyTorch's profiler (Kineto). Memory grows with the number of events, not with their texts. */
#include "sim/base/json_read.h"
#include "sim/trace/import_emit.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EVENTS_MAX = 1 << 26, LOOK_AHEAD = 24 };
#define NOBODY UINT32_MAX

/* An operator on the host. */
struct host_op {
    double ts, dur;
    uint64_t tid, external;
    char *name, *args; /* args: JSON of shapes, types and values; NULL = not told */
    uint32_t parent;
    double device_us, first_us, last_us, bytes; /* of what it launched */
    uint64_t stream;
    bool claimed; /* without a device: its time is told by itself or something around it */
};

/* A call that hands something to the device. */
struct runtime_call {
    uint64_t correlation, tid, external;
    double ts;
};

struct device_event {
    double ts, dur, bytes;
    uint64_t correlation, external, stream;
    char name[64];
};

struct list {
    void *item;
    size_t count, capacity;
};

struct profile {
    struct import_emit *emit;
    struct list ops, calls, device; /* host_op, runtime_call, device_event */
    size_t host_ops;                /* of ops: those of the host, sorted */
    bool shapes;
};

/* ---- gathering ---- */

static void *grow(struct list *list, size_t size, struct orch_error *error)
{
    if (list->count == list->capacity) {
        const size_t wanted = list->capacity ? 2 * list->capacity : 1024;
        void *bigger = wanted <= EVENTS_MAX ? realloc(list->item, wanted * size) : NULL;
        if (!bigger) {
            orch_fail(error, ORCH_USAGE, "the profile has more events than fit (%zu)", list->count);
            return NULL;
        }
        list->item = bigger;
        list->capacity = wanted;
    }
    void *const item = (char *)list->item + list->count++ * size;
    memset(item, 0, size);
    return item;
}

/* Ids are numbers or texts. */
static uint64_t id_of(json_object *value)
{
    const char *text = value ? json_object_get_string(value) : NULL;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; text && *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return text ? hash : 0;
}

static uint64_t external_of(json_object *args)
{
    json_object *value = json_peek_any(args, "External id");
    return id_of(value ? value : json_peek_any(args, "external id"));
}

/* Only what shapes need, compact. */
static char *keep_args(json_object *args)
{
    static const char *const keys[][2] = {
        {"Input Dims", "Input dims"}, {"Input type", "Input Types"}, {"Concrete Inputs", "Concrete inputs"}};
    json_object *kept = json_object_new_array();
    bool any = false;
    for (size_t i = 0; i < 3; i++) {
        json_object *value = json_peek_any(args, keys[i][0]);
        if (!value)
            value = json_peek_any(args, keys[i][1]);
        json_object_array_add(kept, json_object_get(value));
        any |= i == 0 && value != NULL;
    }
    char *text = any ? strdup(json_object_to_json_string_ext(kept, JSON_C_TO_STRING_PLAIN)) : NULL;
    json_object_put(kept);
    return text;
}

static bool add_op(struct profile *p, json_object *event, json_object *args, const char *name, struct orch_error *error)
{
    struct host_op *op = grow(&p->ops, sizeof *op, error);
    if (!op)
        return false;
    op->ts = json_peek_number(event, "ts", 0);
    op->dur = fmax(0, json_peek_number(event, "dur", 0));
    op->tid = id_of(json_peek_any(event, "tid")) ^ id_of(json_peek_any(event, "pid")) * 31;
    op->external = external_of(args);
    op->name = strdup(name);
    op->args = keep_args(args);
    op->parent = NOBODY;
    p->shapes |= op->args != NULL;
    return op->name || orch_no_memory(error);
}

static bool add_call(struct profile *p, json_object *event, json_object *args, struct orch_error *error)
{
    struct runtime_call *call = json_peek_any(args, "correlation") ? grow(&p->calls, sizeof *call, error) : NULL;
    if (!call)
        return !json_peek_any(args, "correlation");
    call->correlation = id_of(json_peek_any(args, "correlation"));
    call->tid = id_of(json_peek_any(event, "tid")) ^ id_of(json_peek_any(event, "pid")) * 31;
    call->external = external_of(args);
    call->ts = json_peek_number(event, "ts", 0);
    return true;
}

static bool add_device(struct profile *p, json_object *event, json_object *args, const char *name, struct orch_error *error)
{
    struct device_event *d = grow(&p->device, sizeof *d, error);
    if (!d)
        return false;
    d->ts = json_peek_number(event, "ts", 0);
    d->dur = fmax(0, json_peek_number(event, "dur", 0));
    d->bytes = fmax(0, json_peek_number(args, "bytes", 0));
    d->correlation = id_of(json_peek_any(args, "correlation"));
    d->external = external_of(args);
    d->stream = (uint64_t)fmin(fmax(json_peek_number(args, "stream", 0), 0), 1e6);
    snprintf(d->name, sizeof d->name, "%.60s", name);
    return true;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcasecmp(*words, word) == 0)
            return true;
    return false;
}

static bool on_event(void *context, json_object *event, struct orch_error *error)
{
    static const char *const ops[] = {"cpu_op", "operator", NULL}, *const calls[] = {"cuda_runtime",
                                                                                     "cuda_driver",
                                                                                     "runtime",
                                                                                     "xpu_runtime",
                                                                                     "privateuse1_runtime",
                                                                                     NULL},
                             *const devices[] = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", NULL};
    struct profile *p = context;
    json_object *const args = json_peek(event, "args", json_type_object);
    const char *const word = json_peek_string(event, "cat"), *const name = json_peek_string(event, "name");
    if (!word || !name || !json_peek_any(event, "dur"))
        return true;
    if (is_one_of(word, ops))
        return add_op(p, event, args, name, error);
    if (is_one_of(word, calls))
        return add_call(p, event, args, error);
    return !is_one_of(word, devices) || add_device(p, event, args, name, error);
}

/* ---- who contains whom ---- */

static int by_place(const void *a, const void *b)
{
    const struct host_op *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return x->dur > y->dur ? -1 : x->dur < y->dur;
}

static int by_correlation(const void *a, const void *b)
{
    const struct runtime_call *x = a, *y = b;
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

static int by_time(const void *a, const void *b)
{
    const struct device_event *x = a, *y = b;
    return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static struct host_op *op_at(const struct profile *p, size_t i)
{
    return (struct host_op *)p->ops.item + i;
}

static void find_parents(struct profile *p)
{
    p->host_ops = p->ops.count;
    if (p->ops.count)
        qsort(p->ops.item, p->ops.count, sizeof(struct host_op), by_place);
    for (size_t i = 1; i < p->ops.count; i++) {
        struct host_op *op = op_at(p, i);
        uint32_t around = (uint32_t)i - 1;
        while (around != NOBODY &&
               (op_at(p, around)->tid != op->tid || op_at(p, around)->ts + op_at(p, around)->dur < op->ts + op->dur))
            around = op_at(p, around)->tid != op->tid ? NOBODY : op_at(p, around)->parent;
        op->parent = around;
    }
}

/* The innermost operator of a thread at a time, NOBODY when there is none. */
static uint32_t op_around(const struct profile *p, uint64_t tid, double ts)
{
    size_t low = 0, high = p->host_ops;
    while (low < high) { /* the last one that begins no later */
        const size_t middle = low + (high - low) / 2;
        const struct host_op *op = op_at(p, middle);
        if (op->tid < tid || (op->tid == tid && op->ts <= ts))
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t at = low ? (uint32_t)low - 1 : NOBODY;
    if (at == NOBODY || op_at(p, at)->tid != tid)
        return NOBODY;
    while (at != NOBODY && op_at(p, at)->ts + op_at(p, at)->dur < ts)
        at = op_at(p, at)->parent;
    return at;
}

static int compare_external(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Pairs of external id and operator, sorted. */
static uint64_t *index_externals(const struct profile *p)
{
    uint64_t *index = malloc((p->ops.count + 1) * 2 * sizeof *index);
    for (size_t i = 0; index && i < p->ops.count; i++) {
        index[2 * i] = op_at(p, i)->external;
        index[2 * i + 1] = i;
    }
    if (index && p->ops.count)
        qsort(index, p->ops.count, 2 * sizeof *index, compare_external);
    return index;
}

static uint32_t by_external(const struct profile *p, const uint64_t *index, uint64_t external)
{
    const uint64_t key[2] = {external, 0};
    const uint64_t *found =
        external && p->host_ops ? bsearch(key, index, p->host_ops, 2 * sizeof *index, compare_external) : NULL;
    return found ? (uint32_t)found[1] : NOBODY;
}

/* The operator that launched a device event: by the call it belongs to, else by its external id. */
static uint32_t launcher(const struct profile *p, const uint64_t *externals, const struct device_event *d)
{
    const struct runtime_call key = {.correlation = d->correlation};
    const struct runtime_call *call =
        p->calls.count ? bsearch(&key, p->calls.item, p->calls.count, sizeof key, by_correlation) : NULL;
    uint32_t op = call ? op_around(p, call->tid, call->ts) : NOBODY;
    if (op == NOBODY && call)
        op = by_external(p, externals, call->external);
    if (op == NOBODY)
        op = by_external(p, externals, d->external);
    /* Shapes may stand at something around it. */
    uint32_t told = op;
    while (told != NOBODY && !(op_at(p, told)->args && import_is_known(op_at(p, told)->name)))
        told = op_at(p, told)->parent;
    if (told != NOBODY)
        return op_at(p, op)->args ? op : told;
    for (told = op; told != NOBODY && !op_at(p, told)->args;)
        told = op_at(p, told)->parent;
    return told != NOBODY ? told : op;
}

/* ---- operators ---- */

static json_object *item(json_object *list, size_t i)
{
    return json_object_is_type(list, json_type_array) && i < json_object_array_length(list) ? json_object_array_get_idx(list, i)
                                                                                            : NULL;
}

/* Shapes of an operator; what it returns is to be put when op is not used any more. */
static json_object *fill_op(const struct host_op *from, struct import_op *op)
{
    json_object *args = from->args ? json_tokener_parse(from->args) : NULL, *dims = item(args, 0);
    memset(op, 0, sizeof *op);
    op->name = from->name;
    op->values = item(args, 2);
    op->device_bytes = from->bytes;
    for (size_t i = 0;
         json_object_is_type(dims, json_type_array) && i < json_object_array_length(dims) && op->ins < IMPORT_ARRAYS; i++) {
        json_object *type = item(item(args, 1), i);
        import_array_set(&op->in[op->ins++], item(dims, i),
                         type && json_object_is_type(type, json_type_string) ? json_object_get_string(type) : NULL);
    }
    return args;
}

/* The result of convolutions and pooling is told by who reads it: the next operator of the thread with an array of that batch and
 * those channels that is no larger. */
static void find_next(const struct profile *p, size_t at, struct import_op *op)
{
    const bool conv = strstr(op->name, "conv") != NULL, pool = strstr(op->name, "pool") != NULL;
    const struct host_op *self = op_at(p, at);
    if ((!conv && !pool) || op->in[0].rank != 4)
        return;
    const uint64_t channels = conv ? op->in[1].dim[0] : op->in[0].dim[1];
    unsigned looked = 0;
    for (size_t i = at + 1; i < p->ops.count && op_at(p, i)->tid == self->tid && looked < LOOK_AHEAD; i++) {
        struct import_op other;
        if (op_at(p, i)->ts < self->ts + self->dur || !op_at(p, i)->args)
            continue;
        looked++;
        json_object *args = fill_op(op_at(p, i), &other);
        const struct import_array *x = &other.in[0];
        const bool fits = x->rank == 4 && x->dim[0] == op->in[0].dim[0] && x->dim[1] == channels &&
                          x->dim[2] <= op->in[0].dim[2] && x->dim[3] <= op->in[0].dim[3];
        if (fits)
            op->next = *x;
        json_object_put(args);
        if (fits)
            return;
    }
}

/* Halves of a gradient have the shapes of the whole around them. */
static json_object *fill_gradient(const struct profile *p, const struct host_op *h, struct import_op *op)
{
    const struct host_op *around = h->parent == NOBODY ? NULL : op_at(p, h->parent);
    if (strncmp(h->name, "aten::cudnn_convolution_backward_", 33) != 0 || !around ||
        strcmp(around->name, "aten::cudnn_convolution_backward") != 0 || !around->args)
        return fill_op(h, op);
    json_object *args = fill_op(around, op);
    op->name = h->name;
    return args;
}

static bool emit_op(struct profile *p, size_t i, double zero_us, const char *unit, struct orch_error *error)
{
    const struct host_op *h = op_at(p, i);
    struct import_op op;
    json_object *args = fill_gradient(p, h, &op);
    find_next(p, i, &op);
    const struct import_placed placed = {.op = &op,
                                         .submitted_us = fmax(0, h->ts - zero_us),
                                         .begin_us = h->first_us - zero_us,
                                         .end_us = h->last_us - zero_us,
                                         .seconds = h->device_us * 1e-6,
                                         .stream = h->stream,
                                         .unit = unit};
    const bool ok = import_emit_op(p->emit, &placed, error);
    json_object_put(args);
    return ok;
}

/* Operators with time of their own, in the order in which that began. */
struct order {
    double first_us;
    size_t op;
};

static int by_first(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->first_us != y->first_us)
        return x->first_us < y->first_us ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static bool emit_all(struct profile *p, double zero_us, const char *unit, struct orch_error *error)
{
    struct order *order = malloc((p->ops.count + 1) * sizeof *order);
    size_t count = 0;
    bool ok = order || orch_no_memory(error);
    for (size_t i = 0; ok && i < p->ops.count; i++)
        if (op_at(p, i)->last_us > 0)
            order[count++] = (struct order){op_at(p, i)->first_us, i};
    if (ok && count)
        qsort(order, count, sizeof *order, by_first);
    for (size_t i = 0; ok && i < count; i++)
        ok = emit_op(p, order[i].op, zero_us, unit, error);
    free(order);
    return ok;
}

/* ---- time ---- */

/* A copy of nobody is an operator of its own, behind those of the host. */
static bool add_copy(struct profile *p, const struct device_event *d, uint32_t *at, struct orch_error *error)
{
    struct host_op *op = grow(&p->ops, sizeof *op, error);
    if (!op)
        return false;
    *at = (uint32_t)(p->ops.count - 1);
    op->ts = d->ts;
    op->tid = UINT64_MAX;
    op->parent = NOBODY;
    op->name = strdup(d->name);
    return op->name || orch_no_memory(error);
}

static bool attribute_device(struct profile *p, double *zero_us, struct orch_error *error)
{
    uint64_t *externals = index_externals(p);
    const struct device_event *d = p->device.item;
    if (!externals)
        return orch_no_memory(error);
    if (p->calls.count)
        qsort(p->calls.item, p->calls.count, sizeof(struct runtime_call), by_correlation);
    qsort(p->device.item, p->device.count, sizeof *d, by_time);
    *zero_us = d[0].ts;
    for (size_t i = 0; i < p->device.count; i++) {
        uint32_t at = launcher(p, externals, &d[i]);
        if (at == NOBODY && !(d[i].bytes > 0)) {
            import_emit_unknown(p->emit, d[i].name, d[i].dur * 1e-6);
            continue;
        }
        if (at == NOBODY && !add_copy(p, &d[i], &at, error)) {
            free(externals);
            return false;
        }
        struct host_op *op = op_at(p, at);
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

/* Without a device: an operator that is known takes all of its time, also that of operators in it; any other one what is left of
 * it. */
static void attribute_host(struct profile *p, double *zero_us)
{
    *zero_us = INFINITY;
    for (size_t i = 0; i < p->ops.count; i++) {
        struct host_op *op = op_at(p, i);
        struct host_op *around = op->parent == NOBODY ? NULL : op_at(p, op->parent);
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
    /* What only contains others is no operator, its own time is the host's. */
    for (size_t i = 0; i < p->ops.count; i++) {
        struct host_op *op = op_at(p, i);
        const bool contains = op->device_us < op->dur;
        if (op->last_us > 0 && contains && !import_is_known(op->name))
            op->last_us = 0;
    }
}

static bool attribute(struct profile *p, const struct import_source *source, struct orch_error *error)
{
    double zero_us = 0;
    if (!p->shapes)
        return orch_fail(error, ORCH_USAGE,
                         "%s: none of %zu operators tells its shapes (\"Input Dims\"): profile with record_shapes=True",
                         source->name, p->ops.count);
    find_parents(p);
    p->emit->coverage->device = p->device.count > 0;
    if (p->device.count == 0)
        attribute_host(p, &zero_us);
    else if (!attribute_device(p, &zero_us, error))
        return false;
    return emit_all(p, zero_us, p->device.count ? "gpu" : "cpu", error);
}

bool import_pytorch(struct import_emit *emit, const struct import_source *source, struct orch_error *error)
{
    struct profile p = {.emit = emit};
    const bool ok = import_json_events(source, on_event, &p, &emit->coverage->cut, error) && attribute(&p, source, error);
    for (size_t i = 0; i < p.ops.count; i++) {
        free(op_at(&p, i)->name);
        free(op_at(&p, i)->args);
    }
    free(p.ops.item);
    free(p.calls.item);
    free(p.device.item);
    return ok;
}
