/* POST .../infer: tensors as JSON or as bytes behind it, in and out. */
#include "sim/serve/kserve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_HEADER "Inference-Header-Content-Length"

enum { TENSORS = 64 };

struct inference {
    const struct protocol_context *context;
    struct served_model *model;
    const struct http_request *request;
    struct net_array *input[TENSORS], *output[TENSORS];
    struct wanted {
        size_t output;
        bool binary;
    } wanted[TENSORS];
    size_t wanted_count;
    bool all_binary;
    unsigned samples;
    char id[128];
    struct served_cost cost;
};

/* ---- inputs ---- */

static bool find_input(const struct inference *i, const struct json_node *node, const char *name, size_t *place)
{
    const struct net_graph *const g = i->model->network->graph;
    for (size_t k = 0; k < g->inputs; k++) {
        if (strcmp(i->model->network->value[g->input[k]].name, name) != 0)
            continue;
        *place = k;
        return !i->input[k] || json_wrong(node, "name", "'%.80s' stands here twice", name);
    }
    return json_wrong(node, "name", "the model has no input '%.80s'", name);
}

/* Dimensions that the model fixes, and the batch. */
static bool check_shape(struct inference *i, const struct json_node *node, size_t place)
{
    const struct net_model *const model = i->model->network;
    const struct net_value *const v = &model->value[model->graph->input[place]];
    const struct net_array *const a = i->input[place];
    if (v->shape.known && v->shape.dims != a->dims)
        return json_wrong(node, "shape", "has %u dimensions, the model takes %u", a->dims, v->shape.dims);
    for (unsigned d = 0; v->shape.known && d < a->dims; d++) {
        const int64_t dim = net_dim_bound(model, v->shape.dim[d]);
        if (dim >= 0 && dim != a->shape[d])
            return json_wrong(node, "shape", "dimension %u is %" PRId64 ", the model takes %" PRId64, d, a->shape[d], dim);
        if (a->shape[d] == 0)
            return json_wrong(node, "shape", "dimension %u is 0", d);
    }
    if (i->model->most && a->dims && a->shape[0] > i->model->most)
        return json_wrong(node, "shape", "a batch of %" PRId64 ", the model takes %u", a->shape[0], i->model->most);
    if (a->dims && a->shape[0] > 0 && a->shape[0] < UINT32_MAX && (i->model->most || (v->shape.known && v->shape.dim[0] < 0)))
        i->samples = (unsigned)a->shape[0];
    return true;
}

static bool read_inputs(struct inference *i, const struct json_node *top, struct kserve_binary *binary, struct orch_error *error)
{
    const struct net_graph *const g = i->model->network->graph;
    const struct json_node inputs = json_get_array(top, "inputs", 1, TENSORS);
    struct json_node node;
    for (struct json_walk walk = {.of = &inputs}; json_next(&walk, &node);) {
        const char *const name = json_get_string(&node, "name");
        size_t place = 0;
        if (!json_ok(top) || !find_input(i, &node, name, &place))
            return false;
        i->input[place] = kserve_read(&node, i->model->network->value[g->input[place]].type, binary, error);
        if (!i->input[place] || !check_shape(i, &node, place))
            return false;
    }
    for (size_t k = 0; json_ok(top) && k < g->inputs; k++)
        if (!i->input[k] && !i->model->network->value[g->input[k]].constant)
            return json_wrong(top, "inputs", "input '%.80s' is missing", i->model->network->value[g->input[k]].name);
    return json_ok(top) &&
           (binary->left == 0 || json_wrong(top, NULL, "%zu bytes of the body belong to no tensor", binary->left));
}

/* ---- which outputs ---- */

static bool add_output(struct inference *i, const struct json_node *node)
{
    const struct net_model *const model = i->model->network;
    const char *const name = json_get_string(node, "name");
    const struct json_node parameters = json_find_object(node, "parameters");
    const bool binary = json_find_boolean(&parameters, "binary_data", i->all_binary);
    if (json_has(&parameters, "classification"))
        return json_wrong(node, "parameters", "classification is not served");
    for (size_t k = 0; json_ok(node) && k < model->output_names; k++)
        if (strcmp(model->output_name[k], name) == 0) {
            i->wanted[i->wanted_count++] = (struct wanted){k, binary};
            return true;
        }
    return json_ok(node) && json_wrong(node, "name", "the model has no output '%.80s'", name);
}

