/* What runners remember of work that they ran: a value a key, so that rows with the same work cost one run. */
#ifndef ORCHARD_SIM_VALIDATE_MEMO_H
#define ORCHARD_SIM_VALIDATE_MEMO_H

#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>

struct memo {
    size_t value_bytes; /* of every value; everything else is 0 at the begin */
    struct memo_entry *entry;
    size_t count;
};

void memo_free(struct memo *memo);
/* Copies the value of that key; false when there is none. */
bool memo_recall(const struct memo *memo, const char *key, void *value);
/* The key is new. */
bool memo_remember(struct memo *memo, const char *key, const void *value, struct orch_error *error);

#endif
