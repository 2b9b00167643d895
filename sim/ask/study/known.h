/* Timings that are known: of this process, or of a database's characteristics; what is not known is simulated and kept.
 *
 * A question is everything that decides a timing but the chip. Its answers differ by the values of what their simulation read of
 * the chip; there are few sets of such keys for a question, and within a set an answer is found by the hash of the values.
 */
#ifndef ORCHARD_SIM_ASK_STUDY_KNOWN_H
#define ORCHARD_SIM_ASK_STUDY_KNOWN_H

#include "sim/db/db.h"
#include "sim/run/run_timing.h"

struct known;
/* db may be NULL; it must outlive this. */
struct known *known_create(struct orch_db *db, struct orch_error *error);
void known_free(struct known *known);

/* The timing of a request with a chip; valid until the next call. */
const struct run_timing *known_timing(struct known *known, const struct run_request *request, bool *was_known,
                                      struct orch_error *error);
/* The same for run_request.known. */
struct run_known known_as_run(struct known *known);

/* What the timing of the last call read: bits of enum chip_read by key; NULL before. */
const uint8_t *known_last_reads(const struct known *known);

#endif
