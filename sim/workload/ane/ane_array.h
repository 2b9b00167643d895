/* A tensor as the user sees it, and its place in a program's buffer. Ports of program files and tensors of library kernels take
 * this one form. */
#ifndef ORCHARD_SIM_WORKLOAD_ANE_ANE_ARRAY_H
#define ORCHARD_SIM_WORKLOAD_ANE_ANE_ARRAY_H

#include "isa/ane/ane_program.h"
#include "sim/base/error.h"
#include "units/ane/kernels/ane_kernels.h"

#define ANE_ARRAY_RANK 5

struct ane_array {
    char name[64];
    enum ane_tensor_role role;
    enum ane_format format;
    unsigned bar; /* base register of its buffer; no meaning for constants */
    unsigned rank;
    uint64_t shape[ANE_ARRAY_RANK];
    /* Byte address of element (i0, i1, ...) in the buffer = offset + sum i * stride. */
    uint64_t offset, stride[ANE_ARRAY_RANK];
    enum ane_tensor_fill fill; /* pattern of generated values */
    double low, high;          /* range of generated values */
};

/* Describes a port as channels, height and width where the program states them, otherwise as one row of elements. */
void ane_array_of_port(const struct ane_program *program, unsigned bar, struct ane_array *array);
void ane_array_of_tensor(const struct ane_kernel_tensor *tensor, struct ane_array *array);

uint64_t ane_array_count(const struct ane_array *array);
/* Bytes of the buffer up to the end of the last element. */
uint64_t ane_array_extent(const struct ane_array *array);

/* In all functions below, `buffer` points to the first byte of the buffer, which has room for the extent. */
void ane_array_generate(const struct ane_array *array, uint64_t seed, uint8_t *buffer);
/* Loads a file of the same shape (leading dimensions of 1 do not count), or one that has as many elements in one row. */
bool ane_array_load(const struct ane_array *array, const char *path, uint8_t *buffer, struct orch_error *error);
bool ane_array_save(const struct ane_array *array, const char *path, const uint8_t *buffer, struct orch_error *error);
/* Copy between the buffer and dense elements: in order, without gaps. */
void ane_array_pack(const struct ane_array *array, const uint8_t *buffer, uint8_t *dense);
void ane_array_unpack(const struct ane_array *array, const uint8_t *dense, uint8_t *buffer);
/* Converts dense elements to floats, which the caller frees; NULL when memory ran out. */
float *ane_array_floats(const struct ane_array *array, const uint8_t *dense);
uint64_t ane_array_dense_bytes(const struct ane_array *array);
/* FNV-1a64 of the elements in order, without padding. */
uint64_t ane_array_checksum(const struct ane_array *array, const uint8_t *buffer);
/* Reads the elements in order as doubles; `values` has room for ane_array_count of them. */
void ane_array_read(const struct ane_array *array, const uint8_t *buffer, double *values);
/* Reads the numbers of a file as floats, for constants of kernels; checks the file as ane_array_load does. The caller frees them.
 * NULL with *error. */
float *ane_array_load_floats(const struct ane_array *array, const char *path, struct orch_error *error);

#endif
