/* The profile of a GPU program for people: lines of the source with what they cost, and warnings. */
#ifndef ORCHARD_SIM_LISTEN_PROFILE_TEXT_H
#define ORCHARD_SIM_LISTEN_PROFILE_TEXT_H

#include "sim/base/line_profile.h"

#include <stdio.h>

/* With `assembly`, every line is followed by its instructions. False when memory has run out or writing failed. */
bool profile_print(FILE *out, const struct line_profile *profile, const char *chip, bool assembly);

/* "memory 83 %, issue 12 %": what cycles by reason went to, largest first, as many as there is room for; "" = no cycles. */
#define PROFILE_WHY_BYTES 43
const char *profile_why(const struct line_profile *profile, const double *cycles, char text[PROFILE_WHY_BYTES]);

#endif
