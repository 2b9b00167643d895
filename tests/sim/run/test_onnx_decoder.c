/* Decoders in ONNX, in the form of optimum's exports, with a cache and without: tokens against a forward pass in double precision
 * over the whole text, on units; and what is refused. */
#include "isa/array_count.h"
#include "sim/run/language/language_options.h"
#include "tests/sim/network/onnx_example.h"
#include "tests/sim/run_example.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { VOCABULARY = 11, WIDTH = 8, HEADS = 2, DEPTH = 4, PLACES = 32, SAID = 6, PROMPT = 3, FLOAT = 1, INT64 = 7 };
static const uint32_t prompt[PROMPT] = {5, 0, 7};

struct weights {
    float embedding[VOCABULARY * WIDTH], places[PLACES * WIDTH], query[WIDTH * WIDTH], key[WIDTH * WIDTH], value[WIDTH * WIDTH],
        output[WIDTH * WIDTH], head[WIDTH * VOCABULARY];
};

static void fill(float *to, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)(2 * ((double)(suite_random(state) >> 11) * 0x1p-53) - 1);
}

static void make_weights(struct weights *w)
{
    uint64_t state = 9;
    float *const all[] = {w->embedding, w->places, w->query, w->key, w->value, w->output, w->head};
    const size_t count[] = {VOCABULARY * WIDTH, PLACES * WIDTH, WIDTH * WIDTH,     WIDTH * WIDTH,
                            WIDTH * WIDTH,      WIDTH * WIDTH,  WIDTH * VOCABULARY};
    for (size_t i = 0; i < ARRAY_COUNT(all); i++)
        fill(all[i], count[i], &state);
}

/* ---- what it computes ---- */

/* y[c] = sum of x[i] m[i][c] */
static void multiply(const double *x, const float *m, unsigned columns, double *y)
{
    for (unsigned c = 0; c < columns; c++) {
        y[c] = 0;
        for (unsigned i = 0; i < WIDTH; i++)
            y[c] += x[i] * (double)m[i * columns + c];
    }
}

static void exact_logits(const struct weights *w, const uint32_t *token, unsigned count, double *logits)
{
    double x[PLACES][WIDTH], k[PLACES][WIDTH], v[PLACES][WIDTH], q[WIDTH], seen[WIDTH], y[WIDTH];
    for (unsigned t = 0; t < count; t++) {
        for (unsigned i = 0; i < WIDTH; i++)
            x[t][i] = (double)w->embedding[token[t] * WIDTH + i] + (double)w->places[t * WIDTH + i];
        multiply(x[t], w->key, WIDTH, k[t]);
        multiply(x[t], w->value, WIDTH, v[t]);
    }
    multiply(x[count - 1], w->query, WIDTH, q);
    for (unsigned h = 0; h < HEADS; h++) {
        double p[PLACES], sum = 0;
        for (unsigned t = 0; t < count; t++) {
            p[t] = 0;
            for (unsigned i = 0; i < DEPTH; i++)
                p[t] += q[h * DEPTH + i] * k[t][h * DEPTH + i] / sqrt(DEPTH);
            sum += p[t] = exp(p[t]);
        }
        for (unsigned i = 0; i < DEPTH; i++) {
            seen[h * DEPTH + i] = 0;
            for (unsigned t = 0; t < count; t++)
                seen[h * DEPTH + i] += p[t] / sum * v[t][h * DEPTH + i];
        }
    }
    multiply(seen, w->output, WIDTH, y);
    for (unsigned i = 0; i < WIDTH; i++)
        y[i] += x[count - 1][i];
    multiply(y, w->head, VOCABULARY, logits);
}

static void exact_text(const struct weights *w, uint32_t said[SAID])
{
    uint32_t all[PLACES];
    memcpy(all, prompt, sizeof prompt);
    for (unsigned i = 0; i < SAID; i++) {
        double logits[VOCABULARY], second = -INFINITY;
        unsigned best = 0;
        exact_logits(w, all, PROMPT + i, logits);
        for (unsigned k = 1; k < VOCABULARY; k++)
            best = logits[k] > logits[best] ? k : best;
        for (unsigned k = 0; k < VOCABULARY; k++)
            second = k != best ? fmax(second, logits[k]) : second;
        CHECK(logits[best] - second > 1e-3, "token %u: the two best are %g apart", i, logits[best] - second);
        said[i] = all[PROMPT + i] = best;
    }
}

/* ---- the file ---- */

static void put_node(struct message *graph, const char *op, const char *inputs, const char *outputs)
{
    struct message n = node_proto(op, inputs, outputs);
    put_message(graph, 1, &n);
}

static void put_with_ints(struct message *graph, const char *op, const char *inputs, const char *outputs, const char *name,
                          const int64_t *value, size_t count)
{
    struct message n = node_proto(op, inputs, outputs);
    if (count == 1)
        put_int_attribute(&n, name, *value);
    else
        put_ints_attribute(&n, name, value, count);
    put_message(graph, 1, &n);
}

