/* Profiles of ONNX Runtime are an array of events. Those of category Node whose names end in _kernel_time are operators, one
 * after another, with the shapes of what they read and wrote. */
#include "sim/base/json_read.h"
#include "sim/trace/import_emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct reader {
    struct import_emit *emit;
    double first_us;
    bool begun;
};

/* Reads [{"float":[1,64]},{"int64":[3]}]; returns the number of arrays. */
static unsigned read_arrays(json_object *args, const char *key, struct import_array *to)
{
    json_object *const list = json_peek(args, key, json_type_array);
    unsigned count = 0;
    for (size_t i = 0; list && i < json_object_array_length(list) && count < IMPORT_ARRAYS; i++) {
        json_object *const item = json_object_array_get_idx(list, i);
        if (!json_object_is_type(item, json_type_object))
            continue;
        json_object_object_foreach(item, type, dims)
        {
            import_array_set(&to[count++], dims, type);
            break;
        }
    }
    return count;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static bool on_event(void *context, json_object *event, struct orch_error *error)
{
    struct reader *const r = context;
    struct import_op op = {0};
    char name[200];
    json_object *const args = json_peek(event, "args", json_type_object);
    const char *const cat = json_peek_string(event, "cat"), *const full = json_peek_string(event, "name");
    if (!cat || !full || strcmp(cat, "Node") != 0 || !ends_with(full, "_kernel_time") || !args)
        return true;
    op.name = json_peek_string(args, "op_name");
    /* Their bodies are recorded as operators, too. */
    if (!op.name || strcmp(op.name, "If") == 0 || strcmp(op.name, "Loop") == 0 || strcmp(op.name, "Scan") == 0)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)fmin((double)sizeof name - 1, (double)strlen(full) - 12), full);
    op.ins = read_arrays(args, "input_type_shape", op.in);
    op.outs = read_arrays(args, "output_type_shape", op.out);
    const char *const provider = json_peek_string(args, "provider");
    const double ts = json_peek_number(event, "ts", 0), duration = fmax(0, json_peek_number(event, "dur", 0));
    if (!r->begun)
        r->first_us = ts;
    r->begun = true;
    const bool host = !provider || strcmp(provider, "CPUExecutionProvider") == 0;
    r->emit->coverage->device |= !host;
    const struct import_placed placed = {.op = &op,
                                         .name = name[0] ? name : NULL,
                                         .submitted_us = ts - r->first_us,
                                         .begin_us = ts - r->first_us,
                                         .end_us = ts - r->first_us + duration,
                                         .seconds = duration * 1e-6,
                                         .unit = host ? "cpu" : "gpu"};
    return import_emit_op(r->emit, &placed, error);
}

bool import_onnx(struct import_emit *emit, const struct import_source *source, struct orch_error *error)
{
    struct reader r = {.emit = emit};
    if (!import_json_events(source, on_event, &r, &emit->coverage->cut, error))
        return false;
    return r.begun || orch_fail(error, ORCH_USAGE,
                                "%s: there are no operators in it (events of category Node named ..._kernel_time)", source->name);
}
