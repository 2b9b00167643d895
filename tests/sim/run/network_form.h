/* Operators as small networks in text, by kernels of cores, AMX blocks and the GPU, against the reference, which computes them
 * one by one in double precision: within 2e-6 of the largest number, and nothing left to the reference. */
#ifndef ORCHARD_TESTS_SIM_RUN_NETWORK_FORM_H
#define ORCHARD_TESTS_SIM_RUN_NETWORK_FORM_H

#include "sim/network/arrays.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/run.h"
#include "tests/sim/network/network_text.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

struct form {
    const char *text;
    double low, high; /* of the input */
};

static inline struct net_array *form_numbers(const struct form *f, const struct net_value *v, uint64_t seed)
{
    struct orch_error error = {0};
    struct net_array *const a = net_array_new(NET_F32, v->shape.dim, v->shape.dims, &error);
    for (int64_t k = 0; a && k < a->count; k++)
        ((float *)a->data)[k] = (float)(f->low + (f->high - f->low) * (double)(suite_random(&seed) % 10007) / 10007);
    return a;
}

struct form_truth {
    struct net_array *x, *out[2];
    size_t outputs;
    char name[2][32];
};

/* Writes the model and its input, and computes it by the reference. */
static inline bool form_prepare(const struct form *f, const char *folder, uint64_t seed, struct form_truth *t)
{
    char path[96];
    struct orch_error error = {0};
    struct net_model *const model = network_of(f->text);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    *t = (struct form_truth){.x = form_numbers(f, &model->value[model->graph->input[0]], seed), .outputs = model->graph->outputs};
    bool ok = onnx_export(model, path, &error);
    for (size_t k = 0; k < t->outputs && k < 2; k++)
        snprintf(t->name[k], sizeof t->name[k], "%s", model->value[model->graph->output[k]].name);
    snprintf(path, sizeof path, "%s/x.npy", folder);
    const struct net_run run = {.model = model, .input = &t->x};
    ok = ok && net_array_save(path, t->x, &error) && net_prepare(model, &(struct net_open_options){.level = 0}, NULL, &error) &&
         net_run(&run, t->out, &error);
    CHECK(ok, "%s: %s", f->text, error.text);
    net_model_free(model);
    return ok;
}

static inline void form_compare(const struct form *f, const char *unit, const char *folder, const struct form_truth *t)
{
    for (size_t k = 0; k < t->outputs; k++) {
        char path[128];
        struct orch_error error = {0};
        double most = 0, off = 0;
        snprintf(path, sizeof path, "%s/out/%s.npy", folder, t->name[k]);
        struct net_array *const got = net_array_load(path, NULL, &error);
        CHECK(got && got->count == t->out[k]->count, "%s on %s: %s", f->text, unit, error.text);
        for (int64_t i = 0; got && i < got->count; i++) {
            const double expected = net_array_double(t->out[k], i);
            most = fmax(most, fabs(expected));
            off = fmax(off, fabs(net_array_double(got, i) - expected));
        }
        CHECK(off <= 2e-6 * most, "%s on %s: off by %g of %g", f->text, unit, off, most);
        net_array_release(got);
    }
}

static inline void form_run(struct chip_db *db, const struct form *f, const char *unit, const char *folder,
                            const struct form_truth *t)
{
    char model[96], input[96], output[96];
    const char *const inputs = input;
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    snprintf(input, sizeof input, "x=%s/x.npy", folder);
    snprintf(output, sizeof output, "%s/out", folder);
    struct outcome o = run_on(
        db, "m1", model,
        (struct run_request){.unit = unit, .mode = RUN_FUNCTIONAL, .inputs = &inputs, .input_count = 1, .output_folder = output});
    CHECK(o.ok, "%s on %s: %s", f->text, unit, o.error.text);
    for (size_t k = 0; o.ok && k < o.result.placement.count; k++)
        CHECK(strcmp(o.result.placement.item[k].unit, "reference") != 0, "%s on %s: %s is left: %s", f->text, unit,
              o.result.placement.item[k].op, o.result.placement.item[k].why);
    if (o.ok)
        form_compare(f, unit, folder, t);
    run_result_free(&o.result);
}

static inline void forms_check(struct chip_db *db, const struct form *forms, size_t count)
{
    static const char *const units[] = {"cpu", "amx", "gpu"};
    for (size_t i = 0; i < count; i++) {
        char folder[] = "/tmp/orchard-forms-XXXXXX";
        struct form_truth t;
        CHECK(mkdtemp(folder) != NULL, "a folder");
        if (form_prepare(&forms[i], folder, i + 1, &t))
            for (size_t u = 0; u < ARRAY_COUNT(units); u++)
                form_run(db, &forms[i], units[u], folder, &t);
        net_array_release(t.x);
        for (size_t k = 0; k < t.outputs; k++)
            net_array_release(t.out[k]);
        CHECK(suite_remove(folder), "%s stays", folder);
    }
}

#endif
