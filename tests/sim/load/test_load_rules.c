/* What a load is described by: the batcher's rule, arrivals in files, config.pbtxt. */
#include "isa/array_count.h"
#include "sim/load/arrivals.h"
#include "sim/load/model_config.h"
#include "sim/load/model_entry.h"
#include "sim/load/text_proto.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static unsigned of_list(const void *context, size_t index)
{
    return ((const unsigned *)context)[index];
}

/* Cases of Triton's rule, worked out by hand from dynamic_batch_scheduler.cc. */
static void test_batcher(void)
{
    static const struct {
        unsigned most, preferred[3], preferences;
        double delay_s, oldest_s;
        unsigned queue[8];
        size_t waiting, requests; /* 0 = it waits */
    } rows[] = {
        {8, {0}, 0, 0, 0, {1}, 1, 1},                       /* no delay: never wait */
        {8, {0}, 0, 0.01, 0, {1}, 1, 0},                    /* one of eight, just come */
        {8, {0}, 0, 0.01, 0.01, {1, 1, 1}, 3, 3},           /* waited long enough */
        {8, {0}, 0, 0.01, 0.001, {4, 4, 4}, 3, 2},          /* full */
        {8, {4}, 1, 0.01, 0.001, {1, 1, 1, 1, 1, 1}, 6, 4}, /* the largest preferred size that is reached */
        {8, {2, 4}, 2, 0.01, 0.001, {1, 1, 1}, 3, 2},       /* a smaller preferred one is reached */
        {8, {4}, 1, 0.01, 0.02, {1, 1, 1, 1, 1, 1}, 6, 6},  /* late: everything */
        {8, {4}, 1, 0.01, 0.001, {3, 3}, 2, 1},             /* the next would pass the largest preferred size */
        {8, {0}, 0, 0.01, 0.001, {3, 6}, 2, 1},             /* a request is never split */
        {8, {0}, 0, 0.01, 0.001, {6, 8}, 2, 1},
        {4, {0}, 0, 1, 0, {1, 1, 1, 1, 1}, 5, 4},
        {8, {4}, 1, 0, 0, {1, 1, 1, 1, 1}, 5, 4}, /* without delay the preferred size first */
        {8, {4}, 1, 0, 0, {1, 1, 1}, 3, 3},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct batch_rule rule = {.most = rows[i].most, .preferences = rows[i].preferences, .delay_s = rows[i].delay_s};
        memcpy(rule.preferred, rows[i].preferred, sizeof rows[i].preferred);
        const struct batch_decision d =
            batch_decide(&rule, &(struct batch_queue){rows[i].waiting, rows[i].oldest_s, of_list, rows[i].queue});
        CHECK(d.requests == rows[i].requests, "row %zu: takes %zu", i, d.requests);
        if (d.requests == 0)
            CHECK(fabs(d.wait_s - (rows[i].delay_s - rows[i].oldest_s)) < 1e-12, "row %zu: waits %g s", i, d.wait_s);
    }
}

/* ---- config.pbtxt ---- */

static const char full[] =
    "# a model of Triton's documentation\n"
    "name: \"dense\" 'net'\n"
    "platform: \"onnxruntime_onnx\"\n"
    "max_batch_size : 0x10,\n"
    "input [ { name: \"x\" data_type: TYPE_FP32 dims: [ 3, -1 ] } ]\n"
    "output { name: \"y\"; data_type: TYPE_FP32; dims: 10 }\n"
    "dynamic_batching {\n"
    "  preferred_batch_size: [ 8, 4 ]\n"
    "  preferred_batch_size: 16\n"
    "  max_queue_delay_microseconds: 500\n"
    "  default_queue_policy { timeout_action: REJECT default_timeout_microseconds: 20000 max_queue_size: 64 }\n"
    "}\n"
    "instance_group: [ { count: 2 kind: KIND_GPU gpus: [ 0 ] }, { kind: KIND_CPU } ]\n"
    "optimization { execution_accelerators { gpu_execution_accelerator: [ { name: \"apple_neural_engine\"\n"
    "  parameters { key: \"precision\" value: \"fp16\" } parameters { key: \"power_mode\" value: \"low\" } } ] } }\n"
    "version_policy: { latest { num_versions: 1 } }\n";

