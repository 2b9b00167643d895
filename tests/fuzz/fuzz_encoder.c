/* What stands in the folder of an encoder: config.json, 1_Pooling/config.json, vocab.txt; and GGUF files of encoders with some
 * bytes changed. What is refused says why in one line; what is taken has dimensions that fit one another, or makes a tokenizer.
 */
#include "sim/base/file_read.h"
#include "sim/language/gguf.h"
#include "sim/language/tokenizer.h"
#include "sim/language/vocabulary_file.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/encoder/encoder_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        abort();
}

static void check_refused(const struct orch_error *error)
{
    check(error->exit_code != 0 && *error->text && !strchr(error->text, '\n'));
}

static void try_lines(const char *text, size_t size)
{
    static const char words[] = "a ab \xc3\xa9 [MASK] x";
    struct orch_error error = {0};
    struct token_list tokens = {0};
    size_t made = 0;
    uint8_t *const bytes = vocabulary_of_lines("v", text, size, &made, &error);
    struct gguf *const gguf = bytes ? gguf_parse("v", bytes, made, &error) : NULL;
    struct tokenizer *const t = gguf ? tokenizer_create(gguf, &error) : NULL;
    if (t)
        (void)!tokenizer_encode(t, words, strlen(words), TOKENIZE_FRAME, &tokens, &error);
    else
        check_refused(&error);
    token_list_free(&tokens);
    tokenizer_free(t);
    gguf_close(gguf);
    free(bytes);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    uint8_t *bytes = NULL;
    FILE *const f = fopen(path, "rb");
    check(f && file_read_all(f, 1 << 20, &bytes, size));
    fclose(f);
    return bytes;
}

/* Three bytes for each change: where, and what stands there then. The first tensors begin behind the header: most places lie in
 * it. */
static void try_file(const uint8_t *data, size_t size)
{
    static const char *const files[] = {"bert", "nomic-bert", "jina-bert-v2"};
    char path[400];
    struct orch_error error = {0};
    enum { HEADER = 6144 };
    size_t length = 0;
    snprintf(path, sizeof path, ORCHARD_SOURCE_DIR "/tests/golden/language/encoder_files/%s.gguf", files[data[0] / 4 % 3]);
    uint8_t *const bytes = read_file(path, &length);
    check(length > HEADER);
    for (size_t i = 1; i + 2 < size; i += 3)
        bytes[((size_t)data[i] | (size_t)data[i + 1] << 8) % HEADER] = data[i + 2];
    struct gguf *const gguf = gguf_parse("e.gguf", bytes, length, &error);
    struct net_model *const model = gguf ? encoder_of_gguf(gguf, &error) : NULL;
    if (model) {
        const struct encoder_limits most = encoder_limits_of(model);
        check(most.words > 0 && most.words < 1 << 24 && most.tokens > 0 && most.tokens <= 1 << 17);
        check(model->graph->outputs == (encoder_pools(model) ? 2 : 1));
    } else {
        check_refused(&error);
    }
    net_model_free(model);
    gguf_close(gguf);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct encoder_config config;
    struct orch_error error = {0};
    if (size == 0 || size > 1 << 16)
        return 0;
    if (data[0] % 4 == 3) {
        try_file(data, size);
        return 0;
    }
    char *const text = strndup((const char *)data + 1, size - 1);
    if (!text)
        return 0;
    const size_t length = strlen(text);
    if (data[0] % 4 == 0) {
        try_lines((const char *)data + 1, size - 1);
    } else if (data[0] % 4 == 1) {
        if (encoder_config_parse("c", text, length, &config, &error))
            check(config.family && config.layers && config.heads && config.width % config.heads == 0 &&
                  config.first_place < config.places && config.activation[0]);
        else
            check_refused(&error);
    } else {
        config = (struct encoder_config){.family = NULL};
        if (!encoder_pooling_parse("p", text, length, &config, &error))
            check_refused(&error);
    }
    free(text);
    return 0;
}
