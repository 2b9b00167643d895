#include "sim/network/case.h"

#include "sim/base/file_read.h"
#include "sim/base/json_read.h"
#include "sim/network/arrays.h"
#include "sim/network/onnx/onnx.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
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
    *count = *golden ? 1 : *count;
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

/* Member `list` of the document: objects by the names of the model's inputs or outputs, each with the name of a file beside it.
 */
static bool read_list(const struct json_node *top, const char *list, const char *folder, const struct net_model *model,
                      size_t count, struct net_array **to, struct orch_error *error)
{
    const bool inputs = strcmp(list, "inputs") == 0;
    const struct json_node all = json_get_object(top, list);
    for (size_t k = 0; k < count; k++) {
        char path[PATH_MAX];
        const char *const name = inputs ? model->value[model->graph->input[k]].name : model->output_name[k];
        const struct json_node one = json_get_object(&all, name);
        const char *const file = json_get_string(&one, "file");
        if (!json_ok(top))
            return false;
        if (strchr(file, '/'))
            return json_wrong(&one, "file", "no file of the same folder");
        snprintf(path, sizeof path, "%s/golden/%s", folder, file);
        to[k] = net_array_load(path, NULL, error);
        if (!to[k])
            return false;
    }
    return true;
}

static bool load_golden(const char *folder, const struct net_model *model, struct net_case *c, struct orch_error *error)
{
    char path[PATH_MAX];
    uint8_t *text = NULL;
    size_t size;
    struct json_reader r;
    snprintf(path, sizeof path, "%s/golden/golden.json", folder);
    FILE *const file = fopen(path, "rb");
    bool ok = file && file_read_all(file, JSON_BYTES_MAX, &text, &size);
    if (file)
        fclose(file);
    if (!ok)
        return orch_fail(error, ORCH_USAGE, "%s cannot be read", path);
    ok = json_reader_open(&r, path, (const char *)text, size, error);
    if (ok) {
        const struct json_node top = json_top(&r);
        ok = read_list(&top, "inputs", folder, model, c->inputs, c->input, error) &&
             read_list(&top, "outputs", folder, model, c->outputs, c->expected, error);
        ok = json_reader_close(&r) && ok;
    }
    free(text);
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

bool net_case_load(const char *folder, size_t set, const struct net_model *model, struct net_case *c, struct orch_error *error)
{
    size_t count;
    bool golden;
    *c = (struct net_case){.input = NULL};
    if (!make_room(model, c, error))
        return false;
    net_case_sets(folder, &count, &golden);
    const bool ok = golden ? load_golden(folder, model, c, error)
                           : load_set(folder, set, "input", c->inputs, c->input, error) &&
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
