/* The units that have a kernel, and which of them is the fastest: for those who ask for all of them, or for the best one. */
#ifndef ORCHARD_SIM_RUN_KINDS_UNIT_CHOICE_H
#define ORCHARD_SIM_RUN_KINDS_UNIT_CHOICE_H

#include "sim/run/run.h"

#define UNIT_CHOICES 4

/* The names of the units whose libraries have the request's kernel, in the order in which they are tried; returns their number.
 */
unsigned unit_choice_list(const struct run_request *request, const char *unit[UNIT_CHOICES]);

/* The precision that most of the units have the kernel in: the request's own, else f32 if no other is in more of them. NULL =
 * each its own. */
const char *unit_choice_precision(const struct run_request *request, const char *const *unit, unsigned count);

struct unit_choice {
    const char *unit; /* the fastest */
    char text[400];   /* the predictions of all: "amx 12.1 us, gpu 31 us, cpu at least 90 us; ane: why not" */
};
/* Predicts the time of a kernel, or of a language model's tokens by their shapes, on each unit that has it. A unit that cannot be
 * faster than the best one, whatever its program does, is not simulated. False when none of them runs the request. */
bool unit_choice_make(const struct run_request *request, struct unit_choice *choice, struct orch_error *error);

#endif
