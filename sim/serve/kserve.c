/* The KServe v2 / Triton protocol over HTTP: health, metadata, configuration, statistics. Inference is in kserve_infer.c. */
#include "sim/serve/kserve.h"

#include "isa/array_count.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_shape(struct text *to, const struct net_model *model, const struct net_shape *shape, unsigned from)
{
    text_put(to, "[");
    for (unsigned d = from; shape->known && d < shape->dims; d++) {
        const int64_t dim = net_dim_bound(model, shape->dim[d]);
        text_printf(to, "%s%" PRId64, d > from ? "," : "", dim < 0 ? -1 : dim);
    }
    text_put(to, "]");
}

/* The inputs that a request gives: those that the file has no value for. */
static void put_tensors(struct text *to, const struct served_model *m, bool inputs, bool configuration)
{
    const struct net_model *const model = inputs || !m->shown ? m->network : m->shown;
    const struct net_graph *const g = model->graph;
    bool any = false;
    text_put(to, "[");
    for (size_t k = 0; k < (inputs ? g->inputs : g->outputs); k++) {
        const struct net_value *const v = &model->value[inputs ? g->input[k] : g->output[k]];
        const char *const type = kserve_type_name(v->type);
        if (inputs && v->constant)
            continue;
        text_put(to, any ? ",{\"name\":" : "{\"name\":");
        text_json(to, inputs || k >= model->output_names ? v->name : model->output_name[k]);
        text_printf(
            to, configuration ? ",\"data_type\":\"TYPE_%s\",\"dims\":" : ",\"datatype\":\"%s\",\"shape\":", type ? type : "FP32");
        put_shape(to, model, &v->shape, configuration && m->most ? 1 : 0);
        text_put(to, "}");
        any = true;
    }
    text_put(to, "]");
}

static const char *platform_of(const struct served_model *m)
{
    return m->language ? "orchard_gguf" : "onnxruntime_onnx";
}

static void put_metadata(struct text *to, const struct served_model *m)
{
    text_put(to, "{\"name\":");
    text_json(to, m->entry.name);
    text_printf(to, ",\"versions\":[\"1\"],\"platform\":\"%s\"", platform_of(m));
    text_put(to, ",\"inputs\":");
    if (m->language)
        text_put(to, "[],\"outputs\":[]");
    else {
        put_tensors(to, m, true, false);
        text_put(to, ",\"outputs\":");
        put_tensors(to, m, false, false);
    }
    text_put(to, "}");
}

/* As configurations name them. */
static const char *accelerator_of(const struct served_model *m)
{
    return m->part == PART_ANE ? "apple_neural_engine" : m->part == PART_GPU ? "apple_gpu" : m->unit;
}

static void put_config(struct text *to, const struct served_model *m)
{
    text_put(to, "{\"name\":");
    text_json(to, m->entry.name);
    text_printf(
        to, ",\"platform\":\"%s\",\"backend\":\"%s\",\"version_policy\":{\"latest\":{\"num_versions\":1}},\"max_batch_size\":%u",
        platform_of(m), m->language ? "orchard" : "onnxruntime", m->most);
    text_put(to, ",\"input\":");
    if (m->language)
        text_put(to, "[],\"output\":[]");
    else {
        put_tensors(to, m, true, true);
        text_put(to, ",\"output\":");
        put_tensors(to, m, false, true);
    }
    text_printf(to, ",\"instance_group\":[{\"name\":\"%s\",\"kind\":\"%s\",\"count\":1}]", m->unit,
                m->part == PART_CPU || m->part == PART_AMX ? "KIND_CPU" : "KIND_GPU");
    text_printf(to,
                ",\"optimization\":{\"execution_accelerators\":{\"gpu_execution_accelerator\":[{\"name\":\"%s\",\"parameters\":{"
                "\"precision\":\"%s\"",
                accelerator_of(m), m->precision[0] ? m->precision : "of the file");
    if (m->entry.configured && m->entry.config.power_mode[0])
        text_printf(to, ",\"power_mode\":\"%s\"", m->entry.config.power_mode);
    text_put(to, "}}]}}}");
}

/* ---- statistics ---- */

static void put_duration(struct text *to, const char *name, uint64_t count, double seconds)
{
    text_printf(to, "%s\"%s\":{\"count\":%" PRIu64 ",\"ns\":%.0f}", strcmp(name, "success") == 0 ? "" : ",", name, count,
                1e9 * seconds);
}

/* All times are simulated; requests do not queue for a simulated unit here, one is computed after another. */
static void put_statistics(struct text *to, struct served *served, const struct served_model *m)
{
    const struct served_counts c = served_counts(served, m);
    text_put(to, "{\"name\":");
    text_json(to, m->entry.name);
    text_printf(to,
                ",\"version\":\"1\",\"last_inference\":%" PRId64 ",\"inference_count\":%" PRIu64 ",\"execution_count\":%" PRIu64
                ",\"inference_stats\":{",
                c.last_ms, c.samples, c.executions);
    put_duration(to, "success", c.requests, c.seconds);
    put_duration(to, "fail", c.failures, 0);
    put_duration(to, "queue", c.requests, 0);
    put_duration(to, "compute_input", c.requests, 0);
    put_duration(to, "compute_infer", c.requests, c.seconds);
    put_duration(to, "compute_output", c.requests, 0);
    put_duration(to, "cache_hit", 0, 0);
    put_duration(to, "cache_miss", 0, 0);
    text_put(to, "},\"response_stats\":{},\"batch_stats\":[],\"memory_usage\":[]}");
}

