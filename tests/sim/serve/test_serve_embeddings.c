/* Embeddings as clients of OpenAI and llama.cpp ask for them, against a pass in double precision. */
#include "tests/sim/serve/serve_example.h"
#include "tests/support/cli_binary.h"

#include <math.h>

/* The golden embedding of text `place`, divided by its length. */
static void golden_of(const char *file, unsigned place, double *to, size_t width)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/language/%s", suite_golden(""), file);
    json_object *const root = json_object_from_file(path), *cases = NULL, *row = NULL;
    CU_ASSERT_TRUE_FATAL(root && json_object_object_get_ex(root, "cases", &cases));
    CU_ASSERT_TRUE_FATAL(json_object_object_get_ex(json_object_array_get_idx(cases, place), "sentence_embedding", &row));
    double length = 0;
    for (size_t k = 0; k < width; k++) {
        to[k] = json_object_get_double(json_object_array_get_idx(row, k));
        length += to[k] * to[k];
    }
    for (size_t k = 0; k < width; k++)
        to[k] /= sqrt(length);
    json_object_put(root);
}

static void golden(unsigned place, double *to, size_t width)
{
    golden_of("encoders/bert/golden.json", place, to, width);
}

enum { WIDTH = 24 };

static void check_row(json_object *row, unsigned place)
{
    double want[WIDTH];
    golden(place, want, WIDTH);
    CHECK(row && json_object_array_length(row) == WIDTH, "text %u: %s", place, json_object_to_json_string(row));
    for (size_t k = 0; row && k < WIDTH; k++)
        CHECK(fabs(json_object_get_double(json_object_array_get_idx(row, k)) - want[k]) < 1e-6, "text %u, number %zu", place, k);
}

static json_object *at(json_object *o, const char *place)
{
    json_object *value = NULL;
    return o && json_pointer_get(o, place, &value) == 0 ? value : NULL;
}

static bool start_model(const char *model)
{
    char line[700];
    cli_home_open(&home);
    port = http_free_port();
    snprintf(line, sizeof line, "serve %s/language/%s --unit gpu --db %s/runs.db --port %u --quiet", suite_golden(""), model,
             home.folder, port);
    return start_line(line);
}

static bool start_encoder(void)
{
    return start_model("encoders/bert");
}

/* Texts of several lengths, of which two have the same; tokens; bytes of float32. */
static void test_openai(void)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    float number[WIDTH];
    double want[WIDTH];
    if (!start_encoder())
        return;
    json_object *o = post("/v1/embeddings",
                          "{\"model\":\"bert\",\"input\":[\"The cat sat on the mat.\",\"Hello, world!\",\"cats running far "
                          "away and a zebra\",\"the CAT sat on the mat.\"]}",
                          200);
    for (unsigned i = 0; i < 4; i++) {
        char place[40];
        snprintf(place, sizeof place, "/data/%u/embedding", i);
        check_row(at(o, place), i % 3);
    }
    CU_ASSERT_STRING_EQUAL(json_object_get_string(at(o, "/object")), "list");
    CHECK(json_object_get_int(at(o, "/usage/prompt_tokens")) > 30 && json_object_get_double(at(o, "/simulated/seconds")) > 1e-5,
          "%s", json_object_to_json_string(o));
    json_object_put(o);
    o = post("/v1/embeddings", "{\"input\":\"Hello, world!\",\"encoding_format\":\"base64\",\"dimensions\":24}", 200);
    const char *const text = json_object_get_string(at(o, "/data/0/embedding"));
    CU_ASSERT_TRUE_FATAL(text && strlen(text) == sizeof number / 3 * 4);
    for (size_t i = 0; i < sizeof number; i++) {
        const size_t four = i / 3 * 4, part = i % 3;
        const uint32_t a = (uint32_t)(strchr(digits, text[four + part]) - digits);
        const uint32_t b = (uint32_t)(strchr(digits, text[four + part + 1]) - digits);
        ((uint8_t *)number)[i] = (uint8_t)(a << (2 + 2 * part) | b >> (4 - 2 * part));
    }
    golden(1, want, WIDTH);
    for (size_t k = 0; k < WIDTH; k++)
        CHECK(fabs(number[k] - want[k]) < 1e-6, "number %zu of bytes", k);
    json_object_put(o);
    stop();
}

