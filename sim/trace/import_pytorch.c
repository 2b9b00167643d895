/* Chrome traces of PyTorch's profiler (Kineto). Memory grows with the number of events, not with the length of the file. */
#include "sim/base/json_read.h"
#include "sim/trace/import_pytorch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EVENTS_MAX = 1 << 26 };

void *pytorch_grow(struct list *list, size_t size, struct orch_error *error)
{
    if (list->count == list->capacity) {
        const size_t wanted = list->capacity ? 2 * list->capacity : 1024;
        void *const bigger = wanted <= EVENTS_MAX ? realloc(list->item, wanted * size) : NULL;
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

struct host_op *pytorch_op_at(const struct pytorch_profile *p, size_t i)
{
    return (struct host_op *)p->ops.item + i;
}

/* ---- gathering ---- */

/* Ids are numbers or strings: hashes their text. */
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
    json_object *const value = json_peek_any(args, "External id");
    return id_of(value ? value : json_peek_any(args, "external id"));
}

/* Keeps only what the shapes need, as compact JSON. */
static char *keep_args(json_object *args)
{
    static const char *const keys[][2] = {
        {"Input Dims", "Input dims"}, {"Input type", "Input Types"}, {"Concrete Inputs", "Concrete inputs"}};
    json_object *const kept = json_object_new_array();
    bool any = false;
    for (size_t i = 0; i < 3; i++) {
        json_object *value = json_peek_any(args, keys[i][0]);
        if (!value)
            value = json_peek_any(args, keys[i][1]);
        json_object_array_add(kept, json_object_get(value));
        any |= i == 0 && value != NULL;
    }
    char *const text = any ? strdup(json_object_to_json_string_ext(kept, JSON_C_TO_STRING_PLAIN)) : NULL;
    json_object_put(kept);
    return text;
}

static bool add_op(struct pytorch_profile *p, json_object *event, json_object *args, const char *name, struct orch_error *error)
{
    struct host_op *const op = pytorch_grow(&p->ops, sizeof *op, error);
    if (!op)
        return false;
    op->ts = json_peek_number(event, "ts", 0);
    op->dur = fmax(0, json_peek_number(event, "dur", 0));
    op->tid = id_of(json_peek_any(event, "tid")) ^ id_of(json_peek_any(event, "pid")) * 31;
    op->external = external_of(args);
    op->name = strdup(name);
    op->args = keep_args(args);
    op->parent = PYTORCH_NOBODY;
    p->shapes |= op->args != NULL;
    return op->name || orch_no_memory(error);
}

static bool add_call(struct pytorch_profile *p, json_object *event, json_object *args, struct orch_error *error)
{
    struct runtime_call *const call = json_peek_any(args, "correlation") ? pytorch_grow(&p->calls, sizeof *call, error) : NULL;
    if (!call)
        return !json_peek_any(args, "correlation");
    call->correlation = id_of(json_peek_any(args, "correlation"));
    call->tid = id_of(json_peek_any(event, "tid")) ^ id_of(json_peek_any(event, "pid")) * 31;
    call->external = external_of(args);
    call->ts = json_peek_number(event, "ts", 0);
    return true;
}

static bool add_device(struct pytorch_profile *p, json_object *event, json_object *args, const char *name,
                       struct orch_error *error)
{
    struct device_event *const d = pytorch_grow(&p->device, sizeof *d, error);
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
    struct pytorch_profile *const p = context;
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

/* ---- the whole ---- */

static bool put_operators(struct pytorch_profile *p, const struct import_source *source, struct orch_error *error)
{
    double zero_us = 0;
    if (!p->shapes)
        return orch_fail(error, ORCH_USAGE,
                         "%s: none of %zu operators tells its shapes (\"Input Dims\"): profile with record_shapes=True",
                         source->name, p->ops.count);
    p->emit->coverage->device = p->device.count > 0;
    return pytorch_attribute(p, &zero_us, error) && pytorch_emit(p, zero_us, p->device.count ? "gpu" : "cpu", error);
}

bool import_pytorch(struct import_emit *emit, const struct import_source *source, struct orch_error *error)
{
    struct pytorch_profile p = {.emit = emit};
    const bool ok = import_json_events(source, on_event, &p, &emit->coverage->cut, error) && put_operators(&p, source, error);
    for (size_t i = 0; i < p.ops.count; i++) {
        free(pytorch_op_at(&p, i)->name);
        free(pytorch_op_at(&p, i)->args);
    }
    free(p.ops.item);
    free(p.calls.item);
    free(p.device.item);
    return ok;
}