static void answer_statistics(struct served *served, const struct served_model *one, struct http_reply *reply)
{
    reply_json(reply);
    text_put(&reply->body, "{\"model_stats\":[");
    for (size_t i = 0, any = 0; i < served_count(served); i++) {
        if (one && served_at(served, i) != one)
            continue;
        text_put(&reply->body, any++ ? "," : "");
        put_statistics(&reply->body, served, served_at(served, i));
    }
    text_put(&reply->body, "]}");
}

/* ---- paths ---- */

static void answer_server(const struct protocol_context *c, struct http_reply *reply)
{
    reply_json(reply);
    text_put(&reply->body, "{\"name\":\"orchard\",\"version\":");
    text_json(&reply->body, c->version);
    text_put(
        &reply->body,
        ",\"extensions\":[\"model_repository\",\"model_configuration\",\"binary_tensor_data\",\"parameters\",\"statistics\"]}");
}

static void answer_index(const struct protocol_context *c, struct http_reply *reply)
{
    reply_json(reply);
    text_put(&reply->body, "[");
    for (size_t i = 0; i < served_count(c->served); i++) {
        text_put(&reply->body, i ? ",{\"name\":" : "{\"name\":");
        text_json(&reply->body, served_at(c->served, i)->entry.name);
        text_put(&reply->body, ",\"version\":\"1\",\"state\":\"READY\",\"reason\":\"\"}");
    }
    text_put(&reply->body, "]");
}

/* Names are compared with those of the models, nothing else: a path never becomes a file. */
static struct served_model *model_of(const struct protocol_context *c, const char **path, struct http_reply *reply)
{
    char name[160];
    const size_t length = strcspn(*path, "/");
    snprintf(name, sizeof name, "%.*s", (int)(length < 159 ? length : 159), *path);
    struct served_model *const m = served_find(c->served, name);
    if (!m) {
        reply_error(reply, 404, "no model '%.100s' is served", name);
        return NULL;
    }
    *path += length;
    if (strncmp(*path, "/versions/", 10) == 0) {
        const char *const version = *path + 10;
        const size_t digits = strspn(version, "0123456789");
        if (digits != 1 || version[0] != '1' || (version[1] && version[1] != '/')) {
            reply_error(reply, 404, "model '%s' has version 1 alone", name);
            return NULL;
        }
        *path = version + 1;
    }
    return m;
}

static void answer_model(const struct protocol_context *c, const struct http_request *r, const char *path,
                         struct http_reply *reply)
{
    const bool get = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
    struct served_model *const m = model_of(c, &path, reply);
    if (!m)
        return;
    if (strcmp(path, "/infer") == 0) {
        if (strcmp(r->method, "POST") != 0)
            reply_not_allowed(reply, "POST");
        else
            kserve_infer(c, m, r, reply);
        return;
    }
    if (*path && strcmp(path, "/ready") != 0 && strcmp(path, "/config") != 0 && strcmp(path, "/stats") != 0) {
        reply_error(reply, 404, "a model has /ready, /config, /stats and /infer");
        return;
    }
    if (!get) {
        reply_not_allowed(reply, "GET");
        return;
    }
    reply_json(reply);
    if (strcmp(path, "/ready") == 0)
        reply->type = NULL;
    else if (strcmp(path, "/config") == 0)
        put_config(&reply->body, m);
    else if (strcmp(path, "/stats") == 0)
        answer_statistics(c->served, m, reply);
    else
        put_metadata(&reply->body, m);
}

void kserve_answer(const struct protocol_context *c, const struct http_request *r, const char *path, struct http_reply *reply)
{
    const bool get = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
    const bool index = strcmp(path, "/repository/index") == 0;
    if (strcmp(path, "/models/stats") != 0 && strncmp(path, "/models/", 8) == 0) {
        answer_model(c, r, path + 8, reply);
    } else if (index && strcmp(r->method, "POST") != 0) {
        reply_not_allowed(reply, "POST");
    } else if (index) {
        answer_index(c, reply);
    } else if (*path && strcmp(path, "/") != 0 && strcmp(path, "/health/live") != 0 && strcmp(path, "/health/ready") != 0 &&
               strcmp(path, "/models/stats") != 0) {
        reply_error(reply, 404, "no such path; extensions that are served are listed by GET /v2");
    } else if (!get) {
        reply_not_allowed(reply, "GET");
    } else if (strncmp(path, "/health", 7) == 0) {
        reply->status = 200;
    } else if (strcmp(path, "/models/stats") == 0) {
        answer_statistics(c->served, NULL, reply);
    } else {
        answer_server(c, reply);
    }
}
