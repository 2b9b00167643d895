/* Neural networks: inputs with their preprocessing, layers in their order, outputs. */
#include "sim/network/coreml/coreml_names.h"
#include "sim/network/coreml/layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of NeuralNetwork (the same in classifiers and regressors), of a layer, and of features. */
enum { NET_LAYERS = 1, NET_PREPROCESSING = 2, NET_ARRAY_MAPPING = 5, NET_STRING_LABELS = 100, NET_INTEGER_LABELS = 101 };
enum { LAYER_NAME = 1, LAYER_INPUT = 2, LAYER_OUTPUT = 3, LAYER_FIRST_KIND = 100 };
enum { DESCRIPTION_INPUT = 1, DESCRIPTION_OUTPUT = 10 };
enum { FEATURE_NAME = 1, FEATURE_TYPE = 3, TYPE_IMAGE = 4, TYPE_ARRAY = 5, TYPE_DICTIONARY = 6 };

static const struct layer_kind layer_kinds[] = {
#define ROW(field, name, import, op) {field, name, import, op},
#include "sim/network/coreml/layers.inc"
#undef ROW
};

const struct layer_kind *layer_kind_find(unsigned field)
{
    for (size_t k = 0; k < sizeof layer_kinds / sizeof *layer_kinds; k++)
        if (layer_kinds[k].field == field)
            return &layer_kinds[k];
    return NULL;
}

struct network {
    struct coreml *c;
    struct pb description, body;
    bool legacy;               /* arrays are [sequence, channels, height, width] */
    struct coreml_names names; /* of blobs; an output may take a name that another had */
};

static net_id find(const struct network *n, struct pb name)
{
    const struct coreml_value *const v = coreml_names_find(&n->names, name);
    return v ? v->id : NET_NONE;
}

static void bind(struct network *n, struct pb name, net_id id)
{
    const struct coreml_value v = coreml_tensor(id);
    coreml_names_add(n->c, &n->names, name, &v);
}

/* ---- parameters ---- */

void layer_ints(struct layer *l, unsigned field, int64_t *list, size_t count, int64_t absent)
{
    const size_t given = pb_integers(l->body, field, list, count);
    if (given && given != count)
        coreml_fail(l->c, ORCH_USAGE, "%zu numbers in field %u where %zu belong", given, field, count);
    for (size_t k = 0; k < count; k++) {
        list[k] = given == count ? list[k] : absent;
        if (list[k] < 0 || list[k] > 1 << 24)
            coreml_fail(l->c, ORCH_USAGE, "the number %lld in field %u", (long long)list[k], field);
    }
}

size_t layer_list(struct layer *l, unsigned field, int64_t *list)
{
    const size_t given = pb_integers(l->body, field, list, NET_DIMS_MAX);
    if (given > NET_DIMS_MAX)
        coreml_fail(l->c, ORCH_USAGE, "%zu numbers in field %u; at most %d are possible", given, field, NET_DIMS_MAX);
    return given > NET_DIMS_MAX ? 0 : given;
}

/* ---- inputs ---- */

static struct pb preprocessing_of(const struct network *n, struct pb name)
{
    struct pb body = n->body, found = {body.end, body.end, body.state};
    for (struct pb_field f; pb_next(&body, &f);)
        if (f.number == NET_PREPROCESSING && f.is_bytes &&
            (pb_same(pb_message(f.body, 1), name) || pb_size(pb_message(f.body, 1)) == 0))
            found = f.body;
    return found;
}

/* channelScale pixel + bias of the channel, or pixel - mean image. */
static net_id preprocessed(struct network *n, net_id x, struct pb name)
{
    enum { PRE_SCALER = 10, PRE_MEAN = 11, SCALE = 10, BLUE = 20, GREEN = 21, RED = 22, GREY = 30 };
    const struct pb pre = preprocessing_of(n, name), scaler = pb_message(pre, PRE_SCALER);
    const int64_t channels = coreml_dim(n->c, x, 1);
    const int64_t mean[3] = {channels, coreml_dim(n->c, x, 2), coreml_dim(n->c, x, 3)}, shape[3] = {channels, 1, 1};
    if (pb_has(pre, PRE_MEAN))
        return coreml_two(n->c, "Sub", x, coreml_weights(n->c, pre, PRE_MEAN, mean, 3));
    if (!pb_has(pre, PRE_SCALER))
        return x;
    const bool reversed = n->c->model->blue_first;
    const double bias[3] = {pb_real(scaler,
                                    channels == 1 ? GREY
                                    : reversed    ? BLUE
                                                  : RED,
                                    0),
                            pb_real(scaler, GREEN, 0), pb_real(scaler, reversed ? RED : BLUE, 0)};
    x = coreml_scaled(n->c, x, pb_real(scaler, SCALE, 0), 0);
    if (bias[0] == 0 && (channels == 1 || (bias[1] == 0 && bias[2] == 0)))
        return x;
    struct net_array *const array = n->c->failed ? NULL : net_array_new(NET_F32, shape, 3, n->c->error);
    if (array)
        net_write_doubles(NET_F32, array->data, 0, (size_t)channels, bias);
    return coreml_two(n->c, "Add", x, coreml_constant(n->c, array));
}

