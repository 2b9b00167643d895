/* Folders as transformers saves models, made of GGUF files: config.json, safetensors in the names and layouts of each family, and
 * tokenizer.json or tokenizer.model. */
#ifndef ORCHARD_TESTS_SIM_TRANSFORMERS_EXAMPLE_H
#define ORCHARD_TESTS_SIM_TRANSFORMERS_EXAMPLE_H

#include "isa/array_count.h"
#include "sim/language/shape.h"
#include "tests/sim/vocabulary_example.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct saved_model {
    char folder[256];
    const struct gguf *gguf;
    const struct language_shape *shape;
    const char *dtype; /* F32, F16, BF16 */
    unsigned shards;   /* files of weights; 0 = one, without an index */
    bool pieces;       /* tokenizer.model rather than tokenizer.json */
};

static inline FILE *saved_open(const struct saved_model *m, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", m->folder, name);
    return saved_file(path);
}

static inline void saved_text(const struct saved_model *m, const char *name, const char *text)
{
    FILE *const file = saved_open(m, name);
    fputs(text, file);
    fclose(file);
}

/* ---- config.json ---- */

static inline void saved_config(const struct saved_model *m)
{
    const struct language_shape *const s = m->shape;
    const char *const family = s->family->name;
    const bool first = strcmp(family, "gpt2") == 0;
    const char *const type = strcmp(family, "phi2") == 0                  ? "phi"
                             : strcmp(family, "llama") == 0 && s->experts ? "mixtral"
                             : strcmp(family, "llama") == 0 && s->window  ? "mistral"
                                                                          : family;
    FILE *const f = saved_open(m, "config.json");
    fprintf(f, "{\"model_type\":\"%s\",\"vocab_size\":%u,\"%s\":%u,\"%s\":%u,\"%s\":%u,\"%s\":%u,\"%s\":%u,\"%s\":%.9g,", type,
            s->vocabulary, first ? "n_embd" : "hidden_size", s->width, first ? "n_layer" : "num_hidden_layers", s->layers,
            first ? "n_head" : "num_attention_heads", s->heads, first ? "n_inner" : "intermediate_size", s->feed_forward,
            first ? "n_positions" : "max_position_embeddings", s->context,
            first                                 ? "layer_norm_epsilon"
            : s->family->norm == SHAPE_LAYER_NORM ? "layer_norm_eps"
                                                  : "rms_norm_eps",
            s->epsilon);
    fprintf(f, "\"tie_word_embeddings\":%s,\"bos_token_id\":1,\"eos_token_id\":[2],\"num_key_value_heads\":%u,\"head_dim\":%u",
            s->tied ? "true" : "false", s->kv_heads, s->head_size);
    if (s->experts)
        fprintf(f, ",\"num_local_experts\":%u,\"num_experts_per_tok\":%u", s->experts, s->experts_used);
    if (s->window)
        fprintf(f, ",\"sliding_window\":%u", s->window);
    if (s->rope_size)
        fprintf(f, ",\"rope_theta\":%.9g,\"partial_rotary_factor\":%.9g", s->rope_base, (double)s->rope_size / s->head_size);
    if (s->scaling == SHAPE_SCALING_LINEAR)
        fprintf(f, ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":%.9g}", s->scaling_factor);
    if (weight_find(gguf_weights(m->gguf), "rope_freqs.weight"))
        fputs(",\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,"
              "\"original_max_position_embeddings\":64}",
              f);
    fputs("}\n", f);
    fclose(f);
}

/* ---- safetensors ---- */

/* A tensor on its way: rows of columns, in single precision. */
struct saved_tensor {
    char name[128];
    uint64_t rows, columns;
    bool vector;
    float *value;
};

static inline struct saved_tensor saved_read(const struct weight_tensor *t)
{
    struct saved_tensor s = {.columns = t->shape[0], .rows = t->count / t->shape[0], .vector = t->dims == 1};
    s.value = malloc(t->count * sizeof *s.value);
    if (!s.value)
        abort();
    for (uint64_t row = 0; row < s.rows; row++)
        weight_row(t, row, s.value + row * s.columns);
    return s;
}

