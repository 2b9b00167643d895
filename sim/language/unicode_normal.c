#include "sim/language/unicode_normal.h"

#include "isa/list_grow.h"
#include "sim/language/tokenizer_internal.h"
#include "sim/language/unicode.h"
#include "sim/language/utf8.h"

#include <stdlib.h>

struct codes {
    uint32_t *code;
    size_t count, room;
};

static bool add(struct codes *codes, uint32_t code)
{
    uint32_t *const grown = list_grow(codes->code, codes->count, &codes->room, sizeof *grown);
    if (!grown)
        return false;
    codes->code = grown;
    /* Combining characters are ordered by their classes; those of one class stay as they are. */
    size_t at = codes->count++;
    const unsigned class = unicode_class(code);
    for (; class && at && unicode_class(grown[at - 1]) > class; at--)
        grown[at] = grown[at - 1];
    grown[at] = code;
    return true;
}

static bool decompose(bool compatible, const char *text, size_t length, struct codes *codes)
{
    for (size_t at = 0, some; at < length; at += some) {
        uint32_t code, own[UNICODE_DECOMPOSED_MAX];
        const uint32_t *part = own;
        some = utf8_read(text + at, length - at, &code);
        unsigned parts = compatible ? unicode_decompose_compatible(code, &part) : 0;
        parts = parts ? parts : unicode_decompose(code, own);
        for (unsigned i = 0; i < parts; i++)
            if (!add(codes, part[i]))
                return false;
    }
    return true;
}

/* A character joins the last that begins an order unless one of its class or above stands between. */
static void compose(struct codes *codes)
{
    size_t start = 0, to = 0;
    bool started = false;
    unsigned before = 0;
    for (size_t i = 0; i < codes->count; i++) {
        const uint32_t code = codes->code[i];
        const unsigned class = unicode_class(code);
        const bool open = started && (to == start + 1 || (before < class && before != 0));
        const uint32_t whole = open ? unicode_compose(codes->code[start], code) : 0;
        if (whole) {
            codes->code[start] = whole;
            continue;
        }
        if (class == 0) {
            start = to;
            started = true;
        }
        before = class;
        codes->code[to++] = code;
    }
    codes->count = to;
}

bool unicode_normalise(enum unicode_form form, const char *text, size_t length, struct token_text *to, struct orch_error *error)
{
    struct codes codes = {0};
    bool ok = decompose(form == UNICODE_NFKD || form == UNICODE_NFKC, text, length, &codes) || orch_no_memory(error);
    if (ok && (form == UNICODE_NFC || form == UNICODE_NFKC))
        compose(&codes);
    for (size_t i = 0; ok && i < codes.count; i++) {
        char bytes[UTF8_MAX];
        ok = token_text_add(to, bytes, utf8_write(codes.code[i], bytes), error);
    }
    free(codes.code);
    return ok;
}
