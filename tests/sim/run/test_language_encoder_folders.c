/* Folders of T5 as transformers saves them: their config.json and names of tensors against a GGUF file of the same model. */
#include "isa/array_count.h"
#include "sim/language/decoder.h"
#include "sim/language/transformers_weights.h"
#include "tests/sim/run/encoder_example.h"

/* The name that transformers gives to a tensor of T5. */
static void transformers_name(const char *name, bool gated, char *to, size_t size)
{
    static const char *const parts[][3] = {
        {"attn_norm", "layer.0.layer_norm", "layer.0.layer_norm"},
        {"attn_q", "layer.0.SelfAttention.q", "layer.0.SelfAttention.q"},
        {"attn_k", "layer.0.SelfAttention.k", "layer.0.SelfAttention.k"},
        {"attn_v", "layer.0.SelfAttention.v", "layer.0.SelfAttention.v"},
        {"attn_o", "layer.0.SelfAttention.o", "layer.0.SelfAttention.o"},
        {"attn_rel_b", "layer.0.SelfAttention.relative_attention_bias", "layer.0.SelfAttention.relative_attention_bias"},
        {"cross_attn_norm", NULL, "layer.1.layer_norm"},
        {"cross_attn_q", NULL, "layer.1.EncDecAttention.q"},
        {"cross_attn_k", NULL, "layer.1.EncDecAttention.k"},
        {"cross_attn_v", NULL, "layer.1.EncDecAttention.v"},
        {"cross_attn_o", NULL, "layer.1.EncDecAttention.o"},
        {"ffn_norm", "layer.1.layer_norm", "layer.2.layer_norm"},
        {"ffn_down", "layer.1.DenseReluDense.wo", "layer.2.DenseReluDense.wo"},
        {"ffn_gate", "layer.1.DenseReluDense.wi_0", "layer.2.DenseReluDense.wi_0"},
        {"ffn_up", NULL, NULL}};
    char side[8], part[32];
    unsigned layer;
    if (sscanf(name, "%7[a-z].blk.%u.%31[a-z_].weight", side, &layer, part) != 3) {
        snprintf(to, size, "%s",
                 strcmp(name, "token_embd.weight") == 0        ? "shared.weight"
                 : strcmp(name, "enc.output_norm.weight") == 0 ? "encoder.final_layer_norm.weight"
                 : strcmp(name, "dec.output_norm.weight") == 0 ? "decoder.final_layer_norm.weight"
                                                               : "lm_head.weight");
        return;
    }
    const bool decodes = strcmp(side, "dec") == 0;
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        if (strcmp(parts[i][0], part) == 0 && parts[i][1 + decodes])
            snprintf(to, size, "%s.block.%u.%s.weight", decodes ? "decoder" : "encoder", layer, parts[i][1 + decodes]);
    if (strcmp(part, "ffn_up") == 0)
        snprintf(to, size, "%s.block.%u.layer.%d.DenseReluDense.%s.weight", decodes ? "decoder" : "encoder", layer,
                 decodes ? 2 : 1, gated ? "wi_1" : "wi");
}

/* Config and names as transformers has them make the shape and the tensors of a GGUF file. */
static void check_folder_of(enum encoder_kind kind)
{
    static struct made_model m;
    struct weight_list renamed = {0};
    struct language_shape of_file, of_config;
    struct orch_error error = {0};
    char config[512];
    made_create(&m, kind, false, 5);
    struct gguf *const gguf = gguf_parse("t5", m.bytes, m.file_size, &error);
    CU_ASSERT_TRUE_FATAL(gguf && shape_of_gguf(gguf, &of_file, &error));
    const struct weight_list *const list = gguf_weights(gguf);
    for (size_t i = 0; i < list->count; i++) {
        struct weight_tensor t = list->tensor[i];
        char name[128];
        transformers_name(t.name, kind == TEXT_GATED, name, sizeof name);
        t.name = name;
        CU_ASSERT_TRUE_FATAL(weight_add(&renamed, &t, &error));
    }
    snprintf(config, sizeof config,
             "{\"model_type\":\"t5\",\"num_layers\":%u,\"num_decoder_layers\":%u,\"d_model\":%u,\"num_heads\":%u,\"d_kv\":%u,"
             "\"d_ff\":%u,\"vocab_size\":%u,\"n_positions\":%u,\"layer_norm_epsilon\":%.9g,\"relative_attention_num_buckets\":%u,"
             "\"feed_forward_proj\":\"%s\",\"tie_word_embeddings\":%s,\"decoder_start_token_id\":%u}",
             of_file.encoder_layers, of_file.layers, of_file.width, of_file.heads, of_file.head_size, of_file.feed_forward,
             of_file.vocabulary, of_file.context, of_file.epsilon, of_file.distances, kind == TEXT_GATED ? "gated-gelu" : "relu",
             of_file.tied ? "true" : "false", of_file.first_token);
    CHECK(shape_of_config("c", config, strlen(config), &of_config, &error), "%s", error.text);
    memcpy(of_config.name, of_file.name, sizeof of_config.name);
    CHECK(of_config.family == of_file.family && of_config.encoder_layers == of_file.encoder_layers &&
              of_config.layers == of_file.layers && of_config.distances == of_file.distances && of_config.tied == of_file.tied &&
              of_config.first_token == of_file.first_token && of_config.rope == of_file.rope,
          "kind %d: another shape", (int)kind);
    struct transformers_weights *const w = transformers_weights_of(&of_config, &renamed, &error);
    struct decoder *const d = w ? decoder_create(&of_config, transformers_weights_list(w), 1, &error) : NULL;
    CHECK(d != NULL, "kind %d: %s", (int)kind, error.text);
    for (size_t i = 0; w && i < list->count; i++) {
        const struct weight_tensor *const t = weight_find(transformers_weights_list(w), list->tensor[i].name);
        const bool end = strcmp(list->tensor[i].name, "output.weight") == 0;
        CHECK(t ? t->data == list->tensor[i].data : end, "%s", list->tensor[i].name);
    }
    decoder_free(d);
    transformers_weights_free(w);
    weight_list_free(&renamed);
    gguf_close(gguf);
    made_free(&m);
}

static void test_folders(void)
{
    check_folder_of(TEXT_PLAIN);
    check_folder_of(TEXT_GATED);
}

static const struct suite_test tests[] = {{"shapes and names", test_folders}};
SUITE_MAIN("language encoder folders", tests)
