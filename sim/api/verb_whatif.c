/* The verb whatif: finds what would have to change to reach a goal. */
#include "isa/array_count.h"
#include "sim/ask/sweep/whatif.h"

#include "sim/base/format.h"
#include "sim/base/host_time.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/verb_sweep.h"

#include <math.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"goal", 'g', "FIELD<NUMBER", true, "a number of the run document and its bound: < <= > >="},
    {"vary", 'v', "KEY=lo:hi", true, "what may change, from where to where"},
    VERB_STUDY_OPTIONS,
    {0},
};

struct question {
    struct sweep_spec *spec;
    struct whatif_goal goal[WHATIF_GOALS_MAX];
    size_t goals;
};

static bool read_goals(const struct api_args *a, struct question *q, struct orch_error *error)
{
    q->goals = api_count(a, "goal");
    if (q->goals == 0 || q->goals > WHATIF_GOALS_MAX)
        return orch_fail(error, ORCH_USAGE,
                         q->goals ? "more than %d goals"
                                  : "a goal is missing, as in " ORCH_OPTION("goal") " 'seconds<0.01' (up to %d)",
                         WHATIF_GOALS_MAX);
    for (size_t i = 0; i < q->goals; i++)
        if (!whatif_goal_parse(api_value_at(a, "goal", i), &q->goal[i], error))
            return false;
    return true;
}

static bool read_vary(const struct api_args *a, struct question *q, struct orch_error *error)
{
    for (size_t i = 0; i < api_count(a, "vary"); i++)
        if (!sweep_spec_vary(q->spec, api_value_at(a, "vary", i), error))
            return orch_fail_in(error, ORCH_OPTION("vary"));
    for (size_t k = 0; k < q->spec->key_count; k++)
        if (!q->spec->key[k].range || q->spec->key[k].steps)
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("vary") " %s: expected KEY=lo:hi", q->spec->key[k].name);
    return q->spec->key_count > 0 || orch_fail(error, ORCH_USAGE, "nothing may change: give " ORCH_OPTION("vary") " KEY=lo:hi");
}

/* Keys that vary and that the base fixes as well start from the value of the base. */
static bool read_question(struct api_context *context, const char *workload, struct question *q, struct orch_error *error)
{
    q->spec = sweep_spec_create();
    return q->spec && read_goals(&context->args, q, error) &&
           sweep_spec_add_workload(q->spec, workload, strlen(workload), error) && read_vary(&context->args, q, error) &&
           verb_sweep_base(context, q->spec, error);
}

/* ---- text ---- */

static void goal_text(const struct question *q, const struct whatif_point *p, char *text, size_t size)
{
    char number[FORMAT_SIZE];
    size_t used = 0;

    *text = 0;
    for (size_t g = 0; g < q->goals && used < size; g++)
        used += (size_t)snprintf(text + used, size - used, "%s%s %s", g ? ", " : "", q->goal[g].field,
                                 isnan(p->field[g]) ? "-" : format_number(number, p->field[g], 4));
}

static void values_text(const struct question *q, const struct whatif_answer *a, const struct whatif_point *p, char *text,
                        size_t size)
{
    char from[FORMAT_SIZE], to[FORMAT_SIZE];
    size_t used = 0;

    *text = 0;
    for (size_t k = 0; k < q->spec->key_count && used < size; k++)
        if (p->value[k] != a->present.value[k])
            used += (size_t)snprintf(text + used, size - used, "%s%s %s -> %s", used ? ", " : "", q->spec->key[k].name,
                                     format_number(from, a->present.value[k], 6), format_number(to, p->value[k], 6));
}

static void add_row(struct table *table, const struct question *q, const struct whatif_answer *a, const char *what,
                    const struct whatif_point *p)
{
    char text[600], number[FORMAT_SIZE];

    table_row(table);
    table_cell(table, "%s", what);
    table_cell(table, "%s", p->reached ? "yes" : "no, the best:");
    values_text(q, a, p, text, sizeof text);
    table_cell(table, "%s", *text ? text : "nothing");
    table_cell(table, "%s", format_number(number, p->change, 3));
    goal_text(q, p, text, sizeof text);
    table_cell(table, "%s", text);
}

static void print_text(struct api_context *context, const struct question *q, const struct whatif_answer *a)
{
    static const struct table_column columns[] = {{"what changes", NULL, false, 0},
                                                  {"reached", NULL, false, 0},
                                                  {"how", NULL, false, 0},
                                                  {"change", NULL, true, 0},
                                                  {"then", NULL, false, 0}};
    char text[600];

    goal_text(q, &a->present, text, sizeof text);
    fprintf(context->out, "present: %s%s\n", text, a->present.reached ? "; the goal is reached" : "");
    if (a->present.reached)
        return;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t k = 0; k < q->spec->key_count; k++) {
        snprintf(text, sizeof text, "%s alone, %g to %g", q->spec->key[k].name, q->spec->key[k].low, q->spec->key[k].high);
        add_row(table, q, a, text, &a->single[k]);
    }
    if (q->spec->key_count > 1)
        add_row(table, q, a, "the least of all", &a->joint);
    api_table(context, table);
    fprintf(context->out, "%zu points; change = sum of |log(new / present)|\n", a->simulated);
}

