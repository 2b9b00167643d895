/* Operators of other programs' profiles, and the kernels of the library that do the same work. */
#ifndef ORCHARD_SIM_TRACE_IMPORT_OP_H
#define ORCHARD_SIM_TRACE_IMPORT_OP_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

enum { IMPORT_DIMS = 8, IMPORT_ARRAYS = 16 };

struct import_array {
    uint64_t dim[IMPORT_DIMS];
    unsigned rank;
    double elements;  /* 0 = none; for a list of arrays their sum, with rank 1 */
    bool is_array;    /* has a shape, unlike numbers and strings */
    unsigned bytes;   /* per element */
    const char *type; /* "f32" ...; NULL = an integer type, or not recorded */
};

struct import_op {
    const char *name; /* "aten::mm", "MatMul" */
    struct import_array in[IMPORT_ARRAYS], out[IMPORT_ARRAYS];
    unsigned ins, outs;  /* outs 0 = results were not recorded */
    json_object *values; /* values of inputs that are no arrays, as strings, by input; NULL = not recorded */
    /* For conv without `out`: what a later operator with the same batch and channels reads; rank 0 = none. */
    struct import_array next;
    double device_bytes; /* bytes moved on the device; 0 = not recorded */
};

enum import_work { IMPORT_KERNEL, IMPORT_ESTIMATE, IMPORT_NONE };

struct import_mapping {
    enum import_work work;
    char kernel[24], workload[200], precision[8];
    char note[120];  /* what had to be assumed; "" = nothing */
    unsigned repeat; /* how many times the workload runs, at least 1 */
    uint64_t bytes;  /* inputs and outputs together */
};

/* Takes a shape from JSON: [2,3], or [[2,3],[4]] for a list of arrays. `type` is spelled as in the profile. */
void import_array_set(struct import_array *array, json_object *dims, const char *type);
/* Whether the operator has a kernel or is known to need no work. False for operators that only contain others. */
bool import_is_known(const char *name);
/* When neither shapes nor bytes were recorded, the mapping has no work and its note says so. */
void import_map(const struct import_op *op, struct import_mapping *mapping);

#endif
