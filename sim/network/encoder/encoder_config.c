/* Sources: transformers, configuration_bert.py, configuration_distilbert.py, configuration_roberta.py and activations.py;
 * sentence-transformers, models/Pooling.py. */
#include "sim/network/encoder/encoder_config.h"

#include "isa/array_count.h"
#include "sim/base/file_read.h"
#include "sim/base/json_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 1 << 22, PATH_BYTES = 4096 };

static const struct encoder_names names_bert = {
    .words = "embeddings.word_embeddings",
    .places = "embeddings.position_embeddings",
    .kinds = "embeddings.token_type_embeddings",
    .first_norm = "embeddings.LayerNorm",
    .query = "encoder.layer.%u.attention.self.query",
    .key = "encoder.layer.%u.attention.self.key",
    .value = "encoder.layer.%u.attention.self.value",
    .attended = "encoder.layer.%u.attention.output.dense",
    .attended_norm = "encoder.layer.%u.attention.output.LayerNorm",
    .up = "encoder.layer.%u.intermediate.dense",
    .down = "encoder.layer.%u.output.dense",
    .norm = "encoder.layer.%u.output.LayerNorm",
    .pooler = "pooler.dense",
};
static const struct encoder_names names_distilbert = {
    .words = "embeddings.word_embeddings",
    .places = "embeddings.position_embeddings",
    .first_norm = "embeddings.LayerNorm",
    .query = "transformer.layer.%u.attention.q_lin",
    .key = "transformer.layer.%u.attention.k_lin",
    .value = "transformer.layer.%u.attention.v_lin",
    .attended = "transformer.layer.%u.attention.out_lin",
    .attended_norm = "transformer.layer.%u.sa_layer_norm",
    .up = "transformer.layer.%u.ffn.lin1",
    .down = "transformer.layer.%u.ffn.lin2",
    .norm = "transformer.layer.%u.output_layer_norm",
};

#define BERT_MEMBERS                                                                                                             \
    .layers = "num_hidden_layers", .width = "hidden_size", .heads = "num_attention_heads", .feed_forward = "intermediate_size",  \
    .activation = "hidden_act", .epsilon = "layer_norm_eps", .kinds = true, .names = &names_bert
static const struct encoder_family families[] = {
    {.types = "bert", BERT_MEMBERS},
    {.types = "roberta xlm-roberta camembert", BERT_MEMBERS, .behind_padding = true},
    {.types = "distilbert",
     .names = &names_distilbert,
     .layers = "n_layers",
     .width = "dim",
     .heads = "n_heads",
     .feed_forward = "hidden_dim",
     .activation = "activation"},
};