static void test_config(void)
{
    struct model_config c;
    struct orch_error error = {0};
    CHECK(model_config_parse("config.pbtxt", full, strlen(full), &c, &error), "%s", error.text);
    CU_ASSERT_STRING_EQUAL(c.name, "densenet");
    CHECK(c.max_batch == 16 && c.rule.most == 16 && c.rule.preferences == 3 && c.rule.preferred[0] == 4 &&
              c.rule.preferred[2] == 16,
          "%u", c.rule.preferences);
    CHECK(fabs(c.rule.delay_s - 500e-6) < 1e-15 && fabs(c.rule.timeout_s - 0.02) < 1e-15 && c.rule.queue == 64, "%g",
          c.rule.delay_s);
    CHECK(c.groups == 2 && c.group[0].count == 2 && strcmp(c.group[0].unit, "gpu") == 0 && c.group[1].count == 1 &&
              strcmp(c.group[1].unit, "cpu") == 0,
          "%u groups", c.groups);
    CU_ASSERT_STRING_EQUAL(c.unit, "ane");
    CU_ASSERT_STRING_EQUAL(c.precision, "f16");
    CU_ASSERT_STRING_EQUAL(c.power_mode, "low");
    CHECK(c.ignored_count == 1 && strcmp(c.ignored[0], "version_policy") == 0, "%u", c.ignored_count);
}

static void test_wrong_configs(void)
{
    static const struct {
        const char *text, *says;
        int code;
    } rows[] = {
        {"max_batch_size: 8\nmax_bach_size: 4",
         "c:2: the model's configuration has no field 'max_bach_size'; did you mean max_batch_size", 2},
        {"max_batch_size: -1", "c:1: max_batch_size: -1 is not between 0 and 4096", 2},
        {"max_batch_size: eight", "c:1: max_batch_size: expected an integer, got 'eight'", 2},
        {"max_batch_size: 99999999999999999999", "expected an integer", 2},
        {"name: \"a", "c:1: the file ends in a string", 2},
        {"\n\nname: \"a\nb\"", "c:3: a string ends on its line", 2},
        {"name: \"\\q\"", "an escape of a string", 2},
        {"name \"a\"", "c:1: expected ':' or '{' behind the name, got '\"a\"'", 2},
        {"dynamic_batching {\n preferred_batch_size: [ 4, 8 ", "c:2: expected ',' or ']' in a list, got 'the end of the file'",
         2},
        {"dynamic_batching {\n", "c:2: the file ends, but the '{' of line 1 is open", 2},
        {"max_batch_size: 4 dynamic_batching { preferred_batch_size: 8 }", "preferred batch size 8: batches hold 1 to 4 samples",
         2},
        {"instance_group { kind: KIND_TPU }", "c:1: kind KIND_TPU is none of", 2},
        {"instance_group { count: 0 }", "0 is not between 1 and 64", 2},
        {"sequence_batching { }", "sequence_batching is not simulated", 3},
        {"optimization { execution_accelerators { gpu_execution_accelerator { name: \"tensorrt\" } } }",
         "accelerator 'tensorrt' is none of", 2},
        {"optimization { execution_accelerators { gpu_execution_accelerator { name: \"ane\"\n"
         "parameters { key: \"power_mode\" value: \"turbo\" } } } }",
         "c:2: power_mode 'turbo' is none of high, balanced, low", 2},
        {"}", "c:1: expected the name of a field, got '}'", 2},
        {"name: {", "the file ends", 2},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct model_config c;
        struct orch_error error = {0};
        CHECK(!model_config_parse("c", rows[i].text, strlen(rows[i].text), &c, &error) && strstr(error.text, rows[i].says) &&
                  error.exit_code == rows[i].code,
              "row %zu: %s", i, error.text);
    }
    char deep[400];
    memset(deep, 0, sizeof deep);
    for (unsigned i = 0; i < 60; i++)
        strcat(deep, "input{");
    struct orch_error error = {0};
    struct text_proto *const m = text_proto_parse("c", deep, strlen(deep), &error);
    CHECK(!m && strstr(error.text, "nested too deep"), "%s", error.text);
    text_proto_free(m);
}

static void test_strings(void)
{
    static const char text[] = "a: \"x\\n\\101\\x42\\\"\" 'y' b: [\"p\", \"q\"] c < d: 1 > e: 1.5f";
    struct orch_error error = {0};
    struct text_proto *const m = text_proto_parse("c", text, strlen(text), &error);
    CHECK(m && m->count == 5, "%s", error.text);
    if (!m)
        return;
    CU_ASSERT_STRING_EQUAL(m->field[0].text, "x\nAB\"y");
    CU_ASSERT_STRING_EQUAL(m->field[2].text, "q");
    CHECK(m->field[3].message && m->field[3].message->count == 1, "no message");
    double number = 0;
    CHECK(text_proto_number("c", &m->field[4], &number, &error) && number == 1.5, "%g", number);
    text_proto_free(m);
}

/* ---- arrivals ---- */

