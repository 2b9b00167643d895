/* orchard serve on a free port: KServe's protocol with JSON and binary tensors, what is refused, counters, many clients at a
 * time, ports in use, the end. */
#include "tests/sim/serve/serve_example.h"
#include "tests/support/cli_binary.h"

#include <math.h>
#include <pthread.h>

/* ---- KServe ---- */

static void test_metadata(void)
{
    if (!start(""))
        return;
    static const char *const empty[] = {"/v2/health/live", "/v2/health/ready", "/v2/models/dense/ready",
                                        "/v2/models/dense/versions/1/ready"};
    for (size_t i = 0; i < ARRAY_COUNT(empty); i++) {
        struct http_answer a = ask("GET", empty[i], "", NULL, 0);
        CHECK(a.status == 200 && a.size == 0, "%s: %u, %zu bytes", empty[i], a.status, a.size);
        free(a.body);
    }
    json_object *const top = get("/v2"), *const m = get("/v2/models/dense"), *const c = get("/v2/models/dense/versions/1/config");
    CU_ASSERT_STRING_EQUAL(document_text(top, "name"), "orchard");
    CU_ASSERT_STRING_EQUAL(document_text(m, "/inputs/0/datatype"), "FP32");
    CHECK(document_number(m, "/inputs/0/shape/0") == -1 && document_number(m, "/inputs/0/shape/1") == 4 &&
              document_number(m, "/outputs/0/shape/1") == 2,
          "%s", json_object_to_json_string(m));
    CHECK(document_number(c, "max_batch_size") == 8 && document_number(c, "/input/0/dims/0") == 4, "%s",
          json_object_to_json_string(c));
    CU_ASSERT_STRING_EQUAL(document_text(c, "/input/0/data_type"), "TYPE_FP32");
    const char *const accelerator = "/optimization/execution_accelerators/gpu_execution_accelerator/0";
    char key[128];
    snprintf(key, sizeof key, "%s/name", accelerator);
    CU_ASSERT_STRING_EQUAL(document_text(c, key), "apple_gpu");
    snprintf(key, sizeof key, "%s/parameters/power_mode", accelerator);
    CU_ASSERT_STRING_EQUAL(document_text(c, key), "balanced");
    json_object *const index = post("/v2/repository/index", "", 200);
    CHECK(json_object_array_length(index) == 2, "%s", json_object_to_json_string(index));
    json_object_put(top);
    json_object_put(m);
    json_object_put(c);
    json_object_put(index);
    stop();
}

/* relu(x w) of a row, as the network is made. */
static double expected(const float *x, unsigned column)
{
    double sum = 0;
    for (unsigned k = 0; k < 4; k++)
        sum += (double)x[k] * served_weight[2 * k + column];
    return sum > 0 ? sum : 0;
}

static const float rows[3][4] = {{1, 1, 1, 1}, {-1, 0.5f, 2, 0}, {0, 0, 0, -3}};

