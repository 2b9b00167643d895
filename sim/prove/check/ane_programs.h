/* Checks Neural Engine programs against independent truth: they decode, encode to the same bytes, and compute on generated inputs
 * what the operation named by the disassembler must give. */
#ifndef ORCHARD_SIM_PROVE_CHECK_ANE_PROGRAMS_H
#define ORCHARD_SIM_PROVE_CHECK_ANE_PROGRAMS_H

#include "sim/base/check.h"
#include "sim/chip/chip.h"

#include <stddef.h>
#include <stdint.h>

/* Findings about a program. */
struct check_ane_result {
    size_t descriptors;
    char operation[64]; /* empty when the operation is not known, so that there is nothing to execute against */
    bool executed;
    double worst;   /* largest error, in units of the allowed error */
    char text[320]; /* one line: what was checked, or why the check fails */
};

struct check_ane_options {
    const struct chip *chip; /* the chip whose arithmetic rules apply */
    unsigned threads;        /* of the host */
    uint64_t seed;
};

/* Checks one program. False when nothing can be checked because it is no Neural Engine program or memory is out. */
bool check_ane_program(const char *name, const uint8_t *bytes, size_t size, const struct check_ane_options *options,
                       struct check_report *report, struct check_ane_result *result, struct orch_error *error);

#endif
