#include "sim/language/text_split.h"

#include "isa/list_grow.h"
#include "sim/language/pattern.h"
#include "sim/language/utf8.h"

#include <stdlib.h>

struct splitter {
    struct pattern *pattern[SPLIT_EXPRESSIONS_MAX];
    unsigned patterns;
};

struct splitter *splitter_create(const struct split_family *family, struct orch_error *error)
{
    struct splitter *const s = calloc(1, sizeof *s);
    if (!s)
        orch_no_memory(error);
    for (unsigned i = 0; s && i < SPLIT_EXPRESSIONS_MAX && family->expression[i]; i++) {
        s->pattern[s->patterns] = pattern_create(family->expression[i], error);
        if (!s->pattern[s->patterns++]) {
            splitter_free(s);
            return NULL;
        }
    }
    return s;
}

void splitter_free(struct splitter *splitter)
{
    if (!splitter)
        return;
    for (unsigned i = 0; i < splitter->patterns; i++)
        pattern_free(splitter->pattern[i]);
    free(splitter);
}

/* Pieces by the character behind each. */
struct pieces {
    size_t *end;
    size_t count, room;
};

static bool add_piece(struct pieces *pieces, size_t end)
{
    size_t *const grown = list_grow(pieces->end, pieces->count, &pieces->room, sizeof *grown);
    if (!grown)
        return false;
    pieces->end = grown;
    pieces->end[pieces->count++] = end;
    return true;
}

/* The matches in one piece, and what lies between them. */
static bool split_piece(const struct pattern *pattern, const struct pattern_character *text, size_t begin, size_t end,
                        struct pieces *to, struct orch_error *error)
{
    size_t kept = begin; /* where what has not been matched begins */
    for (size_t at = begin; at < end;) {
        ptrdiff_t length;
        if (!pattern_match(pattern, text + at, end - at, &length, error))
            return false;
        if (length <= 0) {
            at++;
            continue;
        }
        if ((kept < at && !add_piece(to, at)) || !add_piece(to, at + (size_t)length))
            return orch_no_memory(error);
        kept = at += (size_t)length;
    }
    return kept == end || add_piece(to, end) || orch_no_memory(error);
}

static bool split_all(const struct splitter *s, const struct pattern_character *text, size_t characters, struct pieces *pieces,
                      struct orch_error *error)
{
    if (characters && !add_piece(pieces, characters))
        return orch_no_memory(error);
    for (unsigned i = 0; i < s->patterns; i++) {
        struct pieces finer = {0};
        bool ok = true;
        for (size_t k = 0; ok && k < pieces->count; k++)
            ok = split_piece(s->pattern[i], text, k ? pieces->end[k - 1] : 0, pieces->end[k], &finer, error);
        free(pieces->end);
        *pieces = finer;
        if (!ok)
            return false;
    }
    return true;
}

/* Ends in characters become ends in bytes. */
static void ends_in_bytes(const char *text, size_t length, struct pieces *pieces)
{
    size_t byte = 0, character = 0;
    uint32_t code;
    for (size_t i = 0; i < pieces->count; i++) {
        for (; character < pieces->end[i]; character++)
            byte += utf8_read(text + byte, length - byte, &code);
        pieces->end[i] = byte;
    }
}

bool splitter_run(const struct splitter *splitter, const char *text, size_t length, size_t **ends, size_t *count,
                  struct orch_error *error)
{
    struct pattern_character *const characters = malloc((length + 1) * sizeof *characters);
    struct pieces pieces = {0};
    size_t n = 0;
    uint32_t code;
    bool ok = characters != NULL;
    for (size_t at = 0; ok && at < length;) {
        const unsigned bytes = utf8_read(text + at, length - at, &code);
        if (bytes == 0) {
            free(characters);
            return orch_fail(error, ORCH_USAGE, "the text is not UTF-8 at byte %zu", at);
        }
        characters[n++] = pattern_character(code);
        at += bytes;
    }
    ok = ok ? split_all(splitter, characters, n, &pieces, error) : orch_no_memory(error);
    free(characters);
    if (!ok) {
        free(pieces.end);
        return false;
    }
    ends_in_bytes(text, length, &pieces);
    *ends = pieces.end;
    *count = pieces.count;
    return true;
}
