/* Names: transformers, modeling_llama.py, modeling_qwen2.py, modeling_qwen3.py, modeling_gemma.py, modeling_phi.py,
 * modeling_phi3.py, modeling_mixtral.py, modeling_gpt2.py, modeling_t5.py; llama.cpp, src/llama-arch.cpp. */
#include "sim/language/transformers_weights.h"

#include "isa/array_count.h"
#include "isa/list_grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What happens to a tensor on its way. */
enum change {
    AS_IS,
    TURNED /* matrices of GPT-2 stand with a column for each output (transformers, pytorch_utils.py, Conv1D) */
};

static const struct row {
    const char *from, *to; /* %u stands for the layer */
    enum change change;
} rows[] = {
    {"model.embed_tokens", "token_embd", AS_IS},
    {"model.norm", "output_norm", AS_IS},
    {"model.final_layernorm", "output_norm", AS_IS},
    {"lm_head", "output", AS_IS},
    {"model.layers.%u.input_layernorm", "blk.%u.attn_norm", AS_IS},
    {"model.layers.%u.post_attention_layernorm", "blk.%u.ffn_norm", AS_IS},
    {"model.layers.%u.self_attn.q_proj", "blk.%u.attn_q", AS_IS},
    {"model.layers.%u.self_attn.k_proj", "blk.%u.attn_k", AS_IS},
    {"model.layers.%u.self_attn.v_proj", "blk.%u.attn_v", AS_IS},
    {"model.layers.%u.self_attn.qkv_proj", "blk.%u.attn_qkv", AS_IS},
    {"model.layers.%u.self_attn.o_proj", "blk.%u.attn_output", AS_IS},
    {"model.layers.%u.self_attn.dense", "blk.%u.attn_output", AS_IS},
    {"model.layers.%u.self_attn.q_norm", "blk.%u.attn_q_norm", AS_IS},
    {"model.layers.%u.self_attn.k_norm", "blk.%u.attn_k_norm", AS_IS},
    {"model.layers.%u.mlp.gate_proj", "blk.%u.ffn_gate", AS_IS},
    {"model.layers.%u.mlp.up_proj", "blk.%u.ffn_up", AS_IS},
    {"model.layers.%u.mlp.gate_up_proj", "blk.%u.ffn_up", AS_IS},
    {"model.layers.%u.mlp.down_proj", "blk.%u.ffn_down", AS_IS},
    {"model.layers.%u.mlp.fc1", "blk.%u.ffn_up", AS_IS},
    {"model.layers.%u.mlp.fc2", "blk.%u.ffn_down", AS_IS},
    {"model.layers.%u.block_sparse_moe.gate", "blk.%u.ffn_gate_inp", AS_IS},
    {"model.layers.%u.mlp.gate", "blk.%u.ffn_gate_inp", AS_IS},
    {"wte", "token_embd", AS_IS},
    {"wpe", "position_embd", AS_IS},
    {"ln_f", "output_norm", AS_IS},
    {"h.%u.ln_1", "blk.%u.attn_norm", AS_IS},
    {"h.%u.ln_2", "blk.%u.ffn_norm", AS_IS},
    {"h.%u.attn.c_attn", "blk.%u.attn_qkv", TURNED},
    {"h.%u.attn.c_proj", "blk.%u.attn_output", TURNED},
    {"h.%u.mlp.c_fc", "blk.%u.ffn_up", TURNED},
    {"h.%u.mlp.c_proj", "blk.%u.ffn_down", TURNED},
    {"shared", "token_embd", AS_IS},
    {"encoder.block.%u.layer.0.SelfAttention.q", "enc.blk.%u.attn_q", AS_IS},
    {"encoder.block.%u.layer.0.SelfAttention.k", "enc.blk.%u.attn_k", AS_IS},
    {"encoder.block.%u.layer.0.SelfAttention.v", "enc.blk.%u.attn_v", AS_IS},
    {"encoder.block.%u.layer.0.SelfAttention.o", "enc.blk.%u.attn_o", AS_IS},
    {"encoder.block.%u.layer.0.SelfAttention.relative_attention_bias", "enc.blk.%u.attn_rel_b", AS_IS},
    {"encoder.block.%u.layer.0.layer_norm", "enc.blk.%u.attn_norm", AS_IS},
    {"encoder.block.%u.layer.1.DenseReluDense.wi", "enc.blk.%u.ffn_up", AS_IS},
    {"encoder.block.%u.layer.1.DenseReluDense.wi_0", "enc.blk.%u.ffn_gate", AS_IS},
    {"encoder.block.%u.layer.1.DenseReluDense.wi_1", "enc.blk.%u.ffn_up", AS_IS},
    {"encoder.block.%u.layer.1.DenseReluDense.wo", "enc.blk.%u.ffn_down", AS_IS},
    {"encoder.block.%u.layer.1.layer_norm", "enc.blk.%u.ffn_norm", AS_IS},
    {"encoder.final_layer_norm", "enc.output_norm", AS_IS},
    {"decoder.block.%u.layer.0.SelfAttention.q", "dec.blk.%u.attn_q", AS_IS},
    {"decoder.block.%u.layer.0.SelfAttention.k", "dec.blk.%u.attn_k", AS_IS},
    {"decoder.block.%u.layer.0.SelfAttention.v", "dec.blk.%u.attn_v", AS_IS},
    {"decoder.block.%u.layer.0.SelfAttention.o", "dec.blk.%u.attn_o", AS_IS},
    {"decoder.block.%u.layer.0.SelfAttention.relative_attention_bias", "dec.blk.%u.attn_rel_b", AS_IS},
    {"decoder.block.%u.layer.0.layer_norm", "dec.blk.%u.attn_norm", AS_IS},
    {"decoder.block.%u.layer.1.EncDecAttention.q", "dec.blk.%u.cross_attn_q", AS_IS},
    {"decoder.block.%u.layer.1.EncDecAttention.k", "dec.blk.%u.cross_attn_k", AS_IS},
    {"decoder.block.%u.layer.1.EncDecAttention.v", "dec.blk.%u.cross_attn_v", AS_IS},
    {"decoder.block.%u.layer.1.EncDecAttention.o", "dec.blk.%u.cross_attn_o", AS_IS},
    {"decoder.block.%u.layer.1.layer_norm", "dec.blk.%u.cross_attn_norm", AS_IS},
    {"decoder.block.%u.layer.2.DenseReluDense.wi", "dec.blk.%u.ffn_up", AS_IS},
    {"decoder.block.%u.layer.2.DenseReluDense.wi_0", "dec.blk.%u.ffn_gate", AS_IS},
    {"decoder.block.%u.layer.2.DenseReluDense.wi_1", "dec.blk.%u.ffn_up", AS_IS},
    {"decoder.block.%u.layer.2.DenseReluDense.wo", "dec.blk.%u.ffn_down", AS_IS},
    {"decoder.block.%u.layer.2.layer_norm", "dec.blk.%u.ffn_norm", AS_IS},
    {"decoder.final_layer_norm", "dec.output_norm", AS_IS},
};

