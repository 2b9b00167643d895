/* Kinds "network" and "network-UNIT": an ONNX or Core ML file, whose operators kernels of a library compute (run_network.h). */
#include "isa/array_count.h"
#include "sim/base/checksum.h"
#include "sim/base/format.h"
#include "sim/network/arrays.h"
#include "sim/network/coreml/coreml.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/network.h"
#include "sim/network/quantise/mixed.h"
#include "sim/network/zoo/zoo.h"
#include "sim/run/run_internal.h"
#include "sim/run/network/run_network.h"
#include "sim/run/network/run_network_image.h"
#include "sim/run/network/run_network_input.h"
#include "sim/run/network/run_network_join.h"
#include "sim/run/network/run_network_plan.h"
#include "sim/run/network/run_network_product.h"
#include "sim/run/network/run_network_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct network {
    struct run_request asked; /* with the file's own precision where nobody says another */
    struct net_model *model;
    struct net_array **input;            /* by input of the graph */
    struct run_network_picture *picture; /* of each image */
    size_t inputs;
    unsigned generated;
    struct net_mixed mixed;      /* with precision "mixed", after a run */
    struct run_network run;      /* after a run */
    struct run_result operators; /* with detail op: what its kernels add up to */
    struct run_values around;    /* seconds of what cores do before and after, by stalls */
};

/* Of the published networks, which have no file; NULL = it is a file. */
static const struct net_zoo_model *published(const char *workload)
{
    return strncmp(workload, NET_ZOO, sizeof NET_ZOO - 1) == 0 ? net_zoo_find(workload) : NULL;
}

bool run_is_network(const char *workload)
{
    const char *const dot = strrchr(workload, '.');
    return published(workload) || coreml_is_named(workload) || (dot && strcmp(dot, ".onnx") == 0) || encoder_is(workload);
}

static bool recognise(const struct run_file *file)
{
    return run_is_network(file->path) && (!file->is_folder || coreml_is_named(file->path) || encoder_is(file->path));
}

/* Nothing has values, and kernels are asked for their characteristics. Somebody who watches wants to see them run. */
static bool is_timed_only(const struct run_request *q)
{
    return run_is_operator(q) || (q->mode == RUN_TIMING && !q->watch);
}

static struct net_model *import(const struct run_request *q, struct orch_error *error)
{
    const struct net_zoo_model *const zoo = published(q->workload);
    const bool values = q->mode != RUN_TIMING && !is_timed_only(q);
    const struct net_zoo_options options = {.dims = q->dims, .dim_count = q->dim_count, .contents = values, .seed = q->seed};
    if (run_network_is_product(q))
        return run_network_product(q->workload, error);
    if (q->arrays && q->arrays->model) {
        struct net_model *const copy = net_model_copy(q->arrays->model);
        if (!copy)
            orch_no_memory(error);
        return copy;
    }
    return zoo ? net_zoo_build(zoo, &options, NULL, error) : net_import(q->workload, error);
}

static bool is_joint(const struct run_request *q)
{
    return run_network_are_joint(q->workload, q->unit);
}

/* With its dimensions bound. */
static struct net_model *import_one(const struct run_request *q, struct orch_error *error)
{
    struct net_model *const model = import(q, error);
    bool ok = model != NULL;
    if (ok)
        model->shapes_only = q->mode == RUN_TIMING || is_timed_only(q);
    for (size_t i = 0; ok && i < q->dim_count && !published(q->workload); i++)
        ok = net_bind(model, q->dims[i], error);
    if (ok)
        return model;
    net_model_free(model);
    return NULL;
}

static bool prepare(struct network *w, const struct run_request *q, struct orch_error *error)
{
    static const struct net_open_options everything = {.level = 2};
    return is_joint(q) || net_prepare(w->model, q->passes ? q->passes : &everything, NULL, error);
}

/* Whether each node goes to the unit that suits it. */
static bool is_automatic(const struct run *run)
{
    return run->kind == &run_kind_network_auto || run->kind == &run_kind_network_hybrid;
}

