/* One question about several chips: those that cannot answer it are said and left out. */
#ifndef ORCHARD_SIM_API_VERB_RUN_CHIPS_H
#define ORCHARD_SIM_API_VERB_RUN_CHIPS_H

#include "sim/api/api.h"

/* Asks chips one by one. Where one lacks the memory or a kernel and another does not, a warning says so; when none of them
 * answers, *error is the first one's. Every other error ends it. */
bool verb_run_each_chip(struct api_context *context, const struct api_chips *chips,
                        bool (*ask)(void *question, const struct chip *chip, struct orch_error *error), void *question,
                        struct orch_error *error);

#endif
