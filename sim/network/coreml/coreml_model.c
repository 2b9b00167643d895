/* Models: the description of what goes in and out, and which kind of model it is. */
#include "sim/base/checksum.h"
#include "sim/network/coreml/coreml_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of Model, of its description, and of the types of features. */
enum { MODEL_SPECIFICATION = 1, MODEL_DESCRIPTION = 2 };
enum { TYPE_IMAGE = 4, TYPE_ARRAY = 5 };
enum { ARRAY_SHAPE = 1, ARRAY_TYPE = 2, ARRAY_ENUMERATED = 21, ARRAY_RANGE = 31, ARRAY_I32 = 131104 };
enum { IMAGE_WIDTH = 1, IMAGE_HEIGHT = 2, IMAGE_COLOUR = 3, COLOUR_BGR = 30, COLOUR_RGB = 20 };

/* ---- features ---- */

static net_id add_input(struct coreml *c, const char *name, enum net_type type, const int64_t *shape, unsigned dims)
{
    const net_id id = c->failed ? NET_NONE : net_value_add(c->model, name);
    if (id == NET_NONE || !net_graph_add_input(c->model->graph, id))
        return coreml_fail(c, ORCH_INTERNAL, "out of memory");
    c->model->value[id].type = type;
    c->model->value[id].shape = net_shape_of(shape, dims);
    return id;
}

/* Whether a dimension may be of several sizes. */
static bool is_open(struct pb array, unsigned axis)
{
    unsigned at = 0;
    struct pb range = pb_message(array, ARRAY_RANGE);
    for (struct pb_field f; pb_next(&range, &f);)
        if (f.number == 1 && f.is_bytes && at++ == axis)
            return pb_integer(f.body, 1, 0) != pb_integer(f.body, 2, 0);
    int64_t first = -1;
    struct pb enumerated = pb_message(array, ARRAY_ENUMERATED);
    for (struct pb_field f; pb_next(&enumerated, &f);) {
        int64_t shape[NET_DIMS_MAX] = {0};
        if (f.number != 1 || !f.is_bytes || pb_integers(f.body, 1, shape, NET_DIMS_MAX) <= axis)
            continue;
        if (first >= 0 && shape[axis] != first)
            return true;
        first = shape[axis];
    }
    return false;
}

net_id coreml_array_input(struct coreml *c, const struct coreml_feature *feature)
{
    int64_t shape[NET_DIMS_MAX] = {0};
    const struct pb array = pb_message(feature->type, TYPE_ARRAY);
    const size_t dims = pb_integers(array, ARRAY_SHAPE, shape, NET_DIMS_MAX);
    const bool whole = pb_integer(array, ARRAY_TYPE, 0) == ARRAY_I32;
    coreml_enter(c, "input", feature->name, "array");
    if (dims == 0 || dims > NET_DIMS_MAX)
        return coreml_fail(c, ORCH_UNMODELLED, "an array of %zu dimensions", dims);
    for (unsigned d = 0; d < dims; d++) {
        char name[COREML_TEXT + 16];
        if (shape[d] < 0 || shape[d] > INT32_MAX)
            return coreml_fail(c, ORCH_USAGE, "a dimension of %lld", (long long)shape[d]);
        snprintf(name, sizeof name, "%s.%u", feature->name, d);
        if (is_open(array, d))
            shape[d] = net_symbol_usual(c->model, name, shape[d]);
    }
    const net_id id = add_input(c, feature->name, whole ? NET_I32 : NET_F32, shape, (unsigned)dims);
    if (c->failed)
        return NET_NONE;
    /* What is given may have another type, as Core ML lets it; a cast that changes nothing costs nothing. */
    struct net_node *const cast = coreml_node(c, "Cast", 1, &id, 1);
    coreml_set_int(c, cast, "to", whole ? 7 : 1);
    return coreml_add(c, cast, NULL);
}

net_id coreml_image_input(struct coreml *c, const struct coreml_feature *feature)
{
    const struct pb image = pb_message(feature->type, TYPE_IMAGE);
    const int64_t colour = pb_integer(image, IMAGE_COLOUR, 0);
    const int64_t shape[3] = {colour == COLOUR_RGB || colour == COLOUR_BGR ? 3 : 1, pb_integer(image, IMAGE_HEIGHT, 0),
                              pb_integer(image, IMAGE_WIDTH, 0)};
    coreml_enter(c, "input", feature->name, "image");
    if (shape[1] < 1 || shape[2] < 1 || shape[1] > 1 << 20 || shape[2] > 1 << 20)
        return coreml_fail(c, ORCH_USAGE, "an image of %lld x %lld pixels", (long long)shape[2], (long long)shape[1]);
    c->model->blue_first = c->model->blue_first || colour == COLOUR_BGR;
    return coreml_cast(c, add_input(c, feature->name, NET_U8, shape, 3), NET_F32);
}

