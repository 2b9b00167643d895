#include "sim/run/network/run_build.h"

#include "isa/list_grow.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"
#include "sim/run/ane/run_ane.h"
#include "sim/run/run_internal.h"
#include "sim/run/network/run_network_memory.h"
#include "sim/run/network/run_network_step.h"
#include "sim/workload/ane/ane_save.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor that is no value of the graph has its number as its name. */
struct temporary {
    const void *host;
    unsigned number;
};

struct run_build {
    const char *folder;
    json_object *steps;
    const struct net_model *model; /* NULL = no node has come yet */
    struct run_built built;
    struct temporary *temporary;
    size_t temporaries, room;
    unsigned numbers;
};

/* ---- the description ---- */

static json_object *shape_of(const struct net_shape *shape)
{
    json_object *const list = json_object_new_array();
    for (unsigned d = 0; d < shape->dims; d++)
        json_object_array_add(list, json_object_new_int64(shape->dim[d]));
    return list;
}

static void add_ports(json_object *top, const char *member, const struct net_model *model, const net_id *value, size_t count,
                      char *const *name)
{
    json_object *const list = json_object_new_array();
    for (size_t k = 0; k < count; k++) {
        const struct net_value *const v = &model->value[value[k]];
        json_object *const o = json_object_new_object();
        json_add_text(o, "name", name ? name[k] : v->name);
        json_add_text(o, "dtype", net_type_name(v->type));
        json_object_object_add(o, "shape", shape_of(&v->shape));
        json_object_array_add(list, o);
    }
    json_object_object_add(top, member, list);
}

/* A value of the graph by its name, what is between the kernels of one node by a number of its own. */
static bool name_tensor(struct run_build *b, const struct lowering *l, const void *host, char name[128])
{
    for (size_t k = 0; k < l->node->inputs; k++)
        if (l->in[k] && l->in[k]->data == host)
            return snprintf(name, 128, "%.120s", l->model->value[l->node->input[k]].name) >= 0;
    for (size_t k = 0; k < l->node->outputs; k++)
        if (l->out[k] && l->out[k]->data == host)
            return snprintf(name, 128, "%.120s", l->model->value[l->node->output[k]].name) >= 0;
    size_t i = 0;
    while (i < b->temporaries && b->temporary[i].host != host)
        i++;
    if (i == b->temporaries) {
        struct temporary *const grown = list_grow(b->temporary, b->temporaries, &b->room, sizeof *grown);
        if (!grown)
            return false;
        b->temporary = grown;
        grown[b->temporaries++] = (struct temporary){host, ++b->numbers};
    }
    return snprintf(name, 128, "#%u", b->temporary[i].number) >= 0;
}

/* What the program has inside. */
static bool is_constant(const struct lowering *l, const void *host)
{
    for (size_t k = 0; k < l->node->inputs; k++)
        if (l->in[k] && l->in[k]->data == host)
            return l->model->value[l->node->input[k]].constant != NULL;
    return false;
}

static bool describe(struct run_build *b, const char *title, const struct lowering *l, const struct lowered_step *lowered,
                     const struct run_kind *kind, const char *program)
{
    json_object *const o = json_object_new_object(), *const reads = json_object_new_array();
    char name[128];
    bool ok = o && reads;
    if (ok) {
        json_add_text(o, "node", title);
        json_add_text(o, "unit", run_kind_unit(kind));
        json_add_text(o, "kernel", lowered->workload);
        json_add_text(o, "program", program);
    }
    for (unsigned k = 0; ok && k < lowered->operands.inputs; k++) {
        if (is_constant(l, lowered->input[k].data))
            continue;
        ok = name_tensor(b, l, lowered->input[k].data, name);
        json_object_array_add(reads, json_object_new_string(name));
    }
    ok = ok && name_tensor(b, l, lowered->operands.result, name);
    if (!ok)
        return false;
    json_object_object_add(o, "reads", reads);
    json_add_text(o, "writes", name);
    json_object_array_add(b->steps, o);
    return true;
}

bool run_build_leave(const struct run_network *n, const char *title, const char *why)
{
    struct run_build *const b = n->request->build;
    json_object *const o = json_object_new_object();
    if (!o)
        return false;
    json_add_text(o, "node", title);
    json_add_text(o, "unit", RUN_NETWORK_REFERENCE);
    json_add_text(o, "why", why);
    b->built.left++;
    b->model = n->model;
    return json_object_array_add(b->steps, o) == 0;
}

/* ---- programs ---- */

static bool build_engine(struct run *run, const struct run_given *given, const char *path, struct run_built *built,
                         struct orch_error *error)
{
    const struct ane_program *const p = &run_ane_workload(run)->kernel.program;
    if ((given && !run_ane_set_constants(run, given, error)) || !ane_save(p, path, error))
        return false;
    built->programs++;
    built->code_bytes += (double)p->size;
    return true;
}

