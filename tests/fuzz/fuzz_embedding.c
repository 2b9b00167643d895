/* Requests for embeddings: bytes as they are, and documents made of the fields that clients send with values of all kinds. What
 * is refused says why in one line; what is taken has texts, each of which the model has places and rows for. */
#include "sim/network/encoder/encoder.h"
#include "sim/serve/embedding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        abort();
}

/* The smallest encoder of the golden data, on a core of M1. */
static struct served *open_model(void)
{
    static const char *const folders[] = {ORCHARD_SOURCE_DIR "/tests/golden/language/encoders/bert"};
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct chip *const chip = db ? chip_open(db, "m1", NULL, &error) : NULL;
    const struct served_setup setup = {
        .run = {.chip = chip, .threads = 1}, .unit = "cpu", .model = folders, .models = 1, .db = db, .ambient_c = 25};
    return chip ? served_open(&setup, &error) : NULL;
}

static void read_request(const struct protocol_context *context, bool own, const char *body, size_t size)
{
    struct embedding_request e = {.context = context, .own = own};
    struct orch_error error = {0};
    if (embedding_read(&e, body, size, &error)) {
        check(e.model && e.texts > 0 && e.texts <= EMBEDDING_TEXTS);
        const struct encoder_limits most = encoder_limits_of(e.model->network);
        for (size_t i = 0; i < e.texts; i++) {
            check(e.text[i].count > 0 && e.text[i].count <= most.tokens);
            for (size_t k = 0; k < e.text[i].count; k++)
                check(e.text[i].token[k] < most.words);
        }
    } else {
        check(error.exit_code != 0 && *error.text && !strchr(error.text, '\n'));
    }
    embedding_free(&e);
}

/* A field and a value for every two bytes. */
static size_t write_document(const uint8_t *data, size_t size, char *to, size_t room)
{
    static const char *const fields[] = {"input", "content", "model", "encoding_format", "dimensions", "embd_normalize", "user"};
    static const char *const values[] = {"\"the cat\"", "\"\"",         "3",           "-1",   "2",    "null",       "[1,2,3]",
                                         "[[2,3],[4]]", "[\"a\",\"\"]", "[]",          "[[]]", "[99]", "\"base64\"", "\"float\"",
                                         "24",          "{}",           "[\"a\",[5]]", "true", "[-1]", "[1.5]",      "\"bert\"",
                                         "\"\\u0000\""};
    enum { FIELDS = sizeof fields / sizeof *fields, VALUES = sizeof values / sizeof *values };
    size_t used = (size_t)snprintf(to, room, "{");
    for (size_t i = 0; i + 1 < size && used + 64 < room; i += 2)
        used += (size_t)snprintf(to + used, room - used, "%s\"%s\":%s", i ? "," : "", fields[data[i] % FIELDS],
                                 values[data[i + 1] % VALUES]);
    return used + (size_t)snprintf(to + used, room - used, "}");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct protocol_context context;
    char text[4096];
    if (!context.served)
        context.served = open_model();
    check(context.served != NULL);
    if (size == 0 || size > 2000)
        return 0;
    if (data[0] & 1) {
        memcpy(text, data + 1, size - 1);
        text[size - 1] = 0;
        read_request(&context, data[0] & 2, text, size - 1);
    } else {
        read_request(&context, data[0] & 2, text, write_document(data + 1, size - 1, text, sizeof text));
    }
    return 0;
}
