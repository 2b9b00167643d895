/* A PyTorch profile in memory. For import_pytorch*.c only. */
#ifndef ORCHARD_SIM_TRACE_IMPORT_PYTORCH_H
#define ORCHARD_SIM_TRACE_IMPORT_PYTORCH_H

#include "sim/trace/import_emit.h"

#define PYTORCH_NOBODY UINT32_MAX

/* An operator on the host. */
struct host_op {
    double ts, dur;
    uint64_t tid, external;
    char *name, *args; /* args: JSON of shapes, types and values; NULL = not recorded */
    uint32_t parent;
    double device_us, first_us, last_us, bytes; /* of the device work that it launched */
    uint64_t stream;
    bool claimed; /* without a device: the time counts for this operator or one around it */
};

/* A host call that hands work to the device. */
struct runtime_call {
    uint64_t correlation, tid, external;
    double ts;
};

struct device_event {
    double ts, dur, bytes;
    uint64_t correlation, external, stream;
    char name[64];
};

/* A growing list of items of one size. */
struct list {
    void *item;
    size_t count, capacity;
};

struct pytorch_profile {
    struct import_emit *emit;
    struct list ops, calls, device; /* host_op, runtime_call, device_event */
    size_t host_ops;                /* how many of `ops` ran on the host; they are sorted and come first */
    bool shapes;
};

/* Appends a zeroed item; NULL with *error when the profile has too many events. */
void *pytorch_grow(struct list *list, size_t size, struct orch_error *error);
struct host_op *pytorch_op_at(const struct pytorch_profile *p, size_t i);

/* import_pytorch_time.c: gives every operator its own time, on the device if the profile has one, and sets *zero_us to the
 * beginning of the profile. Sorts the operators and finds the one around each. */
bool pytorch_attribute(struct pytorch_profile *p, double *zero_us, struct orch_error *error);

/* import_pytorch_op.c: writes the operators that have time of their own, in the order in which that time began. */
bool pytorch_emit(struct pytorch_profile *p, double zero_us, const char *unit, struct orch_error *error);

#endif
