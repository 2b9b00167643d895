#include "tests/opencl/opencl_case.h"

#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} types[OPENCL_TYPES] = {{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4},
                         {"uint", 4}, {"long", 8},  {"ulong", 8}, {"half", 2},   {"float", 4}};

size_t opencl_type_bytes(enum opencl_type type)
{
    return types[type].bytes;
}

double opencl_number(enum opencl_type type, const void *at)
{
    _Float16 half;
    float single;
    memcpy(&half, at, sizeof half);
    if (type == OPENCL_HALF)
        return (double)half;
    memcpy(&single, at, sizeof single);
    return (double)single;
}

uint64_t opencl_bits(enum opencl_type type, const void *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, types[type].bytes);
    if (type < OPENCL_HALF)
        return bits;
    const double x = opencl_number(type, at);
    if (isnan(x))
        return UINT64_C(0x7fc00000);
    return type == OPENCL_FLOAT && fabs(x) < 0x1p-126 ? bits & 0x80000000 : bits;
}

/* ---- numbers ---- */

static uint64_t whole(uint64_t *state, unsigned bits, const char *kind, size_t index)
{
    static const uint64_t corners[] = {0,
                                       1,
                                       2,
                                       3,
                                       7,
                                       10,
                                       100,
                                       127,
                                       128,
                                       255,
                                       32767,
                                       32768,
                                       65535,
                                       65536,
                                       0x7fffffff,
                                       0x80000000,
                                       UINT32_MAX,
                                       UINT64_C(0x7fffffffffffffff),
                                       UINT64_C(0x8000000000000000)};
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, r = suite_random(state);
    if (strcmp(kind, "small") == 0)
        return r % 101;
    if (strcmp(kind, "shift") == 0)
        return r % bits;
    if (strcmp(kind, "index") == 0)
        return index;
    uint64_t n = suite_random(state);
    switch (r & 7) {
    case 0: n = corners[(r >> 8) % ARRAY_COUNT(corners)]; break;
    case 1: n = 0 - corners[(r >> 8) % ARRAY_COUNT(corners)]; break;
    case 2: n >>= (r >> 8) % bits; break;
    case 3: n = ~(n >> (r >> 8) % bits); break;
    default: break;
    }
    return strcmp(kind, "nonzero") == 0 && (n & mask) == 0 ? 1 : n;
}

static double real(uint64_t *state, const char *kind, size_t index)
{
    static const double corners[] = {0,    -0.0,  1,       -1,       0.5,     -0.5,     1.5,           -1.5,      2.5,
                                     -2.5, 3,     100,     0x1p-126, 0x1p127, -0x1p100, INFINITY,      -INFINITY, 0x1.fffffep127,
                                     NAN,  65504, 0x1p-24, 0x1p-14,  0x1p23,  0x1p24,   -0x1.fffffep22};
    const uint64_t r = suite_random(state);
    const double unit = (double)(r >> 12) * 0x1p-51 - 1;
    const char *const to = strchr(kind, '~');
    if (to)
        return strtod(kind, NULL) + (unit + 1) / 2 * (strtod(to + 1, NULL) - strtod(kind, NULL));
    if (strcmp(kind, "index") == 0)
        return (double)index;
    if (strcmp(kind, "small") == 0)
        return unit * 80;
    if (strcmp(kind, "unit") == 0)
        return unit;
    const double wide = ldexp(1 + (double)(r >> 40) * 0x1p-24, (int)(suite_random(state) % 250) - 125);
    if (strcmp(kind, "positive") == 0)
        return wide;
    if (strcmp(kind, "real") != 0 && (r & 7) == 0)
        return corners[(r >> 8) % ARRAY_COUNT(corners)];
    if ((r & 7) == 1)
        return unit * 1000;
    return r & 0x100 ? wide : -wide;
}

/* any: of all magnitudes, with corners; real: the same, finite and no zero; unit: -1 to 1; small: -80 to 80, of integers 0 to
 * 100. */
static void put_number(const struct opencl_arg *a, uint8_t *at, uint64_t *state, const char *kind, size_t index)
{
    if (strcmp(kind, "zero") == 0) {
        memset(at, 0, types[a->type].bytes);
    } else if (a->type < OPENCL_HALF) {
        const uint64_t n = whole(state, 8 * (unsigned)types[a->type].bytes, kind, index);
        memcpy(at, &n, types[a->type].bytes);
    } else {
        float single = (float)real(state, kind, index);
        if (fpclassify(single) == FP_SUBNORMAL) /* not every device has them */
            single = 0;
        if (a->type == OPENCL_HALF && !strchr(kind, '~') && strcmp(kind, "unit") != 0 && fabsf(single) > 70000.0F &&
            isfinite(single))
            single = (float)ldexp((double)single, -ilogbf(single) + (int)(suite_random(state) % 32) - 15);
        const _Float16 half = (_Float16)single;
        memcpy(at, a->type == OPENCL_HALF ? (const void *)&half : &single, types[a->type].bytes);
    }
}

/* ---- lines ---- */

static bool wrong(const struct opencl_case *c, const char *word)
{
    printf("  line %u, kernel %s: %s is not understood\n", c->line, c->name, word);
    return false;
}

static bool find_type(const char *name, enum opencl_type *type)
{
    for (unsigned t = 0; t < OPENCL_TYPES; t++)
        if (strcmp(name, types[t].name) == 0) {
            *type = (enum opencl_type)t;
            return true;
        }
    return false;
}

