/* Claims about chips, asked anew of the simulator: claims.json says what is claimed, which question asks it, and which number of
 * the answer stands for it. A claim is plausible when it meets the interval of the answer.
 *
 *     struct claims *c = claims_open(&error);
 *     claims_ask(c, &asker);
 *     claims_page(c, version, &page, &error);
 *     claims_close(c);
 */
#ifndef ORCHARD_SIM_REPORT_CLAIMS_H
#define ORCHARD_SIM_REPORT_CLAIMS_H

#include "reports/page.h"
#include "sim/base/error.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

extern const char report_claims[]; /* claims.json; sim/build.mk makes it */

enum claim_verdict { CLAIM_PLAUSIBLE, CLAIM_IMPLAUSIBLE, CLAIM_NOT_MODELLED, CLAIM_VERDICTS };
const char *claim_verdict_name(enum claim_verdict verdict); /* "plausible" ... */

/* How the answer compares with what is claimed. */
enum claim_how {
    CLAIM_IS,
    CLAIM_AT_LEAST,
    CLAIM_AT_MOST,
    CLAIM_PEAK, /* a good program reaches CLAIM_PEAK_SHARE of it, and none exceeds it */
    CLAIM_HOWS
};
#define CLAIM_PEAK_SHARE 0.8
const char *claim_how_name(enum claim_how how); /* "is", "at-least" ... */

/* What one chip says. */
struct claim_answer {
    char chip[40];           /* "" = the claim names its chips itself */
    double value, low, high; /* in the unit of the claim; NAN = not modelled */
    double measured;         /* on hardware, as a table has it; NAN = no table has */
    char measured_row[40];
    enum claim_verdict verdict;
    char reason[700], command[240];
    char over[240]; /* the command of what it is divided by; "" = nothing */
};

enum { CLAIM_CHIPS = 6 };

struct claim {
    const char *topic, *text, *unit, *note; /* note NULL = none */
    double claimed_low, claimed_high;       /* NAN = nothing that has a number */
    enum claim_how how;
    struct claim_answer answer[CLAIM_CHIPS];
    size_t answers;
    enum claim_verdict verdict; /* of the chip that fits best */
};

struct claims;

/* A row of a table of measurements: what a claim names, in the claim's unit. */
struct claim_measurement {
    const char *workload, *precision, *shape, *unit; /* shape NULL = any */
};

/* Answers a question as a document, which the caller puts; NULL with a line in `why`. `options` ends with NULL. */
struct claims_asker {
    void *context;
    json_object *(*ask)(void *context, const char *verb, const char *workload, const char *const *options, char *why,
                        size_t size);
    void (*progress)(void *context, size_t done, size_t all); /* NULL = not wanted */
    /* What was measured on a chip of that identifier, and the row's name; false = no table has it. NULL = there are no tables. */
    bool (*measured)(void *context, const struct claim_measurement *wanted, const char *chip, double *value, char *row,
                     size_t size);
};

/* Reads the table that is compiled in, or `text` when it is not NULL. `only` leaves those claims whose topic or text has that in
 * it, or one of several texts between commas; NULL = all. */
struct claims *claims_open(const char *text, const char *only, struct orch_error *error);
void claims_close(struct claims *claims);
/* Asks whatever the claims need, each question once. False when memory is short. */
bool claims_ask(struct claims *claims, const struct claims_asker *asker, struct orch_error *error);
size_t claims_count(const struct claims *claims);
const struct claim *claims_at(const struct claims *claims, size_t index);
size_t claims_with(const struct claims *claims, enum claim_verdict verdict);
const char *claims_source(const struct claims *claims);

/* {"claims": [...], "plausible": N, "implausible": N, "not_modelled": N}, to be put by the caller. */
json_object *claims_document(const struct claims *claims);
bool claims_page(const struct claims *claims, const char *version, struct page **page, struct orch_error *error);

#endif
