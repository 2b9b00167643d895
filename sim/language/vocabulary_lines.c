/* Source: google-research/bert, tokenization.py, load_vocab; how GGUF files write such pieces: tokenizer_word_piece.c. */
#include "sim/language/gguf_write.h"
#include "sim/language/tokenizer.h"
#include "sim/language/utf8.h"
#include "sim/language/vocabulary_file.h"

#include <string.h>

enum { LINES_MAX = 1 << 22 };

/* The next line without its end; NULL past the last one. */
static const char *next_line(const char **at, const char *end, size_t *length)
{
    const char *const line = *at;
    if (line == end)
        return NULL;
    const char *const stop = memchr(line, '\n', (size_t)(end - line));
    *at = stop ? stop + 1 : end;
    *length = (size_t)((stop ? stop : end) - line);
    while (*length && line[*length - 1] == '\r')
        (*length)--;
    return line;
}

static bool is_control(const char *line, size_t length)
{
    return length > 2 && line[0] == '[' && line[length - 1] == ']';
}

static void put_piece(struct gguf_writer *w, const char *line, size_t length)
{
    static const char begins[] = "\xe2\x96\x81";
    char piece[256 + sizeof begins];
    if (is_control(line, length) || (length > 2 && line[0] == '#' && line[1] == '#')) {
        const size_t left_out = line[0] == '#' ? 2 : 0;
        gguf_put_string(w, line + left_out, length - left_out);
        return;
    }
    memcpy(piece, begins, sizeof begins - 1);
    memcpy(piece + sizeof begins - 1, line, length);
    gguf_put_string(w, piece, sizeof begins - 1 + length);
}

/* Lines that are no pieces are refused by their number. */
static size_t count_lines(const char *file, const char *text, size_t size, struct orch_error *error)
{
    const char *at = text, *line;
    size_t count = 0, length, wrong;
    while ((line = next_line(&at, text + size, &length))) {
        count++;
        if (length == 0 || length > 256 || !utf8_is_valid(line, length, &wrong) || memchr(line, 0, length)) {
            orch_fail(error, ORCH_USAGE, "%.300s:%zu: no piece of 1 to 256 bytes of UTF-8", file, count);
            return 0;
        }
        if (count > LINES_MAX)
            break;
    }
    if (count == 0 || count > LINES_MAX)
        orch_fail(error, ORCH_USAGE, "%.300s: %s", file, count ? "more than 4194304 lines" : "the file is empty");
    return count > LINES_MAX ? 0 : count;
}

uint8_t *vocabulary_of_lines(const char *file, const char *text, size_t size, size_t *gguf_size, struct orch_error *error)
{
    const size_t count = count_lines(file, text, size, error);
    struct gguf_writer w = {0};
    const char *at = text, *line;
    size_t length;
    if (!count)
        return NULL;
    gguf_write_string(&w, "tokenizer.ggml.model", "bert", 4);
    gguf_write_array(&w, "tokenizer.ggml.tokens", GGUF_STRING, count);
    while ((line = next_line(&at, text + size, &length)))
        put_piece(&w, line, length);
    at = text;
    gguf_write_array(&w, "tokenizer.ggml.token_type", GGUF_U32, count);
    while ((line = next_line(&at, text + size, &length)))
        gguf_put_u32(&w, is_control(line, length) ? TOKEN_CONTROL : TOKEN_NORMAL);
    return gguf_write_end(&w, gguf_size, error);
}
