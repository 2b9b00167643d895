/* Element types of tensors: the names, sizes and kinds of the types that networks use, and reading and writing of elements.
 *
 * Four-bit integers lie one in a byte here; only files pack them. Numbers that are written are rounded to nearest, ties to even;
 * integers wrap as the type does.
 */
#ifndef ORCHARD_SIM_NETWORK_GRAPH_ELEMENT_H
#define ORCHARD_SIM_NETWORK_GRAPH_ELEMENT_H

#include "sim/base/npy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum net_kind { NET_FLOAT, NET_SIGNED, NET_UNSIGNED, NET_LOGICAL };

/* Columns: name, text, bytes in memory, bits in files, kind, TensorProto.DataType of ONNX, type of .npy files. */
/* clang-format off */
#define NET_TYPE_TABLE(X) \
    X(F64,  "f64",  8, 64, NET_FLOAT,    11, NPY_F64) \
    X(F32,  "f32",  4, 32, NET_FLOAT,     1, NPY_F32) \
    X(F16,  "f16",  2, 16, NET_FLOAT,    10, NPY_F16) \
    X(BF16, "bf16", 2, 16, NET_FLOAT,    16, NPY_U16) \
    X(I8,   "i8",   1,  8, NET_SIGNED,    3, NPY_I8) \
    X(U8,   "u8",   1,  8, NET_UNSIGNED,  2, NPY_U8) \
    X(I16,  "i16",  2, 16, NET_SIGNED,    5, NPY_I16) \
    X(U16,  "u16",  2, 16, NET_UNSIGNED,  4, NPY_U16) \
    X(I32,  "i32",  4, 32, NET_SIGNED,    6, NPY_I32) \
    X(U32,  "u32",  4, 32, NET_UNSIGNED, 12, NPY_U32) \
    X(I64,  "i64",  8, 64, NET_SIGNED,    7, NPY_I64) \
    X(U64,  "u64",  8, 64, NET_UNSIGNED, 13, NPY_U64) \
    X(BOOL, "bool", 1,  8, NET_LOGICAL,   9, NPY_BOOL) \
    X(I4,   "i4",   1,  4, NET_SIGNED,   22, NPY_I8) \
    X(U4,   "u4",   1,  4, NET_UNSIGNED, 21, NPY_U8)
/* clang-format on */

enum net_type {
#define X(name, ...) NET_##name,
    NET_TYPE_TABLE(X)
#undef X
        NET_TYPES /* also: not known */
};

const char *net_type_name(enum net_type type); /* "f32"; "?" when it is not known */
size_t net_type_bytes(enum net_type type);
unsigned net_type_bits(enum net_type type);
enum net_kind net_type_kind(enum net_type type);
bool net_type_is_float(enum net_type type);
/* NET_TYPES when ONNX's number names none of them. */
enum net_type net_type_of_onnx(int64_t number);
int64_t net_type_to_onnx(enum net_type type);
enum npy_type net_type_npy(enum net_type type);
/* "float16", "string" ...: what ONNX calls its number, for messages. */
const char *net_onnx_type_name(int64_t number);

/* Elements at `data`, `first` and every `stride`-th after it, as doubles; 64-bit integers are rounded. */
void net_read_doubles(enum net_type type, const void *data, int64_t first, int64_t stride, size_t count, double *number);
void net_write_doubles(enum net_type type, void *data, int64_t first, size_t count, const double *number);
/* The same as integers: exact for all integer types, the bits of u64; floating-point numbers are truncated and kept in range. */
void net_read_integers(enum net_type type, const void *data, int64_t first, int64_t stride, size_t count, int64_t *number);
void net_write_integers(enum net_type type, void *data, int64_t first, size_t count, const int64_t *number);

/* The double as an integer, toward zero; what no int64 holds becomes the nearest, NaN becomes 0. */
int64_t net_truncate(double number);
uint16_t net_half_of(double number);
double net_of_half(uint16_t bits);
uint16_t net_bfloat_of(double number);

#endif
