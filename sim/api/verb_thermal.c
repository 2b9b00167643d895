/* orchard thermal: the thermal models on cases of a die, a package and a power trace. */
#include "sim/prove/check/thermal_cases.h"
#include "sim/base/json_out.h"
#include "sim/api/api.h"
#include "sim/machine/thermal/thermal_case.h"

static void print_text(struct cmd_context *context, const struct thermal_case *c, const struct thermal_answer *a)
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

static int solve(struct cmd_context *context, const char *folder)
{
    struct orch_error error = {0};
    struct thermal_case c;
    struct thermal_answer answer;

    if (!thermal_case_load(folder, &c, &error))
        return cmd_fail(context, &error);
    if (!thermal_case_solve(&c, &answer, &error)) {
        thermal_case_free(&c);
        return cmd_fail(context, &error);
    }
    if (context->common.json) {
        json_print(answer_json(&c, &answer), context->out);
    } else {
        print_text(context, &c, &answer);
    }
    thermal_answer_free(&answer);
    thermal_case_free(&c);
    return ORCH_OK;
}

int cmd_thermal(struct cmd_context *context, int argc, char **argv)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    unsigned verb;

    if (argc < 2)
        return cmd_usage(context, "expected check or solve, and a folder");
    if (!cli_choice("thermal command", argv[0], "check|solve", &verb, &error))
        return cmd_fail(context, &error);
    if (verb == 1)
        return argc == 2 ? solve(context, argv[1]) : cmd_usage(context, "solve takes one folder");
    const bool ok = check_thermal_cases(argv[1], (const char *const *)argv + 2, (size_t)argc - 2, &report, &error);
    const int code = ok ? cmd_print_report(context, &report) : cmd_fail(context, &error);
    check_report_free(&report);
    return code;
}
