#include "sim/network/show.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/table.h"
#include "sim/network/cost.h"
#include "sim/network/operators/operator.h"
#include "sim/network/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

char *net_shape_text(const struct net_model *model, const struct net_shape *shape, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, shape->known ? "[" : "?");
    for (unsigned d = 0; shape->known && d < shape->dims && at < size; d++) {
        if (shape->dim[d] >= 0)
            at += (size_t)snprintf(text + at, size - at, "%s%" PRId64, d ? "," : "", shape->dim[d]);
        else
            at += (size_t)snprintf(text + at, size - at, "%s%.40s", d ? "," : "", net_symbol_name(model, shape->dim[d]));
    }
    if (shape->known && at < size)
        snprintf(text + at, size - at, "]");
    return text;
}

enum { SHAPE_BYTES = 256, NAME_WIDTH = 40 };

static void print_ends(const struct net_model *model, bool inputs, FILE *out)
{
    const struct net_graph *const graph = model->graph;
    char text[SHAPE_BYTES];
    for (size_t k = 0; k < (inputs ? graph->inputs : graph->outputs); k++) {
        const struct net_value *const v = &model->value[inputs ? graph->input[k] : graph->output[k]];
        fprintf(out, "  %-9s %s %s %s\n",
                k        ? ""
                : inputs ? "inputs"
                         : "outputs",
                inputs ? v->name : model->output_name[k], net_type_name(v->type),
                net_shape_text(model, &v->shape, text, sizeof text));
    }
}

/* A dimension that is open, for who wants to see its sizes; NULL = there is none that has a name. */
static const char *open_dimension(const struct net_model *model)
{
    for (size_t i = 1; i < model->symbols; i++)
        if (model->bound[i] < 0)
            return model->symbol[i];
    return NULL;
}

static void print_work(const struct net_model *model, const struct net_memory *memory, FILE *out)
{
    const struct net_cost all = net_total_cost(model);
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    fprintf(out, "  work      %s multiplications with additions, %s parameters, %s moved%s\n", format_count(a, (double)all.macs),
            format_count(b, (double)all.parameters), format_volume(c, (double)all.bytes),
            all.known ? "" : " (and what sizes that are not known add)");
    if (!all.known && open_dimension(model))
        fprintf(out, "            --dim '%s=N' says how large an open dimension is\n", open_dimension(model));
    fprintf(out, "  memory    %s at most", format_volume(a, (double)memory->peak_bytes));
    fprintf(out, " (%s live at one time, %s without sharing%s)\n", format_volume(b, (double)memory->floor_bytes),
            format_volume(c, (double)memory->sum_bytes), memory->unknown ? "; some sizes are not known" : "");
}

/* ---- tables ---- */

static bool print_operators(const struct net_model *model, FILE *out, bool color)
{
    static const struct table_column columns[] = {{"operator", NULL, false, 0}, {"nodes", NULL, true, 0},
                                                  {"MACs", NULL, true, 0},      {"parameters", NULL, true, 0},
                                                  {"moved", "bytes", true, 0},  {"reference", NULL, false, 0}};
    struct net_tally tally;
    char text[FORMAT_SIZE];
    if (!net_tally_count(model, &tally))
        return false;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t k = 0; k < tally.count; k++) {
        const struct net_tally_row *const r = &tally.row[k];
        table_row(table);
        table_cell(table, "%s", r->title);
        table_cell(table, "%zu", r->nodes);
        table_cell(table, "%s", format_count(text, (double)r->cost.macs));
        table_cell(table, "%s", format_count(text, (double)r->cost.parameters));
        table_cell(table, "%s", format_count(text, (double)r->cost.bytes));
        table_cell(table, "%s", r->known ? "yes" : "not supported");
    }
    const bool ok = table_print(table, out, color);
    table_free(table);
    net_tally_free(&tally);
    return ok;
}

static void values_text(const struct net_model *model, const net_id *id, size_t count, char *text, size_t size)
{
    size_t at = 0;
    char shape[SHAPE_BYTES];
    *text = 0;
    for (size_t k = 0; k < count && at < size; k++) {
        const struct net_value *const v = id[k] == NET_NONE ? NULL : &model->value[id[k]];
        at += (size_t)snprintf(text + at, size - at, "%s%s%s%s", k ? " " : "", v ? net_type_name(v->type) : "-",
                               v ? net_shape_text(model, &v->shape, shape, sizeof shape) : "", v && v->constant ? "c" : "");
    }
}

