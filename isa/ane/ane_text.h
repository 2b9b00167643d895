/* Neural Engine programs as text: notes for an engineer, listings that assemble to the same file, and the page of the table. */
#ifndef ORCHARD_ISA_ANE_ANE_TEXT_H
#define ORCHARD_ISA_ANE_ANE_TEXT_H

#include "isa/ane/ane_coefficients.h"
#include "isa/ane/ane_program.h"

#include <stdio.h>

/* Writes the listing: for each task a summary in comments (operation, shapes, strides, formats, banks, post-operations, what the
 * chain computes) and the fields that differ from ane_td_init as "Name = value", then coefficients in hex. ane_assemble makes the
 * same bytes of it. */
void ane_disassemble(const struct ane_program *program, FILE *out);
/* Assembles a listing. Errors carry the line. Free the program with ane_program_free. */
bool ane_assemble(const char *text, size_t size, struct ane_program *program, struct isa_error *error);
/* Writes the fields and the activation functions as Markdown. */
void ane_document(FILE *out);

/* The operation that the whole chain implements, when it is a known one ("softmax", "sigmoid", "add", "conv2d" ...), else NULL.
 * `detail` receives its arguments (axis, alpha ...), if any. */
const char *ane_program_operation(const struct ane_program *program, char *detail, size_t size);

/* The same with what a caller needs to compute it. */
struct ane_operation {
    const char *name; /* of the list in ane_operation.c; static */
    uint8_t input[3]; /* base registers of x, y and z */
    unsigned inputs;
    uint8_t output;
    double alpha;           /* parameter of the function, epsilon, or factor of scale; NAN = none */
    double bias;            /* scale: x * alpha + bias */
    const char *activation; /* applied to the result ("conv2d" then "relu"); NULL = none; static */
    double activation_alpha;
    size_t task; /* the task with the shape: the convolution, pooling ... */
};
bool ane_program_find_operation(const struct ane_program *program, struct ane_operation *operation);

#endif
