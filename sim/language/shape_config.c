/* Shapes from config.json, as transformers writes it. Models of the first generation name some members in another way. */
#include "sim/language/shape.h"

#include "isa/array_count.h"
#include "sim/base/json_read.h"
#include "sim/language/rotation.h"

#include <string.h>

enum { NAMES_MAX = 3 };

/* Other names of a member; the first that is there counts. */
static const struct names {
    const char *name[NAMES_MAX];
} layers = {{"num_hidden_layers", "n_layer"}}, width = {{"hidden_size", "n_embd"}}, heads = {{"num_attention_heads", "n_head"}},
  feed_forward = {{"intermediate_size", "n_inner"}}, context = {{"max_position_embeddings", "n_positions"}},
  experts = {{"num_local_experts", "num_experts"}}, used = {{"num_experts_per_tok", "experts_per_token"}},
  epsilon = {{"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon"}};

static const char *first_of(const struct json_node *top, const struct names *names)
{
    for (unsigned i = 0; i < NAMES_MAX && names->name[i]; i++)
        if (json_has(top, names->name[i]))
            return names->name[i];
    return names->name[0];
}

static unsigned whole(const struct json_node *top, const struct names *names, uint64_t most)
{
    return (unsigned)json_get_integer(top, first_of(top, names), 1, most);
}

static unsigned whole_or(const struct json_node *top, const struct names *names, uint64_t most, unsigned absent)
{
    return (unsigned)json_find_integer(top, first_of(top, names), 0, most, absent);
}

/* Whether a list of words has that one. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; length && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

static const struct shape_family *family_of(const struct json_node *top)
{
    const char *const type = json_get_string(top, "model_type");
    const struct shape_family *f;
    for (size_t i = 0; json_ok(top) && (f = shape_family_at(i)); i++)
        if (has_word(f->config, type))
            return f;
    if (json_ok(top)) {
        json_wrong(top, "model_type", "\"%.40s\" is not modelled", type);
        if (top->reader->error)
            top->reader->error->exit_code = ORCH_UNMODELLED;
    }
    return NULL;
}

static void refuse(const struct json_node *node, const char *name, const char *what)
{
    json_wrong(node, name, "%s", what);
    if (node->reader->error)
        node->reader->error->exit_code = ORCH_UNMODELLED;
}

/* A number for each pair. */
static void read_factors(const struct json_node *scaling, const char *name, const struct language_shape *s, float *to)
{
    const size_t pairs = s->rope_size / 2;
    struct json_node item;
    if (pairs > SHAPE_PAIRS_MAX) {
        refuse(scaling, name, "heads of more than 256 values are not modelled");
        return;
    }
    const struct json_node list = json_get_array(scaling, name, pairs, pairs);
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &item);)
        to[item.index] = (float)json_get_number(&item, NULL, 1e-3, 1e6);
}

/* Numbers of YaRN: turns of pairs, and what cosines and sines are multiplied by. */
static void read_yarn(const struct json_node *scaling, struct language_shape *s)
{
    const double one = json_find_number(scaling, "mscale", 0, 100, 0),
                 all = json_find_number(scaling, "mscale_all_dim", 0, 100, 0);
    const double usual = rotation_yarn_attention(s->scaling_factor);
    /* With weights of their own, each is 1 + weight * what the usual one is above 1. */
    const double weighed = one > 0 && all > 0 ? (1 + one * (usual - 1)) / (1 + all * (usual - 1)) : usual;
    s->scaling = SHAPE_SCALING_YARN;
    s->scaling_low = json_find_number(scaling, "beta_slow", 1e-3, 1e6, 1);
    s->scaling_high = json_find_number(scaling, "beta_fast", 1e-3, 1e6, 32);
    s->scaling_attention = json_find_number(scaling, "attention_factor", 1e-3, 1e3, weighed);
    s->scaling_between = !json_find_boolean(scaling, "truncate", true);
}

static void read_long(const struct json_node *scaling, struct language_shape *s)
{
    const double longer = (double)s->context / s->scaling_context;
    s->scaling = SHAPE_SCALING_LONGROPE;
    read_factors(scaling, "short_factor", s, s->scaling_short);
    read_factors(scaling, "long_factor", s, s->scaling_long);
    s->scaling_attention =
        json_find_number(scaling, "attention_factor", 1e-3, 1e3,
                         rotation_long_attention(json_find_number(scaling, "factor", 1e-3, 1e6, longer), s->scaling_context));
}