static inline void saved_turn(struct saved_tensor *s)
{
    float *const turned = malloc(s->rows * s->columns * sizeof *turned);
    if (!turned)
        abort();
    for (uint64_t y = 0; y < s->rows; y++)
        for (uint64_t x = 0; x < s->columns; x++)
            turned[x * s->rows + y] = s->value[y * s->columns + x];
    free(s->value);
    *s = (struct saved_tensor){.rows = s->columns, .columns = s->rows, .value = turned};
}

/* Neighbouring rows of a head part into its halves. */
static inline void saved_halves(struct saved_tensor *s, unsigned head)
{
    float *const parted = malloc(s->rows * s->columns * sizeof *parted);
    if (!parted)
        abort();
    for (uint64_t row = 0; row < s->rows; row++) {
        const uint64_t in_head = row % head, to = row - in_head + in_head / 2 + in_head % 2 * (head / 2);
        memcpy(parted + to * s->columns, s->value + row * s->columns, s->columns * sizeof *parted);
    }
    free(s->value);
    s->value = parted;
}

/* Files of weights that are being written. */
struct saved_files {
    struct {
        char *header;
        size_t header_size, bytes;
        FILE *data;
    } file[8];
    unsigned count, tensors;
    FILE *index;
};

static inline size_t saved_width(const char *dtype)
{
    return strcmp(dtype, "F32") == 0 ? 4 : 2;
}

static inline void saved_number(FILE *to, const char *dtype, float value)
{
    const _Float16 half = (_Float16)value;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    bits += 0x7fff + (bits >> 16 & 1); /* to nearest, ties to even */
    const uint16_t brain = (uint16_t)(bits >> 16);
    if (strcmp(dtype, "F32") == 0)
        fwrite(&value, 4, 1, to);
    else if (strcmp(dtype, "F16") == 0)
        fwrite(&half, 2, 1, to);
    else
        fwrite(&brain, 2, 1, to);
}

static inline void saved_put(const struct saved_model *m, struct saved_files *files, const char *name, const float *value,
                             uint64_t rows, uint64_t columns, bool vector)
{
    const unsigned to = files->tensors++ % files->count;
    const size_t bytes = rows * columns * saved_width(m->dtype), from = files->file[to].bytes;
    char record[256], shape[64];
    snprintf(shape, sizeof shape, vector ? "%llu" : "%llu,%llu", (unsigned long long)(vector ? columns : rows),
             (unsigned long long)columns);
    const int length = snprintf(record, sizeof record, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                                files->file[to].header_size ? "," : "{", name, m->dtype, shape, from, from + bytes);
    files->file[to].header = realloc(files->file[to].header, files->file[to].header_size + (size_t)length + 16);
    if (!files->file[to].header)
        abort();
    memcpy(files->file[to].header + files->file[to].header_size, record, (size_t)length + 1);
    files->file[to].header_size += (size_t)length;
    files->file[to].bytes += bytes;
    for (uint64_t i = 0; i < rows * columns; i++)
        saved_number(files->file[to].data, m->dtype, value[i]);
    if (files->index)
        fprintf(files->index, "%s\"%s\":\"model-%05u-of-%05u.safetensors\"", files->tensors > 1 ? "," : "", name, to + 1,
                files->count);
}

static inline void saved_close(const struct saved_model *m, struct saved_files *files)
{
    for (unsigned i = 0; i < files->count; i++) {
        char name[64] = "model.safetensors";
        if (files->index)
            snprintf(name, sizeof name, "model-%05u-of-%05u.safetensors", i + 1, files->count);
        FILE *const out = saved_open(m, name);
        strcat(files->file[i].header, "}");
        while (++files->file[i].header_size % 8) /* data begins at a multiple of eight bytes */
            strcat(files->file[i].header, " ");
        const uint64_t length = files->file[i].header_size;
        fwrite(&length, 8, 1, out);
        fwrite(files->file[i].header, 1, length, out);
        rewind(files->file[i].data);
        for (int byte; (byte = getc(files->file[i].data)) != EOF;)
            putc(byte, out);
        fclose(out);
        fclose(files->file[i].data);
        free(files->file[i].header);
    }
    if (files->index) {
        fputs("}}\n", files->index);
        fclose(files->index);
    }
}

