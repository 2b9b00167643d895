/* What stands in the folder of an encoder: config.json, 1_Pooling/config.json, vocab.txt. What is refused says why in one line;
 * what is taken has dimensions that fit one another, or makes a tokenizer. */
#include "sim/language/gguf.h"
#include "sim/language/tokenizer.h"
#include "sim/language/vocabulary_file.h"
#include "sim/network/encoder/encoder_config.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct encoder_config config;
    struct orch_error error = {0};
    if (size == 0 || size > 1 << 16)
        return 0;
    char *const text = strndup((const char *)data + 1, size - 1);
    if (!text)
        return 0;
    const size_t length = strlen(text);
    if (data[0] % 3 == 0) {
        try_lines((const char *)data + 1, size - 1);
    } else if (data[0] % 3 == 1) {
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
