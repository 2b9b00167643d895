/* The verb tune: tries the variants of a kernel and keeps the best choice as a named set. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "sim/db/db.h"
#include "sim/ask/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"unit", 0, "UNIT", false, "cpu, amx, gpu or ane (default: every unit that has the kernel)"},
    {"precision", 0, "TYPE", false, "element type (default f32; ane f16)"},
    {"goal", 0, "WHAT", false, "seconds (default) or joules"},
    {"max", 0, "N", false, "most variants of a unit (default 200)"},
    {"save", 0, "NAME", false, "name of the set (default tuned-KERNEL-CHIP); an entry for the same request is replaced"},
    {"dry-run", 0, NULL, false, "only show what was tried"},
    {"choices", 0, NULL, false, "list what can be chosen; nothing runs"},
    {0},
};

static void list_choices(struct api_context *context)
{
    static const struct table_column columns[] = {{"unit", NULL, false, 0},
                                                  {"kernel", NULL, false, 0},
                                                  {"option", NULL, false, 0},
                                                  {"values", NULL, false, 0},
                                                  {"decides", NULL, false, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < tune_choice_count(); i++) {
        const struct tune_choice *const c = tune_choice_at(i);
        char values[128] = "";
        for (unsigned v = 0; v < TUNE_VALUES && c->value[v]; v++)
            snprintf(values + strlen(values), sizeof values - strlen(values), "%s%s", v ? " " : "", c->value[v]);
        table_row(table);
        table_cell(table, "%s", c->unit);
        table_cell(table, "%s", c->kernel ? c->kernel : "all");
        table_cell(table, "%s", c->option);
        table_cell(table, "%s", values);
        table_cell(table, "%s", c->text);
    }
    api_table(context, table);
}

static void on_tried(void *context, size_t number, size_t count)
{
    char line[64];
    snprintf(line, sizeof line, "%zu/%zu", number + 1, count);
    api_progress(context,
                 &(struct orchard_progress){
                     .line = line, .fraction = NAN, .done = (double)number + 1, .all = (double)count, .host_seconds = NAN});
}

static const char *state_text(const struct tune_result *r, size_t i)
{
    static const char *const states[] = {
        [TUNE_TIMED] = "timed", [TUNE_CHECKED] = "results right", [TUNE_WRONG] = "wrong", [TUNE_REFUSED] = "refused"};
    if (i == r->best)
        return r->trial[i].own_rule ? "best; the library's own" : "best; results right";
    return r->trial[i].own_rule && r->trial[i].state != TUNE_REFUSED ? "the library's own" : states[r->trial[i].state];
}

/* ---- text ---- */

