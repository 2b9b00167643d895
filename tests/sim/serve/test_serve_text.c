/* Completions of orchard serve against the golden continuations of the language model, whole and as events; metrics as Prometheus
 * reads them; pages. */
#include "tests/sim/serve/serve_example.h"
#include "tests/support/cli_binary.h"

#include <ctype.h>
#include <math.h>

/* The golden run of that id, read out of the file by its text. */
static json_object *golden(json_object **file, const char *id)
{
    *file = json_object_from_file(suite_golden("language/stories260K/golden/q8_0.json"));
    json_object *checks = NULL;
    CU_ASSERT_TRUE_FATAL(json_object_object_get_ex(*file, "prompts", &checks));
    for (size_t i = 0; i < json_object_array_length(checks); i++) {
        json_object *const one = json_object_array_get_idx(checks, i);
        if (strcmp(document_text(one, "id"), id) == 0)
            return one;
    }
    CU_FAIL_FATAL("no such golden run");
    return NULL;
}

static char *request(const char *prompt, unsigned tokens, const char *more)
{
    json_object *const o = json_object_new_object();
    json_object_object_add(o, "prompt", json_object_new_string(prompt));
    json_object_object_add(o, "max_tokens", json_object_new_int((int)tokens));
    const char *const text = json_object_to_json_string(o);
    const size_t length = strlen(text) + strlen(more) + 1;
    char *const body = malloc(length);
    snprintf(body, length, "%.*s%s}", (int)strlen(text) - 1, text, more);
    json_object_put(o);
    return body;
}

static void test_golden_text(void)
{
    static const char *const ids[] = {"once", "word", "cat"};
    json_object *file;
    if (!start("--unit cpu --device macbook-air"))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(ids); i++) {
        json_object *const g = golden(&file, ids[i]);
        const unsigned count = (unsigned)document_number(g, "count");
        char *const body = request(document_text(g, "prompt"), count, "");
        json_object *const o = post("/v1/completions", body, 200);
        CU_ASSERT_STRING_EQUAL(document_text(o, "/choices/0/text"), document_text(g, "continuation"));
        CU_ASSERT_STRING_EQUAL(document_text(o, "/choices/0/finish_reason"), "length");
        CU_ASSERT_STRING_EQUAL(document_text(o, "object"), "text_completion");
        CHECK(document_number(o, "/usage/completion_tokens") == count, "%g", document_number(o, "/usage/completion_tokens"));
        CHECK(document_number(o, "/timings/predicted_n") == count - 1 && document_number(o, "/timings/predicted_ms") > 0 &&
                  document_number(o, "/simulated/joules") > 0 && document_number(o, "/simulated/celsius") > 20,
              "%s", json_object_to_json_string(o));
        json_object_put(o);
        json_object_put(file);
        free(body);
    }
    stop();
}

/* Events: one a token, together the whole text; the last has timings; OpenAI's end is [DONE]. */
static void stream(const char *path, const char *piece, bool done)
{
    char *const body = request("Lily", 12, ",\"stream\":true"), *const plain = request("Lily", 12, "");
    struct http_answer a = ask("POST", path, "", body, strlen(body));
    json_object *const whole = post(path, plain, 200);
    char text[400] = "", *rest = a.body, *line;
    unsigned pieces = 0;
    bool timed = false, ended = false;
    CHECK(a.status == 200 && strcmp(http_header(&a, "Content-Type"), "text/event-stream") == 0 && a.chunks > 3, "%u, %u chunks",
          a.status, a.chunks);
    while (a.body && (line = strsep(&rest, "\n")) != NULL) {
        ended |= strcmp(line, "data: [DONE]") == 0;
        json_object *const event = strncmp(line, "data: {", 7) == 0 ? json_tokener_parse(line + 6) : NULL;
        if (!event)
            continue;
        const char *const part = document_text(event, piece);
        pieces += *part != 0;
        strncat(text, part, sizeof text - strlen(text) - 1);
        timed = json_object_object_get_ex(event, "timings", NULL);
        json_object_put(event);
    }
    CU_ASSERT_STRING_EQUAL(text, document_text(whole, piece));
    CHECK(pieces == 12 && timed && ended == done, "%u pieces", pieces);
    json_object_put(whole);
    free(a.body);
    free(body);
    free(plain);
}

