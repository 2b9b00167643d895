/* Types of elements and blocks: how they are generated, and our own reading of them. */
#include "tests/public/public.h"

#include "isa/float_bits.h"
#include "sim/workload/element_type.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A type is an element, or a block of many: where its scales (halves) are, which random bits must not decide. */
struct public_type {
    const char *name;
    enum element_type element; /* ELEMENT_TYPE_COUNT: a block */
    unsigned count, bytes;
    int scale[2];
    void (*read)(const uint8_t *block, double *value);
};

static double half(const uint8_t *p)
{
    return element_read(ELEMENT_F16, p);
}

static uint32_t u16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const uint8_t *p)
{
    return u16(p) | u16(p + 2) << 16;
}

static void read_q1_0(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 128; i++)
        v[i] = p[2 + i / 8] >> i % 8 & 1 ? half(p) : -half(p);
}

static void read_q2_0(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 64; i++)
        v[i] = half(p) * ((p[2 + i / 4] >> 2 * (i % 4) & 3) - 1);
}

static void read_q4_0(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 32; i++)
        v[i] = half(p) * ((p[2 + i % 16] >> (i / 16) * 4 & 15) - 8);
}

static void read_q4_1(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 32; i++)
        v[i] = half(p) * (p[4 + i % 16] >> (i / 16) * 4 & 15) + half(p + 2);
}

static void read_q5_0(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 32; i++)
        v[i] = half(p) * ((int)((p[6 + i % 16] >> (i / 16) * 4 & 15) | (u32(p + 2) >> i & 1) << 4) - 16);
}

static void read_q5_1(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 32; i++)
        v[i] = half(p) * (double)((p[8 + i % 16] >> (i / 16) * 4 & 15u) | (u32(p + 4) >> i & 1) << 4) + half(p + 2);
}

static void read_q8_0(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 32; i++)
        v[i] = half(p) * (int8_t)p[2 + i];
}

static void read_q2_k(const uint8_t *p, double *v)
{
    const double d = half(p + 80), m = half(p + 82);
    for (unsigned i = 0; i < 256; i++) {
        const unsigned scale = p[i / 16], q = p[16 + 32 * (i / 128) + i % 32] >> 2 * (i / 32 % 4) & 3;
        v[i] = d * (scale & 15) * q - m * (scale >> 4);
    }
}

static void read_q3_k(const uint8_t *p, double *v)
{
    const uint8_t *const high = p, *const low = p + 32, *const scales = p + 96;
    for (unsigned i = 0; i < 256; i++) {
        const unsigned g = i / 16; /* 16 scales of 6 bits: low nibbles in 8 bytes, high pairs in the 4 behind */
        const int scale = (int)((scales[g % 8] >> (g / 8) * 4 & 15) | (scales[8 + g % 4] >> 2 * (g / 4) & 3) << 4) - 32;
        const int q = (low[32 * (i / 128) + i % 32] >> 2 * (i / 32 % 4) & 3) - (high[i % 32] >> i / 32 & 1 ? 0 : 4);
        v[i] = half(p + 108) * scale * q;
    }
}

/* Scale and minimum of 6 bits of the group, of the types with 8 groups of 32. */
static void scale_of(const uint8_t *s, unsigned group, unsigned *scale, unsigned *minimum)
{
    *scale = group < 4 ? s[group] & 63u : (s[group + 4] & 15u) | (unsigned)(s[group - 4] >> 6) << 4;
    *minimum = group < 4 ? s[group + 4] & 63u : (unsigned)(s[group + 4] >> 4) | (unsigned)(s[group] >> 6) << 4;
}

static void read_q45_k(const uint8_t *p, double *v, bool five)
{
    const uint8_t *const low = p + (five ? 48 : 16);
    for (unsigned i = 0; i < 256; i++) {
        unsigned scale, minimum;
        scale_of(p + 4, i / 32, &scale, &minimum);
        unsigned q = low[32 * (i / 64) + i % 32] >> (i / 32 % 2) * 4 & 15u;
        if (five)
            q |= (p[16 + i % 32] >> i / 32 & 1u) << 4;
        v[i] = half(p) * scale * q - half(p + 2) * minimum;
    }
}

