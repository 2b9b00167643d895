/* Operators of other programs' profiles, and the kernels of the library that do what they do. */
#ifndef ORCHARD_SIM_TRACE_IMPORT_OP_H
#define ORCHARD_SIM_TRACE_IMPORT_OP_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

enum { IMPORT_DIMS = 8, IMPORT_ARRAYS = 16 };

struct import_array {
    uint64_t dim[IMPORT_DIMS];
    unsigned rank;
    double elements;  /* 0 = none; of a list of arrays the sum, rank 1 */
    bool is_array;    /* has a shape: no number or text */
    unsigned bytes;   /* of an element */
    const char *type; /* "f32" ...; NULL = an integer type or none */
};

struct import_op {
    const char *name; /* "aten::mm", "MatMul" */
    struct import_array in[IMPORT_ARRAYS], out[IMPORT_ARRAYS];
    unsigned ins, outs;       /* outs 0 = not told */
    json_object *values;      /* values of the inputs that are no arrays, as texts, by input; NULL = not told */
    struct import_array next; /* conv without `out`: what a later operator reads of the same batch and channels; rank 0 = none */
    double device_bytes;      /* moved, when the profile tells; 0 = not */
};

enum import_work { IMPORT_KERNEL, IMPORT_ESTIMATE, IMPORT_NONE };

struct import_mapping {
    enum import_work work;
    char kernel[24], workload[200], precision[8];
    char note[120];  /* what was assumed; "" = nothing */
    unsigned repeat; /* so many times the workload, at least 1 */
    uint64_t bytes;  /* in and out together */
};

/* Shapes from JSON: [2,3], or [[2,3],[4]] for a list. `type` as the profile calls it. */
void import_array_set(struct import_array *array, json_object *dims, const char *type);
/* Is there a kernel, or is it known to have no work? Not for operators that only contain others. */
bool import_is_known(const char *name);
/* Nothing known of its shapes and bytes: work is none, and the note says so. */
void import_map(const struct import_op *op, struct import_mapping *mapping);

#endif
