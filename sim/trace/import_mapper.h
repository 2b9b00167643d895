/* How operators become kernels: the shapes of operators, what a mapping is made of, and the mappers. Shared by import_map*.c; not
 * for others.
 */
#ifndef ORCHARD_SIM_TRACE_IMPORT_MAPPER_H
#define ORCHARD_SIM_TRACE_IMPORT_MAPPER_H

#include "sim/trace/import_op.h"

/* ---- shapes (import_shape.c) ---- */

/* Size of an axis, counted from the last one; 1 beyond the first. */
uint64_t import_last(const struct import_array *array, unsigned back);
/* Product of all axes but the last ones. */
uint64_t import_leading(const struct import_array *array, unsigned without);
/* An input; one without rank when it is not there or no array. */
const struct import_array *import_in(const struct import_op *op, unsigned i);
/* The array that the result is like: the one told, or the largest of those read. */
const struct import_array *import_result(const struct import_op *op);
double import_bytes_in(const struct import_op *op);
double import_bytes_out(const struct import_op *op);
/* First number of an input that is a list of integers, kept as text "[2, 2]"; `place` is its number as a digit. False when the
 * profile does not tell it. */
bool import_value(const struct import_op *op, char place, uint64_t *first);

/* How far a window moves in one direction, and its padding, from the sizes of image and result. */
uint64_t import_stride(uint64_t in, uint64_t out);
uint64_t import_pad(uint64_t in, uint64_t out, uint64_t window, uint64_t stride);

/* ---- parts of a mapping (import_shape.c) ---- */

/* Adds an assumption to the mapping's note. */
void import_note(struct import_mapping *m, const char *text);
/* The work is a kernel of the library; workload is "NAME:" and the formatted text. */
void import_kernel(struct import_mapping *m, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The precision is that of the array; what the library does not have is f32, with a note. */
void import_precision(struct import_mapping *m, const struct import_array *array);
/* A product; no work when a dimension is 0. */
void import_put_gemm(struct import_mapping *m, uint64_t batch, uint64_t rows, uint64_t columns, uint64_t inner);

/* ---- mappers ---- */

/* Turns an operator into a kernel; leaves it an estimate when its shapes do not say enough. What the argument is: */
typedef void import_mapper(const struct import_op *op, const char *argument, struct import_mapping *m);

/* import_map_product.c */
import_mapper import_map_gemm;      /* inputs that are the factors; then "t" when the second is N x K */
import_mapper import_map_attention; /* "bshd" when the heads are the third axis, else they are the second */

/* import_map_conv.c */
import_mapper import_map_conv;      /* inputs that are image, weights, stride, padding, groups; '-' = not there */
import_mapper import_map_conv_back; /* both gradients; inputs that are image and weights */
import_mapper import_map_conv_grad; /* one gradient; none */
import_mapper import_map_conv_transpose;

/* import_map_rows.c */
import_mapper import_map_softmax;     /* parameters to add */
import_mapper import_map_norm;        /* name of the kernel */
import_mapper import_map_reduce;      /* name of the operation */
import_mapper import_map_elementwise; /* names of the operations; operands are counted */
import_mapper import_map_copy;        /* of the result; none */
import_mapper import_map_copy_all;    /* of all inputs; none */
import_mapper import_map_gather;      /* "02" when the indices are input 2, else 1 */

/* import_map_image.c */
import_mapper import_map_groupnorm; /* "c" = a group per channel */
import_mapper import_map_batchnorm;
import_mapper import_map_pool;       /* name of the operation */
import_mapper import_map_globalpool; /* the same */
import_mapper import_map_resize;     /* mode */

#endif