static void test_own(void)
{
    if (!start_encoder())
        return;
    json_object *o = post("/embedding", "{\"content\":\"Hello, world!\"}", 200);
    check_row(at(o, "/0/embedding/0"), 1);
    json_object_put(o);
    o = post("/embedding", "{\"content\":[\"Hello, world!\",\"The cat sat on the mat.\"],\"embd_normalize\":2}", 200);
    check_row(at(o, "/1/embedding/0"), 0);
    json_object_put(o);
    o = get("/v1/models");
    CU_ASSERT_STRING_EQUAL(json_object_get_string(at(o, "/data/0/id")), "bert");
    json_object_put(o);
    stop();
}

static void test_refusals(void)
{
    static const struct {
        const char *body, *part;
    } cases[] = {{"{\"input\":[]}", "input: has no text"},
                 {"{\"input\":\"\"}", "input: is empty"},
                 {"{}", "input: is missing"},
                 {"{\"input\":[[2,26]]}", "input[0][1]: expected an integer from 0 to 25"},
                 {"{\"input\":[\"a\",3]}", "input[1]"},
                 {"{\"input\":\"a\",\"encoding_format\":\"hex\"}", "encoding_format"},
                 {"{\"input\":\"a\",\"dimensions\":12}", "dimensions: is 24 here"},
                 {"{\"input\":\"a a a a a a a a a a a a a a a a a a a a\"}", "the model has places for 20"},
                 {"{\"input\":", "request"}};
    if (!start_encoder())
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_object *const o = post("/v1/embeddings", cases[i].body, 400);
        const char *const message = json_object_get_string(at(o, "/error/message"));
        CHECK(message && strstr(message, cases[i].part), "%s: %s", cases[i].body, message ? message : "");
        json_object_put(o);
    }
    struct http_answer a = ask("GET", "/v1/embeddings", "", NULL, 0);
    CU_ASSERT_EQUAL(a.status, 405);
    free(a.body);
    stop();
}

/* A GGUF file, by the name of the file without its ending. */
static void test_file(void)
{
    enum { NOMIC = 32 };
    double want[NOMIC];
    if (!start_model("encoder_files/nomic-bert.gguf"))
        return;
    for (unsigned own = 0; own < 2; own++) {
        json_object *const o = post(own ? "/embedding" : "/v1/embeddings",
                                    "{\"model\":\"nomic-bert\",\"input\":[\"Hello, world!\",\"The cat sat on the mat.\"]}", 200);
        for (unsigned text = 0; text < 2; text++) {
            char place[40];
            snprintf(place, sizeof place, own ? "/%u/embedding/0" : "/data/%u/embedding", text);
            json_object *const row = at(o, place);
            golden_of("encoder_files/nomic-bert.json", 1 - text, want, NOMIC);
            CHECK(row && json_object_array_length(row) == NOMIC, "%s: %s", place, json_object_to_json_string(o));
            for (size_t k = 0; row && k < NOMIC; k++)
                CHECK(fabs(json_object_get_double(json_object_array_get_idx(row, k)) - want[k]) < 1e-6, "%s, number %zu", place,
                      k);
        }
        json_object_put(o);
    }
    stop();
}

static const struct suite_test tests[] = {{"of a GGUF file", test_file},
                                          {"embeddings in OpenAI's form", test_openai},
                                          {"in llama.cpp's", test_own},
                                          {"requests that make no sense", test_refusals}};
SUITE_MAIN("serve embeddings", tests)
