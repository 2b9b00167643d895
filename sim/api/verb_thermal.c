/* The verb thermal: runs the thermal models on cases of a die, a package and a power trace. */
#include "sim/prove/check/thermal_cases.h"
#include "sim/base/json_out.h"
#include "sim/api/api.h"
#include "sim/machine/thermal/thermal_case.h"

static void print_text(struct api_context *context, const struct thermal_case *c, const struct thermal_answer *a)
{
    const double *const last = a->trace_k + (c->rows - 1) * c->plan.count;

    fprintf(context->out, "%-16s %10s %12s %12s\n", "block", "mean W", "steady C", "end of trace");
    for (size_t b = 0; b < c->plan.count; b++)
        fprintf(context->out, "%-16s %10.4f %12.4f %12.4f\n", c->plan.block[b].name, c->mean_w[b], a->steady[b].kelvin - 273.15,
                last[b] - 273.15);
    fprintf(context->out, "\n%zu intervals of %g s from %.2f C, ambient %.2f C, %s model%s\n", c->rows, c->package.sampling_s,
            c->package.initial_k - 273.15, c->package.ambient_k - 273.15, c->package.grid ? "grid" : "block",
            c->package.grid ? " (a block is the mean of its cells)" : "");
}

static struct json_object *numbers(const double *value, size_t count)
{
    struct json_object *const list = json_object_new_array();

    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, json_number(value[i]));
    return list;
}

static struct json_object *answer_json(const struct thermal_case *c, const struct thermal_answer *a)
{
    struct json_object *const root = json_object_new_object(), *const steady = json_object_new_object(),
                              *const trace = json_object_new_array();

    for (size_t n = 0; n < a->nodes; n++)
        json_add_number(steady, a->steady[n].name, a->steady[n].kelvin);
    for (size_t r = 0; r < c->rows; r++)
        json_object_array_add(trace, numbers(a->trace_k + r * c->plan.count, c->plan.count));
    json_add_number(root, "sampling_s", c->package.sampling_s);
    json_object_object_add(root, "steady_k", steady);
    json_object_object_add(root, "trace_k", trace);
    if (a->grid_k)
        json_object_object_add(root, "grid_k", numbers(a->grid_k, 4 * (size_t)c->package.grid_rows * c->package.grid_cols));
    return root;
}

static int solve(struct api_context *context, const char *folder)
{
    struct orch_error error = {0};
    struct thermal_case c;
    struct thermal_answer answer;

    if (!thermal_case_load(folder, &c, &error))
        return api_fail(context, &error);
    if (!thermal_case_solve(&c, &answer, &error)) {
        thermal_case_free(&c);
        return api_fail(context, &error);
    }
    if (api_wants_document(context))
        api_document(context, answer_json(&c, &answer));
    if (api_wants_text(context))
        print_text(context, &c, &answer);
    thermal_answer_free(&answer);
    thermal_case_free(&c);
    return ORCH_OK;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    unsigned verb;

    if (words < 2)
        return api_usage(context, "expected check or solve, and a folder");
    if (!api_choice("thermal command", word[0], "check|solve", &verb, &error))
        return api_fail(context, &error);
    if (verb == 1)
        return words == 2 ? solve(context, word[1]) : api_usage(context, "solve takes one folder");
    const bool ok = check_thermal_cases(word[1], word + 2, (size_t)words - 2, &report, &error);
    const int code = ok ? api_report(context, &report) : api_fail(context, &error);
    check_report_free(&report);
    return code;
}

const struct api_verb verb_thermal = {
    .help =
        {
            .name = "thermal",
            .synopsis = "check DIR [NAME...]\n"
                        "solve CASE",
            .summary = "the thermal models of a die in its package",
            .text = "A case is a folder: floorplan.flp, params.txt and power.ptrace as HotSpot reads them. check compares with "
                    "the expected\n"
                    "temperatures in it (block steady 1e-4 K, block trace 0.01 K, grid 0.1 K); solve prints temperatures.",
            .examples = "orchard thermal solve examples/thermal/two",
        },
    .ask = ask,
};
