#include "sim/workload/gpu/abi_generator.h"

#include "sim/base/splitmix64.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct text {
    const char *at;
};

static void skip_blanks(struct text *t)
{
    t->at += strspn(t->at, " \t");
}

static bool accept(struct text *t, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(t);
    if (strncmp(t->at, word, length) != 0)
        return false;
    t->at += length;
    return true;
}

static bool whole(struct text *t, uint64_t *number)
{
    char *end;
    skip_blanks(t);
    if (*t->at < '0' || *t->at > '9')
        return false;
    errno = 0;
    *number = strtoull(t->at, &end, 10);
    t->at = end;
    return errno == 0;
}

static bool real(struct text *t, double *number)
{
    char *end;
    skip_blanks(t);
    *number = strtod(t->at, &end);
    const bool any = end != t->at && isfinite(*number);
    t->at = end;
    return any;
}

static bool finished(struct text *t)
{
    skip_blanks(t);
    return *t->at == 0;
}

/* Reads "KIND seed N[, times X]". */
static bool parse_random(struct text *t, struct abi_generator *g, const char **reason)
{
    uint64_t bits = 5;
    if (accept(t, "f16c")) {
        g->kind = ABI_GENERATE_F16C;
        if (accept(t, "(") && (!whole(t, &bits) || !accept(t, "bits") || !accept(t, ")") || bits < 1 || bits > 10)) {
            *reason = "f16c takes (1 bits) to (10 bits)";
            return false;
        }
        g->bits = (unsigned)bits;
    } else if (accept(t, "f32") || accept(t, "f16")) {
        g->kind = ABI_GENERATE_F32;
    } else if (accept(t, "u32")) {
        g->kind = ABI_GENERATE_U32;
    } else if (accept(t, "s8")) {
        g->kind = ABI_GENERATE_S8;
    } else {
        *reason = "a generator starts with f32, f16c, u32, s8, a number, or NUMBER*index";
        return false;
    }
    if (!accept(t, "seed") || !whole(t, &g->seed)) {
        *reason = "'seed NUMBER' is missing after the kind";
        return false;
    }
    if (accept(t, ",") && (!accept(t, "times") || !real(t, &g->factor))) {
        *reason = "expected 'times NUMBER' after the comma";
        return false;
    }
    return true;
}

/* Reads "index", "X*index" or "X". */
static bool parse_plain(struct text *t, struct abi_generator *g)
{
    g->kind = ABI_GENERATE_VALUE;
    if (accept(t, "index"))
        g->kind = ABI_GENERATE_INDEX;
    else if (!real(t, &g->factor))
        return false;
    else if (accept(t, "*")) {
        g->kind = ABI_GENERATE_INDEX;
        return accept(t, "index");
    }
    return true;
}

static bool fits(const struct abi_generator *g, enum element_type type)
{
    if (g->kind == ABI_GENERATE_F32 || g->kind == ABI_GENERATE_F16C)
        return element_type_float(type);
    if (g->kind == ABI_GENERATE_U32)
        return !element_type_float(type) || type == ELEMENT_F64;
    return true;
}

bool abi_generator_parse(const char *text, enum element_type type, struct abi_generator *g, const char **reason)
{
    struct text t = {text};
    *g = (struct abi_generator){.factor = 1};
    *reason = "nothing may follow the generator";
    const char *start = text + strspn(text, " \t");
    const bool plain = strchr("+-.0123456789i", *start) != NULL && *start;
    if (!(plain ? parse_plain(&t, g) : parse_random(&t, g, reason)) || !finished(&t))
        return false;
    *reason = "the element type cannot hold what it generates";
    return fits(g, type);
}

static double number_at(const struct abi_generator *g, uint64_t index)
{
    const uint64_t z = splitmix64_at(g->seed, index + 1);
    switch (g->kind) {
    case ABI_GENERATE_F32: return (double)(z >> 40) * 0x1p-23 - 1;
    case ABI_GENERATE_F16C: return ldexp((double)(z >> (63 - g->bits)), -(int)g->bits) - 1;
    case ABI_GENERATE_U32: return (double)(z >> 32);
    case ABI_GENERATE_S8: return (double)(int8_t)(z >> 56);
    case ABI_GENERATE_INDEX: return (double)index;
    default: return 1;
    }
}

/* Integers keep the low bits of what does not fit, as stores do. */
static void store(enum element_type type, double number, uint8_t *at)
{
    if (element_write(type, number, at))
        return;
    const double low = fmod(number, 0x1p64);
    const uint64_t raw = low < 0 ? 0 - (uint64_t)-low : (uint64_t)low;
    memcpy(at, &raw, element_type_bytes(type));
}

void abi_generator_fill(const struct abi_generator *g, enum element_type type, uint64_t count, uint8_t *to)
{
    const unsigned bytes = element_type_bytes(type);
    for (uint64_t i = 0; i < count; i++)
        store(type, number_at(g, i) * g->factor, to + i * bytes);
}
