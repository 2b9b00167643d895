/* Decoders as onnxruntime-genai and optimum write them, with onnxruntime's own operators and with branches, against the tokens
 * that onnxruntime says; and what of these operators is refused. */
#include "isa/array_count.h"
#include "sim/run/language/language_options.h"
#include "tests/sim/language/language_example.h"
#include "tests/sim/network/onnx_example.h"
#include "sim/network/network.h"
#include "tests/sim/run_example.h"

#include <json-c/json.h>
#include <unistd.h>

static struct chip_db *db;

enum { SAID = 12 };

/* The tokens of a line "NAME 1,2,3". */
static void read_said(const char *text, const char *name, uint32_t said[SAID])
{
    const char *at = strstr(text, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at += strlen(name);
    for (unsigned i = 0; i < SAID; i++) {
        char *after;
        said[i] = (uint32_t)strtoul(at + 1, &after, 10);
        at = after;
    }
}

static void check_file(const char *name, const char *unit, enum run_mode mode, const char *path, const uint32_t said[SAID])
{
    const struct language_options options = {.prompt_ids = "5,0,7,12", .generate = SAID, .sampling = {.repetition_penalty = 1}};
    struct outcome o = run_on(db, "m1", path, (struct run_request){.unit = unit, .mode = mode, .language = &options});
    json_object *const document = o.ok ? json_tokener_parse(o.result.generation) : NULL;
    json_object *const tokens = document ? json_object_object_get(document, "tokens") : NULL;
    CHECK(tokens && json_object_array_length(tokens) == SAID, "%s on %s: %s", name, unit, o.error.text);
    for (unsigned i = 0; tokens && i < SAID; i++)
        CHECK((uint32_t)json_object_get_int(json_object_array_get_idx(tokens, i)) == said[i], "%s on %s: token %u is another",
              name, unit, i);
    json_object_put(document);
    run_result_free(&o.result);
}

static void test_files(void)
{
    static const struct {
        const char *name, *unit;
        enum run_mode mode;
    } rows[] = {{"genai-packed", "cpu", RUN_FUNCTIONAL},   {"genai-packed", "gpu", RUN_FUNCTIONAL},
                {"genai-window", "amx", RUN_FUNCTIONAL},   {"genai-window", "auto", RUN_FUNCTIONAL},
                {"optimum-merged", "cpu", RUN_FUNCTIONAL}, {"optimum-merged", "gpu", RUN_FUNCTIONAL}};
    struct example_file tokens;
    CU_ASSERT_TRUE_FATAL(example_golden("decoders/tokens.txt", &tokens));
    char *const text = strndup((const char *)tokens.bytes, tokens.size);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct example_file file;
        uint32_t said[SAID];
        char name[64], path[64];
        snprintf(name, sizeof name, "decoders/%s.onnx.gz", rows[i].name);
        CU_ASSERT_TRUE_FATAL(example_golden(name, &file));
        snprintf(path, sizeof path, "/tmp/orchard_decoder_%d.onnx", (int)getpid());
        FILE *const f = fopen(path, "wb");
        CU_ASSERT_TRUE_FATAL(f && fwrite(file.bytes, 1, file.size, f) == file.size && fclose(f) == 0);
        read_said(text, rows[i].name, said);
        check_file(rows[i].name, rows[i].unit, rows[i].mode, path, said);
        unlink(path);
        free(file.bytes);
    }
    free(text);
    free(tokens.bytes);
}

/* ---- what is refused ---- */

struct refused {
    const char *op, *inputs, *outputs;
    struct {
        const char *name;
        int64_t value;
    } attribute[4];
    const char *what;
    int code;
};

static void check_refused(const struct refused *r)
{
    static const int64_t wide[] = {1, 2, 64}, past[] = {1, 2, 0, 16};
    struct message g = {NULL, 0}, n = node_proto(r->op, r->inputs, r->outputs);
    struct orch_error error = {0};
    put_text(&n, 7, "com.microsoft");
    for (size_t i = 0; i < ARRAY_COUNT(r->attribute) && r->attribute[i].name; i++)
        put_int_attribute(&n, r->attribute[i].name, r->attribute[i].value);
    put_message(&g, 1, &n);
    put_text(&g, 2, "refused");
    for (const char *const *name = (const char *const[]){"x", "y", "z", NULL}; *name; name++) {
        struct message v = value_info(*name, 1, wide, 3);
        put_message(&g, 11, &v);
    }
    struct message v = value_info("past", 1, past, 4), o = value_info("o", 1, wide, 3);
    put_message(&g, 11, &v);
    put_message(&g, 12, &o);
    struct message m = model_proto(17, &g);
    char path[64];
    snprintf(path, sizeof path, "/tmp/orchard_refused_%d.onnx", (int)getpid());
    FILE *const f = fopen(path, "wb");
    CU_ASSERT_TRUE_FATAL(f && fwrite(m.byte, 1, m.size, f) == m.size && fclose(f) == 0);
    struct net_model *const model = net_import(path, &error);
    CHECK(!model && error.exit_code == r->code && strstr(error.text, r->what), "%s: expected '%s', got '%s'", r->op, r->what,
          error.text);
    net_model_free(model);
    unlink(path);
    free(m.byte);
}

static void test_refused(void)
{
    static const struct refused rows[] = {
        {"SkipSimplifiedLayerNormalization", "x y", "o", {{NULL, 0}}, "2 inputs; expected 3 at least", ORCH_USAGE},
        {"SkipSimplifiedLayerNormalization", "x y z", "o mean", {{NULL, 0}}, "output 1, which is for training", ORCH_UNMODELLED},
        {"RotaryEmbedding", "x y z", "o", {{NULL, 0}}, "3 inputs; expected 4 at least", ORCH_USAGE},
        {"RotaryEmbedding", "x y z z", "o", {{NULL, 0}}, "how many heads there are is not said", ORCH_USAGE},
        {"MatMulNBits",
         "x y z",
         "o",
         {{"bits", 3}, {"K", 64}, {"N", 2}, {"block_size", 32}},
         "weights of 3 bits",
         ORCH_UNMODELLED},
        {"MatMulNBits", "x y z", "o", {{"bits", 4}, {"K", 64}, {"N", 2}, {"block_size", 32}}, "must be a constant", ORCH_USAGE},
        {"GroupQueryAttention",
         "x y z past past z z",
         "o k v",
         {{"num_heads", 3}, {"kv_num_heads", 2}},
         "3 heads of queries and 2 of keys",
         ORCH_USAGE},
        {"GroupQueryAttention",
         "x y z past past z z",
         "o k v products",
         {{"num_heads", 2}, {"kv_num_heads", 2}},
         "the products as an output",
         ORCH_UNMODELLED},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        check_refused(&rows[i]);
}

static const struct suite_test tests[] = {{"tokens of onnxruntime", test_files}, {"what is refused", test_refused}};

int main(void)
{
    return example_chips_run("onnx decoder files", tests, ARRAY_COUNT(tests), &db);
}