static void test_json_tensors(void)
{
    static const char *const bodies[] = {"{\"id\":\"a7\",\"inputs\":[{\"name\":\"x\",\"shape\":[3,4],\"datatype\":\"FP32\","
                                         "\"data\":[1,1,1,1,-1,0.5,2,0,0,0,0,-3]}]}",
                                         "{\"id\":\"a7\",\"inputs\":[{\"name\":\"x\",\"shape\":[3,4],\"datatype\":\"FP32\","
                                         "\"data\":[[1,1,1,1],[-1,5e-1,2,0],[0,0,0,-3]]}],"
                                         "\"outputs\":[{\"name\":\"y\"}]}"};
    if (!start("--device macbook-air"))
        return;
    for (size_t b = 0; b < ARRAY_COUNT(bodies); b++) {
        json_object *const o = post("/v2/models/dense/infer", bodies[b], 200);
        CU_ASSERT_STRING_EQUAL(document_text(o, "id"), "a7");
        CU_ASSERT_STRING_EQUAL(document_text(o, "model_name"), "dense");
        CU_ASSERT_STRING_EQUAL(document_text(o, "model_version"), "1");
        CHECK(document_number(o, "/outputs/0/shape/0") == 3 && document_number(o, "/outputs/0/shape/1") == 2, "shape");
        for (unsigned r = 0; r < 3; r++)
            for (unsigned c = 0; c < 2; c++) {
                char path[40];
                snprintf(path, sizeof path, "/outputs/0/data/%u", 2 * r + c);
                CHECK(document_number(o, path) == expected(rows[r], c), "%s: %g", path, document_number(o, path));
            }
        CHECK(document_number(o, "/parameters/simulated_seconds") > 1e-6 &&
                  document_number(o, "/parameters/simulated_joules") > 0 &&
                  document_number(o, "/parameters/simulated_celsius") > 20,
              "%s", json_object_to_json_string(o));
        json_object_put(o);
    }
    /* The simulated time is that of run; the counters know both requests. */
    json_object *const run =
        cli_ask(&home, "run $/dense/1/model.onnx --unit gpu --detail op --dim n=3 --json") ? cli_document(&home.outcome) : NULL;
    json_object *const again = post("/v2/models/dense/infer", bodies[0], 200), *const stats = get("/v2/models/dense/stats");
    CHECK(fabs(document_number(again, "/parameters/simulated_seconds") / document_number(run, "seconds") - 1) < 1e-9,
          "other than run");
    CHECK(document_number(stats, "/model_stats/0/inference_count") == 9 &&
              document_number(stats, "/model_stats/0/execution_count") == 3,
          "%s", json_object_to_json_string(stats));
    static const char *const leaves[] = {"success",       "fail",           "queue",     "compute_input",
                                         "compute_infer", "compute_output", "cache_hit", "cache_miss"};
    for (size_t i = 0; i < ARRAY_COUNT(leaves); i++) {
        char path[80];
        snprintf(path, sizeof path, "/model_stats/0/inference_stats/%s/ns", leaves[i]);
        CHECK(document_number(stats, path) >= 0, "%s", path);
    }
    json_object_put(run);
    json_object_put(again);
    json_object_put(stats);
    stop();
}

/* Bytes behind the JSON, in and out, and a body that is nothing else. */
static void test_binary_tensors(void)
{
    char body[1024], header[80];
    if (!start("--unit amx"))
        return;
    const int json =
        snprintf(body, sizeof body,
                 "{\"inputs\":[{\"name\":\"x\",\"shape\":[3,4],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":48}}],"
                 "\"parameters\":{\"binary_data_output\":true}}");
    memcpy(body + json, rows, sizeof rows);
    snprintf(header, sizeof header, "Inference-Header-Content-Length: %d\r\n", json);
    struct http_answer a = ask("POST", "/v2/models/dense/infer", header, body, (size_t)json + sizeof rows);
    const size_t length = strtoul(http_header(&a, "Inference-Header-Content-Length"), NULL, 10);
    CHECK(a.status == 200 && a.size == length + 24 && strcmp(http_header(&a, "Content-Type"), "application/octet-stream") == 0,
          "%u %s", a.status, a.body);
    for (unsigned k = 0; k < 6 && a.size == length + 24; k++) {
        float got;
        memcpy(&got, a.body + length + 4 * k, 4);
        CHECK((double)got == expected(rows[k / 2], k % 2), "%u: %g", k, (double)got);
    }
    free(a.body);
    a = ask("POST", "/v2/models/dense/infer", "Inference-Header-Content-Length: 0\r\n", rows, 16);
    const size_t raw = strtoul(http_header(&a, "Inference-Header-Content-Length"), NULL, 10);
    CHECK(a.status == 200 && a.size == raw + 8, "%u %s", a.status, a.body);
    free(a.body);
    stop();
}