static bool is_by_class(const struct run_request *q)
{
    return q->policy && strcmp(q->policy, "class") == 0;
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct network *const w = run->work = calloc(1, sizeof *w);
    const char *const slash = strrchr(q->workload, '/');
    if (!w)
        return orch_no_memory(error);
    snprintf(run->program_name, sizeof run->program_name, "%.200s", slash ? slash + 1 : q->workload);
    run_result_init(&w->operators);
    w->model = is_joint(q) ? run_network_join(q, import_one, error) : import_one(q, error);
    if (!w->model)
        return false;
    w->asked = *q;
    if (!q->precision && !is_by_class(q) && (run->kind->part == PART_GPU || is_automatic(run)))
        w->asked.precision = run_network_own_precision(w->model);
    run->request = &w->asked;
    w->inputs = w->model->graph->inputs;
    w->input = calloc(w->inputs + 1, sizeof(*w->input));
    bool ok = w->input || orch_no_memory(error);
    for (size_t i = 0; ok && i < q->input_count; i++)
        ok = run_network_read_input(w->model, w->input, q->inputs[i], error);
    for (size_t i = 0; ok && q->arrays && i < w->inputs; i++)
        w->input[i] = net_array_retain(q->arrays->input[i]);
    if (ok && q->images)
        w->picture = calloc(q->images->count + 1, sizeof *w->picture);
    if (ok && q->images)
        ok = (w->picture || orch_no_memory(error)) && run_network_read_images(q->images, w->model, w->input, w->picture, error) &&
             (!q->images->labels || run_network_read_labels(q->images->labels, w->model, error));
    if (ok && encoder_is(q->workload))
        ok = run_network_take_text(q, w->model, w->input, error);
    return ok && net_bind_inputs(w->model, w->input, error) && prepare(w, q, error) &&
           run_network_generate_missing(w->model, w->input, q->seed, &w->generated, error);
}

static void close_workload(struct run *run)
{
    struct network *const w = run->work;
    for (size_t k = 0; w->input && k < w->inputs; k++)
        net_array_release(w->input[k]);
    free(w->input);
    free(w->picture);
    net_model_free(w->model);
    net_mixed_free(&w->mixed);
    run_values_free(&w->around);
    run_result_free(&w->operators);
}

static bool is_mixed(const struct run_request *q)
{
    return q->precision && strcmp(q->precision, "mixed") == 0;
}

/* Weights that a program of the Neural Engine has in fewer bytes; the engine decodes them, and everything else is f16. */
static bool is_fewer_bytes(const char *precision)
{
    static const char *const names[] = {"i4", "p2", "p6", "p8", "sparse"};
    size_t i = 0;
    while (i < ARRAY_COUNT(names) && strcmp(precision, names[i]) != 0)
        i++;
    return i < ARRAY_COUNT(names);
}

/* f16 where the outputs can bear it: on the units that have f16, of values. */
static bool check_precision(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const enum orch_part part = run->kind->part;
    const bool halves = part == PART_GPU || part == PART_ANE || is_automatic(run);
    const bool half = q->precision && strcmp(q->precision, "f16") == 0, whole = q->precision && strcmp(q->precision, "f32") == 0;
    if (!q->precision || (whole && part != PART_ANE) || (half && halves) || (halves && is_mixed(q) && !is_timed_only(q)) ||
        (part == PART_ANE && is_fewer_bytes(q->precision)))
        return true;
    if (is_mixed(q) && halves)
        return orch_fail(error, ORCH_UNMODELLED,
                         ORCH_OPTION("precision") " mixed: which operators stay in f32 follows from values (" ORCH_OPTION(
                             "mode") " full or functional)");
    return orch_fail(error, ORCH_UNMODELLED,
                     ORCH_OPTION("precision") " %s: networks are computed in f32, on gpu and auto also in f16 and mixed, on the "
                                              "ane in f16, mixed, and with weights of i4, p2, p6, p8 or sparse",
                     q->precision);
}

