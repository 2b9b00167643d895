/* GGUF files. An input without the magic stands behind a good header. Of an accepted file every value and every row can be read,
 * and the tensors lie within the input; what it says of a model and a tokenizer is taken or refused.
 */
#include "sim/language/shape.h"
#include "sim/language/tokenizer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        __builtin_trap();
}

static unsigned long sum; /* of all that was read, so that reads are not optimised away */

static void read_values(const struct gguf *gguf)
{
    const struct gguf_value *value;
    for (size_t i = 0; (value = gguf_value_at(gguf, i)); i++) {
        struct gguf_strings strings;
        const char *text;
        char copy[16];
        size_t length;
        double number;
        uint64_t whole;
        check(value->key[0] != 0 && gguf_find(gguf, value->key) == value);
        for (uint64_t k = 0; k < value->count && gguf_number(value, k, &number); k++)
            sum += gguf_whole(value, k, &whole) ? (unsigned long)whole : 0;
        if (gguf_strings_of(value, &strings))
            while (gguf_next_string(&strings, &text, &length))
                sum += length ? (unsigned char)text[length - 1] : 0;
        gguf_text(value, copy, sizeof copy);
    }
}

static void read_tensors(const struct gguf *gguf, const uint8_t *bytes, size_t size)
{
    const struct weight_list *const list = gguf_weights(gguf);
    for (size_t i = 0; i < list->count; i++) {
        const struct weight_tensor *const t = &list->tensor[i];
        check(t->data >= bytes && t->data + t->bytes <= bytes + size);
        float *const row = malloc((t->dims ? t->shape[0] : 1) * sizeof *row);
        if (row && t->dims && t->format->decode)
            weight_row(t, t->count / t->shape[0] - 1, row);
        free(row);
    }
}

static void read_model(const struct gguf *gguf)
{
    struct language_shape shape;
    struct orch_error error = {0};
    check(shape_of_gguf(gguf, &shape, &error) || (error.text[0] != 0 && !strchr(error.text, '\n')));
    error = (struct orch_error){0};
    struct tokenizer *const t = tokenizer_create(gguf, &error);
    struct token_list tokens = {0};
    check(t || (error.text[0] != 0 && !strchr(error.text, '\n')));
    if (t && !tokenizer_encode(t, "a text, 12", 10, TOKENIZE_FRAME | TOKENIZE_SPECIAL, &tokens, &error))
        check(error.text[0] != 0);
    for (size_t i = 0; i < tokens.count; i++)
        check(tokens.token[i] < tokenizer_count(t));
    token_list_free(&tokens);
    tokenizer_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[24] = {'G', 'G', 'U', 'F', 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2};
    const size_t before = gguf_is(data, size) ? 0 : sizeof head;
    struct orch_error error = {0};
    uint8_t *const file = malloc(before + size + 1);
    if (!file)
        return 0;
    memcpy(file, head, before);
    if (size)
        memcpy(file + before, data, size);
    struct gguf *const gguf = gguf_parse("f", file, before + size, &error);
    if (gguf) {
        read_values(gguf);
        read_tensors(gguf, file, before + size);
        read_model(gguf);
        gguf_close(gguf);
    } else {
        check(error.text[0] != 0 && !strchr(error.text, '\n'));
    }
    free(file);
    return 0;
}
