/* What a check verb has to say: how many cases passed, failed and were skipped, and why.
 *
 * A struct check_report starts zeroed. Every checker adds to it; the command prints it. Input that cannot be read
 * is not a failed case: checkers say so through struct orch_error and return false.
 */
#ifndef ORCHARD_SIM_BASE_CHECK_H
#define ORCHARD_SIM_BASE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_object;

/* How many texts are kept. Failures and skips beyond that are only counted, and their number is printed. */
enum { CHECK_FAILURES_KEPT = 100, CHECK_SKIPS_KEPT = 10000 };

struct check_texts {
    char **text;
    size_t count, room;
};

struct check_report {
    unsigned long passed, failed, skipped;
    struct check_texts failures, skips;
};

void check_report_free(struct check_report *report);

void check_pass(struct check_report *report);
/* The text names the case and what differs: one line, no newline. */
void check_fail(struct check_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check_skip(struct check_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True when something ran and nothing failed. */
bool check_holds(const struct check_report *report);

/* One line per kept failure and skip, then "N passed, M failed[, K skipped]". */
void check_print_details(const struct check_report *report, FILE *out);
void check_print_closing(const struct check_report *report, FILE *out);

/* {"passed","failed","skipped","failures":[...]}; the caller puts it. NULL when memory is out. */
struct json_object *check_report_json(const struct check_report *report);

#endif
