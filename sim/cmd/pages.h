/* Files of an installation that say what the option tables say: manual pages, and completion for shells. */
#ifndef ORCHARD_SIM_CMD_PAGES_H
#define ORCHARD_SIM_CMD_PAGES_H

#include "sim/orchard.h"

/* The manual page of a verb (section 1), or of the program as a whole when it is NULL. */
void pages_manual(FILE *out, const struct orchard_verb *verb);
/* Completion for "bash", "zsh" or "fish"; false for other words. */
bool pages_completion(FILE *out, const char *shell);

#endif