static bool take_buffer(struct opencl_arg *a, const char *count, const char *kind, uint64_t seed)
{
    uint64_t state = seed;
    a->count = strtoul(count, NULL, 10);
    a->bytes = a->count * types[a->type].bytes;
    a->start = malloc(a->bytes + 1);
    if (!a->count || !a->start)
        return false;
    if (a->use == OPENCL_OUT)
        memset(a->start, 0x11, a->bytes);
    for (size_t i = 0; a->use != OPENCL_OUT && i < a->count; i++)
        put_number(a, a->start + i * types[a->type].bytes, &state, kind, i);
    return true;
}

static bool take_value(struct opencl_arg *a, const char *text)
{
    for (a->count = 0; *text && a->bytes < OPENCL_VALUE_BYTES; a->count++) {
        char *end;
        uint8_t *const at = a->value + a->bytes;
        if (a->type < OPENCL_HALF) {
            const long long n = strtoll(text, &end, 0);
            memcpy(at, &n, types[a->type].bytes);
        } else {
            const float single = strtof(text, &end);
            const _Float16 half = (_Float16)single;
            memcpy(at, a->type == OPENCL_HALF ? (const void *)&half : &single, types[a->type].bytes);
        }
        a->bytes += types[a->type].bytes;
        text = *end == ',' ? end + 1 : end;
    }
    return a->count > 0;
}

static bool take_argument(struct opencl_case *c, char *part[4])
{
    static const char *const uses[] = {"in", "out", "io", "val", "local"};
    if (c->args == OPENCL_ARGS || !part[1])
        return false;
    struct opencl_arg *const a = &c->arg[c->args];
    for (unsigned u = 0; u < ARRAY_COUNT(uses); u++)
        if (strcmp(part[0], uses[u]) == 0) {
            *a = (struct opencl_arg){.use = (enum opencl_use)u};
            c->args++;
            if (u == OPENCL_LOCAL)
                return (a->bytes = strtoul(part[1], NULL, 10)) > 0;
            if (!part[2] || !find_type(part[1], &a->type))
                return false;
            return u == OPENCL_VALUE ? take_value(a, part[2]) : take_buffer(a, part[2], part[3] ? part[3] : "any", c->args);
        }
    return false;
}

static bool take_word(struct opencl_case *c, char *word)
{
    char *part[4] = {word, NULL, NULL, NULL}, all[96];
    snprintf(all, sizeof all, "%s", word);
    for (unsigned i = 1; i < 4 && part[i - 1] && (part[i] = strchr(part[i - 1], ':')); i++)
        *part[i]++ = 0;
    const char *const value = part[1] ? part[1] : "";
    uint32_t *const extent = strcmp(word, "grid") == 0 ? c->grid : strcmp(word, "group") == 0 ? c->group : NULL;
    if (extent)
        return sscanf(value, "%ux%ux%u", &extent[0], &extent[1], &extent[2]) >= 1;
    if (strcmp(word, "ulp") == 0)
        return (c->ulp = strtod(value, NULL)) > 0;
    if (strcmp(word, "abs") == 0)
        return (c->absolute = strtod(value, NULL)) > 0;
    if (strcmp(word, "ref") == 0)
        return snprintf(c->reference, sizeof c->reference, "%s", value) > 0;
    if (strcmp(word, "own") == 0)
        return c->own = true;
    if (strcmp(word, "unsupported") == 0)
        return c->unsupported = true;
    return take_argument(c, part) || wrong(c, all);
}

static bool take_line(struct opencl_case *c, const char *line, unsigned number)
{
    char copy[1024], *rest = copy;
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    *c = (struct opencl_case){.line = number, .grid = {256, 1, 1}, .group = {64, 1, 1}};
    snprintf(c->name, sizeof c->name, "%s", strtok_r(copy, " ", &rest));
    for (char *word; (word = strtok_r(NULL, " ", &rest));)
        if (!take_word(c, word))
            return false;
    return c->args > 0 || wrong(c, "a kernel without arguments");
}

bool opencl_file_parse(char *text, size_t bytes, struct opencl_file *file)
{
    *file = (struct opencl_file){.text = text, .bytes = bytes, .cases = calloc(OPENCL_CASES, sizeof *file->cases)};
    unsigned number = 1;
    for (const char *line = text; file->cases && *line && file->count < OPENCL_CASES; number++) {
        if (strncmp(line, "//: ", 4) == 0 && !take_line(&file->cases[file->count++], line + 4, number))
            return false;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return file->count > 0;
}

bool opencl_file_read(const char *path, struct opencl_file *file)
{
    enum { BYTES_MAX = 1 << 20 };
    FILE *const in = fopen(path, "rb");
    char *const text = in ? calloc(1, BYTES_MAX) : NULL;
    const size_t bytes = text ? fread(text, 1, BYTES_MAX - 1, in) : 0;
    if (in)
        fclose(in);
    return opencl_file_parse(text, bytes, file);
}

void opencl_file_free(struct opencl_file *file)
{
    for (unsigned i = 0; i < file->count; i++)
        for (unsigned a = 0; a < file->cases[i].args; a++)
            free(file->cases[i].arg[a].start);
    free(file->cases);
    free(file->text);
}