static bool check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const bool joint = is_joint(q);
    const char *const option = q->entry               ? "entry"
                               : q->arg_count         ? "args"
                               : q->home              ? "home"
                               : q->sanitize          ? "sanitize"
                               : run_repeats(run) > 1 ? "repeat"
                               : q->uncertainty       ? "uncertainty"
                               : joint && q->images   ? "image"
                               : joint && q->build    ? "output"
                                                      : NULL;
    if (option)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") ": not of networks; %s is one", option, q->workload);
    if (q->policy && !is_automatic(run))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("policy") " %s: chooses units, of " ORCH_OPTION("unit") " auto or hybrid",
                         q->policy);
    if (q->policy && strcmp(q->policy, RUN_NETWORK_POLICY_THERMAL) == 0)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("policy") " %s: of a machine that heats up, as in " ORCH_OPTION(
                             "device") " macbook-air " ORCH_OPTION("duration") " 600",
                         q->policy);
    const enum orch_part part = run->kind->part;
    if (q->unit && strcmp(q->unit, run_kind_unit(run->kind)) != 0)
        return orch_fail(
            error, ORCH_UNMODELLED,
            ORCH_OPTION("unit") " %s: networks are lowered to kernels of cpu, amx, gpu and ane, or of several (auto, hybrid)",
            q->unit);
    if (!check_precision(run, error))
        return false;
    return q->mode != RUN_TIMING || part == PART_GPU || part == PART_ANE || is_timed_only(q) ||
           orch_fail(error, ORCH_UNMODELLED,
                     ORCH_OPTION("mode") " timing: kernels of CPU cores are watched while they execute (full)");
}

/* The file, the values that it is given, and what is done to its graph. */
static uint64_t hash(const struct run *run)
{
    const struct network *const w = run->work;
    const struct net_open_options *const p = run->request->passes;
    const struct net_zoo_model *const zoo = published(run->request->workload);
    const bool product = run_network_is_product(run->request);
    const bool named = product || is_joint(run->request);
    const char *const text = zoo ? zoo->notation : named ? run->request->workload : (const char *)run->file.bytes;
    uint64_t h = checksum_add(checksum_add(CHECKSUM_START, "network", 7), text, zoo || named ? strlen(text) : run->file.size);
    if (run->file.is_folder || is_joint(run->request))
        h = checksum_add(h, &w->model->content, sizeof w->model->content);
    for (size_t k = 0; k < w->inputs; k++)
        if (w->input[k]) {
            h = checksum_add(h, w->input[k]->shape, w->input[k]->dims * sizeof w->input[k]->shape[0]);
            h = checksum_add(h, w->input[k]->data, net_array_bytes(w->input[k]));
        }
    for (size_t k = 0; run->request->images && k < run->request->images->count; k++)
        h = checksum_add(h, &w->picture[k].width, sizeof w->picture[k].width + sizeof w->picture[k].height);
    for (size_t k = 0; run->request->images && k < w->model->labels; k++)
        h = checksum_add(h, w->model->label[k], strlen(w->model->label[k]) + 1);
    if (run->request->images && run->request->images->boxes)
        h = checksum_add(h, &run->request->images->least_score, sizeof(double));
    if (p)
        h = checksum_add(h, &p->level, sizeof p->level);
    if (p && p->last)
        h = checksum_add(h, p->last, strlen(p->last) + 1);
    for (size_t i = 0; p && i < p->without_count; i++)
        h = checksum_add(h, p->without[i], strlen(p->without[i]) + 1);
    return h;
}

/* The unit that is asked for, or that the policy gives the whole network to. */
static enum orch_part part_of(const struct run *run)
{
    const struct network *const w = run->work;
    const struct run_request *const q = run->request;
    double clock_ghz;
    return is_automatic(run) && is_by_class(q) && !q->precision && network_plan_is_for_engine(w->model) &&
                   chip_number(q->chip, "ane.clock_ghz", &clock_ghz, NULL)
               ? PART_ANE
               : run->kind->part;
}