static void put_floats(struct message *graph, const char *name, const float *value, int64_t rows, int64_t columns)
{
    const int64_t dim[] = {rows, columns};
    struct message t = tensor_proto(name, FLOAT, dim, columns ? 2 : 0, value, 4 * (size_t)(rows * (columns ? columns : 1)));
    put_message(graph, 5, &t);
}

static void put_wholes(struct message *graph, const char *name, const int64_t *value, int64_t count)
{
    struct message t = tensor_proto(name, INT64, &count, count > 0, value, 8 * (size_t)(count ? count : 1));
    put_message(graph, 5, &t);
}

static void put_value(struct message *graph, unsigned field, const char *name, unsigned type, const int64_t *dim, size_t dims)
{
    struct message v = value_info(name, type, dim, dims);
    put_message(graph, field, &v);
}

/* What is wrong with a file. */
enum wrong { RIGHT, NO_PRESENT, OTHER_HEADS, NO_LOGITS, NO_KEYS, OTHER_INPUT };

static void put_constants(struct message *g, const struct weights *w)
{
    static const int64_t heads[] = {0, 0, HEADS, DEPTH}, wide[] = {0, 0, WIDTH}, zero = 0, one = 1, middle[] = {1, 2},
                         query_axes[] = {1, 3};
    static const float scale = 0.5F, low = -1e9F;
    put_floats(g, "embedding", w->embedding, VOCABULARY, WIDTH);
    put_floats(g, "places", w->places, PLACES, WIDTH);
    put_floats(g, "wq", w->query, WIDTH, WIDTH);
    put_floats(g, "wk", w->key, WIDTH, WIDTH);
    put_floats(g, "wv", w->value, WIDTH, WIDTH);
    put_floats(g, "wo", w->output, WIDTH, WIDTH);
    put_floats(g, "head", w->head, WIDTH, VOCABULARY);
    put_floats(g, "scale", &scale, 1, 0);
    put_floats(g, "low", &low, 1, 0);
    put_wholes(g, "heads", heads, 4);
    put_wholes(g, "wide", wide, 3);
    put_wholes(g, "zero", &zero, 0);
    put_wholes(g, "one", &one, 0);
    put_wholes(g, "key_axes", middle, 2);
    put_wholes(g, "query_axes", query_axes, 2);
}

static void put_projection(struct message *g, const char *weights, const char *product, const char *cut, const char *to)
{
    static const int64_t turn[] = {0, 2, 1, 3};
    char inputs[32], heads[32];
    snprintf(inputs, sizeof inputs, "x %s", weights);
    snprintf(heads, sizeof heads, "%s heads", product);
    put_node(g, "MatMul", inputs, product);
    put_node(g, "Reshape", heads, cut);
    put_with_ints(g, "Transpose", cut, to, "perm", turn, 4);
}

/* Places of queries and of keys, from 0 on. */
static void put_places(struct message *g, bool cached)
{
    if (cached) {
        put_node(g, "CumSum", "attention_mask one", "counted");
        put_node(g, "Sub", "counted one", "key_place");
        put_node(g, "Identity", "position_ids", "place");
        return;
    }
    put_node(g, "Mul", "input_ids zero", "nothing");
    put_node(g, "Add", "nothing one", "ones");
    put_node(g, "CumSum", "ones one", "counted");
    put_node(g, "Sub", "counted one", "place");
    put_node(g, "Identity", "place", "key_place");
}

static void put_layer(struct message *g, bool cached)
{
    static const int64_t turn[] = {0, 2, 1, 3}, across[] = {0, 1, 3, 2}, axis = 2, last = -1;
    put_node(g, "Gather", "embedding input_ids", "embedded");
    put_node(g, "Gather", "places place", "placed");
    put_node(g, "Add", "embedded placed", "x");
    put_projection(g, "wq", "q0", "q1", "q");
    put_projection(g, "wk", "k0", "k1", cached ? "k2" : "k");
    put_projection(g, "wv", "v0", "v1", cached ? "v2" : "v");
    if (cached) {
        put_with_ints(g, "Concat", "past_key_values.0.key k2", "present.0.key", "axis", &axis, 1);
        put_with_ints(g, "Concat", "past_key_values.0.value v2", "present.0.value", "axis", &axis, 1);
    }
    put_with_ints(g, "Transpose", cached ? "present.0.key" : "k", "kt", "perm", across, 4);
    put_node(g, "MatMul", "q kt", "s0");
    put_node(g, "Mul", "s0 scale", "s1");
    put_node(g, "Unsqueeze", "key_place key_axes", "key_at");
    put_node(g, "Unsqueeze", "place query_axes", "query_at");
    put_node(g, "LessOrEqual", "key_at query_at", "sees");
    put_node(g, "Where", "sees s1 low", "s2");
    put_with_ints(g, "Softmax", "s2", "p", "axis", &last, 1);
    put_node(g, "MatMul", cached ? "p present.0.value" : "p v", "o0");
    put_with_ints(g, "Transpose", "o0", "o1", "perm", turn, 4);
    put_node(g, "Reshape", "o1 wide", "o2");
    put_node(g, "MatMul", "o2 wo", "o3");
    put_node(g, "Add", "x o3", "y");
    put_node(g, "MatMul", "y head", "logits");
}

