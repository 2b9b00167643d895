/* Neural Engine programs against independent truth: they decode, encode to the same bytes, and compute on generated inputs what
 * the operation that the disassembler names must give.
 */
#ifndef ORCHARD_SIM_PROVE_CHECK_ANE_PROGRAMS_H
#define ORCHARD_SIM_PROVE_CHECK_ANE_PROGRAMS_H

#include "sim/base/check.h"
#include "sim/chip/chip.h"

#include <stddef.h>
#include <stdint.h>

/* What was found out about one program. */
struct check_ane_result {
    size_t descriptors;
    char operation[64]; /* empty: no known operation, so nothing to execute against */
    bool executed;
    double worst;   /* error in units of what is allowed */
    char text[320]; /* one line: what was checked, or why it fails */
};

struct check_ane_options {
    const struct chip *chip; /* whose arithmetic rules count */
    unsigned threads;        /* of the host */
    uint64_t seed;
};

/* One case. False when nothing can be checked: not a Neural Engine program, memory out. */
bool check_ane_program(const char *name, const uint8_t *bytes, size_t size, const struct check_ane_options *options,
                       struct check_report *report, struct check_ane_result *result, struct orch_error *error);

#endif
