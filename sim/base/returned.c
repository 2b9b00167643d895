#include "sim/base/returned.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "returned:"
enum { MEMBERS_MOST = 16, WORDS = 10 }; /* words: x0, x1, then two of each of v0 to v3 */

struct scalar {
    const char *name;
    unsigned bytes;
    char kind; /* i, u, f, or p */
};

static const struct scalar scalars[] = {{"i8", 1, 'i'},  {"i16", 2, 'i'}, {"i32", 4, 'i'}, {"i64", 8, 'i'},
                                        {"u8", 1, 'u'},  {"u16", 2, 'u'}, {"u32", 4, 'u'}, {"u64", 8, 'u'},
                                        {"f16", 2, 'f'}, {"f32", 4, 'f'}, {"f64", 8, 'f'}, {"ptr", 8, 'p'}};

enum shape { SCALAR, VECTOR, STRUCT, REGISTERS, NOTHING };

struct shape_of {
    enum shape shape;
    const struct scalar *member[MEMBERS_MOST];
    unsigned members;
};

/* ---- types ---- */

static const struct scalar *scalar_at(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        if (strlen(scalars[i].name) == length && strncmp(scalars[i].name, text, length) == 0)
            return &scalars[i];
    return NULL;
}

static unsigned align_up(unsigned at, unsigned to)
{
    return (at + to - 1) / to * to;
}

static bool floats_alike(const struct shape_of *s)
{
    for (unsigned i = 0; i < s->members; i++)
        if (s->member[i]->kind != 'f' || s->member[i] != s->member[0])
            return false;
    return s->members <= 4;
}

static bool parse_struct(const char *text, struct shape_of *s)
{
    unsigned bytes = 0;
    s->shape = STRUCT;
    for (const char *at = text + 1; *at; at++) {
        const size_t n = strcspn(at, ",}");
        const struct scalar *const m = scalar_at(at, n);
        if (!m || s->members == MEMBERS_MOST)
            return false;
        s->member[s->members++] = m;
        bytes = align_up(bytes, m->bytes) + m->bytes;
        at += n;
        if (*at == '}')
            return !at[1] && (bytes <= 16 || floats_alike(s));
        if (!*at)
            break;
    }
    return false;
}

static bool parse(const char *text, struct shape_of *s)
{
    const size_t n = strcspn(text, "x");
    char *end;
    *s = (struct shape_of){.shape = SCALAR};
    if (strcmp(text, RETURNED_REGISTERS) == 0 || strcmp(text, "void") == 0) {
        s->shape = text[0] == 'v' ? NOTHING : REGISTERS;
        return true;
    }
    if (text[0] == '{')
        return parse_struct(text, s);
    s->member[0] = scalar_at(text, n);
    s->members = 1;
    if (!s->member[0] || !text[n])
        return s->member[0] != NULL;
    const unsigned long lanes = strtoul(text + n + 1, &end, 10);
    s->shape = VECTOR;
    s->members = (unsigned)lanes;
    /* Other sizes are no vectors of AAPCS64: three floats side by side are a struct, in a register each. */
    return !*end && end != text + n + 1 && lanes >= 1 && lanes <= MEMBERS_MOST &&
           (lanes * s->member[0]->bytes == 8 || lanes * s->member[0]->bytes == 16);
}

bool returned_check(const char *type, struct orch_error *error)
{
    struct shape_of s;
    return parse(type, &s) ||
           orch_fail(error, ORCH_USAGE,
                     ORCH_OPTION(
                         "returns") " %.60s: expected void, ptr, i8 .. i64, u8 .. u64, f16, f32, f64, "
                                    "TYPExN (a vector of 8 or 16 bytes, as f32x4) or {TYPE,TYPE ...} (a struct in registers: at "
                                    "most 16 bytes, or four equal floats; larger ones are in memory)",
                     type);
}

/* ---- keeping ---- */

bool returned_add(struct run_result *result, const char *type, const struct returned_registers *r)
{
    uint64_t word[WORDS] = {r->x[0], r->x[1]};
    bool ok = true;
    memcpy(word + 2, r->v, sizeof r->v);
    for (unsigned i = 0; ok && i < WORDS; i++) {
        char name[120];
        snprintf(name, sizeof name, PREFIX "%.80s:%u", type, i);
        ok = run_checksum_add(&result->checksum, name, word[i]);
    }
    return ok;
}