static bool read_outputs(struct inference *i, const struct json_node *top)
{
    const struct json_node parameters = json_find_object(top, "parameters");
    i->all_binary = json_find_boolean(&parameters, "binary_data_output", i->all_binary);
    if (!json_has(top, "outputs")) {
        for (size_t k = 0; k < i->model->network->graph->outputs; k++)
            i->wanted[i->wanted_count++] = (struct wanted){k, i->all_binary};
        return json_ok(top);
    }
    const struct json_node outputs = json_get_array(top, "outputs", 0, TENSORS);
    struct json_node node;
    for (struct json_walk walk = {.of = &outputs}; json_next(&walk, &node);)
        if (!add_output(i, &node))
            return false;
    return json_ok(top);
}

static bool read_request(struct inference *i, const char *json, struct kserve_binary binary, struct orch_error *error)
{
    struct json_reader reader;
    if (!json_reader_open(&reader, "request", json, strlen(json), error))
        return false;
    const struct json_node top = json_top(&reader);
    snprintf(i->id, sizeof i->id, "%.127s", json_find_string(&top, "id", ""));
    const bool ok = read_inputs(i, &top, &binary, error) && read_outputs(i, &top);
    return json_reader_close(&reader) && ok;
}

/* The whole body is the one input of a one-input model, a batch of one. */
static bool read_raw(struct inference *i, struct orch_error *error)
{
    const struct net_model *const model = i->model->network;
    const struct net_value *const v = &model->value[model->graph->input[0]];
    int64_t dim[NET_DIMS_MAX];
    if (model->graph->inputs != 1 || !v->shape.known || v->type == NET_TYPES)
        return orch_fail(error, ORCH_USAGE, LENGTH_HEADER " 0 is of models with one input of a known shape");
    for (unsigned d = 0; d < v->shape.dims; d++) {
        const int64_t size = net_dim_bound(model, v->shape.dim[d]);
        dim[d] = size >= 0 ? size : d == 0 ? 1 : -1;
        if (dim[d] < 0)
            return orch_fail(error, ORCH_USAGE, "the shape of input '%.80s' is open: say it in JSON", v->name);
    }
    i->input[0] = net_array_new(v->type, dim, v->shape.dims, error);
    if (!i->input[0])
        return false;
    if (net_array_bytes(i->input[0]) != i->request->size)
        return orch_fail(error, ORCH_USAGE, "the body has %zu bytes, input '%.80s' %zu", i->request->size, v->name,
                         net_array_bytes(i->input[0]));
    memcpy(i->input[0]->data, i->request->body, i->request->size);
    for (size_t k = 0; k < model->graph->outputs; k++)
        i->wanted[i->wanted_count++] = (struct wanted){k, true};
    return true;
}

/* Where the JSON ends, and where the tensors begin. */
static bool read_body(struct inference *i, struct orch_error *error)
{
    const struct http_request *const r = i->request;
    const char *const text = r->header(r->carrier, LENGTH_HEADER);
    if (r->header(r->carrier, "Content-Encoding"))
        return orch_fail(error, ORCH_UNMODELLED, "compressed bodies are not served");
    if (!text)
        return read_request(i, r->body, (struct kserve_binary){r->body + r->size, 0, r->size}, error);
    char *end;
    const unsigned long long length = strtoull(text, &end, 10);
    if (end == text || *end || *text == '-' || length > r->size)
        return orch_fail(error, ORCH_USAGE, LENGTH_HEADER ": '%.40s' is no number from 0 to %zu", text, r->size);
    if (length == 0)
        return read_raw(i, error);
    char *const json = strndup(r->body, (size_t)length);
    if (!json)
        return orch_no_memory(error);
    const bool ok =
        read_request(i, json, (struct kserve_binary){r->body + length, r->size - (size_t)length, (size_t)length}, error);
    free(json);
    return ok;
}

/* ---- the reply ---- */

static void put_number(struct text *to, const char *name, double number)
{
    text_printf(to, ",\"%s\":", name);
    text_json_number(to, number);
}

