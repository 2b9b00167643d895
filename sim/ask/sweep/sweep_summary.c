#include "sim/ask/sweep/sweep_summary.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/table.h"
#include "sim/ask/sweep/effects.h"
#include "sim/ask/sweep/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = SWEEP_KEYS_MAX + 8, VALUE_SIZE = 64 };

/* ---- rows of points ---- */

struct row_table {
    struct table_column column[COLUMNS_MAX];
    struct table *table;
    size_t columns;
};

static bool open_rows(struct row_table *t, const struct sweep_data *data)
{
    static const struct table_column answers[] = {{"seconds", "s", true, 0},
                                                  {"joules", "J", true, 0},
                                                  {"GFLOPS", NULL, true, 0},
                                                  {"bound by", NULL, false, 0},
                                                  {"answer", NULL, false, 0}};
    t->columns = 0;
    t->column[t->columns++] = (struct table_column){"point", NULL, true, 0};
    for (size_t k = 0; k < data->spec->key_count; k++)
        t->column[t->columns++] = (struct table_column){data->spec->key[k].name, NULL, data->spec->key[k].numeric, 40};
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++)
        t->column[t->columns++] = answers[i];
    t->table = table_create(t->column, t->columns);
    return t->table != NULL;
}

static void number_cell(struct table *table, double value)
{
    char text[FORMAT_SIZE];
    if (isnan(value))
        table_cell(table, "-");
    else
        table_cell(table, "%s", format_number(text, value, 4));
}

static void add_row(struct row_table *t, const struct sweep_data *data, const struct sweep_point *p)
{
    char text[VALUE_SIZE];
    if (!table_row(t->table))
        return;
    table_cell(t->table, "%llu", (unsigned long long)p->number);
    for (size_t k = 0; k < data->spec->key_count; k++)
        table_cell(t->table, "%s", sweep_value_text(data, p, k, text, sizeof text));
    number_cell(t->table, p->answer.response[SWEEP_seconds]);
    number_cell(t->table, p->answer.response[SWEEP_joules]);
    number_cell(t->table, p->answer.response[SWEEP_gflops]);
    table_cell(t->table, "%s", *p->answer.bound_by ? p->answer.bound_by : "-");
    if (p->answer.status == SWEEP_FAILED)
        table_cell(t->table, "%.60s", p->answer.error);
    else if (p->answer.method == SWEEP_INTERPOLATED)
        table_cell(t->table, "interpolated, %.1f %%", 100 * p->answer.expected_error);
    else
        table_cell(t->table, "%s", sweep_method_name(p->answer.method));
}

static void print_rows(FILE *out, const struct sweep_data *data, size_t workload, const struct sweep_summary *how)
{
    struct row_table t;
    size_t shown = 0;
    if (how->rows == 0 || !open_rows(&t, data))
        return;
    for (size_t i = 0; i < data->point_count && shown < how->rows; i++) {
        if (data->point[i].role != SWEEP_POINT || data->point[i].workload != workload)
            continue;
        add_row(&t, data, &data->point[i]);
        shown++;
    }
    fprintf(out, "\n");
    table_print(t.table, out, how->color);
    table_free(t.table);
}

/* The point with the best response; NULL when no point counts. */
static const struct sweep_point *best_point(const struct sweep_data *data, size_t workload, enum sweep_response response)
{
    const bool higher = sweep_response_better(response) == 1;
    const struct sweep_point *best = NULL;
    for (size_t i = 0; i < data->point_count; i++) {
        const struct sweep_point *const p = &data->point[i];
        if (!sweep_counts(data, p, workload, response))
            continue;
        const double value = p->answer.response[response], now = best ? best->answer.response[response] : 0;
        if (!best || (higher ? value > now : value < now))
            best = p;
    }
    return best;
}

