/* What operations compute, in double precision from their definitions: independent of tables, descriptors and the order of sums.
 */
#ifndef ORCHARD_SIM_PROVE_CHECK_ANE_REFERENCE_H
#define ORCHARD_SIM_PROVE_CHECK_ANE_REFERENCE_H

#include "isa/ane/ane_text.h"
#include "units/ane/ane_exec.h"

#include <stdbool.h>
#include <stddef.h>

/* One case: inputs as the program reads them, results as they should be. Rows are `width` long. */
struct ane_reference_case {
    const struct ane_program *program;
    const struct ane_operation *operation;
    const struct ane_numeric *numeric;
    const double *input[2];
    uint64_t count[2], width; /* elements of each input */
    double *want, *allowed;   /* `results` elements: what they should be, and how far off they may be */
    uint64_t results;
};

struct ane_reference {
    const char *name;
    unsigned inputs;
    struct {
        double low, high; /* where inputs lie: the range that the operation is made for */
    } range[2];
    double relative, absolute; /* allowed: relative * the result (or what it is a sum of) + absolute */
    /* False when the shapes are not those that the reference knows. */
    bool (*run)(const struct ane_reference *self, struct ane_reference_case *c);
    double (*one)(double x, double y, double alpha, double bias); /* element by element; NULL: `run` knows */
};

/* By the disassembler's name of an operation; NULL when there is none. */
const struct ane_reference *ane_reference_find(const char *operation);
/* The results of a case, and of the activation behind its operation when there is one. */
bool ane_reference_run(const struct ane_reference *reference, struct ane_reference_case *c);

#endif