/* ---- JSON ---- */

static json_object *point_json(const struct question *q, const struct whatif_point *p)
{
    json_object *const o = json_object_new_object(), *const values = json_object_new_object(),
                       *const fields = json_object_new_object();

    json_add_bool(o, "reached", p->reached);
    json_add_number(o, "change", p->change);
    for (size_t k = 0; k < q->spec->key_count; k++)
        json_add_number(values, q->spec->key[k].name, p->value[k]);
    for (size_t g = 0; g < q->goals; g++)
        json_add_number(fields, q->goal[g].field, p->field[g]);
    json_object_object_add(o, "settings", values);
    json_object_object_add(o, "answers", fields);
    return o;
}

static void give_document(struct api_context *context, const struct question *q, const struct whatif_answer *a)
{
    json_object *const o = json_object_new_object(), *const single = json_object_new_object();

    json_add_text(o, "workload", q->spec->workload[0]);
    json_object_object_add(o, "present", point_json(q, &a->present));
    for (size_t k = 0; k < q->spec->key_count; k++)
        json_object_object_add(single, q->spec->key[k].name, point_json(q, &a->single[k]));
    json_object_object_add(o, "single", single);
    json_object_object_add(o, "joint", point_json(q, &a->joint));
    json_add_count(o, "points", a->simulated);
    api_document(context, o);
}

struct watch {
    struct api_context *context;
    double began_s;
};

/* How many points it takes shows when it is over. */
static void tell(void *context, size_t simulated)
{
    const struct watch *const w = context;
    const double passed_s = host_seconds() - w->began_s;
    char line[160];
    snprintf(line, sizeof line, "whatif: %zu points, host %.0f s", simulated, passed_s);
    api_progress(w->context, &(struct orchard_progress){line, NAN, (double)simulated, 0, passed_s, NULL});
}

static bool search(struct api_context *context, const struct question *q, struct whatif_answer *answer, struct orch_error *error)
{
    struct study_base base = {.request = {.seed = context->common.seed, .threads = 1, .detail = "op", .mode = RUN_TIMING}};
    struct watch watch = {context, host_seconds()};
    const struct whatif_question question = {q->spec, q->goal, q->goals, tell, &watch};

    base.chips = api_chip_db(context, error);
    struct orch_db *const db = base.chips ? db_open(context->common.db, DB_WRITE, error) : NULL;
    struct study *const study = db ? study_create(&base, db, error) : NULL;
    const bool ok = study && whatif_search(study, base.chips, &question, answer, error);
    api_progress(context, &(struct orchard_progress){.fraction = NAN, .host_seconds = NAN});
    study_free(study);
    db_close(db);
    return ok;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct question q = {0};
    struct whatif_answer answer;

    if (words != 1)
        return api_usage(context, words ? "one workload, got '%s' and more" : "a workload is missing, as in gemm:512x512x512",
                         words ? word[0] : "");
    const bool ok = read_question(context, word[0], &q, &error) && search(context, &q, &answer, &error);
    if (ok && api_wants_document(context))
        give_document(context, &q, &answer);
    if (ok && api_wants_text(context))
        print_text(context, &q, &answer);
    sweep_spec_free(q.spec);
    return !ok ? api_fail(context, &error) : answer.joint.reached ? ORCH_OK : ORCH_FAILED;
}

const struct api_verb verb_whatif = {
    .help =
        {
            .name = "whatif",
            .synopsis = "WORKLOAD --goal 'FIELD<NUMBER' --vary KEY=lo:hi [--vary ...]",
            .summary = "what would have to change to reach a goal",
            .text = "Looks for the least change of each key alone, then of all together; every answer printed was simulated. "
                    "FIELD is a number of the\n"
                    "run document (seconds, joules, gflops, utilisation.dram, counters.NAME ...). Exit 1 when the goal is not "
                    "reached within the ranges.",
            .examples = "orchard whatif gemm:256x256x256 --unit amx --chip m2 --goal 'seconds<30us' --vary amx.clock_ghz=2:5\n"
                        "orchard whatif gemm:64x64x64 --unit gpu --goal 'joules<1e-3' --vary gpu_max_mhz=600:1278",
            .options = option_table,
        },
    .ask = ask,
};
