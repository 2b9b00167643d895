/* Rotations that are scaled for long contexts, and experts of Qwen 3: logits of the reference decoder and of units against a
 * float64 pass written after the papers and transformers' formulas; and what a config.json may not say. */
#include "isa/array_count.h"
#include "sim/language/decoder.h"
#include "sim/language/transformers_weights.h"
#include "sim/run/language/language_step.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static struct chip_db *db;

enum { WIDTH = 16, HEADS = 2, KEYS = 1, HEAD = 8, PAIRS = HEAD / 2, INNER = 12, EXPERTS = 4, USED = 2, WORDS = 11, TOKENS = 40 };

struct made {
    float embedding[WORDS * WIDTH], query[HEADS * HEAD * WIDTH], key[KEYS * HEAD * WIDTH], value[KEYS * HEAD * WIDTH],
        output[WIDTH * HEADS * HEAD], gate[EXPERTS * INNER * WIDTH], up[EXPERTS * INNER * WIDTH], down[EXPERTS * WIDTH * INNER],
        router[EXPERTS * WIDTH], head[WORDS * WIDTH], ones[WIDTH];
    struct weight_list list;
    bool experts;
};

static void put(struct made *m, const char *name, float *value, uint64_t rows, uint64_t columns, unsigned matrices,
                uint64_t *state)
{
    struct orch_error error = {0};
    struct weight_tensor t = {.name = name, .format = block_format_named("f32"), .data = (const uint8_t *)value};
    t.dims = rows == 0 ? 1 : matrices > 1 ? 3 : 2;
    t.shape[0] = columns;
    t.shape[1] = rows;
    t.shape[2] = matrices;
    for (uint64_t i = 0; i < columns * (rows ? rows : 1) * matrices; i++)
        value[i] = rows ? (float)(2 * ((double)(suite_random(state) >> 11) * 0x1p-53) - 1) : 1;
    CU_ASSERT_TRUE_FATAL(weight_measure(&t, &error) && weight_add(&m->list, &t, &error));
}

static void make(struct made *m, bool experts)
{
    const unsigned count = experts ? EXPERTS : 1;
    uint64_t state = 31;
    *m = (struct made){.experts = experts};
    put(m, "token_embd.weight", m->embedding, WORDS, WIDTH, 1, &state);
    put(m, "output.weight", m->head, WORDS, WIDTH, 1, &state);
    put(m, "output_norm.weight", m->ones, 0, WIDTH, 1, &state);
    put(m, "blk.0.attn_norm.weight", m->ones, 0, WIDTH, 1, &state);
    put(m, "blk.0.ffn_norm.weight", m->ones, 0, WIDTH, 1, &state);
    put(m, "blk.0.attn_q.weight", m->query, HEADS * HEAD, WIDTH, 1, &state);
    put(m, "blk.0.attn_k.weight", m->key, KEYS * HEAD, WIDTH, 1, &state);
    put(m, "blk.0.attn_v.weight", m->value, KEYS * HEAD, WIDTH, 1, &state);
    put(m, "blk.0.attn_output.weight", m->output, WIDTH, HEADS * HEAD, 1, &state);
    put(m, experts ? "blk.0.ffn_gate_exps.weight" : "blk.0.ffn_gate.weight", m->gate, INNER, WIDTH, count, &state);
    put(m, experts ? "blk.0.ffn_up_exps.weight" : "blk.0.ffn_up.weight", m->up, INNER, WIDTH, count, &state);
    put(m, experts ? "blk.0.ffn_down_exps.weight" : "blk.0.ffn_down.weight", m->down, WIDTH, INNER, count, &state);
    if (experts) {
        put(m, "blk.0.ffn_gate_inp.weight", m->router, EXPERTS, WIDTH, 1, &state);
        put(m, "blk.0.attn_q_norm.weight", m->ones, 0, HEAD, 1, &state);
        put(m, "blk.0.attn_k_norm.weight", m->ones, 0, HEAD, 1, &state);
    }
}

/* ---- the float64 pass ---- */