static bool print_nodes(const struct net_model *model, FILE *out, bool color)
{
    static const struct table_column columns[] = {
        {"node", NULL, false, NAME_WIDTH}, {"operator", NULL, false, 0}, {"inputs (c = constant)", NULL, false, 72},
        {"outputs", NULL, false, 48},      {"MACs", NULL, true, 0},      {"parameters", NULL, true, 0},
        {"moved", "bytes", true, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    char text[1024], number[FORMAT_SIZE], title[NET_TITLE_BYTES];
    for (size_t i = 0; i < model->graph->nodes; i++) {
        const struct net_node *const node = model->graph->node[i];
        const struct net_cost cost = net_node_cost(model, node);
        const char *const activation = net_attr_text(node, "activation", NULL);
        table_row(table);
        table_cell(table, "%s", node->name);
        table_cell(table, "%s%s%s", net_operator_title(node, title), activation ? "+" : "", activation ? activation : "");
        values_text(model, node->input, node->inputs, text, sizeof text);
        table_cell(table, "%s", text);
        values_text(model, node->output, node->outputs, text, sizeof text);
        table_cell(table, "%s", text);
        table_cell(table, "%s", format_count(number, (double)cost.macs));
        table_cell(table, "%s", format_count(number, (double)cost.parameters));
        table_cell(table, "%s%s", format_count(number, (double)cost.bytes), cost.known ? "" : "+");
    }
    const bool ok = table_print(table, out, color);
    table_free(table);
    return ok;
}

static bool print_passes(const struct net_report *report, FILE *out, bool color)
{
    static const struct table_column columns[] = {{"pass", NULL, false, 0},      {"changes", NULL, true, 0},
                                                  {"nodes", NULL, true, 0},      {"nodes saved", NULL, true, 0},
                                                  {"MACs saved", NULL, true, 0}, {"moved, saved", "bytes", true, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t k = 0; k < report->effects; k++) {
        const struct net_pass_effect *const e = &report->effect[k];
        table_row(table);
        table_cell(table, "%s", e->pass);
        table_cell(table, "%u", e->changes);
        table_cell(table, "%zu", e->nodes_after);
        table_cell(table, "%lld", (long long)e->nodes_before - (long long)e->nodes_after);
        table_cell(table, "%lld", (long long)(e->macs_before - e->macs_after));
        table_cell(table, "%lld", (long long)(e->bytes_before - e->bytes_after));
    }
    const bool ok = table_print(table, out, color);
    table_free(table);
    return ok;
}

static bool print_placements(const struct net_model *model, const struct net_memory *memory, FILE *out, bool color)
{
    static const struct table_column columns[] = {{"tensor", NULL, false, 48},  {"offset", "bytes", true, 0},
                                                  {"size", "bytes", true, 0},   {"first node", NULL, true, 0},
                                                  {"last node", NULL, true, 0}, {"lies in", NULL, false, 48}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t id = 0; id < model->values; id++) {
        const struct net_placement *const p = &memory->of[id];
        if (!p->placed)
            continue;
        table_row(table);
        table_cell(table, "%s", model->value[id].name);
        table_cell(table, "%" PRIu64, p->offset_bytes);
        table_cell(table, "%" PRIu64, p->bytes);
        table_cell(table, "%zu", p->first);
        table_cell(table, "%zu", memory->of[p->root].last);
        table_cell(table, "%s", p->root == id ? "" : model->value[p->root].name);
    }
    const bool ok = table_print(table, out, color);
    table_free(table);
    return ok;
}

bool net_print(const struct net_model *model, const struct net_report *report, const struct net_memory *memory, bool placements,
               FILE *out, bool color)
{
    fprintf(out, "%s: opset %" PRId64 ", %zu nodes\n", model->path, model->opset, model->graph->nodes);
    print_ends(model, true, out);
    print_ends(model, false, out);
    print_work(model, memory, out);
    fprintf(out, "\n");
    if (placements)
        return print_placements(model, memory, out, color);
    if (!print_operators(model, out, color))
        return false;
    fprintf(out, "\n");
    if (!print_nodes(model, out, color))
        return false;
    fprintf(out, "\n");
    return print_passes(report, out, color);
}