/* What a part of a layer is called: in GGUF files, by LLaMA and its kin, by Phi, by GPT-2. */
static const struct {
    const char *gguf, *llama, *phi, *gpt2;
} saved_names[] = {
    {"attn_norm", "input_layernorm", "input_layernorm", "ln_1"},
    {"ffn_norm", "post_attention_layernorm", NULL, "ln_2"},
    {"attn_q", "self_attn.q_proj", NULL, NULL},
    {"attn_k", "self_attn.k_proj", NULL, NULL},
    {"attn_v", "self_attn.v_proj", NULL, NULL},
    {"attn_q_norm", "self_attn.q_norm", NULL, NULL},
    {"attn_k_norm", "self_attn.k_norm", NULL, NULL},
    {"attn_qkv", "self_attn.qkv_proj", "self_attn.%s_proj", "attn.c_attn"},
    {"attn_output", "self_attn.o_proj", "self_attn.dense", "attn.c_proj"},
    {"ffn_gate", "mlp.gate_proj", NULL, NULL},
    {"ffn_up", "mlp.up_proj", "mlp.fc1", "mlp.c_fc"},
    {"ffn_down", "mlp.down_proj", "mlp.fc2", "mlp.c_proj"},
    {"ffn_gate_inp", "block_sparse_moe.gate", NULL, NULL},
    {"ffn_gate_exps", "block_sparse_moe.experts.%u.w1", NULL, NULL},
    {"ffn_up_exps", "block_sparse_moe.experts.%u.w3", NULL, NULL},
    {"ffn_down_exps", "block_sparse_moe.experts.%u.w2", NULL, NULL},
};

/* Rows of a tensor under the names that `form` makes of the numbers 0, 1, ... (experts) or of q, k, v. */
static inline void saved_split(const struct saved_model *m, struct saved_files *files, const struct saved_tensor *t,
                               const char *layer, const char *form, const char *end)
{
    const struct language_shape *const s = m->shape;
    const char *const place = strchr(form, '%');
    const uint64_t lines = t->vector ? t->columns : t->rows;
    const uint64_t queries = (uint64_t)s->heads * s->head_size, keys = (uint64_t)s->kv_heads * s->head_size;
    uint64_t at = 0;
    for (unsigned i = 0; at < lines; i++) {
        const uint64_t some = place[1] == 's' ? (i ? keys : queries) : lines / s->experts;
        char name[192], middle[16];
        snprintf(middle, sizeof middle, place[1] == 's' ? "%c" : "%u", place[1] == 's' ? (unsigned)"qkv"[i] : i);
        snprintf(name, sizeof name, "%s%.*s%s%s.%s", layer, (int)(place - form), form, middle, place + 2, end);
        saved_put(m, files, name, t->value + at * (t->vector ? 1 : t->columns), t->vector ? 1 : some,
                  t->vector ? some : t->columns, t->vector);
        at += some;
    }
}

