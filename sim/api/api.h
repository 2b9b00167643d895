/* Verbs: what the command line calls `orchard run` and a program orchard_ask(..., "run", ...).
 *
 * A verb is one file, verb_NAME.c, which defines its row: its options, its help and its function. To add one: write the file
 * and add one line to sim/api/verbs.c. A verb neither prints to the standard streams nor ends the process; it has the context
 * for what it says:
 *
 *     static int ask(struct api_context *context, int words, const char *const *word)
 *     {
 *         struct orch_error error = {0};
 *         if (words != 1)
 *             return api_usage(context, "one kernel, got '%s' and more", word[0]);
 *         if (!work(...))
 *             return api_fail(context, &error);
 *         if (api_wants_document(context))
 *             api_document(context, make_json(...));
 *         if (api_wants_text(context))
 *             fprintf(context->out, ...);
 *         return ORCH_OK;
 *     }
 */
#ifndef ORCHARD_SIM_API_API_H
#define ORCHARD_SIM_API_API_H

#include "sim/api/args.h"
#include "sim/api/common.h"
#include "sim/base/error.h"
#include "sim/chip/chip.h"
#include "sim/orchard.h"

#include <json-c/json.h>
#include <stdio.h>

struct api_context {
    const struct orchard_session *session; /* who asks; never NULL */
    const struct api_verb *verb;
    struct api_args args;     /* for api_value(&context->args, "name") */
    struct api_common common; /* chip, set, db, json ... */
    FILE *out;                /* for text that api_wants_text() wants, and for what has no document, wanted or not */
    struct orchard_answer *answer;
    struct chip_db *chip_db; /* opened by api_chip_db */
    struct orch_error error; /* of api_fail and api_usage */
    bool words_are_wrong;
};

struct api_verb {
    struct orchard_verb help;
    /* Returns an exit code; `word` ends with NULL. */
    int (*ask)(struct api_context *context, int words, const char *const *word);
    const char *const *of_parts; /* options that each of several workloads may have (struct api_args) */
};

/* ---- what a verb says ---- */

/* Keeps the error for the one who asked and returns its exit code. */
int api_fail(struct api_context *context, const struct orch_error *error);
/* The words (or the lack of an option) make no sense; returns ORCH_USAGE. */
int api_usage(struct api_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether one chip or unit of several may be left out for it: it refuses what others may do. */
bool api_leaves_out(const struct orch_error *error);
/* A remark in passing, unless quiet; and one that bears on the answer. Options may be marked by ORCH_OPTION. */
void api_note(struct api_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
void api_warn(struct api_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How far the work is. */
void api_progress(struct api_context *context, const struct orchard_progress *progress);

/* Whether somebody wants the document, the text for people, or both. */
bool api_wants_document(const struct api_context *context);
bool api_wants_text(const struct api_context *context);
/* Gives the document (or one of several), which is taken over. */
void api_document(struct api_context *context, json_object *document);
/* The same for a document as text with a newline after it, from malloc. */
void api_document_text(struct api_context *context, char *text);

/* The only document of a list, or the list when it has another number of them; the list is taken over. */
void api_documents(struct api_context *context, json_object *list);

/* Prints and frees a table; NULL, or a table for which memory ran out, becomes the error of the question. */
struct table;
void api_table(struct api_context *context, struct table *table);

/* Prints the summary of a run, with so many counters and operators at most. */
struct run_result;
bool api_summary(struct api_context *context, const struct run_result *result, size_t counters, size_t operators,
                 struct orch_error *error);

/* Findings and closing line of a check, or its document; returns the exit code. */
struct check_report;
int api_report(struct api_context *context, const struct check_report *report);

/* An error for the one who asked; `to` may be NULL. */
void api_hand_over(struct orchard_error *to, const struct orch_error *from, bool dashes);

/* ---- what verbs share ---- */

/* The chip database, opened at the first call; NULL = *error. */
struct chip_db *api_chip_db(struct api_context *context, struct orch_error *error);

/* The chips of the option "chip" (or of `list` when it is not NULL), opened with the overrides of "set". */
struct api_chips {
    struct chip **chip;
    size_t count;
};
bool api_chips_open(struct api_context *context, const char *list, struct api_chips *chips, struct orch_error *error);
void api_chips_close(struct api_chips *chips);
/* The same, but all chips of the database when the option "chip" was not given. */
bool api_chips_open_or_all(struct api_context *context, struct api_chips *chips, struct orch_error *error);
/* Their ids alone, as the database spells them; an array from malloc. Chips are opened only when the option was given, which
 * checks the overrides. */
bool api_chip_ids(struct api_context *context, const char ***ids, size_t *count, struct orch_error *error);

/* A whole file in memory ("-" = standard input); a NUL follows the last byte. Free with free. */
bool api_read_file(const char *path, uint8_t **bytes, size_t *size, struct orch_error *error);

#endif