static void print_best(FILE *out, const struct sweep_data *data, size_t workload, const struct sweep_summary *how)
{
    const struct sweep_point *const best = best_point(data, workload, how->response);
    char text[FORMAT_SIZE], value[VALUE_SIZE];
    if (!best)
        return;
    fprintf(out, "best: point %llu, %s", (unsigned long long)best->number,
            format_quantity(text, best->answer.response[how->response], sweep_response_unit(how->response)));
    for (size_t k = 0; k < data->spec->key_count; k++)
        fprintf(out, "%s%s=%s", k ? " " : " at ", data->spec->key[k].name, sweep_value_text(data, best, k, value, sizeof value));
    fprintf(out, "\n");
}

/* ---- effects ---- */

static void end_cell(struct table *table, const struct sweep_key *key, double value, double response)
{
    char number[FORMAT_SIZE], text[FORMAT_SIZE];
    if (isnan(response))
        table_cell(table, "-");
    else if (key->numeric)
        table_cell(table, "%s at %s", format_number(text, response, 4), format_number(number, value, 6));
    else
        table_cell(table, "%s at %s", format_number(text, response, 4), key->level[(size_t)value]);
}

static void print_tornado(FILE *out, const struct sweep_data *data, const struct sweep_effects *e, bool color)
{
    const char *const unit = sweep_response_unit(e->response);
    const struct table_column columns[] = {{"key", NULL, false, 0},
                                           {"least, alone", unit, true, 0},
                                           {"greatest, alone", unit, true, 0},
                                           {"share of variance", NULL, true, 0},
                                           {"elasticity", NULL, true, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE];
    for (size_t i = 0; table && i < e->count && table_row(table); i++) {
        const struct sweep_key *const key = &data->spec->key[e->effect[i].key];
        table_cell(table, "%s", key->name);
        end_cell(table, key, e->effect[i].low_value, e->effect[i].low_response);
        end_cell(table, key, e->effect[i].high_value, e->effect[i].high_response);
        table_cell(table, "%s", format_share(text, e->effect[i].first_order));
        number_cell(table, e->effect[i].elasticity);
    }
    double together = 1;
    for (size_t i = 0; i < e->count; i++)
        together -= e->effect[i].first_order;
    if (table && e->sum_to_one && e->count > 1 && e->lowest < e->highest && table_row(table)) {
        table_cell(table, "keys together");
        table_cell(table, "-");
        table_cell(table, "-");
        table_cell(table, "%s", format_share(text, fmax(together, 0)));
        table_cell(table, "-");
    }
    fprintf(out, "\n%s: mean %s", sweep_response_name(e->response), format_quantity(text, e->mean, unit));
    fprintf(out, ", least %s", format_quantity(text, e->lowest, unit));
    fprintf(out, ", greatest %s", format_quantity(text, e->highest, unit));
    fprintf(out, ", base %s\n", format_quantity(text, e->base, unit));
    if (table)
        table_print(table, out, color);
    table_free(table);
    fprintf(out, "share of variance: %s\n", sweep_effects_estimate(e));
}

static void print_main_effects(FILE *out, const struct sweep_data *data, const struct sweep_effects *e)
{
    char text[FORMAT_SIZE], low[FORMAT_SIZE];
    for (size_t i = 0; i < e->count; i++) {
        const struct sweep_key *const key = &data->spec->key[e->effect[i].key];
        fprintf(out, "mean by %s:", key->name);
        for (size_t l = 0; l < e->effect[i].level_count; l++) {
            const struct sweep_level *const level = &e->effect[i].level[l];
            if (level->count == 0)
                continue;
            fprintf(out, "  %s%s %s", key->numeric ? format_number(low, level->low, 4) : key->level[l],
                    level->low < level->high ? "+" : "", format_number(text, level->mean, 4));
        }
        fprintf(out, "\n");
    }
}

static bool print_pareto(FILE *out, const struct sweep_data *data, size_t workload, const struct sweep_summary *how,
                         struct orch_error *error)
{
    enum sweep_response response[3];
    const size_t dimensions = sweep_pareto_responses(data, workload, response);
    struct row_table t;
    size_t *front, count;
    if (dimensions < 2)
        return true;
    if (!sweep_pareto(data, workload, &front, &count, error))
        return false;
    fprintf(out, "\nPareto front over");
    for (size_t d = 0; d < dimensions; d++)
        fprintf(out, "%s %s", d ? "," : "", sweep_response_name(response[d]));
    fprintf(out, ": %zu points\n", count);
    if (how->rows > 0 && open_rows(&t, data)) {
        /* both ends, and evenly in between */
        const size_t shown = count < how->rows ? count : how->rows;
        for (size_t i = 0; i < shown; i++)
            add_row(&t, data, &data->point[front[shown > 1 ? i * (count - 1) / (shown - 1) : 0]]);
        table_print(t.table, out, how->color);
        table_free(t.table);
    }
    free(front);
    return true;
}

static bool print_workload(FILE *out, const struct sweep_data *data, size_t workload, const struct sweep_summary *how,
                           struct orch_error *error)
{
    struct sweep_effects effects;
    struct orch_error none = {0};
    if (data->spec->workload_count > 1)
        fprintf(out, "\n=== %s\n", data->spec->workload[workload]);
    print_rows(out, data, workload, how);
    print_best(out, data, workload, how);
    if (!sweep_effects_of(data, workload, how->response, &effects, &none)) {
        fprintf(out, "%s\n", none.text);
        return true;
    }
    print_tornado(out, data, &effects, how->color);
    print_main_effects(out, data, &effects);
    sweep_effects_free(&effects);
    return print_pareto(out, data, workload, how, error);
}

static const char *first_error(const struct sweep_data *data)
{
    for (size_t i = 0; i < data->point_count; i++)
        if (data->point[i].role == SWEEP_POINT && data->point[i].answer.status == SWEEP_FAILED)
            return data->point[i].answer.error;
    return "?";
}

static void print_head(FILE *out, const struct sweep_data *data, const struct sweep_done *done)
{
    fprintf(out, "sweep %lld%s%s (%.8s): %zu of %llu points done, %zu failed; %zu simulated, %zu known, %zu interpolated\n",
            (long long)data->id, data->spec->name ? " " : "", data->spec->name ? data->spec->name : "", data->hash, data->done,
            (unsigned long long)data->spec->points, data->failed, data->by_method[SWEEP_SIMULATED], data->by_method[SWEEP_KNOWN],
            data->by_method[SWEEP_INTERPOLATED]);
    if (!done)
        return;
    fprintf(out, "this run: %.1f s, %llu simulated, %llu known, %llu interpolated, %llu there before\n", done->host_seconds,
            (unsigned long long)done->by_method[SWEEP_SIMULATED], (unsigned long long)done->by_method[SWEEP_KNOWN],
            (unsigned long long)done->by_method[SWEEP_INTERPOLATED], (unsigned long long)done->before);
    if (done->groups.interpolating)
        fprintf(out,
                "interpolation: %zu of %zu groups; %zu simulated points left out one by one are met within %.2f %% (root mean "
                "square), %.2f %% at most\n",
                done->groups.interpolating, done->groups.groups, done->groups.left_out_points, 100 * done->groups.left_out_rms,
                100 * done->groups.left_out_greatest);
    if (done->groups.scattering)
        fprintf(out,
                "scatter: %zu points are simulated because the last threadgroups decide there, and answers scatter by %.1f %% "
                "(root mean square)\n",
                done->groups.scattering, 100 * done->groups.scatter_rms);
    if (data->failed)
        fprintf(out, "%zu failed, the first: %s\n", data->failed, first_error(data));
}

bool sweep_summary_print(FILE *out, const struct sweep_data *data, const struct sweep_done *done, const struct sweep_summary *how,
                         struct orch_error *error)
{
    print_head(out, data, done);
    for (size_t w = 0; w < data->spec->workload_count; w++)
        if (!print_workload(out, data, w, how, error))
            return false;
    return true;
}