static inline void saved_layer_tensor(const struct saved_model *m, struct saved_files *files, struct saved_tensor *t,
                                      unsigned number, const char *part, const char *end)
{
    const char *const family = m->shape->family->name;
    const bool gpt2 = strcmp(family, "gpt2") == 0, phi = strcmp(family, "phi2") == 0;
    const char *form = NULL;
    char layer[32], name[128];
    for (size_t i = 0; i < ARRAY_COUNT(saved_names); i++)
        if (strcmp(saved_names[i].gguf, part) == 0)
            form = gpt2 ? saved_names[i].gpt2 : phi ? saved_names[i].phi : saved_names[i].llama;
    if (strcmp(family, "phi3") == 0 && strcmp(part, "ffn_up") == 0)
        form = "mlp.gate_up_proj";
    if (!form)
        abort();
    if (gpt2 && !t->vector)
        saved_turn(t);
    if (strcmp(family, "llama") == 0 && (strcmp(part, "attn_q") == 0 || strcmp(part, "attn_k") == 0))
        saved_halves(t, m->shape->head_size);
    snprintf(layer, sizeof layer, gpt2 ? "h.%u." : "model.layers.%u.", number);
    if (strchr(form, '%')) {
        saved_split(m, files, t, layer, form, end);
        return;
    }
    snprintf(name, sizeof name, "%s%s.%s", layer, form, end);
    saved_put(m, files, name, t->value, t->rows, t->columns, t->vector);
}

static inline void saved_tensor(const struct saved_model *m, struct saved_files *files, const struct weight_tensor *from)
{
    const bool gpt2 = strcmp(m->shape->family->name, "gpt2") == 0, phi = strcmp(m->shape->family->name, "phi2") == 0;
    char part[64], end[16], name[64];
    unsigned layer;
    if (strcmp(from->name, "rope_freqs.weight") == 0)
        return;
    struct saved_tensor t = saved_read(from);
    for (uint64_t i = 0; m->shape->family->scaled_embedding && strstr(from->name, "norm") && i < t.columns; i++)
        t.value[i] -= 1;
    if (sscanf(from->name, "blk.%u.%63[a-z_].%15s", &layer, part, end) == 3) {
        saved_layer_tensor(m, files, &t, layer, part, end);
    } else {
        const char *const what = strncmp(from->name, "token_embd", 10) == 0      ? gpt2 ? "wte" : "model.embed_tokens"
                                 : strncmp(from->name, "position_embd", 13) == 0 ? "wpe"
                                 : strncmp(from->name, "output_norm", 11) == 0   ? gpt2  ? "ln_f"
                                                                                   : phi ? "model.final_layernorm"
                                                                                         : "model.norm"
                                                                                 : "lm_head";
        snprintf(name, sizeof name, "%s%s", what, strrchr(from->name, '.'));
        saved_put(m, files, name, t.value, t.rows, t.columns, t.vector);
    }
    free(t.value);
}

static inline void saved_weights(const struct saved_model *m)
{
    struct saved_files files = {.count = m->shards ? m->shards : 1};
    for (unsigned i = 0; i < files.count; i++)
        if (!(files.file[i].data = tmpfile()))
            abort();
    if (m->shards) {
        files.index = saved_open(m, "model.safetensors.index.json");
        fputs("{\"metadata\":{\"total_size\":0},\"weight_map\":{", files.index);
    }
    for (size_t i = 0; i < gguf_weights(m->gguf)->count; i++)
        saved_tensor(m, &files, &gguf_weights(m->gguf)->tensor[i]);
    saved_close(m, &files);
}

/* ---- the whole ---- */

/* Writes a folder anew; `t` NULL = a tokenizer of one token. */
static inline void saved_write(struct saved_model *m, const struct tokenizer *t)
{
    snprintf(m->folder, sizeof m->folder, "/tmp/orchard-saved-XXXXXX");
    if (!mkdtemp(m->folder))
        abort();
    saved_config(m);
    saved_weights(m);
    if (!t)
        saved_text(m, "tokenizer.json",
                   "{\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\","
                   "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}");
    char path[512];
    snprintf(path, sizeof path, "%s/tokenizer.%s", m->folder, m->pieces ? "model" : "json");
    if (t && m->pieces)
        saved_pieces(path, m->gguf, t);
    else if (t)
        saved_piece_tokenizer(path, m->gguf, t);
}

static inline void saved_remove(const struct saved_model *m)
{
    CU_ASSERT(suite_remove(m->folder));
}

#endif
