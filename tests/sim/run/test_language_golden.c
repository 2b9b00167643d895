/* Language models on units against what others computed: the perplexity of a text, and the logits of a decoder whose weights come
 * from an ONNX file. */
#include "isa/array_count.h"
#include "sim/base/npy.h"
#include "sim/network/network.h"
#include "sim/language/decoder.h"
#include "sim/language/transformers_weights.h"
#include "sim/run/language/language_step.h"
#include "tests/sim/language/language_example.h"
#include "tests/sim/run_example.h"
#include "tests/sim/story_example.h"

#include <math.h>
#include <stdlib.h>

static struct chip_db *db;

/* ---- a model on a unit ---- */

struct running {
    struct chip *chip;
    struct run_request request;
    struct run_result result;
    struct language_unit *unit;
    struct language_stepper *stepper;
};

static bool start(struct running *r, const struct language_model *m, enum orch_part part, unsigned context, const char *cached)
{
    struct orch_error error = {0};
    const struct language_room room = {.context = context, .lanes = 1, .cache.type = cached ? block_format_named(cached) : NULL};
    r->chip = chip_open(db, "m1", &(struct chip_overrides){NULL, 0}, &error);
    r->request = (struct run_request){.chip = r->chip, .mode = RUN_FUNCTIONAL, .threads = 1};
    run_result_init(&r->result);
    r->unit = language_unit_create(&r->request, &r->result, &error);
    r->stepper = r->unit ? language_stepper_create(m, r->unit, part, &room, &error) : NULL;
    CHECK(r->stepper != NULL, "%s", error.text);
    return r->stepper != NULL;
}

static void stop(struct running *r)
{
    language_stepper_free(r->stepper);
    language_unit_free(r->unit, NULL);
    run_result_free(&r->result);
    chip_close(r->chip);
}

/* ---- perplexity ---- */

/* -ln of the probability of a token. */
static double surprise(const float *logits, unsigned count, uint32_t token)
{
    double most = -INFINITY, sum = 0;
    for (unsigned i = 0; i < count; i++)
        most = fmax(most, logits[i]);
    for (unsigned i = 0; i < count; i++)
        sum += exp(logits[i] - most);
    return log(sum) + most - logits[token];
}

/* The first tokens of perplexity.txt: mean surprise against the golden one. 0.5 % of the perplexity are 0.005 of its logarithm.
 */
static void check_perplexity(const char *type, enum orch_part part, size_t tokens)
{
    char name[96];
    struct example_file text, golden, file;
    struct npy_array expected = {0};
    struct token_list list = {0};
    struct language_model m = {.name = type};
    struct language_sum sum = {0};
    struct orch_error error = {0};
    double got = 0, want = 0, worst = 0;
    snprintf(name, sizeof name, "stories260K/stories260K-%s.gguf", type);
    if (!example_golden(name, &file))
        return; /* F32 and F16 are beside the checkout */
    snprintf(name, sizeof name, "stories260K/golden/nll-%s.npy", type);
    CU_ASSERT_TRUE_FATAL(example_golden("stories260K/perplexity.txt", &text) && example_golden(name, &golden));
    CU_ASSERT_TRUE_FATAL(npy_parse(golden.bytes, golden.size, &expected, &error));
    m.gguf = gguf_parse(name, file.bytes, file.size, &error);
    CU_ASSERT_TRUE_FATAL(m.gguf && shape_of_gguf(m.gguf, &m.shape, &error));
    m.tokenizer = tokenizer_create(m.gguf, &error);
    m.weights = decoder_create(&m.shape, gguf_weights(m.gguf), 1, &error);
    CU_ASSERT_TRUE_FATAL(m.tokenizer && m.weights);
    CU_ASSERT_TRUE_FATAL(tokenizer_encode(m.tokenizer, (const char *)text.bytes, text.size, TOKENIZE_FRAME, &list, &error));
    CU_ASSERT_EQUAL_FATAL(list.count, 500);
    struct running r;
    CU_ASSERT_TRUE_FATAL(start(&r, &m, part, 512, NULL));
    for (size_t i = 0; i + 1 < tokens; i++) {
        const float *logits = NULL;
        CU_ASSERT_TRUE_FATAL(language_step(r.stepper, &list.token[i], 1, &logits, &sum, &error));
        const double one = surprise(logits, m.shape.vocabulary, list.token[i + 1]);
        float golden_one;
        memcpy(&golden_one, expected.data + 4 * i, 4);
        got += one / (double)(tokens - 1);
        want += golden_one / (double)(tokens - 1);
        worst = fmax(worst, fabs(one - golden_one));
    }
    CHECK(fabs(got - want) < (part == PART_ANE ? 0.005 : 1e-5), "%s on %s: mean %g, golden %g, worst %g", type,
          orch_part_name(part), got, want, worst);
    stop(&r);
    token_list_free(&list);
    language_model_close(&m);
    free(text.bytes);
    free(golden.bytes);
    free(file.bytes);
}