static void put_parameters(const struct inference *i, struct text *to)
{
    text_printf(to, ",\"parameters\":{\"simulated_unit\":\"%s\",\"simulated_chip\":\"%s\"", i->model->unit,
                chip_id(served_setup(i->context->served)->run.chip));
    put_number(to, "simulated_seconds", i->cost.seconds);
    if (isfinite(i->cost.joules))
        put_number(to, "simulated_joules", i->cost.joules);
    if (isfinite(i->cost.celsius))
        put_number(to, "simulated_celsius", i->cost.celsius);
    text_put(to, "}");
}

static bool put_output(const struct inference *i, const struct wanted *w, struct text *to, struct orch_error *error)
{
    const struct net_array *const a = i->output[w->output];
    const char *const type = kserve_type_name(a->type), *const name = i->model->network->output_name[w->output];
    if (!type)
        return orch_fail(error, ORCH_UNMODELLED, "output '%.80s' is of a type that the protocol does not have", name);
    text_put(to, "{\"name\":");
    text_json(to, name);
    text_printf(to, ",\"datatype\":\"%s\",\"shape\":[", type);
    for (unsigned d = 0; d < a->dims; d++)
        text_printf(to, "%s%" PRId64, d ? "," : "", a->shape[d]);
    text_put(to, "]");
    if (w->binary) {
        text_printf(to, ",\"parameters\":{\"binary_data_size\":%zu}}", net_array_bytes(a));
        return true;
    }
    if (a->type == NET_F16 || a->type == NET_BF16)
        return orch_fail(error, ORCH_USAGE, "output '%.80s' is %s, which has no form in JSON: ask for binary_data", name, type);
    text_put(to, ",\"data\":");
    if (!kserve_write(to, a))
        return orch_fail(error, ORCH_USAGE,
                         "output '%.80s' has numbers that are not finite, which have no form in JSON: ask for binary_data", name);
    text_put(to, "}");
    return true;
}

static bool write_reply(const struct inference *i, struct http_reply *reply, struct orch_error *error)
{
    struct text *const to = &reply->body;
    bool binary = false;
    reply_json(reply);
    text_put(to, "{\"model_name\":");
    text_json(to, i->model->entry.name);
    text_put(to, ",\"model_version\":\"1\"");
    if (i->id[0]) {
        text_put(to, ",\"id\":");
        text_json(to, i->id);
    }
    put_parameters(i, to);
    text_put(to, ",\"outputs\":[");
    for (size_t k = 0; k < i->wanted_count; k++) {
        text_put(to, k ? "," : "");
        if (!put_output(i, &i->wanted[k], to, error))
            return false;
        binary |= i->wanted[k].binary;
    }
    text_put(to, "]}");
    if (!binary)
        return true;
    snprintf(reply->json_bytes, sizeof reply->json_bytes, "%zu", to->size);
    reply->type = "application/octet-stream";
    for (size_t k = 0; k < i->wanted_count; k++)
        if (i->wanted[k].binary)
            text_bytes(to, i->output[i->wanted[k].output]->data, net_array_bytes(i->output[i->wanted[k].output]));
    return true;
}

void kserve_infer(const struct protocol_context *c, struct served_model *m, const struct http_request *r,
                  struct http_reply *reply)
{
    struct orch_error error = {0};
    if (m->language) {
        reply_error(reply, 501, "%s is a language model: POST /v1/completions", m->entry.name);
        return;
    }
    struct inference *const i = calloc(1, sizeof *i);
    if (!i || m->network->graph->inputs > TENSORS || m->network->graph->outputs > TENSORS) {
        reply_error(reply, i ? 501 : 500, i ? "more than %d tensors" : "out of memory", TENSORS);
        free(i);
        return;
    }
    *i = (struct inference){.context = c, .model = m, .request = r, .samples = 1};
    const bool read = read_body(i, &error);
    if (!read)
        served_count_failure(c->served, m);
    if (!(read && served_infer(c->served, m, i->input, i->output, i->samples, &i->cost, &error) && write_reply(i, reply, &error)))
        reply_error(reply, http_status_of(&error), "%s", error.plain);
    for (size_t k = 0; k < TENSORS; k++) {
        net_array_release(i->input[k]);
        net_array_release(i->output[k]);
    }
    free(i);
}
