/* Element types of GPU buffers and scalars, as launch descriptions spell them. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_TYPE_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_TYPE_H

#include "sim/base/npy.h"

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define ABI_TYPE_TABLE(X) \
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

enum abi_type {
#define X(name, text, bytes, npy) ABI_##name,
    ABI_TYPE_TABLE(X)
#undef X
        ABI_TYPE_COUNT
};

/* "s32" and the like are read as "i32". ABI_TYPE_COUNT when the text names no type. */
enum abi_type abi_type_find(const char *text);
const char *abi_type_name(enum abi_type type);
unsigned abi_type_bytes(enum abi_type type);
enum npy_type abi_type_npy(enum abi_type type);    /* bf16 is stored as its bits */
enum abi_type abi_type_of_npy(enum npy_type type); /* ABI_TYPE_COUNT when GPUs have no such type */
bool abi_type_float(enum abi_type type);

/* Reads one little-endian element; 64-bit integers keep 53 bits. */
double abi_element_read(enum abi_type type, const uint8_t *at);
/* Writes one element, rounded to nearest, ties to even. False when an integer type cannot hold the number. */
bool abi_element_write(enum abi_type type, double number, uint8_t *at);

#endif