/* What the Neural Engine cannot have: of q8_0 the scale of a block makes its values too large for f16. */
static void test_beyond_halves(void)
{
    struct example_file file;
    struct language_model m = {.name = "q8_0"};
    struct orch_error error = {0};
    const struct language_room room = {.context = 8, .lanes = 1};
    struct running r;
    CU_ASSERT_TRUE_FATAL(example_golden("stories260K/stories260K-q8_0.gguf", &file));
    m.gguf = gguf_parse("q8_0", file.bytes, file.size, &error);
    CU_ASSERT_TRUE_FATAL(m.gguf && shape_of_gguf(m.gguf, &m.shape, &error));
    const uint8_t *const data = weight_find(gguf_weights(m.gguf), "blk.1.attn_q.weight")->data;
    file.bytes[data - file.bytes] = 0xff; /* 65504 */
    file.bytes[data - file.bytes + 1] = 0x7b;
    m.tokenizer = tokenizer_create(m.gguf, &error);
    m.weights = decoder_create(&m.shape, gguf_weights(m.gguf), 1, &error);
    CU_ASSERT_TRUE_FATAL(m.tokenizer && m.weights);
    r.chip = chip_open(db, "m1", &(struct chip_overrides){NULL, 0}, &error);
    r.request = (struct run_request){.chip = r.chip, .mode = RUN_FUNCTIONAL, .threads = 1};
    run_result_init(&r.result);
    r.unit = language_unit_create(&r.request, &r.result, &error);
    r.stepper = r.unit ? language_stepper_create(&m, r.unit, PART_ANE, &room, &error) : NULL;
    CHECK(!r.stepper && error.exit_code == ORCH_UNMODELLED && strstr(error.text, "'blk.1.attn_q.weight', row 0: ") &&
              strstr(error.text, "is beyond 65504, the largest f16"),
          "%s", error.text);
    stop(&r);
    language_model_close(&m);
    free(file.bytes);
}

static void test_perplexity(void)
{
    check_perplexity("q8_0", PART_CPU, 500);
    check_perplexity("q4_0", PART_CPU, 500);
    check_perplexity("q8_0", PART_ANE, 100);
    check_perplexity("f32", PART_AMX, 500);
    check_perplexity("q4_0", PART_AMX, 100);
    check_perplexity("q8_0", PART_GPU, 60);
    check_perplexity("f16", PART_ANE, 60);
}

/* ---- a cache of fewer bits ---- */

/* As ggml has it: the largest of 32 becomes 127 steps, and the step is a half. */
static void round_to_blocks(float *values, size_t count)
{
    for (size_t at = 0; at < count; at += 32) {
        float most = 0;
        for (size_t i = at; i < at + 32; i++)
            most = fmaxf(most, fabsf(values[i]));
        const float step = most / 127;
        for (size_t i = at; step > 0 && i < at + 32; i++)
            values[i] = (float)(_Float16)step * roundf(values[i] / step);
    }
}

static void round_to_halves(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(_Float16)values[i];
}

/* Logits against the reference decoder with a cache that is rounded alike. A value in the middle of two steps may become either:
 * of some thousand halves a few do, each off by one step. `worst` is of the range of the logits; what rounding itself changes is
 * far more. */
