/* Reads and writes arrays in NumPy's .npy format, versions 1 to 3.
 *
 * Element types are the little-endian numbers f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 and b1 (bool). bfloat16 has no .npy
 * type; complex numbers, objects, strings, records and big-endian data are refused by name.
 * Format: NumPy enhancement proposal 1 and numpy.lib.format.
 */
#ifndef ORCHARD_SIM_BASE_NPY_H
#define ORCHARD_SIM_BASE_NPY_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum npy_type {
    NPY_F16,
    NPY_F32,
    NPY_F64,
    NPY_I8,
    NPY_I16,
    NPY_I32,
    NPY_I64,
    NPY_U8,
    NPY_U16,
    NPY_U32,
    NPY_U64,
    NPY_BOOL,
    NPY_TYPE_COUNT
};

enum { NPY_MAX_DIMS = 32 };

struct npy_array {
    enum npy_type type;
    bool fortran_order; /* the first index runs fastest */
    unsigned dims;      /* 0 = a single number */
    uint64_t shape[NPY_MAX_DIMS];
    uint64_t count; /* elements: the product of the shape */
    size_t bytes;
    const uint8_t *data; /* may be unaligned: read elements with memcpy */
    void *owned;         /* what npy_release frees; NULL when data is the caller's */
};

size_t npy_type_bytes(enum npy_type type);
const char *npy_type_name(enum npy_type type); /* "f4" */
/* Recognises a file by its content: true when the bytes start with the magic. */
bool npy_is(const void *bytes, size_t size);

/* Reads a file that is in memory; array->data points into it. Bytes after the array are an error. */
bool npy_parse(const void *bytes, size_t size, struct npy_array *array, struct orch_error *error);

/* Reads a file from disk; error lines start with its path. npy_release frees what the array holds. */
bool npy_load(const char *path, struct npy_array *array, struct orch_error *error);
void npy_release(struct npy_array *array);

/* Fills count and bytes from type and shape; false when the product overflows. */
bool npy_measure(struct npy_array *array);
/* Writes the header as NumPy does, from the magic to the padding, a multiple of 64 bytes. Returns its size, or 0 when `size` is
 * too small; 4096 bytes always suffice. */
size_t npy_header(const struct npy_array *array, char *text, size_t size);
/* Writes the header and array->data through output_file.h: the whole file or, on failure, nothing. */
bool npy_save(const char *path, const struct npy_array *array, struct orch_error *error);

#endif