static void read_scaling(const struct json_node *top, const struct json_node *scaling, const char *type, struct language_shape *s)
{
    const bool none = !*type || strcmp(type, "default") == 0, longer = strcmp(type, "longrope") == 0 || strcmp(type, "su") == 0;
    if (!none && !longer)
        s->scaling_factor = json_get_number(scaling, "factor", 1e-3, 1e6);
    if (strcmp(type, "llama3") == 0) {
        s->scaling = SHAPE_SCALING_LLAMA3;
        s->scaling_low = json_find_number(scaling, "low_freq_factor", 1e-3, 1e6, 1);
        s->scaling_high = json_find_number(scaling, "high_freq_factor", 1e-3, 1e6, 4);
    } else if (strcmp(type, "linear") == 0) {
        s->scaling = SHAPE_SCALING_LINEAR;
    } else if (strcmp(type, "dynamic") == 0) {
        s->scaling = SHAPE_SCALING_DYNAMIC;
    } else if (strcmp(type, "yarn") == 0) {
        read_yarn(scaling, s);
    } else if (longer) {
        read_long(scaling, s);
    } else if (!none) {
        json_wrong(top, "rope_scaling", "\"%.40s\" is none of linear, dynamic, llama3, yarn and longrope", type);
        if (top->reader->error)
            top->reader->error->exit_code = ORCH_UNMODELLED;
    }
}

static void read_rotation(const struct json_node *top, struct language_shape *s)
{
    /* of newer versions, with the base beside the scaling */
    const struct json_node parameters = json_find_object(top, "rope_parameters"), old = json_find_object(top, "rope_scaling");
    const struct json_node scaling = parameters.value ? parameters : old;
    const char *const type = json_find_string(&scaling, json_has(&scaling, "rope_type") ? "rope_type" : "type", "");
    const double share = json_find_number(top, "partial_rotary_factor", 0, 1, 1);
    if (s->family->rope == SHAPE_ROPE_NONE)
        return;
    s->rope = SHAPE_ROPE_HALVES;
    s->rope_size = (unsigned)(share * s->head_size + 0.5);
    s->rope_base = json_find_number(json_has(&scaling, "rope_theta") ? &scaling : top, "rope_theta", 1, 1e12, 10000);
    s->scaling_context = (unsigned)json_find_integer(json_has(&scaling, "original_max_position_embeddings") ? &scaling : top,
                                                     "original_max_position_embeddings", 1, UINT32_MAX, s->context);
    read_scaling(top, &scaling, type, s);
}

/* Another activation than that of the family's models would be passed over. "gelu" of Gemma means the approximation
 * (transformers, modeling_gemma.py, GemmaMLP). */
static void check_activation(const struct json_node *top, const struct language_shape *s)
{
    static const struct names given = {{"hidden_activation", "hidden_act", "activation_function"}};
    static const char *const known[] = {[SHAPE_SILU] = "silu swish",
                                        [SHAPE_GELU] = "gelu",
                                        [SHAPE_GELU_TANH] = "gelu_new gelu_pytorch_tanh gelu_fast",
                                        [SHAPE_RELU] = "relu"};
    const char *const name = first_of(top, &given), *const word = json_find_string(top, name, "");
    if (!*word || has_word(known[s->family->activation], word) || (s->family->scaled_embedding && strcmp(word, "gelu") == 0))
        return;
    json_wrong(top, name, "\"%.40s\" is not the activation of architecture %s", word, s->family->name);
    if (top->reader->error)
        top->reader->error->exit_code = ORCH_UNMODELLED;
}

/* Experts in all layers, weighed among those that are chosen alone, and nothing beside them. */
static void check_experts(const struct json_node *top, const struct language_shape *s)
{
    if (!s->experts)
        return;
    const struct json_node dense = json_find_array(top, "mlp_only_layers", 0, 65536);
    if (json_count(&dense) || json_find_integer(top, "decoder_sparse_step", 1, 65536, 1) != 1)
        refuse(top, json_count(&dense) ? "mlp_only_layers" : "decoder_sparse_step",
               "layers without experts among others are not modelled");
    if (!json_find_boolean(top, "norm_topk_prob", true))
        refuse(top, "norm_topk_prob", "false: experts that are weighed among all are not modelled");
    if (json_has(top, "shared_expert_intermediate_size") || json_has(top, "n_shared_experts"))
        refuse(top, json_has(top, "n_shared_experts") ? "n_shared_experts" : "shared_expert_intermediate_size",
               "an expert of all tokens is not modelled");
}

