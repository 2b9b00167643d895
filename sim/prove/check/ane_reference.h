/* Computes operations in double precision from their definitions, independently of tables, descriptors and the order of sums. */
#ifndef ORCHARD_SIM_PROVE_CHECK_ANE_REFERENCE_H
#define ORCHARD_SIM_PROVE_CHECK_ANE_REFERENCE_H

#include "isa/ane/ane_text.h"
#include "units/ane/ane_exec.h"

#include <stdbool.h>
#include <stddef.h>

/* A case: inputs as the program reads them, and the results they should give. Rows are `width` long. */
struct ane_reference_case {
    const struct ane_program *program;
    const struct ane_operation *operation;
    const struct ane_numeric *numeric;
    const double *input[2];
    uint64_t count[2], width; /* elements of each input */
    double *want, *allowed;   /* for `results` elements: the right value, and the error allowed */
    uint64_t results;
};

struct ane_reference {
    const char *name;
    unsigned inputs;
    struct {
        double low, high; /* range of inputs that the operation is made for */
    } range[2];
    double relative, absolute; /* allowed error: relative * the result (or the largest summand) + absolute */
    /* False when the reference does not know such shapes. */
    bool (*run)(const struct ane_reference *self, struct ane_reference_case *c);
    /* For operations on single elements; otherwise NULL, and `run` computes them. */
    double (*one)(double x, double y, double alpha, double bias);
};

/* Finds a reference by the name that the disassembler gives the operation; NULL when there is none. */
const struct ane_reference *ane_reference_find(const char *operation);
/* Computes the results of a case, including the activation after the operation if there is one. */
bool ane_reference_run(const struct ane_reference *reference, struct ane_reference_case *c);

#endif
