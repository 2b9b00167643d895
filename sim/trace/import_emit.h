/* Turns mapped operators into records of a trace, for both importers. */
#ifndef ORCHARD_SIM_TRACE_IMPORT_EMIT_H
#define ORCHARD_SIM_TRACE_IMPORT_EMIT_H

#include "sim/trace/import_op.h"
#include "sim/trace/trace_import.h"
#include "traces/trace_write.h"

struct import_emit {
    const struct trace_import_request *request;
    struct import_coverage *coverage;
    struct trace_writer *writer;
    uint64_t ops;
    double end_us; /* when the last operator ended */
};

/* One operator of a profile and its times. */
struct import_placed {
    const struct import_op *op;
    const char *name; /* NULL = op->name */
    double submitted_us, begin_us, end_us, seconds;
    uint64_t stream;
    const char *unit;
};

bool import_emit_op(struct import_emit *emit, const struct import_placed *placed, struct orch_error *error);
/* Counts device time that belongs to no operator. */
void import_emit_unknown(struct import_emit *emit, const char *name, double seconds);

/* The importers write everything between the first record and the last, which trace_import.c writes. */
bool import_pytorch(struct import_emit *emit, const struct import_source *source, struct orch_error *error);
bool import_onnx(struct import_emit *emit, const struct import_source *source, struct orch_error *error);

#endif