static void test_streams(void)
{
    if (!start(""))
        return;
    stream("/v1/completions", "/choices/0/text", true);
    stream("/completion", "/content", false);
    /* A client that goes away in the middle of a stream leaves a server that works. */
    char *const body = request("Once", 60, ",\"stream\":true");
    char head[300];
    snprintf(head, sizeof head, "POST /completion HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
    for (unsigned i = 0; i < 3; i++) {
        const int s = http_connect(port);
        char bytes[200];
        CHECK(s >= 0 && http_send(s, head, strlen(head)) && recv(s, bytes, sizeof bytes, 0) > 0, "%u", i);
        close(s);
    }
    free(body);
    stream("/completion", "/content", false);
    stop();
}

/* A text ends in front of a word, in a reply and in events, of which none has a part of it. */
static void test_stops(void)
{
    if (!start(""))
        return;
    char *const body = request("Once upon a time", 24, ",\"stop\":[\"cat\",\"girl named\"]"),
                *const events = request("Once upon a time", 24, ",\"stop\":\"girl named\",\"stream\":true");
    json_object *const o = post("/completion", body, 200);
    CU_ASSERT_STRING_EQUAL(document_text(o, "content"), ", there was a little ");
    CU_ASSERT_STRING_EQUAL(document_text(o, "stop_type"), "word");
    CU_ASSERT_STRING_EQUAL(document_text(o, "stopping_word"), "girl named");
    struct http_answer a = ask("POST", "/v1/completions", "", events, strlen(events));
    CHECK(a.status == 200 && strstr(a.body, "\"finish_reason\":\"stop\"") != NULL, "%s", a.body);
    char text[400] = "", *rest = a.body, *line;
    while (a.body && (line = strsep(&rest, "\n")) != NULL) {
        json_object *const event = strncmp(line, "data: {", 7) == 0 ? json_tokener_parse(line + 6) : NULL;
        if (event)
            strncat(text, document_text(event, "/choices/0/text"), sizeof text - strlen(text) - 1);
        json_object_put(event);
    }
    CU_ASSERT_STRING_EQUAL(text, ", there was a little ");
    json_object_put(o);
    free(a.body);
    free(body);
    free(events);
    stop();
}

static void test_refused(void)
{
    static const struct {
        const char *path, *body;
        unsigned status;
        const char *says;
    } cases[] = {
        {"/v1/completions", "{\"prompt\":5}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":[1,2]}", 400, "one text"},
        {"/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":0}", 400, "max_tokens"},
        {"/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1e12}", 400, "max_tokens"},
        {"/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":600}", 400, "context"},
        {"/v1/completions", "{\"prompt\":\"a\",\"n\":17}", 400, "n"},
        {"/v1/completions", "{\"prompt\":[\"a\",\"b\"],\"n\":9}", 400, "at most 16"},
        {"/v1/completions", "{\"prompt\":[]}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":\"a\",\"stop\":[\"x\",\"\"]}", 400, "stop"},
        {"/v1/completions", "{\"prompt\":\"a\",\"stop\":5}", 400, "stop"},
        {"/v1/completions", "{\"prompt\":\"a\",\"stop\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]}", 400,
         "at most 8"},
        {"/v1/completions", "{\"prompt\":\"a\",\"temperature\":-1}", 400, "temperature"},
        {"/v1/completions", "{\"prompt\":\"a\",\"model\":\"dense\"}", 400, "no language model"},
        {"/v1/completions", "{\"prompt\":\"\xff\"}", 400, "request"},
        {"/v1/completions", "{\"prompt\":\"a\",\"stream\":true,\"max_tokens\":600}", 400, "context"},
        {"/v1/completions", "nonsense", 400, "request"},
    };
    if (!start(""))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        json_object *const o = post(cases[i].path, cases[i].body, cases[i].status);
        CHECK(o && strstr(document_text(o, "/error/message"), cases[i].says), "case %zu: %s", i, json_object_to_json_string(o));
        CHECK(o && document_number(o, "/error/code") == cases[i].status, "case %zu", i);
        json_object_put(o);
    }
    json_object *const models = get("/v1/models"), *const health = get("/health");
    CU_ASSERT_STRING_EQUAL(document_text(models, "/data/0/id"), "stories260K-q8_0");
    CU_ASSERT_STRING_EQUAL(document_text(health, "status"), "ok");
    json_object *const tokens = post("/tokenize", "{\"content\":\"Lily\"}", 200);
    CHECK(document_number(tokens, "/tokens/0") == 317, "%s", json_object_to_json_string(tokens));
    json_object_put(models);
    json_object_put(health);
    json_object_put(tokens);
    stop();
}

/* ---- metrics ---- */

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!(isalnum((unsigned char)text[i]) || text[i] == '_' || text[i] == ':'))
            return false;
    return length > 0 && !isdigit((unsigned char)*text);
}