static net_id as_legacy(struct network *n, net_id x)
{
    const unsigned rank = coreml_rank(n->c, x);
    const int64_t vector[4] = {1, -1, 1, 1};
    const int64_t one[1] = {0};
    switch (rank) {
    case 1: return coreml_reshape(n->c, x, vector, 4);
    case 3: return coreml_axes(n->c, "Unsqueeze", x, one, 1);
    case 4: return x;
    default: return coreml_fail(n->c, ORCH_UNMODELLED, "an array of %u dimensions; 1, 3 and 4 are known here", rank);
    }
}

static void import_input(struct network *n, struct pb feature)
{
    struct coreml_feature f = {.type = pb_message(feature, FEATURE_TYPE)};
    const struct pb name = pb_message(feature, FEATURE_NAME);
    pb_text(feature, FEATURE_NAME, f.name, sizeof f.name);
    net_id x = NET_NONE;
    if (find(n, name) != NET_NONE) {
        coreml_fail(n->c, ORCH_USAGE, "input '%.80s' twice", f.name);
    } else if (pb_has(f.type, TYPE_IMAGE)) {
        const int64_t one[1] = {0};
        x = preprocessed(n, coreml_axes(n->c, "Unsqueeze", coreml_image_input(n->c, &f), one, 1), name);
    } else if (pb_has(f.type, TYPE_ARRAY)) {
        x = coreml_array_input(n->c, &f);
        x = n->legacy ? as_legacy(n, x) : x;
    } else {
        coreml_fail(n->c, ORCH_UNMODELLED, "input '%.80s' is neither an array nor an image", f.name);
    }
    bind(n, name, x);
}

/* ---- layers ---- */

static bool connect(struct network *n, struct pb layer, struct layer *l)
{
    for (struct pb_field f; pb_next(&layer, &f) && !n->c->failed;) {
        if (f.number == LAYER_OUTPUT)
            l->outputs++;
        if (f.number != LAYER_INPUT || !f.is_bytes)
            continue;
        if (l->inputs == LAYER_OPERANDS_MAX)
            coreml_fail(n->c, ORCH_UNMODELLED, "more than %d inputs", LAYER_OPERANDS_MAX);
        else if ((l->in[l->inputs++] = find(n, f.body)) == NET_NONE)
            coreml_fail(n->c, ORCH_USAGE, "input '%.*s' is computed by no layer before it",
                        (int)(pb_size(f.body) < 80 ? pb_size(f.body) : 80), (const char *)f.body.at);
    }
    if (l->outputs < 1 || l->outputs > LAYER_OPERANDS_MAX)
        coreml_fail(n->c, ORCH_UNMODELLED, "%zu outputs", l->outputs);
    return coreml_holds(n->c);
}

static void bind_outputs(struct network *n, struct pb layer, const struct layer *l, size_t first)
{
    size_t at = 0;
    for (struct pb_field f; pb_next(&layer, &f) && !n->c->failed;) {
        if (f.number != LAYER_OUTPUT || !f.is_bytes)
            continue;
        if (l->out[at] == NET_NONE)
            coreml_fail(n->c, ORCH_UNMODELLED, "output %zu is not computed", at);
        else
            coreml_rename(n->c, l->out[at], f.body, first);
        bind(n, f.body, l->out[at++]);
    }
}

/* "[1,16,96,96] [16]": of inputs, for messages. */
static void refuse_kind(struct network *n, const struct layer *l)
{
    char shapes[160] = "";
    for (size_t k = 0, at = 0; k < l->inputs && at < sizeof shapes - 40; k++) {
        const struct net_shape *const s = &n->c->model->value[l->in[k]].shape;
        at += (size_t)snprintf(shapes + at, sizeof shapes - at, "%s[", k ? " " : "");
        for (unsigned d = 0; d < s->dims && at < sizeof shapes - 30; d++)
            at += (size_t)snprintf(shapes + at, sizeof shapes - at, "%s%lld", d ? "," : "", (long long)s->dim[d]);
        at += (size_t)snprintf(shapes + at, sizeof shapes - at, "]");
    }
    coreml_fail(n->c, ORCH_UNMODELLED, "layers of this kind are not imported; its inputs are %s", shapes[0] ? shapes : "none");
}

