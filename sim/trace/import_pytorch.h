/* PyTorch's profile as it is read, for the files import_pytorch*.c; not for others. */
#ifndef ORCHARD_SIM_TRACE_IMPORT_PYTORCH_H
#define ORCHARD_SIM_TRACE_IMPORT_PYTORCH_H

#include "sim/trace/import_emit.h"

#define PYTORCH_NOBODY UINT32_MAX

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

/* Items that grow in number. */
struct list {
    void *item;
    size_t count, capacity;
};

struct pytorch_profile {
    struct import_emit *emit;
    struct list ops, calls, device; /* host_op, runtime_call, device_event */
    size_t host_ops;                /* of ops: those of the host, sorted */
    bool shapes;
};

/* A zeroed item at the end; NULL when there are more than fit. */
void *pytorch_grow(struct list *list, size_t size, struct orch_error *error);
struct host_op *pytorch_op_at(const struct pytorch_profile *p, size_t i);

/* import_pytorch_time.c: gives every operator the time that is its own, on the device when there is one. *zero_us = when the
 * profile begins. Sorts the operators and finds what contains them. */
bool pytorch_attribute(struct pytorch_profile *p, double *zero_us, struct orch_error *error);

/* import_pytorch_op.c: writes the operators with time of their own, in the order in which that began. */
bool pytorch_emit(struct pytorch_profile *p, double zero_us, const char *unit, struct orch_error *error);

#endif
