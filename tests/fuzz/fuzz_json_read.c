/* The reader of JSON documents, and the loader of machines on it: whatever the bytes, a document is read to its end or refused
 * with one line that names the file. Inputs are documents, or a small one with bytes changed. */
#include "isa/array_count.h"
#include "sim/base/json_read.h"
#include "sim/machine/device/device.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sample[] = "{\"device\":\"x\",\"name\":\"X\",\"aliases\":[\"a\",\"b\"],\"chips\":[\"m1\"],\"ambient_c\":-1.5e1,"
                             "\"thermal\":{\"kind\":\"guess\",\"stages\":[{\"name\":\"s\",\"j_per_k\":18446744073709551615}],"
                             "\"fan\":[{\"rpm\":null,\"k_per_w\":true}]},\"about\":\"\\u00b5\\u0000\"}";

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Every kind of read on every value; each may refuse. */
static void walk(const struct json_node *node)
{
    static const char *const words[] = {"device", "guess", "fan"};
    struct json_node item;
    char text[8];
    for (struct json_walk w = {.of = node}; json_next(&w, &item);) {
        struct json_reader *const r = item.reader;
        for (unsigned kind = 0; kind < 8; kind++) {
            struct orch_error *const error = r->error;
            *error = (struct orch_error){0};
            switch (kind) {
            case 0: require(json_get_number(&item, NULL, -10, 10) <= 10); break;
            case 1: require(json_get_integer(&item, NULL, 0, 7) <= 7); break;
            case 2: require(json_get_string(&item, NULL) != NULL); break;
            case 3: require(json_get_word(&item, NULL, words, ARRAY_COUNT(words)) < ARRAY_COUNT(words)); break;
            case 4: json_get_text(&item, NULL, text, sizeof text); break;
            case 5: require(json_get_scalar(&item, NULL) != NULL); break;
            case 6: require(json_get_array(&item, NULL, 1, 2).value == NULL || json_count(&item) <= 2); break;
            default: json_known(&item, words, ARRAY_COUNT(words)); break;
            }
            require(r->ok || (error->exit_code == ORCH_USAGE && strncmp(error->text, "x.json: ", 8) == 0));
            require(!strchr(error->text, '\n'));
            r->ok = true;
        }
        walk(&item);
    }
}

static void read_document(const char *text, size_t size)
{
    struct json_reader r;
    struct orch_error error = {0};
    if (!json_reader_open(&r, "x.json", text, size, &error)) {
        require(error.exit_code == ORCH_USAGE && strncmp(error.text, "x.json:", 7) == 0 && !strchr(error.text, '\n'));
        return;
    }
    const struct json_node top = json_top(&r);
    walk(&top);
    require(json_names_differ(&r, text, size) == r.ok);
    require(json_reader_close(&r) == r.ok);
}

static void read_device(const char *text, size_t size)
{
    struct device device;
    struct orch_error error = {0};
    if (!device_parse("x", text, size, &device, &error))
        require(error.exit_code == ORCH_USAGE && strncmp(error.text, "x.json:", 7) == 0 && !strchr(error.text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char letters[] = "0123456789-.eE{}[],:\" \\nul";
    char text[sizeof sample];
    read_document((const char *)data, size);
    read_device((const char *)data, size);
    memcpy(text, sample, sizeof sample);
    for (size_t i = 0; i + 2 < size && i < 9; i += 3)
        text[(data[i] << 8 | data[i + 1]) % (sizeof sample - 1)] = letters[data[i + 2] % (sizeof letters - 1)];
    read_document(text, sizeof sample - 1);
    read_device(text, sizeof sample - 1);
    return 0;
}