#define X4 "\"name\":\"x\",\"shape\":[1,4],\"datatype\":\"FP32\",\"data\":[1,2,3,4]"
static const struct {
    const char *path, *header, *body;
    unsigned status;
    const char *says;
} refused_requests[] = {
    {"dense/infer", "", "", 400, "request"},
    {"dense/infer", "", "{", 400, "request:1"},
    {"dense/infer", "", "{\"inputs\":[]}", 400, "inputs"},
    {"dense/infer", "", "{\"inputs\":[{" X4 "},{" X4 "}]}", 400, "twice"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"z\",\"shape\":[1,4],\"datatype\":\"FP32\",\"data\":[1,2,3,4]}]}", 400,
     "no input 'z'"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"x\",\"shape\":[1,4],\"datatype\":\"INT32\",\"data\":[1,2,3,4]}]}", 400,
     "takes FP32"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"x\",\"shape\":[1,4],\"datatype\":\"FP31\",\"data\":[1,2,3,4]}]}", 400,
     "no type"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"x\",\"shape\":[1,5],\"datatype\":\"FP32\",\"data\":[1,2,3,4,5]}]}", 400,
     "dimension 1 is 5"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"x\",\"shape\":[4],\"datatype\":\"FP32\",\"data\":[1,2,3,4]}]}", 400,
     "1 dimensions"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"x\",\"shape\":[1,4],\"datatype\":\"FP32\",\"data\":[1,2,3]}]}", 400,
     "3 elements"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"x\",\"shape\":[1,4],\"datatype\":\"FP32\",\"data\":[1,2,3,4,5]}]}", 400,
     "more than the 4"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"x\",\"shape\":[1,4],\"datatype\":\"FP32\",\"data\":[1,2,\"3\",4]}]}", 400,
     "data[2]"},
    {"dense/infer", "", "{\"inputs\":[{\"name\":\"x\",\"shape\":[0,4],\"datatype\":\"FP32\",\"data\":[]}]}", 400,
     "dimension 0 is 0"},
    {"dense/infer", "",
     "{\"inputs\":[{\"name\":\"x\",\"shape\":[1099511627776,1099511627776],\"datatype\":\"FP32\",\"data\":[]}]}", 400,
     "larger than any"},
    {"dense/infer", "", "{\"inputs\":[{" X4 "}],\"outputs\":[{\"name\":\"q\"}]}", 400, "no output 'q'"},
    {"dense/infer", "", "{\"inputs\":[{" X4 "}],\"outputs\":[{\"name\":\"y\",\"parameters\":{\"classification\":3}}]}", 400,
     "classification"},
    {"dense/infer", "Inference-Header-Content-Length: 9999\r\n", "{}", 400, "no number from 0 to 2"},
    {"dense/infer", "Inference-Header-Content-Length: -1\r\n", "{}", 400, "no number"},
    {"dense/infer", "Content-Encoding: gzip\r\n", "{}", 501, "compressed"},
    {"none/infer", "", "{}", 404, "no model 'none'"},
    {"dense/versions/2/infer", "", "{}", 404, "version 1 alone"},
    {"dense/versions/1x/infer", "", "{}", 404, "version"},
    {"dense/nothing", "", "{}", 404, "/infer"},
    {"dense", "", "{}", 405, "GET"},
    {"stories260K-q8_0/infer", "", "{}", 501, "/v1/completions"},
};

static void test_refused_requests(void)
{
    if (!start("--max-body 1 --unit amx"))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(refused_requests); i++) {
        char path[100];
        snprintf(path, sizeof path, "/v2/models/%s", refused_requests[i].path);
        struct http_answer a =
            ask("POST", path, refused_requests[i].header, refused_requests[i].body, strlen(refused_requests[i].body));
        json_object *const o = a.body ? json_tokener_parse(a.body) : NULL;
        CHECK(a.status == refused_requests[i].status && o && strstr(document_text(o, "error"), refused_requests[i].says),
              "case %zu: %u %s", i, a.status, a.body);
        json_object_put(o);
        free(a.body);
    }
    /* A batch of nine, the model takes eight; a body of two MiB, one is the limit. */
    char batch[800] = "{\"inputs\":[{\"name\":\"x\",\"shape\":[9,4],\"datatype\":\"FP32\",\"data\":[1";
    for (unsigned i = 1; i < 36; i++)
        strcat(batch, ",1");
    strcat(batch, "]}]}");
    json_object_put(post("/v2/models/dense/infer", batch, 400));
    char *const large = calloc(1, 2 << 20);
    struct http_answer a = ask("POST", "/v2/models/dense/infer", "", large, 2 << 20);
    CHECK(a.status == 413 && strstr(a.body, "larger than 1048576 bytes"), "%u %s", a.status, a.body);
    free(a.body);
    free(large);
    static const char *const paths[] = {"/../../etc/passwd",
                                        "/%2e%2e/%2e%2e/etc/passwd",
                                        "/runs/../x",
                                        "/runs/1;DROP",
                                        "/v2/models/../../etc/passwd/config",
                                        "//",
                                        "/v3"};
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        a = ask("GET", paths[i], "", NULL, 0);
        CHECK(a.status == 404 && !strstr(a.body, "root:"), "%s: %u %s", paths[i], a.status, a.body);
        free(a.body);
    }
    a = ask("DELETE", "/metrics", "", NULL, 0);
    CHECK(a.status == 405 && strcmp(http_header(&a, "Allow"), "GET") == 0, "%u", a.status);
    free(a.body);
    stop();
}

