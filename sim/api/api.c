#define _GNU_SOURCE /* vasprintf */
#include "sim/api/api.h"

#include "sim/base/plain_stream.h"
#include "sim/api/answer.h"
#include "sim/api/csv_rows.h"
#include "sim/base/check.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/listen/summary.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what a verb says ---- */

int api_fail(struct api_context *context, const struct orch_error *error)
{
    context->error = *error;
    if (!context->error.exit_code)
        context->error.exit_code = ORCH_INTERNAL;
    return context->error.exit_code;
}

int api_usage(struct api_context *context, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    if (text)
        orch_fail(&context->error, ORCH_USAGE, "%s", text);
    else
        orch_no_memory(&context->error);
    free(text);
    context->words_are_wrong = context->error.exit_code == ORCH_USAGE;
    return context->error.exit_code;
}

static void remark(struct api_context *context, enum orchard_remark kind, const char *format, va_list args)
{
    char *marked = NULL;
    if (!context->session->remark || vasprintf(&marked, format, args) < 0)
        return;
    const size_t room = 2 * strlen(marked) + 1; /* a mark of one byte becomes two dashes at most */
    char *const text = malloc(room);
    if (text) {
        orch_spell_options(marked, context->session->dashes, text, room);
        plain_text(text);
        context->session->remark(context->session->context, kind, text);
    }
    free(text);
    free(marked);
}

void api_note(struct api_context *context, const char *format, ...)
{
    if (context->common.quiet)
        return;
    va_list args;
    va_start(args, format);
    remark(context, ORCHARD_NOTE, format, args);
    va_end(args);
}

void api_warn(struct api_context *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    remark(context, ORCHARD_WARNING, format, args);
    va_end(args);
}

void api_progress(struct api_context *context, const struct orchard_progress *progress)
{
    if (context->session->progress)
        context->session->progress(context->session->context, progress);
}

bool api_wants_document(const struct api_context *context)
{
    return context->common.json || context->common.csv || context->answer;
}

bool api_wants_text(const struct api_context *context)
{
    return !context->common.json && !context->common.csv && context->session->text;
}

static void keep(struct api_context *context, json_object *document, char *text)
{
    if (context->answer) {
        if (!answer_add(context->answer, document, text) && !context->error.exit_code)
            orch_no_memory(&context->error);
    } else {
        json_object_put(document);
        free(text);
    }
}

bool api_leaves_out(const struct orch_error *error)
{
    return error->exit_code == ORCH_USAGE || error->exit_code == ORCH_UNMODELLED;
}

void api_document(struct api_context *context, json_object *document)
{
    if (context->common.csv && context->session->text) {
        if (!csv_rows_print(context->out, document) && !context->error.exit_code)
            orch_no_memory(&context->error);
    } else if (context->common.json && context->session->text) {
        json_print(json_object_get(document), context->out);
    }
    keep(context, document, NULL);
}

void api_document_text(struct api_context *context, char *text)
{
    if (context->common.csv) {
        api_document(context, json_tokener_parse(text));
        free(text);
        return;
    }
    if (context->common.json && context->session->text)
        fputs(text, context->out);
    const size_t length = strlen(text);
    if (length && text[length - 1] == '\n')
        text[length - 1] = 0;
    keep(context, context->answer ? json_tokener_parse(text) : NULL, text);
}

void api_documents(struct api_context *context, json_object *list)
{
    if (json_object_array_length(list) != 1) {
        api_document(context, list);
        return;
    }
    api_document(context, json_object_get(json_object_array_get_idx(list, 0)));
    json_object_put(list);
}

void api_table(struct api_context *context, struct table *table)
{
    if (!table_print(table, context->out, context->common.color) && !context->error.exit_code)
        orch_no_memory(&context->error);
    table_free(table);
}

bool api_summary(struct api_context *context, const struct run_result *result, size_t counters, size_t operators,
                 struct orch_error *error)
{
    const struct summary_options options = {context->common.color, counters, operators};
    return summary_print(context->out, result, &options) || orch_fail(error, ORCH_USAGE, "standard output cannot be written");
}

int api_report(struct api_context *context, const struct check_report *report)
{
    if (api_wants_document(context)) {
        json_object *document = check_report_json(report);
        if (document)
            api_document(context, document);
    }
    if (api_wants_text(context)) {
        check_print_details(report, context->out);
        check_print_closing(report, context->out);
    }
    return check_holds(report) ? ORCH_OK : ORCH_FAILED;
}

