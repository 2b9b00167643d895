/* Structures of arguments, laid out as the user's header declares them. */
#include "tests/public/public.h"

#include "isa/array_count.h"
#include "isa/rounding.h"
#include "sim/workload/element_type.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum element_type type;
} types[] = {{"int32_t", ELEMENT_I32},  {"uint32_t", ELEMENT_U32}, {"int", ELEMENT_I32},    {"float", ELEMENT_F32},
             {"uint64_t", ELEMENT_U64}, {"int64_t", ELEMENT_I64},  {"size_t", ELEMENT_U64}, {"int16_t", ELEMENT_I16},
             {"bool", ELEMENT_U8},      {"uint8_t", ELEMENT_U8},   {"half", ELEMENT_F16}};

static char *read_text(const char *path)
{
    FILE *const in = fopen(path, "rb");
    char *const text = calloc(1, 4u << 20);
    if (in && text && fread(text, 1, (4u << 20) - 1, in) == 0)
        text[0] = 0;
    if (in)
        fclose(in);
    return text;
}

/* The numbers of a field: what the case sets, else of ne01, nb12 and the like what the tensor src0, src1 or dst has. */
static bool values_of(struct public_case *c, const char *field, double value[4], unsigned *count)
{
    for (size_t i = c->numbers; i-- > 0;)
        if (strcmp(c->number[i].name, field) == 0) {
            memcpy(value, c->number[i].value, sizeof c->number[i].value);
            *count = c->number[i].count;
            return true;
        }
    const bool extent = strncmp(field, "ne", 2) == 0;
    const size_t length = strlen(field);
    char name[8] = "dst";
    if ((!extent && strncmp(field, "nb", 2) != 0) || length < 3 || length > 4 || !isdigit((unsigned char)field[2]))
        return false;
    if (length == 4)
        snprintf(name, sizeof name, "src%c", field[2]);
    const unsigned dimension = (unsigned)(field[length - 1] - '0');
    const struct public_tensor *const t = public_tensor(c, name);
    if (!t || dimension >= 4)
        return false;
    value[0] = (double)(extent ? t->ne[dimension] : t->nb[dimension]);
    *count = 1;
    return true;
}

struct layout {
    uint8_t bytes[1024];
    size_t used, align;
};

/* One declaration, "uint64_t nb1[3]". */
static bool add_field(struct public_case *c, struct layout *l, const char *line, char *why, size_t size)
{
    char type[32], field[64];
    unsigned length = 1, count = 0;
    double value[4] = {0};
    size_t t = 0;
    if (sscanf(line, " %31s %63[a-zA-Z0-9_][%u]", type, field, &length) < 2)
        return true;
    while (t < ARRAY_COUNT(types) && strcmp(types[t].name, type) != 0)
        t++;
    if (t == ARRAY_COUNT(types))
        return snprintf(why, size, "no type %s", type) < 0;
    if (!values_of(c, field, value, &count) || (count != length && count != 1))
        return snprintf(why, size, "the case has no value for the field %s", field) < 0;
    const unsigned bytes = element_type_bytes(types[t].type);
    l->used = round_up(l->used, bytes);
    l->align = bytes > l->align ? bytes : l->align;
    for (unsigned i = 0; i < length && l->used + bytes <= sizeof l->bytes; i++, l->used += bytes)
        if (!element_write(types[t].type, value[count == 1 ? 0 : i], l->bytes + l->used))
            return snprintf(why, size, "%g does not fit the field %s", value[i], field) < 0;
    return true;
}

uint8_t *public_struct(struct public_case *c, const char *name, size_t *bytes, char *why, size_t size)
{
    struct layout l = {.align = 1};
    char end[PUBLIC_NAME + 8];
    char *const text = read_text(c->header);
    snprintf(end, sizeof end, "} %s;", name);
    char *const found = text ? strstr(text, end) : NULL;
    bool ok = found != NULL;
    snprintf(why, size, "%.200s has no structure %.100s", c->header, name);
    if (ok) {
        char *begin = found, *rest = NULL;
        while (begin > text && *begin != '{')
            begin--;
        *found = 0;
        for (const char *line = strtok_r(begin + 1, "\n", &rest); line && ok; line = strtok_r(NULL, "\n", &rest))
            ok = line[strspn(line, " ")] == '/' || add_field(c, &l, line, why, size);
    }
    free(text);
    *bytes = round_up(l.used, l.align);
    uint8_t *const copy = ok ? calloc(1, *bytes + 16) : NULL;
    if (copy)
        memcpy(copy, l.bytes, l.used);
    return copy;
}
