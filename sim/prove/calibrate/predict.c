/* Predicts the rows with some parameters moved, by the programs of `orchard validate` on the changed chips. */
#include "sim/base/json_read.h"
#include "sim/prove/calibrate/calibrate.h"
#include "sim/prove/validate/jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *calibrate_override(const struct chip *chip, const char *key, double log_factor)
{
    const struct chip_value *const v = chip_value(chip, key);
    const double factor = exp(log_factor);
    char *text = NULL;
    size_t size = 0;
    FILE *const out = v && v->known ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    fprintf(out, "%s=", key);
    if (v->list) {
        for (size_t i = 0; i < v->count; i++)
            fprintf(out, "%s%.12g", i ? "," : "[", v->list[i] * factor);
        fputc(']', out);
    } else {
        fprintf(out, "%.12g", v->number * factor);
    }
    return fclose(out) == 0 ? text : NULL;
}

/* The overrides of a chip: those of the request, then the moved parameters. The strings after those given are owned. */
struct moved {
    const char **text;
    char *own[CALIBRATE_KEYS];
    size_t owned;
    struct chip_overrides overrides;
};

static void moved_free(struct moved *m)
{
    for (size_t i = 0; i < m->owned; i++)
        free(m->own[i]);
    free(m->text);
}

static bool move(const struct calibrate_request *q, const char *id, const double *log_factor, struct moved *m,
                 struct orch_error *error)
{
    struct chip *const chip = chip_open(q->chips, id, &q->sets, error);
    *m = (struct moved){.text = calloc(q->sets.count + q->keys + 1, sizeof *m->text)};
    bool ok = chip && (m->text || orch_no_memory(error));
    for (size_t i = 0; ok && i < q->sets.count; i++)
        m->text[i] = q->sets.text[i];
    for (size_t k = 0; ok && k < q->keys; k++) {
        if (log_factor[k] == 0)
            continue; /* the value itself, so that nothing derived from it is computed again */
        m->own[m->owned] = calibrate_override(chip, q->key[k], log_factor[k]);
        ok = m->own[m->owned] || orch_fail(error, ORCH_USAGE, "%s is not known of %s", q->key[k], id);
        m->text[q->sets.count + m->owned] = m->own[m->owned];
        m->owned += ok;
    }
    m->overrides = (struct chip_overrides){m->text, q->sets.count + m->owned};
    if (chip)
        chip_close(chip);
    return ok;
}

/* ---- one chip's table ---- */

static void take(const struct calibrate_rows *rows, json_object *document, double *predicted)
{
    json_object *const list = json_peek(document, "rows_detail", json_type_array);
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        json_object *const o = json_object_array_get_idx(list, i);
        const char *const id = json_peek_string(o, "id");
        for (size_t r = 0; r < rows->count; r++)
            if (strcmp(rows->row[r].id, id) == 0)
                predicted[r] = json_peek_number(o, "predicted", 0);
    }
}

/* The table with the rows of one chip that are not idle; *count tells how many. */
static char *table_of(const struct calibrate_rows *rows, unsigned chip, size_t *count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    *count = 0;
    if (!out)
        return NULL;
    fputs(rows->head, out);
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].chip == rows->chip[chip] && !rows->row[i].idle) {
            fputs(rows->row[i].line, out);
            ++*count;
        }
    return fclose(out) == 0 ? text : NULL;
}

static bool predict_chip(const struct calibrate_request *q, const struct calibrate_rows *rows, unsigned chip,
                         const double *log_factor, double *predicted, struct orch_error *error)
{
    struct moved moved = {0};
    size_t count;
    char *const text = table_of(rows, chip, &count);
    struct validation *const v = validation_create();
    json_object *document = NULL;
    bool ok = (v && text) || orch_no_memory(error);
    if (ok && !count) {
        validation_free(v);
        free(text);
        return true;
    }
    ok = ok && move(q, rows->chip[chip], log_factor, &moved, error) &&
         validation_add_text(v, q->name, text, strlen(text), error) &&
         validation_simulate(v, chip_db_folder(q->chips), &moved.overrides, q->threads < count ? q->threads : (unsigned)count,
                             NULL, error);
    if (ok && (document = validation_json(v, NULL, error)) != NULL)
        take(rows, document, predicted);
    json_object_put(document);
    validation_free(v);
    free(text);
    moved_free(&moved);
    return ok && document;
}

bool calibrate_predict(const struct calibrate_request *q, const struct calibrate_rows *rows, const double *log_factor,
                       double *predicted, struct orch_error *error)
{
    for (size_t i = 0; i < rows->count; i++)
        predicted[i] = NAN;
    for (unsigned c = 0; c < rows->chips; c++)
        if (!predict_chip(q, rows, c, log_factor, predicted, error))
            return false;
    return true;
}
