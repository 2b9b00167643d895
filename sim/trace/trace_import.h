/* Imports profiles of other programs as traces: operators with their shapes become launches of the kernels that do the same work.
 *
 * pytorch-profiler is the Chrome trace of torch.profiler with record_shapes=True. Device time (CUDA, HIP, MPS) belongs to the
 * operator that launched it, found through the correlation id of device event and runtime call; without a device, the operators'
 * own time counts. onnxruntime-profile is what a session with profiling enabled writes. Either may be gzipped.
 */
#ifndef ORCHARD_SIM_TRACE_TRACE_IMPORT_H
#define ORCHARD_SIM_TRACE_TRACE_IMPORT_H

#include "sim/trace/import_json.h"

enum import_format { IMPORT_PYTORCH, IMPORT_ONNXRUNTIME };
#define IMPORT_FORMATS "pytorch-profiler|onnxruntime-profile"

struct trace_import_request {
    const char *path, *output;
    enum import_format format;
    const char *unit; /* unit of the launches; NULL = gpu if the profile has device time, else cpu */
    bool text, force;
};

/* How much of the profile's time was mapped to what. */
struct import_coverage {
    uint64_t operators[3];  /* kernel, estimate, none */
    double seconds[3];      /* seconds of these; "none" is known to need no work */
    uint64_t unknown;       /* operators recorded without shapes and bytes */
    double unknown_seconds; /* seconds of these, and device time that belongs to no operator */
    uint64_t assumed;       /* kernels with an assumption */
    double assumed_seconds;
    bool device;                              /* seconds are device time; otherwise time of operators on the host */
    bool cut;                                 /* the document was cut off and accepted by force */
    char unknown_name[80], estimate_name[80]; /* the operators of each kind that take longest */
    double unknown_most, estimate_most;
};
double import_total_seconds(const struct import_coverage *coverage);

bool trace_import(const struct trace_import_request *request, struct import_coverage *coverage, struct orch_error *error);
/* The same for a document that is not a file of its own; request->path is only named. */
bool trace_import_from(const struct import_source *source, const struct trace_import_request *request,
                       struct import_coverage *coverage, struct orch_error *error);

#endif
