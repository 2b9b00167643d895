/* Requests for completions and conversations: bytes as they are, and documents made of the fields that clients send with values
 * of all kinds. What is refused says why in one line; what is taken has prompts, and as many texts as are served at a time. */
#include "sim/serve/completion.h"
#include "sim/serve/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The smallest language model of the examples, on a core of M1. */
static struct served *open_model(void)
{
    static const char *const files[] = {ORCHARD_SOURCE_DIR "/tests/golden/language/stories260K/stories260K-q4_0.gguf"};
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct chip *const chip = db ? chip_open(db, "m1", NULL, &error) : NULL;
    const struct served_setup setup = {
        .run = {.chip = chip, .threads = 1}, .unit = "cpu", .model = files, .models = 1, .db = db, .ambient_c = 25};
    return chip ? served_open(&setup, &error) : NULL;
}

static void check(int ok)
{
    if (!ok)
        abort();
}

static void read_request(const struct protocol_context *context, enum completion_form form, const char *body, size_t size)
{
    const struct http_request request = {.method = "POST", .path = "/v1/completions", .body = body, .size = size};
    struct completion *const c = calloc(1, sizeof *c);
    struct orch_error error = {0};
    if (!c)
        return;
    c->context = context;
    c->request = &request;
    c->form = form;
    if (completion_read(c, &error)) {
        check(c->model && c->prompts > 0 && c->prompts * c->each <= COMPLETION_TEXTS && c->g.generate > 0);
        for (unsigned i = 0; i < c->prompts; i++)
            check(c->prompt[i] != NULL);
    } else {
        check(error.exit_code != 0 && *error.text && !strchr(error.text, '\n'));
    }
    completion_free(c);
    free(c);
}

/* A field and a value for every two bytes. */
static size_t write_document(const uint8_t *data, size_t size, char *to, size_t room)
{
    static const char *const fields[] = {"prompt",
                                         "messages",
                                         "stop",
                                         "n",
                                         "max_tokens",
                                         "n_predict",
                                         "temperature",
                                         "top_k",
                                         "top_p",
                                         "min_p",
                                         "seed",
                                         "stream",
                                         "echo",
                                         "model",
                                         "tools",
                                         "logprobs",
                                         "suffix",
                                         "repeat_penalty",
                                         "response_format",
                                         "stream_options"};
    static const char *const values[] = {
        "\"Once\"",
        "\"\"",
        "3",
        "-1",
        "0.5",
        "1e300",
        "true",
        "null",
        "[]",
        "{}",
        "[\"a\",\"b\"]",
        "[1,2]",
        "[\"\"]",
        "[null]",
        "[{\"role\":\"user\",\"content\":\"Hi\"}]",
        "[{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"Be\"}]},{\"role\":\"user\",\"content\":null}]",
        "[{\"role\":\"tool\",\"content\":\"x\"}]",
        "[{\"content\":[{\"type\":\"image_url\"}]}]",
        "\"\\ud800\"",
        "{\"type\":\"json\"}"};
    size_t length = (size_t)snprintf(to, room, "{");
    for (size_t i = 0; i + 1 < size && length + 300 < room; i += 2)
        length += (size_t)snprintf(to + length, room - length, "%s\"%s\":%s", i ? "," : "",
                                   fields[data[i] % (sizeof fields / sizeof *fields)],
                                   values[data[i + 1] % (sizeof values / sizeof *values)]);
    return length + (size_t)snprintf(to + length, room - length, "}");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct protocol_context context;
    char made[4096];
    if (!context.served)
        context.served = open_model();
    char *const body = malloc(size + 1);
    if (!context.served || !body)
        abort();
    memcpy(body, data, size);
    body[size] = 0;
    const enum completion_form form = size ? (enum completion_form)(data[0] % 3) : COMPLETION_OWN;
    read_request(&context, form, body, size);
    read_request(&context, form, made, write_document(data, size, made, sizeof made));
    free(body);
    return 0;
}