bool returned_is(const char *name)
{
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

/* ---- reading ---- */

static double from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static int put_float(char *text, size_t size, double value, int digits)
{
    return isfinite(value) ? snprintf(text, size, "%.*g", digits, value)
                           : snprintf(text, size, "\"%s\"",
                                      isnan(value) ? "nan"
                                      : value < 0  ? "-inf"
                                                   : "inf");
}

/* One member at `from`, as JSON. */
static int put_member(char *text, size_t size, const struct scalar *m, const uint8_t *from)
{
    uint64_t bits = 0;
    float single;
    double twice;
    memcpy(&bits, from, m->bytes);
    const unsigned unused = 64 - 8 * m->bytes;
    switch (m->kind) {
    case 'i': return snprintf(text, size, "%" PRId64, (int64_t)(bits << unused) >> unused);
    case 'u': return snprintf(text, size, "%" PRIu64, bits);
    case 'p': return snprintf(text, size, "\"0x%" PRIx64 "\"", bits);
    default: break;
    }
    memcpy(&single, from, sizeof single);
    memcpy(&twice, from, m->bytes == 8 ? sizeof twice : 0);
    return m->bytes == 2   ? put_float(text, size, from_half((uint16_t)bits), 5)
           : m->bytes == 4 ? put_float(text, size, (double)single, 9)
                           : put_float(text, size, twice, 17);
}

static const uint8_t *place(const struct shape_of *s, const uint64_t word[WORDS], unsigned member, unsigned offset)
{
    const uint8_t *const general = (const uint8_t *)word, *const vectors = (const uint8_t *)(word + 2);
    if (s->shape == VECTOR)
        return vectors + offset;
    if (s->shape == SCALAR)
        return s->member[0]->kind == 'f' ? vectors : general;
    return floats_alike(s) ? vectors + (size_t)16 * member : general + offset;
}

static void put_value(char *text, size_t size, const struct shape_of *s, const uint64_t word[WORDS])
{
    size_t used = 0;
    unsigned offset = 0;
    if (s->shape == REGISTERS) {
        const struct scalar single = {"f32", 4, 'f'}, twice = {"f64", 8, 'f'};
        used = (size_t)snprintf(text, size, "{\"x0\": %" PRId64 ", \"s0\": ", (int64_t)word[0]);
        used += (size_t)put_member(text + used, size - used, &single, (const uint8_t *)(word + 2));
        used += (size_t)snprintf(text + used, size - used, ", \"d0\": ");
        used += (size_t)put_member(text + used, size - used, &twice, (const uint8_t *)(word + 2));
        snprintf(text + used, size - used, "}");
        return;
    }
    if (s->shape != SCALAR)
        used = (size_t)snprintf(text, size, "[");
    for (unsigned i = 0; i < s->members && used + 40 < size; i++) {
        const struct scalar *const m = s->shape == VECTOR ? s->member[0] : s->member[i];
        offset = align_up(offset, m->bytes);
        used += (size_t)snprintf(text + used, size - used, "%s", i ? ", " : "");
        used += (size_t)put_member(text + used, size - used, m, place(s, word, i, offset));
        offset += m->bytes;
    }
    if (s->shape != SCALAR)
        snprintf(text + used, size - used, "]");
}

bool returned_get(const struct run_result *result, char *type, size_t type_size, char *value, size_t value_size)
{
    uint64_t word[WORDS] = {0};
    struct shape_of s;
    bool any = false;
    for (size_t i = 0; i < result->checksum.count; i++) {
        const struct run_checksum *const c = &result->checksum.item[i];
        if (!returned_is(c->output))
            continue;
        const char *const text = c->output + strlen(PREFIX), *const colon = strrchr(text, ':');
        const unsigned long index = colon ? strtoul(colon + 1, NULL, 10) : WORDS;
        if (!colon || index >= WORDS)
            continue;
        snprintf(type, type_size, "%.*s", (int)(colon - text), text);
        word[index] = c->fnv1a64;
        any = true;
    }
    if (!any || !parse(type, &s) || s.shape == NOTHING)
        return false;
    put_value(value, value_size, &s, word);
    return true;
}