static void multiply(const float *matrix, unsigned rows, unsigned columns, const double *x, double *y)
{
    for (unsigned r = 0; r < rows; r++) {
        y[r] = 0;
        for (unsigned c = 0; c < columns; c++)
            y[r] += (double)matrix[r * columns + c] * x[c];
    }
}

static void normalise(const double *x, unsigned count, double *y)
{
    double squares = 0;
    for (unsigned i = 0; i < count; i++)
        squares += x[i] * x[i];
    for (unsigned i = 0; i < count; i++)
        y[i] = x[i] / sqrt(squares / count + 1e-5);
}

struct turning {
    double speed[PAIRS], attention;
};

static void turn(const struct turning *t, unsigned position, double *head)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        const double c = t->attention * cos(position * t->speed[i]), s = t->attention * sin(position * t->speed[i]), x = head[i],
                     y = head[i + PAIRS];
        head[i] = x * c - y * s;
        head[i + PAIRS] = x * s + y * c;
    }
}

static void feed_one(const struct made *m, unsigned expert, const double *x, double share, double *sum)
{
    double gate[INNER], up[INNER], y[WIDTH];
    multiply(m->gate + expert * INNER * WIDTH, INNER, WIDTH, x, gate);
    multiply(m->up + expert * INNER * WIDTH, INNER, WIDTH, x, up);
    for (unsigned i = 0; i < INNER; i++)
        gate[i] *= up[i] / (1 + exp(-gate[i]));
    multiply(m->down + expert * WIDTH * INNER, WIDTH, INNER, gate, y);
    for (unsigned i = 0; i < WIDTH; i++)
        sum[i] += share * y[i];
}

/* Softmax over all experts, of which the best are kept and weighed anew (norm_topk_prob). */
static void feed(const struct made *m, const double *x, double *sum)
{
    double p[EXPERTS], kept = 0;
    unsigned best[USED];
    if (!m->experts) {
        feed_one(m, 0, x, 1, sum);
        return;
    }
    multiply(m->router, EXPERTS, WIDTH, x, p);
    for (unsigned e = 0; e < EXPERTS; e++)
        p[e] = exp(p[e]);
    for (unsigned i = 0; i < USED; i++) {
        best[i] = i && best[0] == 0;
        for (unsigned e = 0; e < EXPERTS; e++)
            if ((i == 0 || e != best[0]) && p[e] > p[best[i]])
                best[i] = e;
        kept += p[best[i]];
    }
    for (unsigned i = 0; i < USED; i++)
        feed_one(m, best[i], x, p[best[i]] / kept, sum);
}

static void pass(const struct made *m, const struct turning *t, const uint32_t *token, double (*logits)[WORDS])
{
    static double key[TOKENS][HEAD], value[TOKENS][HEAD];
    for (unsigned n = 0; n < TOKENS; n++) {
        double x[WIDTH], normed[WIDTH], query[HEADS * HEAD], seen[HEADS * HEAD], y[WIDTH];
        for (unsigned i = 0; i < WIDTH; i++)
            x[i] = (double)m->embedding[token[n] * WIDTH + i];
        normalise(x, WIDTH, normed);
        multiply(m->query, HEADS * HEAD, WIDTH, normed, query);
        multiply(m->key, HEAD, WIDTH, normed, key[n]);
        multiply(m->value, HEAD, WIDTH, normed, value[n]);
        if (m->experts)
            normalise(key[n], HEAD, key[n]);
        turn(t, n, key[n]);
        for (unsigned h = 0; h < HEADS; h++) {
            double p[TOKENS], sum = 0;
            if (m->experts)
                normalise(query + h * HEAD, HEAD, query + h * HEAD);
            turn(t, n, query + h * HEAD);
            for (unsigned k = 0; k <= n; k++) {
                p[k] = 0;
                for (unsigned i = 0; i < HEAD; i++)
                    p[k] += query[h * HEAD + i] * key[k][i] / sqrt(HEAD);
                sum += p[k] = exp(p[k]);
            }
            for (unsigned i = 0; i < HEAD; i++) {
                seen[h * HEAD + i] = 0;
                for (unsigned k = 0; k <= n; k++)
                    seen[h * HEAD + i] += p[k] / sum * value[k][i];
            }
        }
        multiply(m->output, WIDTH, HEADS * HEAD, seen, y);
        for (unsigned i = 0; i < WIDTH; i++)
            x[i] += y[i];
        normalise(x, WIDTH, normed);
        feed(m, normed, x);
        normalise(x, WIDTH, normed);
        multiply(m->head, WORDS, WIDTH, normed, logits[n]);
    }
}