void api_hand_over(struct orchard_error *to, const struct orch_error *from, bool dashes)
{
    if (!to)
        return;
    *to = (struct orchard_error){.code = from->exit_code};
    snprintf(to->text, sizeof to->text, "%s", dashes ? from->text : from->plain);
}

/* ---- what verbs share ---- */

struct chip_db *api_chip_db(struct api_context *context, struct orch_error *error)
{
    if (!context->chip_db)
        context->chip_db = chip_db_open(NULL, error);
    return context->chip_db;
}

static bool add_chip(struct api_context *context, const char *name, struct api_chips *chips, struct orch_error *error)
{
    const struct chip_overrides overrides = {context->common.sets, context->common.set_count};
    struct chip **grown = realloc(chips->chip, (chips->count + 1) * sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    chips->chip = grown;
    struct chip *chip = chip_open(context->chip_db, name, &overrides, error);
    if (chip)
        grown[chips->count++] = chip;
    return chip != NULL;
}

bool api_chips_open(struct api_context *context, const char *list, struct api_chips *chips, struct orch_error *error)
{
    *chips = (struct api_chips){0};
    if (!api_chip_db(context, error))
        return false;
    char *names = strdup(list ? list : context->common.chips), *rest = NULL;
    if (!names)
        return orch_no_memory(error);
    bool ok = true;
    for (char *name = strtok_r(names, ",", &rest); ok && name; name = strtok_r(NULL, ",", &rest))
        ok = add_chip(context, name, chips, error);
    free(names);
    if (ok && chips->count == 0)
        ok = orch_fail(error, ORCH_USAGE, ORCH_OPTION("chip") ": no chip named");
    if (!ok)
        api_chips_close(chips);
    return ok;
}

bool api_chips_open_or_all(struct api_context *context, struct api_chips *chips, struct orch_error *error)
{
    if (context->common.chips_given)
        return api_chips_open(context, NULL, chips, error);
    const struct chip_db *const db = api_chip_db(context, error);
    *chips = (struct api_chips){0};
    bool ok = db != NULL;
    for (size_t i = 0; ok && i < chip_db_count(db); i++)
        ok = add_chip(context, chip_db_id(db, i), chips, error);
    if (!ok)
        api_chips_close(chips);
    return ok;
}

bool api_chip_ids(struct api_context *context, const char ***ids, size_t *count, struct orch_error *error)
{
    const struct chip_db *const db = api_chip_db(context, error);
    const bool given = context->common.chips_given;
    struct api_chips chips = {0};
    if (!db || (given && !api_chips_open(context, NULL, &chips, error)))
        return false;
    *count = given ? chips.count : chip_db_count(db);
    *ids = calloc(*count + 1, sizeof **ids);
    bool ok = *ids || orch_no_memory(error);
    for (size_t i = 0; ok && i < *count; i++)
        ok = chip_db_resolve(db, given ? chip_id(chips.chip[i]) : chip_db_id(db, i), &(*ids)[i], error);
    api_chips_close(&chips);
    return ok;
}

void api_chips_close(struct api_chips *chips)
{
    for (size_t i = 0; i < chips->count; i++)
        chip_close(chips->chip[i]);
    free(chips->chip);
    *chips = (struct api_chips){0};
}

bool api_read_file(const char *path, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    *bytes = NULL;
    *size = 0;
    if (!in)
        return orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(errno));
    size_t room = 0;
    bool ok = true;
    for (;;) {
        if (room - *size < 65536) {
            room = room ? room * 2 : 131072;
            uint8_t *grown = realloc(*bytes, room);
            ok = grown != NULL || orch_fail(error, ORCH_INTERNAL, "%.400s: does not fit into memory", path);
            if (!ok)
                break;
            *bytes = grown;
        }
        const size_t n = fread(*bytes + *size, 1, room - *size - 1, in);
        *size += n;
        if (n == 0)
            break;
    }
    if (ok && ferror(in))
        ok = orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(errno));
    if (!standard)
        fclose(in);
    if (ok)
        (*bytes)[*size] = 0;
    else
        free(*bytes);
    return ok;
}