/* "007-fusedconv", of the operator's name in lower case. */
static void name_program(const struct run_build *b, const char *title, char *name, size_t size)
{
    const size_t used = (size_t)snprintf(name, size, "%03u-%.40s", b->built.programs + 1, title);
    for (size_t i = 4; i < used && i < size; i++) {
        if (!isalnum((unsigned char)name[i]))
            name[i] = 0;
        name[i] = (char)tolower((unsigned char)name[i]);
        if (!name[i])
            break;
    }
}

/* Memory has the operands as the unit lays them out, so that constants are in the type that it computes in. */
static bool write_program(struct run_network *n, const struct lowered_step *lowered, const struct network_step *step,
                          const char *path, struct orch_error *error)
{
    struct run_buffer buffer[RUN_BUFFERS];
    uint64_t address[RUN_BUFFERS] = {0};
    const struct run_kind *const kind = step->run->kind;
    const unsigned buffers = kind->buffers(step->run, buffer);
    const struct run_given given = {network_memory_space(n->memory), address, buffers};
    if (!network_memory_give(n->memory, buffer, buffers, &lowered->operands, true, address, error))
        return false;
    return (kind == &run_kind_gpu_kernel ? run_build_gpu : build_engine)(step->run, &given, path, &n->request->build->built,
                                                                         error);
}

static bool has_program(const struct network_step *step)
{
    return step->run->kind == &run_kind_gpu_kernel || step->run->kind == &run_kind_ane_kernel;
}

static bool build_step(struct run_network *n, const char *title, const struct lowering *l, unsigned number,
                       const struct network_step *step, struct orch_error *error)
{
    struct run_build *const b = n->request->build;
    const struct lowered_step *const lowered = &l->step[number];
    char name[64] = "", path[PATH_MAX];
    if (has_program(step)) {
        name_program(b, title, name, sizeof name);
        strcat(name, step->run->kind == &run_kind_ane_kernel ? ".hwx" : "");
        snprintf(path, sizeof path, "%.3900s/%s", b->folder, name);
        if (!write_program(n, lowered, step, path, error))
            return orch_fail_in(error, "%s", title);
    } else {
        b->built.elsewhere++;
    }
    return describe(b, title, l, lowered, step->run->kind, name[0] ? name : NULL) || orch_no_memory(error);
}

bool run_build_node(struct run_network *n, const char *title, const struct lowering *l, struct network_step *step,
                    struct orch_error *error)
{
    n->request->build->temporaries = 0; /* their memory is the node's */
    n->request->build->model = n->model;
    for (unsigned i = 0; i < l->steps; i++) {
        struct lowered_step at_load = l->step[i];
        if (!(step[i].at_load ? network_step_run(n, title, &at_load, &step[i], error)
                              : build_step(n, title, l, i, &step[i], error)))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

static bool write_description(const struct run_build *b, const struct run *run, struct orch_error *error)
{
    json_object *const top = json_object_new_object();
    char path[PATH_MAX];
    if (!top)
        return orch_no_memory(error);
    json_add_text(top, "network", run->program_name);
    json_add_text(top, "chip", chip_name(run->request->chip));
    json_add_text(top, "unit", run->request->unit);
    if (b->model) {
        const struct net_graph *const g = b->model->graph;
        add_ports(top, "inputs", b->model, g->input, g->inputs, NULL);
        add_ports(top, "outputs", b->model, g->output, g->outputs, b->model->output_name);
    }
    json_object_object_add(top, "steps", json_object_get(b->steps));
    const char *const text = json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
    snprintf(path, sizeof path, "%.3900s/network.json", b->folder);
    const bool ok = text ? output_file_write(path, text, strlen(text), error) : orch_no_memory(error);
    json_object_put(top);
    return ok;
}

static bool build_network(struct run *run, struct run_build *b, struct orch_error *error)
{
    struct run_measure m = {.soc = NULL};
    struct run_result result;
    run_result_init(&result);
    bool ok = run_output_folder(b->folder, error) && run->kind->time_in(run, NULL, &m, &result, error);
    ok = ok && write_description(b, run, error);
    run_measure_release(&m);
    run_result_free(&result);
    return ok;
}

bool run_build(const struct run_request *request, const char *output, struct run_built *built, struct orch_error *error)
{
    struct run_build b = {.folder = output, .steps = json_object_new_array()};
    struct run_request q = *request;
    q.build = &b;
    q.mode = RUN_FUNCTIONAL;
    struct run *const run = b.steps ? run_prepare(&q, error) : NULL;
    bool ok = run || (b.steps ? false : orch_no_memory(error));
    if (ok && run_is_network(q.workload))
        ok = build_network(run, &b, error);
    else if (ok && run->kind == &run_kind_gpu_kernel)
        ok = run_build_gpu(run, NULL, output, &b.built, error);
    else if (ok && run->kind == &run_kind_ane_kernel)
        ok = build_engine(run, NULL, output, &b.built, error);
    else if (ok)
        ok = orch_fail(error, ORCH_UNMODELLED, "%.200s: programs are built for gpu and ane", q.workload);
    *built = b.built;
    run_free(run);
    free(b.temporary);
    json_object_put(b.steps);
    return ok;
}