static void print_trials(struct api_context *context, const struct tune_result *r)
{
    static const struct table_column columns[] = {
        {"variant", NULL, false, 0}, {"unit", NULL, false, 0},    {"cores", NULL, true, 0}, {"time", NULL, true, 0},
        {"energy", NULL, true, 0},   {"of usual", NULL, true, 0}, {"", NULL, false, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < r->count; i++) {
        const struct tune_trial *const t = &r->trial[i];
        const bool ran = t->state != TUNE_REFUSED;
        table_row(table);
        table_cell(table, "%s", t->variant.workload);
        table_cell(table, "%s", t->unit);
        table_cell(table, t->variant.cores ? "%u" : "-", t->variant.cores);
        table_cell(table, "%s", ran ? format_si(text, t->seconds, "s") : "-");
        table_cell(table, "%s", ran ? format_si(text, t->joules, "J") : "-");
        table_cell(table, ran ? "%.3f" : "-", t->seconds / r->trial[r->usual].seconds);
        table_cell(table, "%s%s%s", state_text(r, i), t->why[0] ? ": " : "", t->why);
    }
    api_table(context, table);
}

static void print_best(struct api_context *context, const struct tune_result *r, const char *name)
{
    const struct tune_trial *const best = &r->trial[r->best], *const usual = &r->trial[r->usual];
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    fprintf(context->out, "\n%zu variants. Best: %s on %s: %s; without tuning %s", r->count, best->variant.workload, best->unit,
            format_si(a, best->seconds, "s"), format_si(b, usual->seconds, "s"));
    if (best->error > 0)
        fprintf(context->out, "; results differ by %.2g of the largest (%.2g allowed)", best->error, r->tolerance);
    fputc('\n', context->out);
    if (name)
        fprintf(context->out, "Saved as %s: orchard run ... --fitted %s\n", name, name);
}

/* ---- JSON ---- */

static json_object *trial_json(const struct tune_result *r, size_t i)
{
    const struct tune_trial *const t = &r->trial[i];
    json_object *const o = json_object_new_object();
    json_add_text(o, "workload", t->variant.workload);
    json_add_text(o, "unit", t->unit);
    json_add_count(o, "cores", t->variant.cores);
    json_add_bool(o, "default", t->own_rule);
    json_add_text(o, "state", state_text(r, i));
    json_add_number(o, "seconds", t->state == TUNE_REFUSED ? (double)NAN : t->seconds);
    json_add_number(o, "joules", t->state == TUNE_REFUSED ? (double)NAN : t->joules);
    json_add_number(o, "difference", t->error);
    json_add_text(o, "why", t->why[0] ? t->why : NULL);
    return o;
}

static void give_document(struct api_context *context, const struct tune_request *q, const struct tune_result *r,
                          const char *name)
{
    json_object *const document = json_object_new_object(), *const trials = json_object_new_array();
    for (size_t i = 0; i < r->count; i++)
        json_object_array_add(trials, trial_json(r, i));
    json_add_text(document, "chip", q->chip);
    json_add_text(document, "workload", q->workload);
    json_add_text(document, "saved_as", name);
    json_object_object_add(document, "default", trial_json(r, r->usual));
    json_object_object_add(document, "best", trial_json(r, r->best));
    json_add_number(document, "speedup", r->trial[r->usual].seconds / r->trial[r->best].seconds);
    json_object_object_add(document, "trials", trials);
    api_document(context, document);
}

/* ---- the set ---- */

static bool save(struct api_context *context, const struct tune_request *q, const struct tune_result *r, const char *name,
                 struct orch_error *error)
{
    struct orch_db *const db = db_open(context->common.db, DB_WRITE, error);
    char *old = NULL, hash[DB_HASH_SIZE];
    int64_t there = 0;
    bool ok = db &&
              db_number(db, error, 0, &there, "SELECT count(*) FROM fitted_set WHERE name = ? AND kind = 'tuned'", "t", name) &&
              (!there || db_get_fitted_set(db, name, &old, hash, error));
    json_object *const entry = ok ? tune_entry(q, r) : NULL, *const body = ok ? tune_body_with(old, entry) : NULL;
    ok = ok && db_put_fitted_set(db, name, "tuned", json_object_to_json_string_ext(body, JSON_C_TO_STRING_PLAIN), error);
    json_object_put(entry);
    json_object_put(body);
    free(old);
    db_close(db);
    return ok;
}

static bool read_request(struct api_context *context, const char *workload, struct tune_request *q, struct orch_error *error)
{
    const struct api_args *const a = &context->args;
    unsigned choice = 0;
    uint64_t most = 200;
    *q = (struct tune_request){.sets = {context->common.sets, context->common.set_count},
                               .workload = workload,
                               .unit = api_value(a, "unit"),
                               .precision = api_value(a, "precision"),
                               .seed = context->common.seed,
                               .tried = on_tried,
                               .context = context};
    if (!api_chosen(a, "goal", "seconds|joules", &choice, error) || !api_unsigned(a, "max", 1, 100000, &most, error) ||
        !api_unit_is_known(a, error))
        return false;
    q->goal = (enum tune_goal)choice;
    q->most = most;
    q->chips = api_chip_db(context, error);
    if (strlen(workload) > 160)
        return orch_fail(error, ORCH_USAGE, "%.60s...: too long", workload);
    return q->chips != NULL;
}

static bool tune_one(struct api_context *context, struct tune_request *q, const struct chip *chip, struct orch_error *error)
{
    struct tune_result result = {0};
    char usual_name[128];
    const char *name = api_value(&context->args, "save");
    q->chip = chip_id(chip);
    snprintf(usual_name, sizeof usual_name, "tuned-%.*s-%.40s", (int)strcspn(q->workload, ":"), q->workload, q->chip);
    name = api_has(&context->args, "dry-run") ? NULL : name ? name : usual_name;
    const bool ok = tune_run(q, &result, error) && (!name || save(context, q, &result, name, error));
    if (ok && api_wants_document(context))
        give_document(context, q, &result, name);
    if (ok && api_wants_text(context)) {
        print_trials(context, &result);
        print_best(context, &result, name);
    }
    tune_free(&result);
    return ok;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct tune_request request;
    struct api_chips chips = {0};
    if (api_has(&context->args, "choices")) {
        list_choices(context);
        return ORCH_OK;
    }
    if (words != 1)
        return api_usage(context, words ? "one kernel, got '%s' and more" : "a kernel is missing, as in gemm:512x512x512%s",
                         words ? word[0] : "");
    bool ok = read_request(context, word[0], &request, &error) && api_chips_open(context, NULL, &chips, &error);
    for (size_t i = 0; ok && i < chips.count; i++)
        ok = tune_one(context, &request, chips.chip[i], &error);
    api_chips_close(&chips);
    return ok ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_tune = {
    .help =
        {
            .name = "tune",
            .synopsis = "KERNEL:SHAPE [options]\n"
                        "--choices",
            .summary = "the best of a kernel's variants on a chip, kept as a named set",
            .text = "Times every variant (tiles, splits, methods, blocks, units, cores) of the kernel; the best one's results "
                    "are compared with those\n"
                    "of the library's own rule. Runs use the set only with --fitted NAME.",
            .examples = "orchard tune gemm:128x128x128 --chip m1 --unit gpu\n"
                        "orchard run gemm:128x128x128 --unit gpu --fitted tuned-gemm-m1_4p4e_8g",
            .options = option_table,
        },
    .ask = ask,
};