static void put_ends(struct message *g, bool cached, enum wrong wrong)
{
    /* Tokens of the step, those before it, and both. */
    static const int64_t tokens[] = {1, -1}, kept[] = {1, HEADS, -2, DEPTH}, others[] = {1, 2 * HEADS, -2, DEPTH},
                         all[] = {1, -3}, then[] = {1, HEADS, -3, DEPTH}, logits[] = {1, -1, VOCABULARY};
    put_value(g, 11, "input_ids", INT64, tokens, 2);
    if (cached) {
        put_value(g, 11, "attention_mask", INT64, all, 2);
        put_value(g, 11, "position_ids", INT64, tokens, 2);
        if (wrong != NO_KEYS)
            put_value(g, 11, "past_key_values.0.key", FLOAT, kept, 4);
        put_value(g, 11, "past_key_values.0.value", FLOAT, wrong == OTHER_HEADS ? others : kept, 4);
    }
    if (wrong == OTHER_INPUT)
        put_value(g, 11, "encoder_hidden_states", FLOAT, logits, 3);
    put_value(g, 12, wrong == NO_LOGITS ? "y" : "logits", FLOAT, wrong == NO_LOGITS ? (const int64_t[]){1, -1, WIDTH} : logits,
              3);
    if (!cached)
        return;
    put_value(g, 12, "present.0.key", FLOAT, then, 4);
    if (wrong != NO_PRESENT)
        put_value(g, 12, "present.0.value", FLOAT, then, 4);
}

static void write_decoder(const char *path, const struct weights *w, bool cached, enum wrong wrong)
{
    struct message g = {NULL, 0};
    put_places(&g, cached);
    put_layer(&g, cached);
    put_text(&g, 2, "decoder");
    put_constants(&g, w);
    put_ends(&g, cached, wrong);
    struct message m = model_proto(17, &g);
    FILE *const f = fopen(path, "wb");
    CU_ASSERT_TRUE_FATAL(f && fwrite(m.byte, 1, m.size, f) == m.size && fclose(f) == 0);
    free(m.byte);
}

/* ---- runs ---- */

static void check_tokens(const struct outcome *o, const uint32_t said[SAID], const char *way)
{
    json_object *const document = o->ok ? json_tokener_parse(o->result.generation) : NULL;
    json_object *const tokens = document ? json_object_object_get(document, "tokens") : NULL;
    CHECK(tokens && json_object_array_length(tokens) == SAID, "%s: %s", way, o->error.text);
    for (unsigned i = 0; tokens && i < SAID; i++)
        CHECK((uint32_t)json_object_get_int(json_object_array_get_idx(tokens, i)) == said[i], "%s: token %u is another", way, i);
    json_object_put(document);
}

static void test_tokens(void)
{
    static const char *const units[] = {"cpu", "amx", "gpu"};
    char folder[] = "/tmp/orchard_decoder_XXXXXX", path[64];
    struct weights w;
    uint32_t said[SAID];
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/decoder.onnx", folder);
    make_weights(&w);
    exact_text(&w, said);
    for (unsigned cached = 0; cached < 2; cached++) {
        write_decoder(path, &w, cached, RIGHT);
        for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
            const struct language_options options = {
                .prompt_ids = "5,0,7", .generate = SAID, .sampling = {.repetition_penalty = 1}};
            struct outcome o =
                run_on(db, "m1", path,
                       (struct run_request){.unit = units[i], .mode = i ? RUN_FUNCTIONAL : RUN_FULL, .language = &options});
            char way[64];
            snprintf(way, sizeof way, "%s, %s a cache", units[i], cached ? "with" : "without");
            check_tokens(&o, said, way);
            if (!i)
                CHECK(o.result.prefill_seconds > 0 && o.result.seconds > o.result.prefill_seconds && o.result.joules > 0 &&
                          fabs(o.result.tokens_per_second * (o.result.seconds - o.result.prefill_seconds) / (SAID - 1) - 1) <
                              1e-9,
                      "%s: %g s, %g tokens a second", way, o.result.seconds, o.result.tokens_per_second);
            run_result_free(&o.result);
        }
    }
    unlink(path);
    rmdir(folder);
}