static void check_cached(const char *cached, void (*round)(float *values, size_t count), enum orch_part part, size_t tokens,
                         double worst)
{
    const char *const text = "Once upon a time, there was a little girl named Lily. She loved to play outside in the park.";
    struct orch_error error = {0};
    struct language_model m = {.name = "f16"};
    struct token_list list = {0};
    struct language_sum sum = {0};
    double off = 0, rounded = 0, range = 0;
    if (!example_story("q8_0") || !language_model_open(example_story("q8_0"), &m, &error))
        return;
    CU_ASSERT_TRUE_FATAL(tokenizer_encode(m.tokenizer, text, strlen(text), TOKENIZE_FRAME, &list, &error));
    struct decoder *const plain = decoder_create(&m.shape, gguf_weights(m.gguf), 64, &error), *const reference = decoder_create(
                                                                                                  &m.shape, gguf_weights(m.gguf),
                                                                                                  64, &error);
    float *const want = malloc(2 * sizeof(float) * m.shape.vocabulary), *const exact = want + m.shape.vocabulary;
    struct running r;
    CU_ASSERT_TRUE_FATAL(plain && reference && want && list.count >= tokens && start(&r, &m, part, 64, cached));
    decoder_round(reference, round);
    for (size_t i = 0; i < tokens; i++) {
        const float *got = NULL;
        CU_ASSERT_TRUE_FATAL(language_step(r.stepper, &list.token[i], 1, &got, &sum, &error) &&
                             decoder_step(reference, list.token[i], want, &error) &&
                             decoder_step(plain, list.token[i], exact, &error));
        for (unsigned k = 0; k < m.shape.vocabulary; k++) {
            off = fmax(off, fabs((double)got[k] - (double)want[k]));
            rounded = fmax(rounded, fabs((double)exact[k] - (double)want[k]));
            range = fmax(range, fabs((double)want[k]));
        }
    }
    CHECK(off < worst * range && rounded > 3 * off, "%s on %s: off by %g of %g; rounding makes %g", cached, orch_part_name(part),
          off, range, rounded);
    stop(&r);
    decoder_free(plain);
    decoder_free(reference);
    free(want);
    token_list_free(&list);
    language_model_close(&m);
}

static void test_cached(void)
{
    check_cached("q8_0", round_to_blocks, PART_CPU, 30, 1e-5);
    check_cached("f16", round_to_halves, PART_AMX, 30, 1e-5);
    check_cached("q8_0", round_to_blocks, PART_GPU, 20, 1e-5);
    check_cached("f16", round_to_halves, PART_GPU, 20, 3e-4);
}

/* ---- a decoder whose weights are in an ONNX file ---- */

enum { LAYERS = 2, WIDTH = 128, TOKENS = 48, VOCABULARY = 512 };

struct borrowed {
    struct weight_list list;
    float *data[32];
    unsigned count;
    double epsilon;
};

/* ONNX multiplies by [in][out], others store [out][in]. */
static void borrow(struct borrowed *b, const char *name, const struct net_array *a, bool turned)
{
    struct orch_error error = {0};
    const uint64_t rows = a->dims > 1 ? (uint64_t)a->shape[0] : 1, columns = (uint64_t)a->shape[a->dims - 1];
    float *const to = b->data[b->count++] = malloc(sizeof(float) * rows * columns);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < columns; c++)
            to[turned ? c * rows + r : r * columns + c] = ((const float *)a->data)[r * columns + c];
    struct weight_tensor t = {.name = name, .format = block_format_named("f32"), .dims = a->dims > 1 ? 2 : 1};
    t.shape[0] = turned ? rows : columns;
    t.shape[1] = a->dims > 1 ? turned ? columns : rows : 0;
    t.data = (const uint8_t *)to;
    CU_ASSERT_TRUE_FATAL(weight_measure(&t, &error) && weight_add(&b->list, &t, &error));
}

