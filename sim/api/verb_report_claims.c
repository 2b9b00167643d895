#include "sim/api/verb_report_claims.h"

#include "sim/base/format.h"
#include "sim/base/table.h"
#include "sim/prove/validate/measurements.h"
#include "sim/prove/validate/tables.h"
#include "sim/report/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct asker {
    struct api_context *context;
    struct orchard_session session;
    struct csv_table *measured;
};

/* Questions are those of the command line, in the database of this one. */
static json_object *ask(void *context, const char *verb, const char *workload, const char *const *options, char *why, size_t size)
{
    struct asker *const a = context;
    const char *const words[] = {workload, NULL};
    struct orchard_answer *answer = NULL;
    struct orchard_error error;
    orchard_ask(&a->session, verb, words, options, &answer, &error);
    const char *const text = answer ? orchard_answer_json(answer) : NULL;
    json_object *const document = text ? json_tokener_parse(text) : NULL;
    if (!document)
        snprintf(why, size, "%s", error.text);
    orchard_answer_free(answer);
    return document;
}

/* "M2 Pro" is "m2_pro_8p4e_19g" with any cores. */
static bool is_named(const char *chip, const char *name)
{
    for (; *name; chip++, name++)
        if (*chip != (*name == ' ' ? '_' : *name + (*name >= 'A' && *name <= 'Z' ? 'a' - 'A' : 0)))
            return false;
    return chip[0] == '_' && chip[1] >= '0' && chip[1] <= '9';
}

static bool says(const struct csv_table *t, size_t row, const struct claim_measurement *wanted)
{
    const struct {
        const char *column, *text;
    } keys[] = {
        {"workload", wanted->workload}, {"precision", wanted->precision}, {"shape", wanted->shape}, {"value_unit", wanted->unit}};
    bool same = true;
    for (size_t k = 0; same && k < sizeof keys / sizeof *keys; k++)
        same = !keys[k].text || strcasecmp(csv_cell(t, row, csv_find(t, keys[k].column)), keys[k].text) == 0;
    return same;
}

/* The first row of the table that says so of the chip; where none does, of one of its name with another number of GPU cores,
 * which is told with the row. */
static bool measured(void *context, const struct claim_measurement *wanted, const char *chip, double *value, char *row,
                     size_t size)
{
    const struct csv_table *const t = ((const struct asker *)context)->measured;
    bool found = false;
    for (size_t i = 0; i < csv_rows(t); i++) {
        const bool exact = strcmp(csv_cell(t, i, csv_find(t, "chip_id")), chip) == 0;
        if (!says(t, i, wanted) || !(exact || (!found && is_named(chip, csv_cell(t, i, csv_find(t, "chip"))))))
            continue;
        *value = strtod(csv_cell(t, i, csv_find(t, "value")), NULL);
        snprintf(row, size, exact ? "%s" : "%s, %s GPU cores", csv_cell(t, i, csv_find(t, "id")),
                 csv_cell(t, i, csv_find(t, "gpu_cores")));
        if (exact)
            return true;
        found = true;
    }
    return found;
}

static void progress(void *context, size_t done, size_t all)
{
    const struct asker *const a = context;
    const struct orchard_progress p = {
        .line = "claims", .fraction = NAN, .done = (double)done, .all = (double)all, .host_seconds = NAN};
    api_progress(a->context, &p);
}

/* A number or a range of a claim's unit; shares and ratios have none. */
static const char *range_text(const char *unit, double low, double high, char *text, size_t size)
{
    char number[2][2 * FORMAT_SIZE], digits[FORMAT_SIZE];
    const double end[2] = {low, high};
    for (unsigned i = 0; i < 2; i++)
        if (strcmp(unit, "yes") == 0)
            snprintf(number[i], sizeof number[i], end[i] > 0 ? "yes" : "no");
        else if (strcmp(unit, "1") == 0)
            snprintf(number[i], sizeof number[i], "%.3g", end[i]);
        else if (strncmp(unit, "1/", 2) == 0) /* nobody counts in thousands of one a second */
            snprintf(number[i], sizeof number[i], "%s %s", format_digits(digits, end[i], 3), unit + 1);
        else
            format_quantity(number[i], end[i], unit);
    if (isnan(low))
        snprintf(text, size, "-");
    else
        snprintf(text, size, low == high ? "%s" : "%s to %s", number[0], number[1]);
    return text;
}

