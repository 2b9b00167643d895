/* Profiles of other programs as traces: operators with their shapes become launches of the kernels that do the same.
 *
 * pytorch-profiler: the Chrome trace of torch.profiler with record_shapes=True. Time of a device (CUDA, HIP, MPS) belongs to the
 * operator that launched it, found by the correlation of device event and runtime call; without a device the operators' own time
 * counts. onnxruntime-profile: what a session with profiling enabled writes. Either may be gzipped.
 */
#ifndef ORCHARD_SIM_TRACE_TRACE_IMPORT_H
#define ORCHARD_SIM_TRACE_TRACE_IMPORT_H

#include "sim/trace/import_json.h"

enum import_format { IMPORT_PYTORCH, IMPORT_ONNXRUNTIME };
#define IMPORT_FORMATS "pytorch-profiler|onnxruntime-profile"

struct trace_import_request {
    const char *path, *output;
    enum import_format format;
    const char *unit; /* of the launches; NULL = gpu for time of a device, else cpu */
    bool text, force;
};

/* How much of the profile's device time is what. */
struct import_coverage {
    uint64_t operators[3];  /* kernel, estimate, none */
    double seconds[3];      /* of these; none = known to have no work */
    uint64_t unknown;       /* operators without shapes and bytes */
    double unknown_seconds; /* and device time that belongs to no operator */
    uint64_t assumed;       /* kernels with something assumed */
    double assumed_seconds;
    bool device;                              /* time of a device; else of operators on the host */
    bool cut;                                 /* with force: the document is cut off */
    char unknown_name[80], estimate_name[80]; /* those that take longest of their sort */
    double unknown_most, estimate_most;
};
double import_total_seconds(const struct import_coverage *coverage);

bool trace_import(const struct trace_import_request *request, struct import_coverage *coverage, struct orch_error *error);
/* The same of a document that comes from elsewhere; request->path is not read. */
bool trace_import_from(const struct import_source *source, const struct trace_import_request *request,
                       struct import_coverage *coverage, struct orch_error *error);

#endif
