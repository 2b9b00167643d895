/* Several prompts at the same time, on values. Each token of all sequences is one pass, whose products multiply all of them
 * together. Up to so many sequences generate side by side, and either, whenever one has ended, the next prompt is read and joins
 * the others (continuous batching, as servers do it: Yu et al., Orca, OSDI 2022; --prompts), or so many prompts are read together
 * and the next ones begin when all of them have ended (static; --batch).
 */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_BATCH_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_BATCH_H

#include "sim/run/language/kind_language.h"
#include "sim/run/language/language_step.h"

#include <json-c/json.h>

struct language_batch;

/* Whether the request has several sequences: prompts, copies of one, or sounds. */
bool language_batch_is_wanted(const struct language_work *work, const struct run_request *request);
/* Reads the file, a prompt a line, or takes the one prompt as often as the batch has sequences or the request sounds. Each line
 * has its sound, or all have the only one. False with what is wrong; close in any case. */
bool language_batch_open(struct language_work *work, const struct run_request *request, struct orch_error *error);
void language_batch_close(struct language_batch *batch);
/* Tokens of the longest prompt and of all; all of them to a checksum. */
size_t language_batch_longest(const struct language_batch *batch);
size_t language_batch_tokens(const struct language_batch *batch);
uint64_t language_batch_checksum(uint64_t checksum, const struct language_work *work);
/* Options that go with one prompt alone. */
bool language_batch_check(const struct language_work *work, struct orch_error *error);

bool language_batch_generate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
/* Tokens and texts of all sequences, in the order of the file. */
json_object *language_batch_json(const struct language_batch *batch);

#endif