/* The answer over the nearest end of what is claimed. */
static double over_claim(const struct claim *c, const struct claim_answer *a)
{
    const double nearest = fmin(fmax(a->value, c->claimed_low), c->claimed_high);
    return strcmp(c->unit, "yes") != 0 && nearest > 0 ? a->value / nearest : NAN;
}

/* How claims were read, each once. */
static void print_notes(struct api_context *context, const struct claims *c)
{
    for (size_t i = 0; i < claims_count(c); i++)
        if (claims_at(c, i)->note)
            fprintf(context->out, "%s: %s\n", claims_at(c, i)->text, claims_at(c, i)->note);
}

static void print(struct api_context *context, const struct claims *c)
{
    static const struct table_column columns[] = {
        {"claim", NULL, false, 44},   {"chip", NULL, false, 0},    {"claimed", NULL, true, 0},
        {"simulated", NULL, true, 0}, {"over it", NULL, true, 0},  {"90 %", NULL, true, 0},
        {"measured", NULL, true, 0},  {"verdict", NULL, false, 0}, {"reason", NULL, false, 100},
    };
    char text[4 * FORMAT_SIZE + 8];
    struct table *const t = table_create(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < claims_count(c); i++) {
        const struct claim *const one = claims_at(c, i);
        for (size_t k = 0; k < one->answers; k++) {
            table_row(t);
            table_cell(t, "%s", one->text);
            table_cell(t, "%s", *one->answer[k].chip ? one->answer[k].chip : "-");
            table_cell(t, "%s", range_text(one->unit, one->claimed_low, one->claimed_high, text, sizeof text));
            table_cell(t, "%s", range_text(one->unit, one->answer[k].value, one->answer[k].value, text, sizeof text));
            table_cell(t, isnan(over_claim(one, &one->answer[k])) ? "-" : "%.3g", over_claim(one, &one->answer[k]));
            table_cell(t, "%s", range_text(one->unit, one->answer[k].low, one->answer[k].high, text, sizeof text));
            table_cell(t, isnan(one->answer[k].measured) ? "%s" : "%s (%s)",
                       range_text(one->unit, one->answer[k].measured, one->answer[k].measured, text, sizeof text),
                       one->answer[k].measured_row);
            table_cell(t, "%s", claim_verdict_name(one->answer[k].verdict));
            table_cell(t, "%s", one->answer[k].reason);
        }
    }
    api_table(context, t);
    print_notes(context, c);
    fprintf(context->out, "%zu plausible, %zu implausible, %zu not modelled\n", claims_with(c, CLAIM_PLAUSIBLE),
            claims_with(c, CLAIM_IMPLAUSIBLE), claims_with(c, CLAIM_NOT_MODELLED));
}

bool verb_report_claims(struct api_context *context, struct page **page, struct orch_error *error)
{
    char db[4096], threads[40], seed[40];
    const struct api_common *const common = &context->common;
    const char *const options[] = {"quiet", threads, seed, common->db ? db : NULL, NULL};
    snprintf(db, sizeof db, "db=%s", common->db ? common->db : "");
    snprintf(threads, sizeof threads, "threads=%u", (unsigned)common->threads);
    snprintf(seed, sizeof seed, "seed=%llu", (unsigned long long)common->seed);
    char *const path = validation_shipped_path("hw-measured.csv", error);
    struct asker a = {.context = context,
                      .session = {.options = options, .dashes = true},
                      .measured = path ? measurements_read(path, error) : NULL};
    const struct claims_asker asker = {&a, ask, progress, measured};
    struct claims *const c = a.measured ? claims_open(NULL, api_value(&context->args, "only"), error) : NULL;
    const bool ok = c && claims_ask(c, &asker, error) && claims_page(c, orchard_version(), page, error);
    api_progress(context, &(struct orchard_progress){.fraction = NAN, .host_seconds = NAN});
    if (ok && api_wants_document(context))
        api_document(context, claims_document(c));
    if (ok && api_wants_text(context))
        print(context, c);
    claims_close(c);
    csv_free(a.measured);
    free(path);
    return ok;
}