/* Tables that are computed anew, or that nobody reads: masks of GPT-2, waves of rotations; of T5 the embedding under other names,
 * and a bias between halves that its first files have. */
static const char *const computed[] = {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq", ".embed_tokens.weight",
                                       ".EncDecAttention.relative_attention_bias.weight"};

/* Several tensors that stand in one in GGUF files, one behind another. */
enum { EXPERTS = 0 };
static const struct joined {
    const char *from, *to; /* %u stands for the layer */
    unsigned parts;        /* EXPERTS = as many as there are experts, each a folder of its own */
    const char *part[3];   /* what is behind a dot */
} joints[] = {
    {"model.layers.%u.self_attn", "blk.%u.attn_qkv", 3, {"q_proj", "k_proj", "v_proj"}},
    {"model.layers.%u.block_sparse_moe.experts", "blk.%u.ffn_gate_exps", EXPERTS, {"w1"}},
    {"model.layers.%u.block_sparse_moe.experts", "blk.%u.ffn_up_exps", EXPERTS, {"w3"}},
    {"model.layers.%u.block_sparse_moe.experts", "blk.%u.ffn_down_exps", EXPERTS, {"w2"}},
    {"model.layers.%u.mlp.experts", "blk.%u.ffn_gate_exps", EXPERTS, {"gate_proj"}},
    {"model.layers.%u.mlp.experts", "blk.%u.ffn_up_exps", EXPERTS, {"up_proj"}},
    {"model.layers.%u.mlp.experts", "blk.%u.ffn_down_exps", EXPERTS, {"down_proj"}},
};

struct transformers_weights {
    struct weight_list list;
    uint8_t **block; /* what had to be laid out anew */
    size_t blocks, room;
};

static uint8_t *new_block(struct transformers_weights *w, uint64_t bytes, struct orch_error *error)
{
    uint8_t **const grown = list_grow(w->block, w->blocks, &w->room, sizeof *grown);
    uint8_t *const block = grown ? malloc((size_t)bytes) : NULL;
    if (grown)
        w->block = grown;
    if (!block) {
        orch_no_memory(error);
        return NULL;
    }
    return w->block[w->blocks++] = block;
}

/* ---- names ---- */

