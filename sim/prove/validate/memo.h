/* What runners remember of work that they ran: a value a key, so that rows with the same work cost one run. Any number of threads
 * may share one; work that another thread has begun is waited for.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_MEMO_H
#define ORCHARD_SIM_PROVE_VALIDATE_MEMO_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct memo;

struct memo *memo_create(size_t value_bytes); /* of every value; NULL when memory is out */
void memo_free(struct memo *memo);
/* Copies the value of that key. False: nobody has it, and it is the caller's to find; memo_remember or memo_forget must follow.
 */
bool memo_recall(struct memo *memo, const char *key, void *value);
/* False when memory is out; the key is forgotten then. */
bool memo_remember(struct memo *memo, const char *key, const void *value, struct orch_error *error);
/* The work failed: whoever asks next begins it again. */
void memo_forget(struct memo *memo, const char *key);

#endif