static void read_q4_k(const uint8_t *p, double *v)
{
    read_q45_k(p, v, false);
}

static void read_q5_k(const uint8_t *p, double *v)
{
    read_q45_k(p, v, true);
}

static void read_q6_k(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 256; i++) {
        const unsigned part = i / 128, in = i % 128;
        const unsigned low = p[64 * part + in % 64] >> (in / 64) * 4 & 15u;
        const unsigned high = p[128 + 32 * part + in % 32] >> 2 * (in / 32) & 3u;
        v[i] = half(p + 208) * (int8_t)p[192 + i / 16] * ((int)(low | high << 4) - 32);
    }
}

static const int8_t four_bits[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static void read_iq4_nl(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 32; i++)
        v[i] = half(p) * four_bits[p[2 + i % 16] >> (i / 16) * 4 & 15];
}

static void read_iq4_xs(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 256; i++) {
        const unsigned g = i / 32;
        const int scale = (int)((p[4 + g / 2] >> (g % 2) * 4 & 15) | (u16(p + 2) >> 2 * g & 3) << 4) - 32;
        v[i] = half(p) * scale * four_bits[p[8 + 16 * g + i % 16] >> (i / 16 % 2) * 4 & 15];
    }
}

static void read_mxfp4(const uint8_t *p, double *v)
{
    static const double e2m1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (unsigned i = 0; i < 32; i++) {
        const unsigned q = p[1 + i % 16] >> (i / 16) * 4 & 15;
        v[i] = ldexp(q & 8 ? -e2m1[q & 7] : e2m1[q & 7], p[0] - 127);
    }
}

static void read_tq2_0(const uint8_t *p, double *v)
{
    for (unsigned i = 0; i < 256; i++)
        v[i] = half(p + 64) * ((p[32 * (i / 128) + i % 32] >> 2 * (i / 32 % 4) & 3) - 1);
}

#define ELEMENT(name, type, bytes)                                                                                               \
    {                                                                                                                            \
        name, type, 1, bytes, {-1, -1}, NULL                                                                                     \
    }
#define BLOCK(name, count, bytes, one, two, read)                                                                                \
    {                                                                                                                            \
        name, ELEMENT_TYPE_COUNT, count, bytes, {one, two}, read                                                                 \
    }
/* Blocks whose reading takes tables that only the source has are run against the interpreter alone. */
static const struct public_type types[] = {
    ELEMENT("f32", ELEMENT_F32, 4),
    ELEMENT("f16", ELEMENT_F16, 2),
    ELEMENT("bf16", ELEMENT_BF16, 2),
    ELEMENT("i8", ELEMENT_I8, 1),
    ELEMENT("u8", ELEMENT_U8, 1),
    ELEMENT("i16", ELEMENT_I16, 2),
    ELEMENT("u16", ELEMENT_U16, 2),
    ELEMENT("i32", ELEMENT_I32, 4),
    ELEMENT("u32", ELEMENT_U32, 4),
    ELEMENT("i64", ELEMENT_I64, 8),
    ELEMENT("u64", ELEMENT_U64, 8),
    BLOCK("q1_0", 128, 18, 0, -1, read_q1_0),
    BLOCK("q2_0", 64, 18, 0, -1, read_q2_0),
    BLOCK("q4_0", 32, 18, 0, -1, read_q4_0),
    BLOCK("q4_1", 32, 20, 0, 2, read_q4_1),
    BLOCK("q5_0", 32, 22, 0, -1, read_q5_0),
    BLOCK("q5_1", 32, 24, 0, 2, read_q5_1),
    BLOCK("q8_0", 32, 34, 0, -1, read_q8_0),
    BLOCK("q2_K", 256, 84, 80, 82, read_q2_k),
    BLOCK("q3_K", 256, 110, 108, -1, read_q3_k),
    BLOCK("q4_K", 256, 144, 0, 2, read_q4_k),
    BLOCK("q5_K", 256, 176, 0, 2, read_q5_k),
    BLOCK("q6_K", 256, 210, 208, -1, read_q6_k),
    BLOCK("iq2_xxs", 256, 66, 0, -1, NULL),
    BLOCK("iq2_xs", 256, 74, 0, -1, NULL),
    BLOCK("iq2_s", 256, 82, 0, -1, NULL),
    BLOCK("iq3_xxs", 256, 98, 0, -1, NULL),
    BLOCK("iq3_s", 256, 110, 0, -1, NULL),
    BLOCK("iq1_s", 256, 50, 0, -1, NULL),
    BLOCK("iq1_m", 256, 56, -1, -1, NULL),
    BLOCK("iq4_nl", 32, 18, 0, -1, read_iq4_nl),
    BLOCK("iq4_xs", 256, 136, 0, -1, read_iq4_xs),
    BLOCK("mxfp4", 32, 17, -1, -1, read_mxfp4),
    BLOCK("tq2_0", 256, 66, 64, -1, read_tq2_0),
};