static void write_text(const char *folder, const char *name, const char *text, char path[64])
{
    snprintf(path, 64, "%s/%s", folder, name);
    FILE *const f = fopen(path, "w");
    CU_ASSERT_TRUE_FATAL(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Letters stand for tokens in order; the file beside says which one ends. */
static void test_texts(void)
{
    static const char vocabulary[] =
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"e\":4,\"f\":5,\"g\":6,\"h\":7,\"i\":8,\"j\":9,"
        "\"ab\":10},\"merges\":[\"a "
        "b\"]},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true},"
        "\"decoder\":{\"type\":\"ByteLevel\"}}";
    char folder[] = "/tmp/orchard_decoder_XXXXXX", path[64], tokenizer[64], config[64], ends[40], text[PROMPT + SAID + 1] = "fah";
    struct weights w;
    uint32_t said[SAID];
    unsigned count = 1;
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/decoder.onnx", folder);
    make_weights(&w);
    exact_text(&w, said);
    while (count < SAID && said[count] == said[0])
        count++;
    CHECK(count < SAID, "all tokens are the same");
    for (unsigned i = 0; i < count; i++) /* the one that ends is none of the text */
        text[PROMPT + i] = (char)('a' + said[i]);
    snprintf(ends, sizeof ends, "{\"eos_token_id\":[%u]}", said[count]);
    write_decoder(path, &w, true, RIGHT);
    write_text(folder, "tokenizer.json", vocabulary, tokenizer);
    write_text(folder, "config.json", ends, config);
    const struct language_options options = {.prompt_text = "fah", .generate = SAID, .sampling = {.repetition_penalty = 1}};
    struct outcome o = run_on(db, "m1", path, (struct run_request){.unit = "cpu", .mode = RUN_FUNCTIONAL, .language = &options});
    json_object *const document = o.ok ? json_tokener_parse(o.result.generation) : NULL;
    const char *const got = document ? json_object_get_string(json_object_object_get(document, "text")) : "";
    const char *const stop = document ? json_object_get_string(json_object_object_get(document, "stop")) : "";
    CHECK(strncmp(got, text, strlen(text)) == 0 && strcmp(stop, "eos") == 0, "'%s' in place of '%s', %s: %s", got, text, stop,
          o.error.text);
    json_object_put(document);
    run_result_free(&o.result);
    write_text(folder, "tokenizer.json", "{\"model\":", tokenizer);
    o = run_on(db, "m1", path, (struct run_request){.unit = "cpu", .mode = RUN_FUNCTIONAL, .language = &options});
    CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, "tokenizer.json"), "%s", o.error.text);
    run_result_free(&o.result);
    unlink(path);
    unlink(tokenizer);
    unlink(config);
    rmdir(folder);
}

static void test_refusals(void)
{
    static const struct {
        enum wrong wrong;
        struct language_options options;
        const char *unit, *what;
    } rows[] = {{NO_PRESENT, {.prompt_ids = "5"}, "cpu", "no output 'present.0.value'"},
                {OTHER_HEADS, {.prompt_ids = "5"}, "cpu", "'past_key_values.0.value' has other heads"},
                {NO_LOGITS, {.prompt_ids = "5"}, "cpu", "no output 'logits'"},
                {OTHER_INPUT, {.prompt_ids = "5"}, "cpu", "input 'encoder_hidden_states' is none of a decoder's"},
                {RIGHT, {.prompt_ids = "5,x"}, "cpu", "numbers of tokens with commas"},
                {RIGHT, {.generate = 4}, "cpu", "a prompt is missing"},
                {RIGHT, {.prompt_text = "a"}, "cpu", "no tokenizer.json beside"},
                {RIGHT, {.prompt_ids = "5", .batch = 2}, "cpu", "--batch: not of decoders in ONNX"},
                {RIGHT, {.prompt_ids = "5,99", .generate = 2}, "cpu", "99"}};
    char folder[] = "/tmp/orchard_decoder_XXXXXX", path[64];
    struct weights w;
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/decoder.onnx", folder);
    make_weights(&w);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct language_options options = rows[i].options;
        options.sampling.repetition_penalty = 1;
        write_decoder(path, &w, true, rows[i].wrong);
        struct outcome o =
            run_on(db, "m1", path, (struct run_request){.unit = rows[i].unit, .mode = RUN_FUNCTIONAL, .language = &options});
        CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, rows[i].what), "expected '%s', got '%s'",
              rows[i].what, o.error.text);
        run_result_free(&o.result);
    }
    unlink(path);
    rmdir(folder);
}

static const struct suite_test tests[] = {{"tokens with a cache and without", test_tokens},
                                          {"texts with a vocabulary beside", test_texts},
                                          {"refusals", test_refusals}};

int main(void)
{
    return example_chips_run("onnx decoder", tests, ARRAY_COUNT(tests), &db);
}