static void read_dimensions(const struct json_node *top, struct language_shape *s)
{
    s->layers = whole(top, &layers, 65536);
    s->width = whole(top, &width, 1 << 24);
    s->heads = whole(top, &heads, 65536);
    s->kv_heads = (unsigned)json_find_integer(top, "num_key_value_heads", 1, 65536, s->heads);
    s->head_size = (unsigned)json_find_integer(top, "head_dim", 1, 65536, s->heads ? s->width / s->heads : 1);
    s->feed_forward = whole_or(top, &feed_forward, 1 << 24, s->family->positions ? 4 * s->width : 0);
    s->vocabulary = (unsigned)json_get_integer(top, "vocab_size", 1, INT32_MAX);
    s->context = whole(top, &context, UINT32_MAX);
    s->experts = whole_or(top, &experts, 65536, 0);
    if (s->experts && json_has(top, "moe_intermediate_size"))
        s->feed_forward = (unsigned)json_get_integer(top, "moe_intermediate_size", 1, 1 << 24);
    s->experts_used = s->experts ? whole(top, &used, s->experts) : 0;
    s->epsilon = json_find_number(top, first_of(top, &epsilon), 0, 1, 1e-5);
    s->window = json_find_boolean(top, "use_sliding_window", true)
                    ? (unsigned)json_find_integer(top, "sliding_window", 0, INT32_MAX, 0)
                    : 0;
    s->tied = json_find_boolean(top, "tie_word_embeddings", s->family->positions || s->family->scaled_embedding);
}

/* T5 and its kin: an encoder of texts, and a decoder with as many layers unless the file says otherwise. */
static void read_text_model(const struct json_node *top, struct language_shape *s)
{
    const char *const fed = json_find_string(top, "feed_forward_proj", "relu");
    if (strcmp(fed, "gated-gelu") == 0)
        s->family = shape_family_named("t5-gated");
    else if (strcmp(fed, "relu") != 0)
        refuse(top, "feed_forward_proj", "neither relu nor gated-gelu");
    s->encoder_layers = (unsigned)json_get_integer(top, "num_layers", 1, 65536);
    s->layers = (unsigned)json_find_integer(top, "num_decoder_layers", 1, 65536, s->encoder_layers);
    s->width = (unsigned)json_get_integer(top, "d_model", 1, 1 << 24);
    s->heads = s->kv_heads = (unsigned)json_get_integer(top, "num_heads", 1, 65536);
    s->head_size = (unsigned)json_get_integer(top, "d_kv", 1, 65536);
    s->feed_forward = (unsigned)json_get_integer(top, "d_ff", 1, 1 << 24);
    s->vocabulary = (unsigned)json_get_integer(top, "vocab_size", 1, INT32_MAX);
    s->context = s->encoder_context = (unsigned)json_find_integer(top, "n_positions", 1, UINT32_MAX, 512);
    s->epsilon = json_find_number(top, "layer_norm_epsilon", 0, 1, 1e-6);
    s->distances = (unsigned)json_find_integer(top, "relative_attention_num_buckets", 4, 4096, SHAPE_DISTANCES);
    s->first_token = (uint32_t)json_find_integer(top, "decoder_start_token_id", 0, INT32_MAX, 0);
    s->tied = json_find_boolean(top, "tie_word_embeddings", true);
    if (s->distances % 4)
        refuse(top, "relative_attention_num_buckets", "no multiple of 4");
    if (json_find_integer(top, "relative_attention_max_distance", 1, INT32_MAX, 128) != 128)
        refuse(top, "relative_attention_max_distance", "another than 128 is not modelled");
}

bool shape_of_config(const char *file, const char *text, size_t size, struct language_shape *shape, struct orch_error *error)
{
    struct json_reader reader;
    *shape = (struct language_shape){0};
    if (!json_reader_open(&reader, file, text, size, error))
        return false;
    reader.null_is_absent = true;
    const struct json_node top = json_top(&reader);
    shape->family = family_of(&top);
    if (shape->family && shape->family->encodes_text) {
        read_text_model(&top, shape);
    } else if (shape->family && shape->family->encoder) {
        json_wrong(&top, "model_type", "a config.json with an encoder of sound is not read; a GGUF file of it is");
    } else if (shape->family) {
        read_dimensions(&top, shape);
        check_activation(&top, shape);
        check_experts(&top, shape);
        read_rotation(&top, shape);
    }
    if (!json_reader_close(&reader))
        return false;
    return shape_is_sound(shape, error) || orch_fail_in(error, "%.300s", file);
}

unsigned shape_window_of(const struct language_shape *s, unsigned layer)
{
    return s->window_every && layer % s->window_every + 1 == s->window_every ? 0 : s->window;
}

bool shape_is_sound(const struct language_shape *s, struct orch_error *error)
{
    if (s->kv_heads == 0 || s->heads % s->kv_heads != 0)
        return orch_fail(error, ORCH_USAGE, "%u heads cannot share %u heads of keys and values evenly", s->heads, s->kv_heads);
    if (s->head_size == 0 || s->feed_forward == 0 || (uint64_t)s->heads * s->head_size > 1u << 24)
        return orch_fail(error, ORCH_USAGE, "%u heads of %u values and a feed-forward network of %u make no model", s->heads,
                         s->head_size, s->feed_forward);
    if (s->rope_size > s->head_size || s->rope_size % 2 != 0)
        return orch_fail(error, ORCH_USAGE,
                         "%u of %u values of a head cannot be rotated; the number is even and not above the size", s->rope_size,
                         s->head_size);
    return true;
}
