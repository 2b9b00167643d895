/* Remembers results of work by key, so that rows with the same work cost one run. Any number of threads may share a memo; who
 * asks for work that another thread is doing waits for it. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_MEMO_H
#define ORCHARD_SIM_PROVE_VALIDATE_MEMO_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct memo;

struct memo *memo_create(size_t value_bytes); /* `value_bytes` is the size of every value. NULL when memory is out. */
void memo_free(struct memo *memo);
/* Copies the value of the key. False when nobody has it: then the caller must do the work and call memo_remember or memo_forget.
 */
bool memo_recall(struct memo *memo, const char *key, void *value);
/* False when memory is out; then the key is forgotten. */
bool memo_remember(struct memo *memo, const char *key, const void *value, struct orch_error *error);
/* The work failed: whoever asks next does it again. */
void memo_forget(struct memo *memo, const char *key);

#endif