static const char *precision(const struct run *run)
{
    return run->request->precision ? run->request->precision : part_of(run) == PART_ANE ? "f16" : "f32";
}

static struct run_operation operation(const struct run *run)
{
    const struct network *const w = run->work;
    return (struct run_operation){w->run.flops, w->run.macs_here};
}

/* ---- running ---- */

static bool save(const struct run *run, const struct network *w, struct net_array *const *output, struct run_result *r,
                 struct orch_error *error)
{
    const char *const folder = run->request->output_folder;
    if (folder && !run_output_folder(folder, error))
        return false;
    for (size_t k = 0; k < w->model->graph->outputs; k++) {
        char path[4096], name[200];
        snprintf(name, sizeof name, "%.190s", w->model->output_name[k]);
        if (!run_checksum_add(&r->checksum, name, checksum_add(CHECKSUM_START, output[k]->data, net_array_bytes(output[k]))))
            return orch_no_memory(error);
        for (char *c = name; *c; c++)
            *c = (char)(*c == '/' ? '_' : *c);
        snprintf(path, sizeof path, "%.3800s/%s.npy", folder ? folder : "", name);
        if (folder && (!net_array_save(path, output[k], error) ||
                       !(run_values_add(&r->counters, RUN_COUNTER_FILES, 1) || orch_no_memory(error))))
            return false;
    }
    return true;
}

/* The best classes, or boxes, for images and where the file names its classes: text for people, as a program's output is. */
static bool name_classes(const struct run *run, const struct network *w, struct net_array *const *output, struct run_result *r,
                         struct orch_error *error)
{
    const struct run_network_images *const images = run->request->images;
    const bool boxes = images && images->boxes;
    char *const text = boxes              ? run_network_boxes(images, w->model, output, error)
                       : w->model->labels ? run_network_classes(w->model, output)
                                          : NULL;
    if (!text)
        return !boxes && (!w->model->labels || orch_no_memory(error));
    if (!*text) {
        free(text);
        return true;
    }
    free(r->program_output);
    r->program_output = text;
    if (run->request->program_output)
        fputs(text, run->request->program_output);
    return run_values_add(&r->counters, RUN_COUNTER_OUTPUT, (double)strlen(text)) || orch_no_memory(error);
}

/* Which nodes stay in f32, for the values that the run has. */
static bool choose_precision(const struct run *run, struct network *w, struct run_result *r, struct orch_error *error)
{
    char text[240];
    if (!is_mixed(run->request))
        return true;
    net_mixed_free(&w->mixed);
    if (!net_mixed_choose(w->model, w->input, NET_F16_TOLERANCE, &w->mixed, error))
        return false;
    w->run.mixed = &w->mixed;
    snprintf(text, sizeof text,
             "%zu of %zu operators stay in f32; by runs of the reference outputs are %.2g of their largest number off in f16 and "
             "%.2g so; kernels read operands in the width in which they were written",
             w->mixed.whole_nodes, w->mixed.nodes, w->mixed.error_half, w->mixed.error);
    return (run_values_add(&r->counters, "network.f32_nodes", (double)w->mixed.whole_nodes) &&
            run_assumption_add(&r->assumptions, "mixed precision", "inferred", text)) ||
           orch_no_memory(error);
}

static bool compute(struct run *run, struct network *w, struct run_result *r, struct orch_error *error)
{
    const size_t outputs = w->model->graph->outputs;
    struct net_array **const output = calloc(outputs + 1, sizeof(*output));
    if (!output)
        return orch_no_memory(error);
    const bool values = run->request->mode != RUN_TIMING && !is_timed_only(run->request);
    const bool ok = choose_precision(run, w, r, error) && run_network(&w->run, output, error) &&
                    (!values || (save(run, w, output, r, error) && name_classes(run, w, output, r, error)));
    for (size_t k = 0; ok && run->request->arrays && k < outputs; k++)
        run->request->arrays->output[k] = net_array_retain(output[k]);
    for (size_t k = 0; k < outputs; k++)
        net_array_release(output[k]);
    free(output);
    return ok && (run_result_set_text(&run->detail, w->run.sampled ? "sampled" : "instr") || orch_no_memory(error));
}

