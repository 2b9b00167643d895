#include "sim/trace/trace_output.h"

#include "sim/base/output_file.h"
#include "sim/trace/trace_errors.h"

#include <stdlib.h>

struct trace_output {
    struct output_file *file;
    struct trace_writer *writer;
};

struct trace_output *trace_output_open(const char *path, const struct trace_header *header, bool text, struct orch_error *error)
{
    struct trace_error own;
    struct trace_output *const o = calloc(1, sizeof *o);
    if (!o) {
        orch_no_memory(error);
        return NULL;
    }
    o->file = output_file_open(path, OUTPUT_DURABLE, error);
    o->writer = o->file ? trace_writer_create(output_file_stream(o->file), path, header, text, &own) : NULL;
    if (o->writer)
        return o;
    if (o->file)
        trace_tell(&own, error);
    trace_output_discard(o);
    return NULL;
}

struct trace_writer *trace_output_writer(struct trace_output *o)
{
    return o->writer;
}

bool trace_output_commit(struct trace_output *o, struct orch_error *error)
{
    struct trace_error own;
    bool ok = trace_writer_finish(o->writer, &own) || trace_tell(&own, error);
    if (ok) {
        ok = output_file_commit(o->file, error);
        o->file = NULL;
    }
    trace_output_discard(o);
    return ok;
}

void trace_output_discard(struct trace_output *o)
{
    if (!o)
        return;
    trace_writer_free(o->writer);
    output_file_discard(o->file);
    free(o);
}