bool coreml_output(struct coreml *c, const char *name, net_id value)
{
    char *const copy = c->failed ? NULL : strdup(name);
    if (!copy || value == NET_NONE || !net_model_add_output(c->model, value)) {
        free(copy);
        coreml_fail(c, ORCH_USAGE, "output '%.80s' is computed by nothing", name);
        return false;
    }
    char **const last = &c->model->output_name[c->model->output_names - 1];
    free(*last);
    *last = copy;
    return true;
}

/* ---- kinds of models ---- */

struct kind {
    unsigned field;
    const char *name;
    bool (*import)(struct coreml *c, struct pb description, struct pb body);
};

static const struct kind kinds[] = {
    {303, "neuralNetworkRegressor", coreml_network},
    {403, "neuralNetworkClassifier", coreml_network},
    {500, "neuralNetwork", coreml_network},
    {502, "mlProgram", coreml_program},
    {200, "pipelineClassifier", NULL},
    {201, "pipelineRegressor", NULL},
    {202, "pipeline", NULL},
    {300, "glmRegressor", NULL},
    {301, "supportVectorRegressor", NULL},
    {302, "treeEnsembleRegressor", NULL},
    {304, "bayesianProbitRegressor", NULL},
    {400, "glmClassifier", NULL},
    {401, "supportVectorClassifier", NULL},
    {402, "treeEnsembleClassifier", NULL},
    {404, "kNearestNeighborsClassifier", NULL},
    {501, "itemSimilarityRecommender", NULL},
    {555, "customModel", NULL},
    {556, "linkedModel", NULL},
    {560, "classConfidenceThresholding", NULL},
    {600, "oneHotEncoder", NULL},
    {601, "imputer", NULL},
    {602, "featureVectorizer", NULL},
    {603, "dictVectorizer", NULL},
    {604, "scaler", NULL},
    {606, "categoricalMapping", NULL},
    {607, "normalizer", NULL},
    {609, "arrayFeatureExtractor", NULL},
    {610, "nonMaximumSuppression", NULL},
    {900, "identity", NULL},
    {2000, "textClassifier", NULL},
    {2001, "wordTagger", NULL},
    {2002, "visionFeaturePrint", NULL},
    {2003, "soundAnalysisPreprocessing", NULL},
    {2004, "gazetteer", NULL},
    {2005, "wordEmbedding", NULL},
    {2006, "audioFeaturePrint", NULL},
    {3000, "serializedModel", NULL},
};

static const struct kind *kind_of(struct pb file, struct pb *body)
{
    for (struct pb_field f; pb_next(&file, &f);)
        for (size_t k = 0; f.is_bytes && k < sizeof kinds / sizeof *kinds; k++)
            if (kinds[k].field == f.number) {
                *body = f.body;
                return &kinds[k];
            }
    return NULL;
}

static bool import_model(struct coreml *c)
{
    struct pb body;
    const struct kind *const kind = kind_of(c->file, &body);
    c->specification = pb_integer(c->file, MODEL_SPECIFICATION, 0);
    if (!coreml_holds(c))
        return false;
    if (!kind || c->specification < 1)
        coreml_fail(c, ORCH_USAGE, "no Core ML model: it names neither a specification nor a kind of model that is known");
    else if (!kind->import)
        coreml_fail(c, ORCH_UNMODELLED, "a model of the kind %s; neural networks and ML programs are read", kind->name);
    else
        kind->import(c, pb_message(c->file, MODEL_DESCRIPTION), body);
    c->place[0] = 0;
    return coreml_holds(c);
}

struct net_model *coreml_import(const char *path, const uint8_t *bytes, size_t size, struct orch_error *error)
{
    struct coreml c = {.folder_of = path, .error = error};
    c.file = pb_open(&c.wire, bytes, size);
    c.model = net_model_new(path);
    if (c.model)
        c.model->content = checksum_add(CHECKSUM_START, bytes, size);
    const bool ok = c.model ? import_model(&c) : orch_no_memory(error);
    if (!ok) {
        net_model_free(c.model);
        orch_fail_in(error, "%s", path);
        return NULL;
    }
    return c.model;
}