const struct public_type *public_type_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

const char *public_type_name(const struct public_type *type)
{
    return type->name;
}

bool public_type_is_float(const struct public_type *type)
{
    return type->element != ELEMENT_TYPE_COUNT && element_type_float(type->element);
}

/* ---- contents ---- */

struct filling {
    double low, high, step; /* step: 0 = random, else low, low + step, ... */
    double list[300];       /* over and over */
    unsigned listed;
    char file[256]; /* "" = none */
    uint64_t skip;  /* bytes of it */
};

static double draw(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(suite_random(state) >> 11) * 0x1p-53;
}

static void fill_block(const struct public_type *t, uint8_t *block, uint64_t *state)
{
    for (unsigned i = 0; i < t->bytes; i++)
        block[i] = (uint8_t)suite_random(state);
    for (int i = 0; i < 2; i++)
        if (t->scale[i] >= 0)
            element_write(ELEMENT_F16, draw(state, 0.01, 0.06), block + t->scale[i]);
    if (strcmp(t->name, "mxfp4") == 0)
        block[0] = (uint8_t)(120 + suite_random(state) % 6);
    if (strcmp(t->name, "iq1_m") == 0) /* its scale, a half, is spread over the high nibbles of four words */
        for (unsigned i = 0; i < 4; i++)
            block[49 + 2 * i] = (uint8_t)((block[49 + 2 * i] & 15) | (0x2a61u >> 4 * i & 15) << 4);
}

static bool fill_file(struct public_tensor *t, const struct filling *f)
{
    const char *const path = strncmp(f->file, "shared:", 7) == 0 ? suite_shared(f->file + 7) : f->file;
    FILE *const in = path ? fopen(path, "rb") : NULL;
    const bool ok = in && fseek(in, (long)f->skip, SEEK_SET) == 0 && fread(t->start, 1, t->bytes, in) == t->bytes;
    if (in)
        fclose(in);
    return ok;
}

static void fill(struct public_tensor *t, const struct filling *f, uint64_t *state)
{
    const struct public_type *const y = t->type;
    for (uint64_t i = 0; i < t->count / y->count; i++) {
        uint8_t *const at = t->start + i * y->bytes;
        if (y->element == ELEMENT_TYPE_COUNT) {
            fill_block(y, at, state);
            continue;
        }
        double number = f->listed      ? f->list[i % f->listed]
                        : f->step != 0 ? f->low + f->step * (double)i
                                       : draw(state, f->low, f->high);
        if (!element_type_float(y->element))
            number = floor(number);
        element_write(y->element, number, at);
    }
}