/* Every line is a remark or NAME{labels} NUMBER; each name has one HELP and one TYPE before it; counters end in _total. */
static void check_metrics(char *text, bool own_names_alone)
{
    char type[100] = "", kind[20] = "";
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (!*line || strncmp(line, "# HELP ", 7) == 0)
            continue;
        if (strncmp(line, "# TYPE ", 7) == 0) {
            CHECK(sscanf(line, "# TYPE %99s %19s", type, kind) == 2, "%s", line);
            continue;
        }
        const size_t length = strcspn(line, "{ ");
        CHECK(is_name(line, length) && length == strlen(type) && strncmp(line, type, length) == 0, "%s", line);
        CHECK(!own_names_alone || strcmp(kind, "counter") != 0 || (length > 6 && strncmp(line + length - 6, "_total", 6) == 0),
              "%s", line);
        const char *const number = strrchr(line, ' ');
        char *end;
        CHECK(number && (strtod(number + 1, &end), end != number + 1 && !*end), "%s", line);
    }
}

static double metric(const char *text, const char *begin)
{
    const char *const line = strstr(text, begin);
    const char *const value = line ? strchr(line + strlen(begin), ' ') : NULL;
    return value ? strtod(value, NULL) : NAN;
}

static void test_metrics(void)
{
    if (!start("--device macbook-air"))
        return;
    struct http_answer before = ask("GET", "/metrics", "", NULL, 0);
    CHECK(strncmp(http_header(&before, "Content-Type"), "text/plain; version=0.0.4", 25) == 0, "%s",
          http_header(&before, "Content-Type"));
    json_object_put(post("/completion", "{\"prompt\":\"Once upon a time\",\"n_predict\":5}", 200));
    struct http_answer after = ask("GET", "/metrics", "", NULL, 0);
    const char *const label = "{model=\"stories260K-q8_0\"";
    char name[120];
    static const struct {
        const char *name;
        double more;
    } counters[] = {{"orchard_requests_total", 1}, {"orchard_prompt_tokens_total", 5}, {"orchard_generated_tokens_total", 5}};
    for (size_t i = 0; i < ARRAY_COUNT(counters); i++) {
        snprintf(name, sizeof name, "\n%s%s", counters[i].name, label);
        CHECK(metric(after.body, name) - metric(before.body, name) == counters[i].more, "%s %g", name,
              metric(after.body, name) - metric(before.body, name));
    }
    CHECK(metric(after.body, "\norchard_unit_busy_seconds_total{unit=\"amx\"") > 0 &&
              metric(after.body, "\norchard_energy_joules_total") > metric(before.body, "\norchard_energy_joules_total") &&
              metric(after.body, "\norchard_temperature_celsius{place=\"mean\"") > 15 && !strstr(after.body, "metal_"),
          "%s", after.body);
    check_metrics(before.body, true);
    check_metrics(after.body, true);
    free(before.body);
    free(after.body);
    stop();
    if (!start("--metric-aliases"))
        return;
    after = ask("GET", "/metrics", "", NULL, 0);
    CHECK(strstr(after.body, "metal_gpu_utilization_percent") && strstr(after.body, "nv_inference_count") &&
              strstr(after.body, "llamacpp:tokens_predicted_total"),
          "%s", after.body);
    check_metrics(after.body, false);
    free(after.body);
    stop();
}

static void test_pages(void)
{
    if (!start(""))
        return;
    cli_ask(&home, "run gemm:32x32x32 --unit amx --json");
    struct http_answer a = ask("GET", "/", "", NULL, 0);
    CHECK(a.status == 200 && strstr(a.body, "gemm:32x32x32") && strstr(a.body, "dense") && strstr(a.body, "stories260K"), "%u",
          a.status);
    free(a.body);
    a = ask("GET", "/runs/1", "", NULL, 0);
    CHECK(a.status == 200 && strstr(a.body, "gemm:32x32x32 on m1"), "%u", a.status);
    free(a.body);
    a = ask("GET", "/runs/99", "", NULL, 0);
    CHECK(a.status == 404 && strstr(a.body, "99"), "%u %s", a.status, a.body);
    free(a.body);
    stop();
}

static const struct suite_test tests[] = {
    {"golden continuations", test_golden_text}, {"streams", test_streams}, {"refused requests, other paths", test_refused},
    {"words that end a text", test_stops},      {"metrics", test_metrics}, {"pages", test_pages}};
SUITE_MAIN("serve_text", tests)
