/* Timings that are known, from this process or from the characteristics of a database. What is not known is simulated and kept.
 *
 * A question is everything that decides a timing except the chip. Its answers differ by the values of the parameters that their
 * simulation read from the chip. A question has few distinct sets of such parameters; within a set, an answer is found by the
 * hash of the values.
 */
#ifndef ORCHARD_SIM_ASK_STUDY_KNOWN_H
#define ORCHARD_SIM_ASK_STUDY_KNOWN_H

#include "sim/db/db.h"
#include "sim/run/run_timing.h"

struct known;
/* db may be NULL; it must outlive the returned object. */
struct known *known_create(struct orch_db *db, struct orch_error *error);
void known_free(struct known *known);

/* Timing of a request on a chip; valid until the next call. */
const struct run_timing *known_timing(struct known *known, const struct run_request *request, bool *was_known,
                                      struct orch_error *error);
/* What is known without simulating: *timing is NULL when it is not. */
bool known_find(struct known *known, const struct run_request *request, const struct run_timing **timing,
                struct orch_error *error);
/* Simulates requests by so many threads of the host, and keeps their timings; *failed is the first that could not be simulated.
 */
bool known_learn(struct known *known, const struct run_request *request, size_t count, unsigned threads, size_t *failed,
                 struct orch_error *error);
/* The same as a hook for run_request.known. */
struct run_known known_as_run(struct known *known);

/* Bits of enum chip_read by key: what the timing of the last call read. NULL before the first call. */
const uint8_t *known_last_reads(const struct known *known);

#endif