static bool option(const char *word, struct filling *f)
{
    unsigned long long skip;
    if (sscanf(word, "range=%lf:%lf", &f->low, &f->high) == 2 || sscanf(word, "steps=%lf:%lf", &f->low, &f->step) == 2)
        return true;
    if (sscanf(word, "file=%255s", f->file) == 1)
        return true;
    if (strncmp(word, "list=", 5) == 0) {
        char *end;
        for (word += 5; *word && f->listed < ARRAY_COUNT(f->list); word = *end ? end + 1 : end)
            f->list[f->listed++] = strtod(word, &end);
        return f->listed > 0;
    }
    if (sscanf(word, "skip=%llu", &skip) != 1)
        return false;
    f->skip = skip;
    return true;
}

bool public_tensor_make(struct public_tensor *t, const char *name, const char *text, uint64_t *state, char *why, size_t size)
{
    char copy[2000], *rest = NULL;
    struct filling f = {.low = -1, .high = 1};
    *t = (struct public_tensor){.dims = 0};
    snprintf(t->name, sizeof t->name, "%s", name);
    snprintf(copy, sizeof copy, "%s", text);
    const char *word = strtok_r(copy, " ", &rest);
    t->type = word ? public_type_find(word) : NULL;
    if (!t->type)
        return snprintf(why, size, "tensor %s: no type %s", name, word ? word : "") < 0;
    if (!public_type_is_float(t->type))
        f = (struct filling){.low = 0, .high = 100};
    for (unsigned i = 0; i < PUBLIC_DIMS; i++)
        t->ne[i] = 1;
    t->count = 1;
    while ((word = strtok_r(NULL, " ", &rest))) {
        char *end;
        const unsigned long long n = strtoull(word, &end, 10);
        if (*end == 0 && t->dims < PUBLIC_DIMS)
            t->count *= t->ne[t->dims++] = n;
        else if (!option(word, &f))
            return snprintf(why, size, "tensor %s: cannot read %s", name, word) < 0;
    }
    t->nb[0] = t->type->bytes;
    for (unsigned i = 1; i < PUBLIC_DIMS; i++)
        t->nb[i] = i == 1 ? t->ne[0] / t->type->count * t->type->bytes : t->nb[i - 1] * t->ne[i - 1];
    t->bytes = t->count / t->type->count * t->type->bytes;
    t->start = malloc(t->bytes + 1);
    t->after = calloc(1, t->bytes + 1);
    t->value = calloc(t->count + 1, sizeof *t->value);
    if (!t->start || !t->after || !t->value)
        return snprintf(why, size, "no memory") < 0;
    const bool absent = strncmp(f.file, "shared:", 7) == 0 && !suite_shared(f.file + 7);
    if (!f.file[0] || absent)
        fill(t, &f, state);
    else if (!fill_file(t, &f))
        return snprintf(why, size, "tensor %s: %s has no %llu bytes there", name, f.file, (unsigned long long)t->bytes) < 0;
    public_tensor_read(t, t->start, t->value);
    return true;
}

void public_tensor_read(const struct public_tensor *t, const uint8_t *bytes, double *value)
{
    const struct public_type *const y = t->type;
    for (uint64_t i = 0; i < t->count / y->count; i++)
        if (y->element != ELEMENT_TYPE_COUNT)
            value[i] = element_read(y->element, bytes + i * y->bytes);
        else if (y->read)
            y->read(bytes + i * y->bytes, value + i * y->count);
}

void public_block_read(const struct public_type *type, const uint8_t *block, double *value)
{
    if (type->read)
        type->read(block, value);
}

void public_tensor_free(struct public_tensor *t)
{
    free(t->start);
    free(t->after);
    free(t->value);
    *t = (struct public_tensor){.dims = 0};
}

double public_at(const struct public_tensor *t, uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3)
{
    const uint64_t *const n = t->ne;
    return t->value[((i3 % n[3] * n[2] + i2 % n[2]) * n[1] + i1 % n[1]) * n[0] + i0 % n[0]];
}