/* The last part of a name, ".weight" or ".bias"; "" when it has none of them. */
static const char *end_of(const char *name)
{
    const char *const dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".weight") == 0 || strcmp(dot, ".bias") == 0) ? dot : "";
}

/* Whether the first `length` characters of a name are of the form; *layer is what stands for its %u. */
static bool is_of(const char *form, const char *name, size_t length, unsigned *layer)
{
    const char *const place = strstr(form, "%u");
    const size_t before = place ? (size_t)(place - form) : strlen(form);
    if (length < before || strncmp(form, name, before) != 0)
        return false;
    if (!place)
        return length == before;
    char *end;
    const unsigned long number = strtoul(name + before, &end, 10);
    const char *const rest = place + 2;
    *layer = (unsigned)number;
    return end > name + before && number < 65536 && (size_t)(name + length - end) == strlen(rest) &&
           strncmp(rest, end, strlen(rest)) == 0;
}

/* Tensors of GPT-2 are called with and without their model's name. */
static const char *without_model(const char *name)
{
    static const char model[] = "transformer.";
    return strncmp(name, model, strlen(model)) == 0 ? name + strlen(model) : name;
}

static const struct row *row_of(const char *name, unsigned *layer)
{
    const char *const stem = without_model(name);
    const size_t length = strlen(stem) - strlen(end_of(stem));
    for (size_t i = 0; *end_of(stem) && i < ARRAY_COUNT(rows); i++)
        if (is_of(rows[i].from, stem, length, layer))
            return &rows[i];
    return NULL;
}

static bool is_computed(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(computed); i++) {
        const size_t length = strlen(computed[i]), all = strlen(name);
        if (all > length && strcmp(name + all - length, computed[i]) == 0)
            return true;
    }
    return false;
}

static bool is_expert(const struct language_shape *shape, const char *name)
{
    return shape->experts && (strstr(name, ".block_sparse_moe.experts.") || strstr(name, ".mlp.experts."));
}

/* The form with the layer in the place of its %u, and the end behind it. */
static void write_name(const char *form, unsigned layer, const char *end, char *name, size_t size)
{
    const char *const place = strstr(form, "%u");
    if (place)
        snprintf(name, size, "%.*s%u%s%s", (int)(place - form), form, layer, place + 2, end);
    else
        snprintf(name, size, "%s%s", form, end);
}

/* A bias that the architecture does not have would be passed over. */
static bool may_have_bias(const struct shape_family *f, const char *name)
{
    return strstr(name, "norm")           ? f->norm == SHAPE_LAYER_NORM
           : strstr(name, ".attn_output") ? f->output_bias
           : strstr(name, ".attn_")       ? f->qkv_bias
           : strstr(name, ".ffn_")        ? f->feed_forward_bias
                                          : strncmp(name, "output.", 7) == 0 && f->head_bias;
}

/* ---- layouts ---- */

static bool turn(struct transformers_weights *w, struct weight_tensor *t, struct orch_error *error)
{
    const uint64_t width = t->shape[0], height = t->shape[1];
    const unsigned size = t->format->bytes;
    if (t->dims != 2)
        return t->dims == 1 || orch_fail(error, ORCH_USAGE, "tensor '%s' is no matrix", t->name);
    if (t->format->values != 1)
        return orch_fail(error, ORCH_UNMODELLED, "tensor '%s': type %s is not turned", t->name, t->format->name);
    uint8_t *const to = new_block(w, t->bytes, error);
    for (uint64_t y = 0; to && y < height; y++)
        for (uint64_t x = 0; x < width; x++)
            memcpy(to + (x * height + y) * size, t->data + (y * width + x) * size, size);
    t->data = to;
    t->shape[0] = height;
    t->shape[1] = width;
    return to != NULL;
}

/* transformers stores the scales of Gemma's norms less one. */
static bool add_one(struct transformers_weights *w, struct weight_tensor *t, struct orch_error *error)
{
    if (t->dims != 1 || !t->format->decode)
        return orch_fail(error, ORCH_USAGE, "tensor '%s' is no list of numbers", t->name);
    uint8_t *const block = new_block(w, 4 * t->count, error);
    float *const to = (void *)block;
    if (!to)
        return false;
    weight_row(t, 0, to);
    for (uint64_t i = 0; i < t->count; i++)
        to[i] += 1;
    t->format = block_format_named("f32");
    t->bytes = 4 * t->count;
    t->data = block;
    return true;
}