/* ---- what is compared ---- */

#define DIMENSIONS                                                                                                               \
    "\"vocab_size\":11,\"hidden_size\":16,\"num_hidden_layers\":1,\"num_attention_heads\":2,\"num_key_value_heads\":1,"          \
    "\"head_dim\":8,\"intermediate_size\":12,\"rms_norm_eps\":1e-5,\"rope_theta\":1000,\"max_position_embeddings\":64,"          \
    "\"tie_word_embeddings\":false"
#define LLAMA(more) "{\"model_type\":\"llama\"," DIMENSIONS more "}"
#define MOE(more)                                                                                                                \
    "{\"model_type\":\"qwen3_moe\"," DIMENSIONS ",\"num_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":12,"     \
    "\"norm_topk_prob\":true" more "}"

static double base_speed(unsigned pair)
{
    return pow(1000, -2.0 * pair / HEAD);
}

static void check_on(const struct language_model *model, enum orch_part part, const uint32_t *token, double (*want)[WORDS],
                     const char *name)
{
    struct orch_error error = {0};
    struct run_result result;
    struct language_sum sum = {0};
    const struct language_room room = {.context = TOKENS, .lanes = 1};
    double off = 0, range = 0;
    struct chip *const chip = chip_open(db, "m1", &(struct chip_overrides){NULL, 0}, &error);
    const struct run_request request = {.chip = chip, .mode = RUN_FUNCTIONAL, .threads = 1};
    run_result_init(&result);
    struct language_unit *const unit = language_unit_create(&request, &result, &error);
    struct language_stepper *const s = unit ? language_stepper_create(model, unit, part, &room, &error) : NULL;
    CHECK(s != NULL, "%s: %s", name, error.text);
    for (unsigned n = 0; s && n < TOKENS; n++) {
        const float *got = NULL;
        CU_ASSERT_TRUE_FATAL(language_step(s, &token[n], 1, &got, &sum, &error));
        for (unsigned i = 0; i < WORDS; i++) {
            off = fmax(off, fabs((double)got[i] - want[n][i]));
            range = fmax(range, fabs(want[n][i]));
        }
    }
    CHECK(off < (part == PART_ANE ? 2e-2 : 2e-5) * range, "%s on %s: off by %g of %g", name, orch_part_name(part), off, range);
    language_stepper_free(s);
    language_unit_free(unit, NULL);
    run_result_free(&result);
    chip_close(chip);
}

static void check(const char *name, const char *config, const struct turning *turning, bool experts)
{
    static struct made m;
    static double want[TOKENS][WORDS];
    struct language_model model = {.name = name};
    struct orch_error error = {0};
    uint32_t token[TOKENS];
    double off = 0;
    make(&m, experts);
    for (unsigned n = 0; n < TOKENS; n++)
        token[n] = (n * n + 3) % WORDS;
    pass(&m, turning, token, want);
    CHECK(shape_of_config(name, config, strlen(config), &model.shape, &error), "%s", error.text);
    model.weights = decoder_create(&model.shape, &m.list, TOKENS, &error);
    CHECK(model.weights != NULL, "%s: %s", name, error.text);
    for (unsigned n = 0; model.weights && n < TOKENS; n++) {
        float got[WORDS];
        CU_ASSERT_TRUE_FATAL(decoder_step(model.weights, token[n], got, &error));
        for (unsigned i = 0; i < WORDS; i++)
            off = fmax(off, fabs((double)got[i] - want[n][i]));
    }
    CHECK(off < 1e-5, "%s: the reference decoder is off by %g", name, off);
    for (unsigned i = 0; model.weights && i < 3; i++)
        check_on(&model, (enum orch_part[]){PART_CPU, PART_GPU, PART_ANE}[i], token, want, name);
    decoder_free(model.weights);
    weight_list_free(&m.list);
}