/* Matrices and norms in the order of the graph. */
static void borrow_all(struct borrowed *b, const struct net_model *model)
{
    static const char *const matrix[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                                         "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};
    static const char *const norm[] = {"input_layernorm", "post_attention_layernorm"};
    unsigned matrices = 0, norms = 0;
    for (size_t i = 0; i < model->graph->nodes; i++) {
        const struct net_node *const n = model->graph->node[i];
        char name[96];
        const struct net_array *first = n->inputs ? model->value[n->input[0]].constant : NULL,
                               *second = n->inputs > 1 ? model->value[n->input[1]].constant : NULL;
        if (strcmp(n->op, "Gather") == 0 && first && first->dims == 2) {
            borrow(b, "model.embed_tokens.weight", first, false);
        } else if (strcmp(n->op, "MatMul") == 0 && second) {
            const unsigned layer = matrices / ARRAY_COUNT(matrix);
            if (layer < LAYERS)
                snprintf(name, sizeof name, "model.layers.%u.%s.weight", layer, matrix[matrices % ARRAY_COUNT(matrix)]);
            else
                snprintf(name, sizeof name, "lm_head.weight");
            matrices++;
            borrow(b, name, second, true);
        } else if (strcmp(n->op, "RMSNormalization") == 0) {
            const unsigned layer = norms / ARRAY_COUNT(norm);
            if (layer < LAYERS)
                snprintf(name, sizeof name, "model.layers.%u.%s.weight", layer, norm[norms % ARRAY_COUNT(norm)]);
            else
                snprintf(name, sizeof name, "model.norm.weight");
            norms++;
            borrow(b, name, second, false);
            for (size_t k = 0; k < n->attributes; k++)
                b->epsilon = n->attribute[k].kind == NET_ATTR_REAL ? n->attribute[k].real : b->epsilon;
        }
    }
    CU_ASSERT_EQUAL_FATAL(matrices, ARRAY_COUNT(matrix) * LAYERS + 1);
    CU_ASSERT_EQUAL_FATAL(norms, ARRAY_COUNT(norm) * LAYERS + 1);
}

static unsigned largest_of(const float *value)
{
    unsigned best = 0;
    for (unsigned i = 1; i < VOCABULARY; i++)
        best = value[i] > value[best] ? i : best;
    return best;
}

/* The likeliest token behind each of the 48, and all logits, as the golden data have them. */
static void check_decoder(const struct language_model *m, enum orch_part part, const int64_t *ids, const float *logits)
{
    struct running r;
    struct language_sum sum = {0};
    struct orch_error error = {0};
    double off = 0, range = 0;
    unsigned same = 0;
    if (!start(&r, m, part, TOKENS, NULL))
        return;
    for (unsigned t = 0; t < TOKENS; t++) {
        const float *got = NULL, *const want = logits + (size_t)t * VOCABULARY;
        const uint32_t token = (uint32_t)ids[t];
        CU_ASSERT_TRUE_FATAL(language_step(r.stepper, &token, 1, &got, &sum, &error));
        same += largest_of(got) == largest_of(want);
        for (unsigned i = 0; i < VOCABULARY; i++) {
            off = fmax(off, fabs((double)got[i] - (double)want[i]));
            range = fmax(range, fabs((double)want[i]));
        }
    }
    CHECK(same == TOKENS && off < 1e-5 * range, "on %s: %u of 48 tokens, logits off by %g of %g", orch_part_name(part), same, off,
          range);
    stop(&r);
}

static void test_onnx_decoder(void)
{
    char path[512];
    struct orch_error error = {0};
    struct npy_array ids = {0}, logits = {0};
    struct borrowed b = {.epsilon = 1e-5};
    const char *const model_path = suite_shared("models/llama_tiny_random/model.onnx");
    if (!model_path)
        return;
    struct net_model *const model = net_import(model_path, &error);
    CU_ASSERT_TRUE_FATAL(model && net_prepare(model, &(struct net_open_options){.level = 2}, NULL, &error));
    snprintf(path, sizeof path, "%s", suite_shared("models/llama_tiny_random/golden/in_input_ids.npy"));
    CU_ASSERT_TRUE_FATAL(npy_load(path, &ids, &error));
    snprintf(path, sizeof path, "%s", suite_shared("models/llama_tiny_random/golden/out_logits.npy"));
    CU_ASSERT_TRUE_FATAL(npy_load(path, &logits, &error));
    borrow_all(&b, model);
    const struct weight_tensor *const up = weight_find(&b.list, "model.layers.0.mlp.up_proj.weight");
    struct language_model m = {.name = "llama_tiny_random",
                               .shape = {.family = shape_family_named("llama"),
                                         .layers = LAYERS,
                                         .width = WIDTH,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .head_size = 32,
                                         .feed_forward = (unsigned)up->shape[1],
                                         .vocabulary = VOCABULARY,
                                         .context = TOKENS,
                                         .epsilon = b.epsilon,
                                         .rope = SHAPE_ROPE_HALVES,
                                         .rope_size = 32,
                                         .rope_base = 10000}};
    struct transformers_weights *const named = transformers_weights_of(&m.shape, &b.list, &error);
    m.weights = named ? decoder_create(&m.shape, transformers_weights_list(named), 1, &error) : NULL;
    CHECK(m.weights != NULL, "%s", error.text);
    static const enum orch_part parts[] = {PART_CPU, PART_AMX, PART_GPU};
    for (size_t i = 0; m.weights && i < ARRAY_COUNT(parts); i++)
        check_decoder(&m, parts[i], (const int64_t *)(const void *)ids.data, (const float *)(const void *)logits.data);
    decoder_free(m.weights);
    transformers_weights_free(named);
    weight_list_free(&b.list);
    for (unsigned i = 0; i < b.count; i++)
        free(b.data[i]);
    npy_release(&ids);
    npy_release(&logits);
    net_model_free(model);
}

static const struct suite_test tests[] = {
    {"perplexity of a text", test_perplexity},
    {"weights that are no halves", test_beyond_halves},
    {"a cache of fewer bits", test_cached},
    {"a decoder of ONNX", test_onnx_decoder},
};
int main(void)
{
    return example_chips_run("language golden", tests, ARRAY_COUNT(tests), &db);
}
