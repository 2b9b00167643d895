/* What runs on the Neural Engine, opened by name: a program file, or a kernel of the library with its shape. */
#ifndef ORCHARD_SIM_WORKLOAD_ANE_ANE_WORKLOAD_H
#define ORCHARD_SIM_WORKLOAD_ANE_ANE_WORKLOAD_H

#include "sim/workload/ane/ane_array.h"
#include "sim/chip/chip.h"

#define ANE_WORKLOAD_ARRAYS     ANE_BARS
#define ANE_WORKLOAD_TEXT_BYTES 512
#define ANE_WORKLOAD_CONSTANTS  4

struct ane_workload {
    struct ane_kernel_request request; /* its info is NULL for a program file */
    struct ane_kernel kernel;          /* a program file fills only `program` */
    struct ane_array array[ANE_WORKLOAD_ARRAYS];
    unsigned arrays;                         /* inputs, outputs, constants */
    float *constant[ANE_WORKLOAD_CONSTANTS]; /* owned; the request points to them */
    char name[128];                          /* of the kernel or of the file */
    char text[ANE_WORKLOAD_TEXT_BYTES];      /* canonical: equal kernels have equal texts; empty for files */
    const char *precision;                   /* of the weights, as --precision spells it */
};

/* Does the library have a kernel of that name ("softmax:...")? */
bool ane_workload_has(const char *workload);

/* Each opens a workload, which must be closed in any case. `inputs` ("NAME=FILE") may name constants of the kernel, which are
 * read here; other names are left to the request. Exit code 3 for a limit of the chip's generation, 2 for a wrong request. */
bool ane_workload_open_kernel(struct ane_workload *workload, const char *text, const char *precision, const struct chip *chip,
                              uint64_t seed, const char *const *inputs, size_t input_count, struct orch_error *error);
/* The same to be timed only: coefficients have no values, so none are generated and laid out (but those of sparse weights). */
bool ane_workload_open_blank(struct ane_workload *workload, const char *text, const char *precision, const struct chip *chip,
                             struct orch_error *error);
bool ane_workload_open_file(struct ane_workload *workload, const char *path, const uint8_t *bytes, size_t size,
                            struct orch_error *error);
/* Builds a kernel again with other constants. values[i] has the elements of constant i in order; NULL keeps the constant. */
bool ane_workload_set_constants(struct ane_workload *workload, const float *const *values, struct orch_error *error);
void ane_workload_close(struct ane_workload *workload);

/* Finds an array by name among those whose role is in `roles` (bits 1 << role). NULL with *error, which lists their names. */
const struct ane_array *ane_workload_find(const struct ane_workload *workload, const char *name, size_t length, unsigned roles,
                                          struct orch_error *error);
/* Splits "NAME=FILE". */
bool ane_workload_input(const char *text, size_t *name_length, const char **path, struct orch_error *error);

#endif