static bool time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *r,
                    struct orch_error *error)
{
    struct network *const w = run->work;
    const enum orch_part part = part_of(run);
    const bool automatic = is_automatic(run) && part == PART_CPU, cores = part == PART_CPU && !automatic;
    const bool characteristics = is_timed_only(run->request);
    struct mem_space *const space = cores || characteristics ? NULL : run_space_create(run, error);
    (void)given;
    run_result_free(&w->operators);
    run_result_init(&w->operators);
    run_values_free(&w->around);
    w->around = (struct run_values){.count = 0};
    w->run = (struct run_network){.request = run->request,
                                  .part = part,
                                  .automatic = automatic,
                                  .overlaps = automatic && run->request->mode != RUN_FUNCTIONAL &&
                                              network_plan_overlaps(network_plan_policy(run->request)),
                                  .space = space,
                                  .model = w->model,
                                  .input = w->input,
                                  .picture = w->picture,
                                  .pictures = run->request->images ? run->request->images->count : 0,
                                  .sum = m,
                                  .waits = run->progress,
                                  .around = &w->around,
                                  .characteristics = characteristics,
                                  .result = r};
    if (characteristics || part == PART_ANE || w->run.overlaps || (automatic && run->request->precision))
        w->run.operators = &w->operators;
    const bool ok = (cores || characteristics || space) && compute(run, w, r, error);
    run_space_free(space, run, m);
    return ok;
}

static bool account(struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const struct network *const w = run->work;
    if ((published(run->request->workload) || (is_joint(run->request) && strstr(run->request->workload, NET_ZOO))) &&
        !run_assumption_add(&r->assumptions, "weights", "inferred",
                            is_timed_only(run->request)
                                ? "a published architecture: its weights have no values, times do not hang on them"
                                : "a published architecture: its weights are generated"))
        return orch_no_memory(error);
    if (w->generated && !run_assumption_add(&r->assumptions, "inputs", "inferred", "inputs that were not given are generated"))
        return orch_no_memory(error);
    return run_network_account(run, &w->run, m, r, error);
}

static void explain(FILE *out, const struct run *run, const struct run_result *r)
{
    run_network_explain(out, &((const struct network *)run->work)->run, r);
}

/* A row a unit; auto is asked where nobody says one. Time on GPU and Neural Engine does not hang on values. */
#define KIND(row, title, home, asked, steered)                                                                                   \
    const struct run_kind row = {                                                                                                \
        .name = title,                                                                                                           \
        .program_kind = "network",                                                                                               \
        .part = home,                                                                                                            \
        .unit = asked,                                                                                                           \
        .may_sample = true,                                                                                                      \
        .composed = true,                                                                                                        \
        .needs_values = steered,                                                                                                 \
        .recognise = recognise,                                                                                                  \
        .open = open_workload,                                                                                                   \
        .close = close_workload,                                                                                                 \
        .check = check,                                                                                                          \
        .hash = hash,                                                                                                            \
        .precision = precision,                                                                                                  \
        .operation = operation,                                                                                                  \
        .work = run_work_any,                                                                                                    \
        .time_in = time_in,                                                                                                      \
        .account = account,                                                                                                      \
        .energy = run_network_energy,                                                                                            \
        .explain = explain,                                                                                                      \
    };
KIND(run_kind_network_auto, "network-auto", PART_CPU, "auto", true)
KIND(run_kind_network_hybrid, "network-hybrid", PART_CPU, "hybrid", true)
KIND(run_kind_network, "network", PART_CPU, NULL, true)
KIND(run_kind_network_gpu, "network-gpu", PART_GPU, NULL, false)
KIND(run_kind_network_amx, "network-amx", PART_AMX, NULL, true)
KIND(run_kind_network_ane, "network-ane", PART_ANE, NULL, false)