/* The same weights under transformers' names, each expert by itself, become those of GGUF files. */
static void test_names(void)
{
    static const struct {
        const char *before, *behind; /* the expert's number */
        size_t at;
        uint64_t rows, columns;
    } parts[] = {{"model.layers.0.mlp.experts.", ".gate_proj.weight", offsetof(struct made, gate), INNER, WIDTH},
                 {"model.layers.0.mlp.experts.", ".up_proj.weight", offsetof(struct made, up), INNER, WIDTH},
                 {"model.layers.0.mlp.experts.", ".down_proj.weight", offsetof(struct made, down), WIDTH, INNER},
                 {"model.layers.0.mlp.gate.weight", NULL, offsetof(struct made, router), EXPERTS, WIDTH}};
    static struct made m;
    struct weight_list from = {0};
    struct language_shape shape;
    struct orch_error error = {0};
    make(&m, true);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        for (unsigned e = 0; e < (i < 3 ? EXPERTS : 1); e++) {
            char name[96];
            if (parts[i].behind)
                snprintf(name, sizeof name, "%s%u%s", parts[i].before, e, parts[i].behind);
            else
                snprintf(name, sizeof name, "%s", parts[i].before);
            struct weight_tensor t = {.name = name, .format = block_format_named("f32"), .dims = 2};
            t.shape[0] = parts[i].columns;
            t.shape[1] = parts[i].rows;
            t.data = (const uint8_t *)&m + parts[i].at + sizeof(float) * e * parts[i].rows * parts[i].columns;
            CU_ASSERT_TRUE_FATAL(weight_measure(&t, &error) && weight_add(&from, &t, &error));
        }
    CU_ASSERT_TRUE_FATAL(shape_of_config("c", MOE(""), strlen(MOE("")), &shape, &error));
    struct transformers_weights *const w = transformers_weights_of(&shape, &from, &error);
    CHECK(w != NULL, "%s", error.text);
    for (size_t i = 0; w && i < m.list.count; i++) {
        const struct weight_tensor *const want = &m.list.tensor[i];
        const struct weight_tensor *const got = weight_find(transformers_weights_list(w), want->name);
        if (strstr(want->name, "exps") || strstr(want->name, "inp"))
            CHECK(got && got->bytes == want->bytes && memcmp(got->data, want->data, got->bytes) == 0, "%s", want->name);
    }
    transformers_weights_free(w);
    weight_list_free(&from);
    weight_list_free(&m.list);
}

static void test_scalings(void)
{
    struct turning t = {.attention = 1};
    for (unsigned i = 0; i < PAIRS; i++)
        t.speed[i] = base_speed(i);
    check("none", LLAMA(""), &t, false);
    check("experts", MOE(""), &t, true);
    for (unsigned i = 0; i < PAIRS; i++)
        t.speed[i] = base_speed(i) / 4;
    check("linear", LLAMA(",\"rope_scaling\":{\"type\":\"linear\",\"factor\":4}"), &t, false);
    /* Beyond what the model was made for: 40 of 16 tokens. */
    for (unsigned i = 0; i < PAIRS; i++)
        t.speed[i] = pow(1000 * pow(2.0 * 40 / 16 - 1, 8.0 / 6), -2.0 * i / HEAD);
    check(
        "dynamic",
        "{\"model_type\":\"llama\",\"vocab_size\":11,\"hidden_size\":16,\"num_hidden_layers\":1,\"num_attention_heads\":2,"
        "\"num_key_value_heads\":1,\"head_dim\":8,\"intermediate_size\":12,\"rms_norm_eps\":1e-5,\"rope_theta\":1000,"
        "\"max_position_embeddings\":16,\"tie_word_embeddings\":false,\"rope_scaling\":{\"rope_type\":\"dynamic\",\"factor\":2}}",
        &t, false);
}

/* Turns within 16 tokens: 8/(2 ln 1000) ln(16/(2 pi n)): pair 0.54 for one turn, below 0 for 32: the ramp goes from 0 to 1. With
 * half a turn as the last, to 0.94, rounded up to 1. */
