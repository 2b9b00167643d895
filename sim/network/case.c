#include "sim/network/case.h"

#include "isa/array_count.h"
#include "sim/base/file_read.h"
#include "sim/base/json_read.h"
#include "sim/network/arrays.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/onnx/onnx.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* ---- the model ---- */

static bool ends_in(const char *name, const char *ending)
{
    const char *const dot = strrchr(name, '.');
    return name[0] != '.' && dot && strcmp(dot, ending) == 0;
}

/* The only entry of a folder with an ending. */
static bool only_one(const char *folder, const char *ending, char *path, size_t size)
{
    unsigned found = 0;
    DIR *const dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        if (ends_in(e->d_name, ending) && found++ == 0)
            snprintf(path, size, "%s/%s", folder, e->d_name);
    if (dir)
        closedir(dir);
    return found == 1;
}

bool net_case_model(const char *folder, char *path, size_t size)
{
    static const char *const names[] = {"model.onnx", "model.mlmodel", "model.mlmodel.gz"};
    static const char *const endings[] = {".mlpackage", ".onnx", ".mlmodel"};
    for (size_t k = 0; k < ARRAY_COUNT(names); k++) {
        snprintf(path, size, "%s/%s", folder, names[k]);
        if (exists(path))
            return true;
    }
    for (size_t k = 0; k < ARRAY_COUNT(endings); k++)
        if (only_one(folder, endings[k], path, size))
            return true;
    if (only_one(folder, ".gguf", path, size) && encoder_is(path))
        return true;
    snprintf(path, size, "%s", folder);
    return encoder_is(folder);
}

static bool open_golden(const char *folder, char path[PATH_MAX], struct json_reader *r, struct orch_error *error)
{
    uint8_t *text = NULL;
    size_t size;
    snprintf(path, PATH_MAX, "%s/golden/golden.json", folder);
    FILE *const file = fopen(path, "rb");
    bool ok = file && file_read_all(file, JSON_BYTES_MAX, &text, &size);
    if (file)
        fclose(file);
    ok =
        ok ? json_reader_open(r, path, (const char *)text, size, error) : orch_fail(error, ORCH_USAGE, "%s cannot be read", path);
    free(text);
    return ok;
}

/* A document that is wrong counts as one set, and is refused when that is loaded. */
static size_t golden_sets(const char *folder)
{
    char path[PATH_MAX];
    struct orch_error ignored;
    struct json_reader r;
    if (!open_golden(folder, path, &r, &ignored))
        return 1;
    const struct json_node top = json_top(&r), cases = json_find_array(&top, "cases", 1, 1000);
    const size_t count = cases.value ? json_count(&cases) : 1;
    (void)json_reader_close(&r);
    return count ? count : 1;
}

size_t net_case_sets(const char *folder, size_t *count, bool *golden)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/golden/golden.json", folder);
    *golden = exists(path);
    for (*count = 0; !*golden && *count < 1000; ++*count) {
        snprintf(path, sizeof path, "%s/test_data_set_%zu", folder, *count);
        if (!exists(path))
            break;
    }
    *count = *golden ? golden_sets(folder) : *count;
    return *count;
}

static bool make_room(const struct net_model *model, struct net_case *c, struct orch_error *error)
{
    c->inputs = model->graph->inputs;
    c->outputs = model->graph->outputs;
    c->input = calloc(c->inputs + 1, sizeof(*c->input));
    c->expected = calloc(c->outputs + 1, sizeof(*c->expected));
    return (c->input && c->expected) || orch_no_memory(error);
}

/* ---- golden.json ---- */

static struct net_array *read_file(const struct json_node *all, const char *name, const char *folder, struct orch_error *error)
{
    char path[PATH_MAX];
    const struct json_node one = json_get_object(all, name);
    const char *const file = json_get_string(&one, "file");
    if (!json_ok(all))
        return NULL;
    if (strchr(file, '/')) {
        (void)json_wrong(&one, "file", "no file of the same folder");
        return NULL;
    }
    snprintf(path, sizeof path, "%s/golden/%s", folder, file);
    return net_array_load(path, NULL, error);
}

/* One of the calls that an array holds: what is left without its first dimension. */
static struct net_array *call_of(const struct net_array *all, size_t call, struct orch_error *error)
{
    struct net_array *const one = net_array_new(all->type, all->shape + 1, all->dims - 1, error);
    if (one)
        memcpy(one->data, (const uint8_t *)all->data + call * net_array_bytes(one), net_array_bytes(one));
    return one;
}

static bool take_call(struct net_case *c, size_t call, struct net_array **array, struct orch_error *error)
{
    if ((*array)->dims == 0 || (size_t)(*array)->shape[0] != c->calls)
        return orch_fail(error, ORCH_USAGE, "an array of other than %zu calls", c->calls);
    struct net_array *const one = call_of(*array, call, error);
    net_array_release(*array);
    *array = one;
    return one != NULL;
}

static bool holds_calls(const struct net_value *v, const struct net_array *a)
{
    return v->shape.known && a->dims == v->shape.dims + 1 && a->shape[0] > 0;
}

static bool read_inputs(const struct json_node *top, const char *folder, size_t call, const struct net_model *model,
                        struct net_case *c, struct orch_error *error)
{
    const struct json_node all = json_get_object(top, "inputs");
    for (size_t k = 0; k < c->inputs; k++) {
        const struct net_value *const v = &model->value[model->graph->input[k]];
        c->input[k] = read_file(&all, v->name, folder, error);
        if (!c->input[k])
            return false;
        if (k == 0)
            c->calls = holds_calls(v, c->input[k]) ? (size_t)c->input[k]->shape[0] : 1;
        if (holds_calls(v, c->input[k]) && !take_call(c, call, &c->input[k], error))
            return false;
    }
    return true;
}

