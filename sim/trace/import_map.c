/* Maps operators of profiles to kernels of the library. Where a profile leaves out what decides the work, a note says what was
 * assumed. The names are those of the operator sets of PyTorch (ATen), ONNX and ONNX Runtime. */
#include "isa/array_count.h"
#include "sim/trace/import_mapper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The library has no such kernel, so the operator stays an estimate. */
static void import_map_estimate(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    (void)op, (void)argument, (void)m;
}

/* Views and shapes compute and move nothing. */
static void import_map_none(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    (void)op, (void)argument;
    m->work = IMPORT_NONE;
}

static const struct name_row {
    const char *name;
    import_mapper *mapper;
    const char *argument;
} names[] = {
#define IMPORT(name, mapper, argument) {name, import_map_##mapper, argument},
#include "sim/trace/import_names.inc"
#include "sim/workload/kernels.inc"
};

/* Strips what does not change the work: "aten::_foreach_add_" -> "add". */
static void plain_name(const char *name, char *to, size_t size)
{
    const char *const colon = strstr(name, "::");
    if (strncmp(name, "aten::", 6) == 0 || strncmp(name, "prims::", 7) == 0)
        name = colon + 2;
    if (strncmp(name, "_foreach_", 9) == 0)
        name += 9;
    snprintf(to, size, "%s", name);
    const size_t length = strlen(to);
    if (length > 1 && to[length - 1] == '_')
        to[length - 1] = 0;
}

static const struct name_row *find_name(const char *name)
{
    char plain[64];
    plain_name(name, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(names[i].name, plain) == 0)
            return &names[i];
    return NULL;
}

bool import_is_known(const char *name)
{
    return find_name(name) != NULL;
}

/* Whether the numbers of elements are small enough to be counted exactly. */
static bool sizes_are_sane(const struct import_op *op)
{
    for (unsigned i = 0; i < op->ins; i++)
        if (!(op->in[i].elements < 1e15))
            return false;
    for (unsigned i = 0; i < op->outs; i++)
        if (!(op->out[i].elements < 1e15))
            return false;
    return op->next.elements < 1e15;
}

void import_map(const struct import_op *op, struct import_mapping *m)
{
    const struct name_row *const row = find_name(op->name);
    memset(m, 0, sizeof *m);
    m->work = IMPORT_ESTIMATE;
    m->repeat = 1;
    const double bytes = import_bytes_in(op) + import_bytes_out(op);
    m->bytes = (uint64_t)fmin(fmax(bytes, op->device_bytes), 1e18);
    if (row && row->mapper == import_map_none) {
        m->work = op->device_bytes > 0 ? IMPORT_ESTIMATE : IMPORT_NONE;
        return;
    }
    if (row && sizes_are_sane(op))
        row->mapper(op, row->argument, m);
    if (m->work == IMPORT_ESTIMATE && m->bytes == 0) {
        m->work = IMPORT_NONE;
        import_note(m, "neither shapes nor bytes are told");
    }
}