/* ---- many at a time ---- */

enum { CLIENTS = 50, REQUESTS = 20 };

static void *client(void *context)
{
    static const char body[] = "{\"inputs\":[{" X4 "}]}";
    unsigned *const good = context;
    const int s = http_connect(port);
    for (unsigned i = 0; s >= 0 && i < REQUESTS; i++) {
        struct http_answer a;
        const bool infer = i % 4 == 0;
        if (!http_ask(s, infer ? "POST" : "GET",
                      infer        ? "/v2/models/dense/infer"
                      : i % 4 == 1 ? "/metrics"
                                   : "/v2/health/ready",
                      "", body, infer ? sizeof body - 1 : 0, &a))
            break;
        *good += a.status == 200;
        free(a.body);
    }
    if (s >= 0)
        close(s);
    return NULL;
}

static void test_many_clients(void)
{
    pthread_t thread[CLIENTS];
    unsigned good[CLIENTS] = {0}, all = 0;
    if (!start("--unit amx"))
        return;
    for (unsigned i = 0; i < CLIENTS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, client, &good[i]), 0);
    for (unsigned i = 0; i < CLIENTS; i++) {
        pthread_join(thread[i], NULL);
        all += good[i];
    }
    CHECK(all == CLIENTS * REQUESTS, "%u of %d answered", all, CLIENTS * REQUESTS);
    stop();
}

/* A full queue says so at once; what was taken is answered all the same. */
static void test_full_queue(void)
{
    static const char body[] = "{\"prompt\":\"Once\",\"max_tokens\":60}";
    int s[6];
    unsigned ok = 0, full = 0;
    if (!start("--queue 1"))
        return;
    for (unsigned i = 0; i < ARRAY_COUNT(s); i++) {
        char head[200];
        s[i] = http_connect(port);
        snprintf(head, sizeof head, "POST /completion HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", sizeof body - 1,
                 body);
        CHECK(s[i] >= 0 && http_send(s[i], head, strlen(head)), "%u", i);
    }
    for (unsigned i = 0; i < ARRAY_COUNT(s); i++) {
        struct http_answer a;
        CHECK(http_read(s[i], &a), "%u", i);
        ok += a.status == 200;
        full += a.status == 503;
        free(a.body);
        close(s[i]);
    }
    CHECK(ok >= 1 && full >= 1 && ok + full == ARRAY_COUNT(s), "%u answered, %u refused", ok, full);
    stop();
}

/* ---- starting ---- */

static void test_starting(void)
{
    char line[200];
    if (!start("--unit amx"))
        return;
    snprintf(line, sizeof line, "serve --port %u", port);
    cli_ask(&home, "%s", line);
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "Address already in use") && strstr(home.outcome.err, "--port"),
          "%d %s", home.outcome.code, home.outcome.err);
    stop();
    static const struct cli_wrong wrong[] = {
        {"serve --port 99999", 2, "--port"},   {"serve --address localhost", 2, "IPv4"},
        {"serve $/none.onnx", 2, "none.onnx"}, {"serve model:llama-7b", 2, "no weights"},
        {"serve --chip m1,m2", 2, "one chip"}, {"serve --device macbook-fair", 2, "macbook-air"},
        {"serve --unit gpv", 2, "gpu"},        {"serve --queue 0", 2, "--queue"},
    };
    cli_home_open(&home);
    cli_all_wrong(&home, wrong, ARRAY_COUNT(wrong));
}

static const struct suite_test tests[] = {{"health, metadata, configuration", test_metadata},
                                          {"JSON tensors", test_json_tensors},
                                          {"binary tensors", test_binary_tensors},
                                          {"refused requests", test_refused_requests},
                                          {"many clients", test_many_clients},
                                          {"a full queue", test_full_queue},
                                          {"starting", test_starting}};
SUITE_MAIN("serve", tests)