static bool read_outputs(const struct json_node *top, const char *folder, size_t call, const struct net_model *model,
                         struct net_case *c, struct orch_error *error)
{
    const struct json_node all = json_get_object(top, "outputs");
    for (size_t k = 0; k < c->outputs; k++) {
        c->expected[k] = read_file(&all, model->output_name[k], folder, error);
        if (!c->expected[k] || (c->calls > 1 && !take_call(c, call, &c->expected[k], error)))
            return false;
    }
    return true;
}

static bool is_output(const struct net_model *model, const char *name)
{
    for (size_t k = 0; k < model->output_names; k++)
        if (strcmp(model->output_name[k], name) == 0)
            return true;
    return false;
}

/* Values inside the model of which numbers are expected. */
static bool add_outputs(const struct json_node *top, struct net_model *model, struct orch_error *error)
{
    const struct json_node all = json_get_object(top, "outputs");
    struct json_node one;
    for (struct json_walk walk = {.of = &all}; json_next(&walk, &one);) {
        if (!one.name || is_output(model, one.name))
            continue;
        for (size_t k = 0; k < model->values; k++)
            if (!model->value[k].constant && strcmp(model->value[k].name, one.name) == 0) {
                if (!net_model_add_output(model, (net_id)k))
                    return orch_no_memory(error);
                break;
            }
    }
    return true;
}

static bool load_golden(const char *folder, size_t set, size_t call, struct net_model *model, struct net_case *c,
                        struct orch_error *error)
{
    char path[PATH_MAX];
    struct json_reader r;
    size_t at = 0;
    if (!open_golden(folder, path, &r, error))
        return false;
    const struct json_node top = json_top(&r), cases = json_find_array(&top, "cases", 1, 1000);
    struct json_node one = top;
    for (struct json_walk walk = {.of = &cases}; cases.value && at <= set && json_next(&walk, &one);)
        at++;
    bool ok = add_outputs(&one, model, error) && make_room(model, c, error) && read_inputs(&one, folder, call, model, c, error) &&
              read_outputs(&one, folder, call, model, c, error);
    ok = json_reader_close(&r) && ok;
    return ok;
}

static bool load_set(const char *folder, size_t set, const char *what, size_t count, struct net_array **to,
                     struct orch_error *error)
{
    char path[PATH_MAX];
    for (size_t k = 0; k < count; k++) {
        snprintf(path, sizeof path, "%s/test_data_set_%zu/%s_%zu.pb", folder, set, what, k);
        to[k] = onnx_tensor_load(path, NULL, 0, error);
        if (!to[k])
            return false;
    }
    return true;
}

bool net_case_load(const char *folder, size_t set, size_t call, struct net_model *model, struct net_case *c,
                   struct orch_error *error)
{
    size_t count;
    bool golden;
    *c = (struct net_case){.declared = model->graph->outputs, .calls = 1};
    net_case_sets(folder, &count, &golden);
    const bool ok = golden ? load_golden(folder, set, call, model, c, error)
                           : make_room(model, c, error) && load_set(folder, set, "input", c->inputs, c->input, error) &&
                                 load_set(folder, set, "output", c->outputs, c->expected, error);
    for (size_t k = 0; ok && k < c->inputs; k++) /* NumPy, which writes these files, has no bf16 and keeps its bits */
        if (model->value[model->graph->input[k]].type == NET_BF16 && c->input[k]->type == NET_U16)
            c->input[k]->type = NET_BF16;
    return ok;
}

void net_case_free(struct net_case *c)
{
    for (size_t k = 0; c->input && k < c->inputs; k++)
        net_array_release(c->input[k]);
    for (size_t k = 0; c->expected && k < c->outputs; k++)
        net_array_release(c->expected[k]);
    free(c->input);
    free(c->expected);
    *c = (struct net_case){.input = NULL};
}

struct net_difference net_compare(const struct net_array *got, const struct net_array *expected, double relative, double absolute)
{
    struct net_array bits = *expected;
    if (got->type == NET_BF16 && expected->type == NET_U16) {
        bits.type = NET_BF16;
        expected = &bits;
    }
    struct net_difference d = {.fits = got->type == expected->type && got->dims == expected->dims &&
                                       memcmp(got->shape, expected->shape, got->dims * sizeof *got->shape) == 0};
    for (int64_t k = 0; d.fits && k < got->count; k++) {
        const double a = net_array_double(got, k), b = net_array_double(expected, k);
        const bool same = a == b || (isnan(a) && isnan(b));
        const double difference = same ? 0 : isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
        d.largest = fmax(d.largest, difference);
        d.magnitude = fmax(d.magnitude, isfinite(b) ? fabs(b) : 0);
        d.worst = fmax(d.worst, difference / (absolute + relative * fabs(isfinite(b) ? b : 1)));
    }
    return d;
}

struct net_difference net_case_compare(const struct net_case *c, size_t output, const struct net_array *got, double relative,
                                       double absolute)
{
    const struct net_array *const expected = c->expected[output];
    struct net_array same = *expected;
    if (output >= c->declared && got->count == expected->count) {
        same.dims = got->dims;
        memcpy(same.shape, got->shape, sizeof same.shape);
    }
    return net_compare(got, &same, relative, absolute);
}
