/* What a timing depends on besides the chip, as a key of the database. */
#ifndef ORCHARD_SIM_ASK_STUDY_QUESTION_H
#define ORCHARD_SIM_ASK_STUDY_QUESTION_H

#include "sim/base/content_hash.h"
#include "sim/db/db.h"
#include "sim/run/run.h"

/* Hash of the request without its chip. Files count by their contents; reading them needs the chip. */
bool question_hash(const struct run_request *request, char hash[CONTENT_HASH_SIZE], struct orch_error *error);

struct question {
    char hash[CONTENT_HASH_SIZE];
    char *kernel, *shape, *precision, *detail;
    enum orch_part part;
};
bool question_open(struct question *question, const struct run_request *request, const char *hash, struct orch_error *error);
void question_close(struct question *question);
/* The key points into the question. */
struct db_characteristic_key question_key(const struct question *question);

#endif