static void import_layer(struct network *n, struct pb layer)
{
    const struct layer_kind *kind = NULL;
    struct layer l = {.c = n->c};
    char name[COREML_TEXT], number[32] = "of no kind";
    const size_t first = n->c->model->values;
    struct pb rest = layer;
    for (size_t k = 0; k < LAYER_OPERANDS_MAX; k++)
        l.in[k] = l.out[k] = NET_NONE;
    for (struct pb_field f; pb_next(&rest, &f);)
        if (f.number >= LAYER_FIRST_KIND && f.is_bytes) {
            kind = layer_kind_find(f.number);
            l.body = f.body;
            snprintf(number, sizeof number, "kind %u", f.number);
        }
    coreml_enter(n->c, "layer", pb_text(layer, LAYER_NAME, name, sizeof name), kind ? kind->name : number);
    if (!connect(n, layer, &l))
        return;
    if (!kind || !kind->import) {
        refuse_kind(n, &l);
        return;
    }
    l.op = kind->op;
    if (l.inputs == 0 && kind->import != layer_constant && !(kind->import == layer_fill && strcmp(kind->op, "static") == 0))
        coreml_fail(n->c, ORCH_USAGE, "no inputs");
    if (!n->c->failed)
        kind->import(&l);
    if (coreml_holds(n->c))
        bind_outputs(n, layer, &l, first);
}

/* ---- outputs ---- */

/* As the description declares it; without a shape, channels alone are a vector. */
static net_id as_declared(struct network *n, net_id x, struct pb type)
{
    int64_t shape[NET_DIMS_MAX];
    const struct pb array = pb_message(type, TYPE_ARRAY);
    const size_t dims = pb_integers(array, 1, shape, NET_DIMS_MAX);
    const int64_t flat = -1, first = 0;
    if (!n->legacy || n->c->failed)
        return x;
    if (pb_has(type, TYPE_DICTIONARY))
        return coreml_reshape(n->c, x, &flat, 1);
    if (dims && dims <= NET_DIMS_MAX) {
        const struct net_shape declared = net_shape_of(shape, (unsigned)dims), *const own = &n->c->model->value[x].shape;
        if (net_shape_complete(own) && net_product(own, 0, own->dims) == net_product(&declared, 0, declared.dims))
            return coreml_reshape(n->c, x, shape, dims);
    }
    if (coreml_rank(n->c, x) != 4 || coreml_dim(n->c, x, 0) != 1)
        return x;
    return coreml_dim(n->c, x, 2) == 1 && coreml_dim(n->c, x, 3) == 1 ? coreml_reshape(n->c, x, &flat, 1)
                                                                      : coreml_axes(n->c, "Squeeze", x, &first, 1);
}

static void import_output(struct network *n, struct pb feature)
{
    char name[COREML_TEXT];
    const struct pb type = pb_message(feature, FEATURE_TYPE);
    pb_text(feature, FEATURE_NAME, name, sizeof name);
    coreml_enter(n->c, "output", name, "feature");
    if (!pb_has(type, TYPE_ARRAY) && !pb_has(type, TYPE_DICTIONARY) && !pb_has(type, TYPE_IMAGE))
        return; /* the label of a class, which follows from the probabilities */
    const net_id x = find(n, pb_message(feature, FEATURE_NAME));
    if (x == NET_NONE)
        coreml_fail(n->c, ORCH_USAGE, "no layer computes it");
    coreml_output(n->c, name, as_declared(n, x, type));
}

static void import_labels(struct network *n)
{
    struct pb texts = pb_message(n->body, NET_STRING_LABELS);
    const struct pb numbers = pb_message(n->body, NET_INTEGER_LABELS);
    char text[COREML_TEXT];
    for (struct pb_field f; pb_next(&texts, &f) && !n->c->failed;) {
        const int length = (int)(pb_size(f.body) < sizeof text - 1 ? pb_size(f.body) : sizeof text - 1);
        snprintf(text, sizeof text, "%.*s", length, (const char *)f.body.at);
        if (f.number == 1 && f.is_bytes && !net_model_add_label(n->c->model, text))
            coreml_fail(n->c, ORCH_INTERNAL, "out of memory");
    }
    const size_t count = pb_integers(numbers, 1, NULL, 0);
    int64_t *const list = calloc(count + 1, sizeof *list);
    if (list)
        pb_integers(numbers, 1, list, count);
    for (size_t k = 0; list && k < count && !n->c->failed; k++) {
        snprintf(text, sizeof text, "%lld", (long long)list[k]);
        if (!net_model_add_label(n->c->model, text))
            coreml_fail(n->c, ORCH_INTERNAL, "out of memory");
    }
    free(list);
}

static void each(struct network *n, struct pb message, unsigned field, void (*import)(struct network *n, struct pb part))
{
    for (struct pb_field f; !n->c->failed && pb_next(&message, &f);)
        if (f.number == field && f.is_bytes)
            import(n, f.body);
}

bool coreml_network(struct coreml *c, struct pb description, struct pb body)
{
    struct network n = {.c = c, .description = description, .body = body};
    n.legacy = pb_integer(body, NET_ARRAY_MAPPING, 0) != 1;
    each(&n, description, DESCRIPTION_INPUT, import_input);
    each(&n, body, NET_LAYERS, import_layer);
    each(&n, description, DESCRIPTION_OUTPUT, import_output);
    if (!c->failed)
        import_labels(&n);
    coreml_names_free(&n.names);
    return coreml_holds(c);
}
