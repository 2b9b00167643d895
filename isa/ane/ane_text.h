/* Neural Engine programs as text: an engineer's notes to read, a listing that assembles back, and the table page. */
#ifndef ORCHARD_ISA_ANE_ANE_TEXT_H
#define ORCHARD_ISA_ANE_ANE_TEXT_H

#include "isa/ane/ane_coefficients.h"
#include "isa/ane/ane_program.h"

#include <stdio.h>

/* The listing: per task a commented summary (operation, shapes, strides, formats, banks, post-operations, what the chain
 * computes) and the fields that differ from ane_td_init as "Name = value", then coefficients as hex. ane_assemble reads it back
 * to the same bytes. */
void ane_disassemble(const struct ane_program *program, FILE *out);
/* Errors carry the line. Free the program with ane_program_free. */
bool ane_assemble(const char *text, size_t size, struct ane_program *program, struct isa_error *error);
/* The fields as Markdown. */
void ane_document(FILE *out);

/* The operation that the whole chain implements, when it is one that is known: "softmax", "sigmoid", "add", "conv2d" ...;
 * NULL otherwise. Arguments (axis, alpha ...) follow in `detail` when there are any. */
const char *ane_program_operation(const struct ane_program *program, char *detail, size_t size);

/* ... with what a caller needs to compute the same. */
struct ane_operation {
    const char *name; /* of the list in ane_operation.c; static */
    uint8_t input[3]; /* base registers of x, y and z */
    unsigned inputs;
    uint8_t output;
    double alpha;           /* parameter of the function, epsilon, factor of scale; NAN = none */
    double bias;            /* scale: x * alpha + bias */
    const char *activation; /* applied to the result of the operation ("conv2d" then "relu"); NULL = none; static */
    double activation_alpha;
    size_t task; /* the convolution, pooling ... that has the shape */
};
bool ane_program_find_operation(const struct ane_program *program, struct ane_operation *operation);

#endif