static void test_arrival_files(void)
{
    static const char *const models[] = {"a", "b"};
    static const char text[] = "seconds,model,samples\n# a remark\n0.5,a,2\n 0.5 , b ,, 100, 20\n\n1e1\n";
    struct arrivals a;
    struct orch_error error = {0};
    CHECK(arrivals_parse("f", text, strlen(text), models, 2, &a, &error), "%s", error.text);
    CHECK(a.count == 3 && a.item[0].samples == 2 && a.item[0].model == 0 && a.item[1].model == 1 && a.item[1].prompt == 100 &&
              a.item[1].generate == 20 && a.item[2].model == ARRIVAL_NOBODY && a.item[2].time_s == 10,
          "%zu", a.count);
    arrivals_free(&a);
    static const struct {
        const char *text, *says;
    } rows[] = {{"1\n0.5\n", "f:2: 0.5 s comes before 1 s"},
                {"1\nx\n", "f:2: 'x': expected the second"},
                {"1,c\n2\n", "f:1: 'c' is none of the models"},
                {"1,a,0\n2\n", "f:1: samples '0'"},
                {"1,a,1,2.5\n2\n", "f:1: prompt '2.5'"},
                {"1\n", "f: 1 requests"},
                {"", "f: 0 requests"},
                {"-1\n2\n", "f:1: '-1'"},
                {"nan\n2\n3\n", NULL}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const bool ok = arrivals_parse("f", rows[i].text, strlen(rows[i].text), models, 2, &a, &error);
        CHECK(rows[i].says ? !ok && strstr(error.text, rows[i].says) : ok, "row %zu: %s", i, error.text);
        arrivals_free(&a);
    }
}

/* A million gaps: mean and variance of an exponential distribution. */
static void test_poisson(void)
{
    enum { MANY = 1000000 };
    const struct arrivals a = {.kind = ARRIVALS_POISSON, .rate = 50};
    struct arrival_stream s = {.from = &a, .seed = 3};
    struct arrival next;
    double last = 0, sum = 0, squares = 0;
    for (unsigned i = 0; i < MANY && arrival_next(&s, &next); i++) {
        sum += next.time_s - last;
        squares += (next.time_s - last) * (next.time_s - last);
        last = next.time_s;
    }
    const double mean = sum / MANY, variance = squares / MANY - mean * mean;
    CHECK(fabs(mean * 50 - 1) < 4 / sqrt(MANY), "mean gap %g", mean);
    CHECK(fabs(variance * 2500 - 1) < 4 * sqrt(8.0 / MANY), "variance %g", variance);
    struct orch_error error = {0};
    struct arrivals b;
    static const char *const models[] = {"a"};
    CHECK(!arrivals_read("poisson:0", models, 1, &b, &error) && strstr(error.text, "a rate is a number"), "%s", error.text);
    CHECK(!arrivals_read("/nowhere", models, 1, &b, &error) && strstr(error.text, "poisson:RATE"), "%s", error.text);
}

static void test_repository(void)
{
    char folder[] = "/tmp/orchard-repository-XXXXXX", path[300];
    struct model_entry e;
    struct orch_error error = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/net", folder);
    CHECK(mkdir(path, 0700) == 0, "%s", path);
    CHECK(!model_entry_open(path, &e, &error) && strstr(error.text, "1/model.onnx"), "%s", error.text);
    suite_write_text(path, "config.pbtxt", "max_batch_size: 4");
    snprintf(path, sizeof path, "%s/net/3", folder);
    CHECK(mkdir(path, 0700) == 0, "%s", path);
    suite_write_text(path, "model.onnx", "");
    snprintf(path, sizeof path, "%s/net/", folder);
    CHECK(model_entry_open(path, &e, &error), "%s", error.text);
    CHECK(strcmp(e.name, "net") == 0 && e.configured && e.config.max_batch == 4 && strstr(e.workload, "/net/3/model.onnx"),
          "%s %s", e.name, e.workload);
    CHECK(model_entry_open("model:llama-7b", &e, &error) && strcmp(e.name, "llama-7b") == 0, "%s", e.name);
    CHECK(model_entry_open("a/b.c.onnx", &e, &error) && strcmp(e.name, "b.c") == 0, "%s", e.name);
    suite_remove(folder);
}

static const struct suite_test tests[] = {{"the batcher's rule", test_batcher},        {"a whole config.pbtxt", test_config},
                                          {"wrong configs", test_wrong_configs},       {"strings and lists", test_strings},
                                          {"files of arrivals", test_arrival_files},   {"random arrivals", test_poisson},
                                          {"folders of a repository", test_repository}};
SUITE_MAIN("load_rules", tests)