static bool take(struct transformers_weights *w, const struct language_shape *shape, const struct weight_tensor *from,
                 struct orch_error *error)
{
    char name[160];
    unsigned layer = 0;
    const struct row *const row = row_of(from->name, &layer);
    struct weight_tensor t = *from;
    if (!row)
        return is_computed(from->name) || is_expert(shape, from->name) ||
               orch_fail(error, ORCH_UNMODELLED, "tensor '%s' is none of architecture %s", from->name, shape->family->name);
    write_name(row->to, layer, end_of(from->name), name, sizeof name);
    t.name = name;
    if (weight_find(&w->list, name))
        return orch_fail(error, ORCH_USAGE, "tensor '%s' is there twice, under another name as well", from->name);
    if (strcmp(end_of(name), ".bias") == 0 && !may_have_bias(shape->family, name))
        return orch_fail(error, ORCH_UNMODELLED, "tensor '%s': architecture %s has no such bias", from->name,
                         shape->family->name);
    if (row->change == TURNED && !turn(w, &t, error))
        return false;
    if (shape->family->scaled_embedding && strstr(name, "norm") && !add_one(w, &t, error))
        return false;
    return weight_add(&w->list, &t, error);
}

/* ---- several in one ---- */

static const struct weight_tensor *part_of(const struct weight_list *from, const struct joined *j, unsigned layer, unsigned part,
                                           const char *end)
{
    char name[160], last[48];
    if (j->parts == EXPERTS)
        snprintf(last, sizeof last, ".%u.%s%s", part, j->part[0], end);
    else
        snprintf(last, sizeof last, ".%s%s", j->part[part], end);
    write_name(j->from, layer, last, name, sizeof name);
    return weight_find(from, name);
}

/* The parts one behind another; without a first part there is nothing to join. */
static bool join(struct transformers_weights *w, const struct weight_list *from, const struct joined *j, unsigned parts,
                 unsigned layer, const char *end, struct orch_error *error)
{
    const struct weight_tensor *const first = part_of(from, j, layer, 0, end);
    uint64_t bytes = 0, count = 0, used = 0;
    char name[160];
    for (unsigned i = 0; first && i < parts; i++) {
        const struct weight_tensor *const t = part_of(from, j, layer, i, end);
        if (!t || t->format != first->format || t->dims != first->dims ||
            t->shape[0] != (t->dims == 1 ? t->count : first->shape[0]))
            return orch_fail(error, ORCH_USAGE, "tensor '%s' and its like: one is missing, or they differ in type or width",
                             first->name);
        bytes += t->bytes;
        count += t->count;
    }
    uint8_t *const to = first ? new_block(w, bytes, error) : NULL;
    if (!to)
        return !first;
    for (unsigned i = 0; i < parts; i++) {
        const struct weight_tensor *const t = part_of(from, j, layer, i, end);
        memcpy(to + used, t->data, (size_t)t->bytes);
        used += t->bytes;
    }
    write_name(j->to, layer, end, name, sizeof name);
    struct weight_tensor t = *first;
    t.name = name;
    t.data = to;
    t.bytes = bytes;
    t.count = count;
    if (t.dims == 1)
        t.shape[0] = count;
    else
        t.shape[1] = count / t.shape[0];
    return weight_add(&w->list, &t, error);
}

static bool join_all(struct transformers_weights *w, const struct language_shape *shape, const struct weight_list *from,
                     struct orch_error *error)
{
    static const char *const ends[] = {".weight", ".bias"};
    bool ok = true;
    for (size_t i = 0; i < ARRAY_COUNT(joints); i++) {
        const bool wanted = joints[i].parts == EXPERTS ? shape->experts != 0 : shape->family->one_qkv;
        for (unsigned layer = 0; wanted && ok && layer < shape->layers; layer++)
            for (size_t k = 0; ok && k < ARRAY_COUNT(ends); k++)
                ok = join(w, from, &joints[i], joints[i].parts == EXPERTS ? shape->experts : joints[i].parts, layer, ends[k],
                          error);
    }
    return ok;
}

struct transformers_weights *transformers_weights_of(const struct language_shape *shape, const struct weight_list *from,
                                                     struct orch_error *error)
{
    struct transformers_weights *const w = calloc(1, sizeof *w);
    bool ok = w || orch_no_memory(error);
    for (size_t i = 0; ok && i < from->count; i++)
        ok = take(w, shape, &from->tensor[i], error);
    if (ok && join_all(w, shape, from, error))
        return w;
    transformers_weights_free(w);
    return NULL;
}

void transformers_weights_free(struct transformers_weights *weights)
{
    if (!weights)
        return;
    for (size_t i = 0; i < weights->blocks; i++)
        free(weights->block[i]);
    free(weights->block);
    weight_list_free(&weights->list);
    free(weights);
}

const struct weight_list *transformers_weights_list(const struct transformers_weights *weights)
{
    return &weights->list;
}
