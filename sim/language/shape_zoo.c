/* Families and published models. */
#include "sim/language/shape.h"

#include "isa/array_count.h"

#include <stdio.h>
#include <string.h>

/* Sources: config.json and code of the models (transformers, modeling_NAME.py); layouts in GGUF files: llama.cpp,
 * src/llama-model.cpp. Whisper's and T5's encoders are beyond the reference decoder. */
static const struct shape_family families[] = {
    {.name = "llama", .config = "llama mistral mixtral", .rope = SHAPE_ROPE_INTERLEAVED, .gated = true, .decodes = true},
    {.name = "qwen2", .config = "qwen2", .rope = SHAPE_ROPE_HALVES, .gated = true, .qkv_bias = true, .decodes = true},
    {.name = "qwen3", .config = "qwen3", .rope = SHAPE_ROPE_HALVES, .gated = true, .qk_norm = true, .decodes = true},
    {.name = "qwen3moe", .config = "qwen3_moe", .rope = SHAPE_ROPE_HALVES, .gated = true, .qk_norm = true, .decodes = true},
    {.name = "gemma",
     .config = "gemma",
     .rope = SHAPE_ROPE_HALVES,
     .activation = SHAPE_GELU_TANH,
     .gated = true,
     .scaled_embedding = true,
     .decodes = true},
    {.name = "phi2",
     .config = "phi",
     .norm = SHAPE_LAYER_NORM,
     .rope = SHAPE_ROPE_HALVES,
     .activation = SHAPE_GELU_TANH,
     .parallel = true,
     .qkv_bias = true,
     .output_bias = true,
     .feed_forward_bias = true,
     .head_bias = true,
     .one_qkv = true,
     .decodes = true},
    {.name = "phi3",
     .config = "phi3",
     .rope = SHAPE_ROPE_HALVES,
     .gated = true,
     .one_qkv = true,
     .one_gate = true,
     .decodes = true},
    {.name = "gpt2",
     .config = "gpt2",
     .norm = SHAPE_LAYER_NORM,
     .activation = SHAPE_GELU_TANH,
     .qkv_bias = true,
     .output_bias = true,
     .feed_forward_bias = true,
     .positions = true,
     .one_qkv = true,
     .decodes = true},
    {.name = "gpt-oss",
     .config = "gpt_oss",
     .rope = SHAPE_ROPE_HALVES,
     .gated = true,
     .qkv_bias = true,
     .output_bias = true,
     .feed_forward_bias = true,
     .sinks = true,
     .clamped_gate = true,
     .decodes = true},
    {.name = "whisper",
     .config = "whisper",
     .norm = SHAPE_LAYER_NORM,
     .activation = SHAPE_GELU,
     .qkv_bias = true,
     .output_bias = true,
     .feed_forward_bias = true,
     .positions = true,
     .encoder = true},
    {.name = "t5", .config = "t5 mt5", .activation = SHAPE_RELU, .encoder = true, .encodes_text = true, .distance_bias = true},
    /* T5 1.1 and Flan-T5, whose files name the same architecture. */
    {.name = "t5-gated",
     .config = "",
     .activation = SHAPE_GELU_TANH,
     .gated = true,
     .encoder = true,
     .encodes_text = true,
     .distance_bias = true},
};

static const struct shape_published zoo[] = {
#include "sim/language/shape_zoo.inc"
};

const struct shape_family *shape_family_at(size_t index)
{
    return index < ARRAY_COUNT(families) ? &families[index] : NULL;
}

const struct shape_family *shape_family_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(families); i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

const struct shape_published *shape_published_at(size_t index)
{
    return index < ARRAY_COUNT(zoo) ? &zoo[index] : NULL;
}

const struct shape_published *shape_published_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(zoo); i++)
        if (strcmp(zoo[i].name, name) == 0)
            return &zoo[i];
    return NULL;
}

void shape_of_published(const struct shape_published *published, struct language_shape *shape)
{
    const struct shape_published *const p = published;
    *shape = (struct language_shape){
        .family = shape_family_named(p->family),
        .layers = p->layers,
        .width = p->width,
        .heads = p->heads,
        .kv_heads = p->kv_heads,
        .head_size = p->head_size,
        .feed_forward = p->feed_forward,
        .vocabulary = p->vocabulary,
        .context = p->context,
        .experts = p->experts,
        .experts_used = p->experts_used,
        .tied = p->tied,
        .epsilon = p->epsilon,
        .rope_size = (unsigned)(p->rope_share * p->head_size + 0.5),
        .rope_base = p->rope_base,
        .scaling = p->scaling_factor > 0 ? SHAPE_SCALING_LLAMA3 : SHAPE_SCALING_NONE,
        .scaling_factor = p->scaling_factor,
        .scaling_low = 1,
        .scaling_high = 4,
        .scaling_context = 8192,
        .encoder_layers = p->encoder_context ? p->layers : 0,
        .encoder_context = p->encoder_context,
        .encoder_channels = p->encoder_channels,
        .distances = SHAPE_DISTANCES,
        .window = p->window,
    };
    shape->rope = shape->family->rope;
    shape->window_every = shape->family->sinks ? SHAPE_WINDOW_EVERY : 0;
    snprintf(shape->name, sizeof shape->name, "%s", p->name);
}