static const struct encoder_family *family_named(const char *type)
{
    const size_t length = strlen(type);
    for (size_t i = 0; i < ARRAY_COUNT(families); i++)
        for (const char *at = families[i].types; length && (at = strstr(at, type)); at += length)
            if ((at == families[i].types || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
                return &families[i];
    return NULL;
}

const struct encoder_family *encoder_family_of(const char *text, size_t size)
{
    struct orch_error unused = {0};
    struct json_reader reader;
    const struct encoder_family *family = NULL;
    if (!json_reader_open(&reader, "config.json", text, size, &unused))
        return NULL;
    const char *const type = json_peek_string(reader.root, "model_type");
    if (type)
        family = family_named(type);
    json_reader_close(&reader);
    return family;
}

/* ---- config.json ---- */

static void unmodelled(const struct json_node *top, const char *name, const char *text)
{
    if (!json_ok(top))
        return;
    json_wrong(top, name, "\"%.40s\" is not modelled", text);
    if (top->reader->error)
        top->reader->error->exit_code = ORCH_UNMODELLED;
}

static void read_activation(const struct json_node *top, struct encoder_config *c)
{
    static const struct {
        const char *name, *op;
    } known[] = {{"gelu", "Gelu"},           {"gelu_new", "Gelu tanh"}, {"gelu_pytorch_tanh", "Gelu tanh"},
                 {"gelu_fast", "Gelu tanh"}, {"relu", "Relu"},          {"silu", "Swish"},
                 {"swish", "Swish"}};
    const char *const name = json_find_string(top, c->family->activation, "gelu");
    for (size_t i = 0; i < ARRAY_COUNT(known); i++)
        if (strcmp(known[i].name, name) == 0) {
            snprintf(c->activation, sizeof c->activation, "%s", known[i].op);
            return;
        }
    unmodelled(top, c->family->activation, name);
}

static unsigned count_of(const struct json_node *top, const char *name, uint64_t most)
{
    return (unsigned)json_get_integer(top, name, 1, most);
}

static void read_members(const struct json_node *top, struct encoder_config *c)
{
    enum { LAYERS = 512, WIDTH = 1 << 16, ROWS = 1 << 24, KINDS = 1 << 10 };
    const struct encoder_family *const f = c->family;
    c->layers = count_of(top, f->layers, LAYERS);
    c->width = count_of(top, f->width, WIDTH);
    c->heads = count_of(top, f->heads, WIDTH);
    c->feed_forward = count_of(top, f->feed_forward, 4 * WIDTH);
    c->vocabulary = count_of(top, "vocab_size", ROWS);
    c->places = count_of(top, "max_position_embeddings", ROWS);
    c->kinds = f->kinds ? (unsigned)json_find_integer(top, "type_vocab_size", 1, KINDS, 2) : 0;
    c->epsilon = f->epsilon ? json_find_number(top, f->epsilon, 0, 1, 1e-12) : 1e-12;
    c->first_place = f->behind_padding ? (unsigned)json_find_integer(top, "pad_token_id", 0, 1 << 20, 1) + 1 : 0;
    read_activation(top, c);
    const char *const places = json_find_string(top, "position_embedding_type", "absolute");
    if (strcmp(places, "absolute") != 0)
        unmodelled(top, "position_embedding_type", places);
    if (json_find_boolean(top, "is_decoder", false))
        unmodelled(top, "is_decoder", "true");
    if (json_ok(top) && c->width % c->heads)
        json_wrong(top, f->heads, "%u heads do not divide a width of %u", c->heads, c->width);
    if (json_ok(top) && c->first_place >= c->places)
        json_wrong(top, "max_position_embeddings", "leaves no place behind pad_token_id");
}

bool encoder_config_parse(const char *file, const char *text, size_t size, struct encoder_config *config,
                          struct orch_error *error)
{
    struct json_reader reader;
    *config = (struct encoder_config){.family = NULL};
    if (!json_reader_open(&reader, file, text, size, error))
        return false;
    reader.null_is_absent = true;
    const struct json_node top = json_top(&reader);
    const char *const type = json_get_string(&top, "model_type");
    config->family = family_named(type);
    if (config->family)
        read_members(&top, config);
    else
        unmodelled(&top, "model_type", type);
    return json_reader_close(&reader);
}

/* ---- sentence-transformers ---- */

bool encoder_pooling_parse(const char *file, const char *text, size_t size, struct encoder_config *config,
                           struct orch_error *error)
{
    static const char *const others[] = {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                                         "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"};
    struct json_reader reader;
    if (!json_reader_open(&reader, file, text, size, error))
        return false;
    reader.null_is_absent = true;
    const struct json_node top = json_top(&reader);
    const bool first = json_find_boolean(&top, "pooling_mode_cls_token", false);
    const bool mean = json_find_boolean(&top, "pooling_mode_mean_tokens", !first);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (json_find_boolean(&top, others[i], false))
            unmodelled(&top, others[i], "true");
    if (json_ok(&top) && first == mean)
        json_wrong(&top, "pooling_mode_mean_tokens", "and pooling_mode_cls_token: one of both is true");
    config->pooling = first ? ENCODER_FIRST : ENCODER_MEAN;
    return json_reader_close(&reader);
}

/* modules.json is a list of steps; the one behind the pooling may be Normalize. */
static bool read_modules(const char *file, const char *text, size_t size, struct encoder_config *config, struct orch_error *error)
{
    static const char last[] = ".Normalize";
    struct json_reader reader;
    struct json_node item;
    if (!json_reader_open_value(&reader, file, text, size, error))
        return false;
    const struct json_node top = json_top(&reader), list = json_get_array(&top, NULL, 0, 64);
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &item);) {
        const char *const type = json_get_string(&item, "type");
        const size_t length = strlen(type);
        config->unit_length |= length >= sizeof last - 1 && strcmp(type + length - (sizeof last - 1), last) == 0;
        if (strstr(type, ".Dense"))
            unmodelled(&item, "type", type);
    }
    return json_reader_close(&reader);
}

/* ---- the folder ---- */

typedef bool parser(const char *file, const char *text, size_t size, struct encoder_config *config, struct orch_error *error);

/* A file of the folder, which may be absent unless it is needed. */
static bool read_file(const char *folder, const char *name, bool needed, parser *parse, struct encoder_config *config,
                      struct orch_error *error)
{
    char path[PATH_BYTES];
    uint8_t *bytes = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%.3900s/%s", folder, name);
    FILE *const f = fopen(path, "rb");
    if (!f)
        return !needed || orch_fail(error, ORCH_USAGE, "%.300s: %s", path, strerror(errno));
    const bool read = file_read_all(f, FILE_MOST, &bytes, &size);
    const bool ok = read ? parse(path, (const char *)bytes, size, config, error)
                         : orch_fail(error, ORCH_USAGE, "%.300s: %s", path, strerror(errno));
    fclose(f);
    free(bytes);
    return ok;
}

bool encoder_config_read(const char *folder, struct encoder_config *config, struct orch_error *error)
{
    return read_file(folder, "config.json", true, encoder_config_parse, config, error) &&
           read_file(folder, "1_Pooling/config.json", false, encoder_pooling_parse, config, error) &&
           read_file(folder, "modules.json", false, read_modules, config, error);
}
