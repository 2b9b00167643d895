/* Element types of buffers, tensors and scalars, as launch descriptions spell them. */
#ifndef ORCHARD_SIM_WORKLOAD_ELEMENT_TYPE_H
#define ORCHARD_SIM_WORKLOAD_ELEMENT_TYPE_H

#include "sim/base/npy.h"

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define ELEMENT_TYPE_TABLE(X) \
    X(F32, "f32", 4, NPY_F32) \
    X(F16, "f16", 2, NPY_F16) \
    X(BF16, "bf16", 2, NPY_U16) \
    X(F64, "f64", 8, NPY_F64) \
    X(U8, "u8", 1, NPY_U8) \
    X(I8, "i8", 1, NPY_I8) \
    X(U16, "u16", 2, NPY_U16) \
    X(I16, "i16", 2, NPY_I16) \
    X(U32, "u32", 4, NPY_U32) \
    X(I32, "i32", 4, NPY_I32) \
    X(U64, "u64", 8, NPY_U64) \
    X(I64, "i64", 8, NPY_I64)
/* clang-format on */

enum element_type {
#define X(name, text, bytes, npy) ELEMENT_##name,
    ELEMENT_TYPE_TABLE(X)
#undef X
        ELEMENT_TYPE_COUNT
};

/* "s32" and the like are read as "i32". ELEMENT_TYPE_COUNT when the text names no type. */
enum element_type element_type_find(const char *text);
const char *element_type_name(enum element_type type);
unsigned element_type_bytes(enum element_type type);
enum npy_type element_type_npy(enum element_type type);    /* bf16 is stored as its bits */
enum element_type element_type_of_npy(enum npy_type type); /* ELEMENT_TYPE_COUNT when there is no such type */
bool element_type_float(enum element_type type);

/* Reads one little-endian element; 64-bit integers keep 53 bits. */
double element_read(enum element_type type, const uint8_t *at);
/* Writes one element, rounded to nearest, ties to even. False when an integer type cannot hold the number. */
bool element_write(enum element_type type, double number, uint8_t *at);

#endif
