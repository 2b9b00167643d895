/* Answers while they are made: the documents that a verb gives, and output that has no document. */
#ifndef ORCHARD_SIM_API_ANSWER_H
#define ORCHARD_SIM_API_ANSWER_H

#include "sim/orchard.h"

#include <json-c/json.h>

/* NULL when memory is short. */
struct orchard_answer *answer_create(void);
/* Takes the document over; with the text that it was read from, or NULL. False when memory is short. */
bool answer_add(struct orchard_answer *answer, json_object *document, char *text);
/* Takes over a text from malloc. */
void answer_set_output(struct orchard_answer *answer, char *output);
void answer_set_code(struct orchard_answer *answer, int code);
/* Whether there is neither document nor output. */
bool answer_is_empty(const struct orchard_answer *answer);

#endif
