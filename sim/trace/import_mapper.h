/* How operators become kernels: shapes of operators, parts of a mapping, and the mappers. For import_map*.c only. */
#ifndef ORCHARD_SIM_TRACE_IMPORT_MAPPER_H
#define ORCHARD_SIM_TRACE_IMPORT_MAPPER_H

#include "sim/trace/import_op.h"

/* ---- shapes (import_shape.c) ---- */

/* Size of an axis, counted from the last one; 1 for axes that the array does not have. */
uint64_t import_last(const struct import_array *array, unsigned back);
/* Product of all axes except the last `without`. */
uint64_t import_leading(const struct import_array *array, unsigned without);
/* Input `i`; an array of rank 0 when it is missing or no array. */
const struct import_array *import_in(const struct import_op *op, unsigned i);
/* The array whose shape the result has: the recorded result, or else the largest input. */
const struct import_array *import_result(const struct import_op *op);
double import_bytes_in(const struct import_op *op);
double import_bytes_out(const struct import_op *op);
/* First number of an input that is a list of integers, recorded as the text "[2, 2]"; `place` is the number of the input as a
 * digit. False when it was not recorded. */
bool import_value(const struct import_op *op, char place, uint64_t *first);

/* Step of a window in one direction, and its padding, estimated from the sizes of image and result. */
uint64_t import_stride(uint64_t in, uint64_t out);
uint64_t import_pad(uint64_t in, uint64_t out, uint64_t window, uint64_t stride);

/* ---- parts of a mapping (import_shape.c) ---- */

/* Adds an assumption to the mapping's note. */
void import_note(struct import_mapping *m, const char *text);
/* Makes the kernel NAME the work; its workload is "NAME:" and the formatted text. */
void import_kernel(struct import_mapping *m, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Takes the precision of the array. Types that the library does not have become f32, with a note. */
void import_precision(struct import_mapping *m, const struct import_array *array);
/* Makes a matrix product the work; nothing to do when a dimension is 0. */
void import_put_gemm(struct import_mapping *m, uint64_t batch, uint64_t rows, uint64_t columns, uint64_t inner);

/* ---- mappers ---- */

/* A mapper turns an operator into a kernel, or leaves it an estimate when its shapes do not say enough. The meaning of the
 * argument is noted at each. */
typedef void import_mapper(const struct import_op *op, const char *argument, struct import_mapping *m);

/* import_map_product.c */
import_mapper import_map_gemm;      /* numbers of the inputs that are factors; "t" after them when the second is N x K */
import_mapper import_map_attention; /* "bshd" when heads are the third axis; otherwise they are the second */

/* import_map_conv.c */
import_mapper import_map_conv;      /* inputs that are image, weights, stride, padding, groups; '-' where there is none */
import_mapper import_map_conv_back; /* both gradients; the inputs that are image and weights */
import_mapper import_map_conv_grad; /* one of the gradients; unused */
import_mapper import_map_conv_transpose;

/* import_map_rows.c */
import_mapper import_map_softmax;     /* parameters to append */
import_mapper import_map_norm;        /* name of the kernel */
import_mapper import_map_reduce;      /* name of the operation */
import_mapper import_map_elementwise; /* names of the operations; their operands are counted */
import_mapper import_map_copy;        /* copies the result; unused */
import_mapper import_map_copy_all;    /* copies all inputs; unused */
import_mapper import_map_gather;      /* "02" when the indices are input 2; otherwise they are input 1 */

/* import_map_image.c */
import_mapper import_map_groupnorm; /* "c" for one group per channel */
import_mapper import_map_batchnorm;
import_mapper import_map_pool;       /* name of the operation */
import_mapper import_map_globalpool; /* name of the operation */
import_mapper import_map_resize;     /* interpolation mode */

#endif