static void test_yarn(void)
{
    struct turning t = {.attention = 0.1 * log(4) + 1};
    for (unsigned i = 0; i < PAIRS; i++)
        t.speed[i] = i ? base_speed(i) / 4 : base_speed(i);
    check("yarn", LLAMA(",\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4,\"original_max_position_embeddings\":16}"), &t, false);
    /* From pair 0 to pair 2: one twentieth of a turn is pair 2.27, so 3. */
    for (unsigned i = 0; i < PAIRS; i++) {
        const double share = fmin(i / 3.0, 1);
        t.speed[i] = base_speed(i) * (1 - share) + base_speed(i) / 4 * share;
    }
    t.attention = 1.25;
    check("yarn with a ramp",
          MOE(",\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":4,\"original_max_position_embeddings\":16,\"beta_slow\":0.05,"
              "\"attention_factor\":1.25}"),
          &t, true);
}

static void test_longrope(void)
{
    static const double longer[] = {1.5, 2, 7, 9}, shorter[] = {1, 1.25, 2, 3};
    struct turning t = {.attention = sqrt(1 + log(64.0 / 16) / log(16))};
    for (unsigned i = 0; i < PAIRS; i++)
        t.speed[i] = base_speed(i) / longer[i];
    check("longrope",
          LLAMA(",\"original_max_position_embeddings\":16,\"rope_scaling\":{\"type\":\"longrope\",\"short_factor\":[1,1.25,2,3],"
                "\"long_factor\":[1.5,2,7,9]}"),
          &t, false);
    t.attention = sqrt(1 + log(64.0 / 48) / log(48));
    for (unsigned i = 0; i < PAIRS; i++)
        t.speed[i] = base_speed(i) / shorter[i];
    check("longrope, short",
          LLAMA(",\"original_max_position_embeddings\":48,\"rope_scaling\":{\"type\":\"su\",\"short_factor\":[1,1.25,2,3],"
                "\"long_factor\":[1.5,2,7,9]}"),
          &t, false);
}

static void test_refused(void)
{
    static const struct {
        const char *config, *what;
        int code;
    } rows[] = {
        {LLAMA(",\"rope_scaling\":{\"type\":\"spiral\",\"factor\":2}"), "\"spiral\" is none of linear, dynamic", ORCH_UNMODELLED},
        {LLAMA(",\"rope_scaling\":{\"type\":\"yarn\"}"), "rope_scaling.factor", ORCH_USAGE},
        {LLAMA(",\"rope_scaling\":{\"type\":\"longrope\",\"short_factor\":[1]}"), "rope_scaling.short_factor", ORCH_USAGE},
        {LLAMA(",\"rope_scaling\":{\"type\":\"longrope\",\"short_factor\":[1,1,1,0]}"), "short_factor[3]", ORCH_USAGE},
        {MOE(",\"mlp_only_layers\":[0]"), "mlp_only_layers: layers without experts", ORCH_UNMODELLED},
        {MOE(",\"decoder_sparse_step\":2"), "decoder_sparse_step", ORCH_UNMODELLED},
        {MOE(",\"n_shared_experts\":1"), "n_shared_experts: an expert of all tokens", ORCH_UNMODELLED},
        {"{\"model_type\":\"deepseek_v3\"}", "\"deepseek_v3\" is not modelled", ORCH_UNMODELLED},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct language_shape shape;
        struct orch_error error = {0};
        const bool ok = shape_of_config("c", rows[i].config, strlen(rows[i].config), &shape, &error);
        CHECK(!ok && error.exit_code == rows[i].code && strstr(error.text, rows[i].what), "expected '%s', got '%s'", rows[i].what,
              error.text);
    }
}

static const struct suite_test tests[] = {
    {"scaled by a number", test_scalings}, {"yarn", test_yarn}, {"longrope", test_longrope}, {"names of experts", test_names},
    {"what is refused", test_refused},
};
int main(void)
{
    return example_chips_run("language rotation", tests, ARRAY_COUNT(tests), &db);
}
