/* Names that a program declares (.reg .half .arg .uniform .const), and their replacement by registers in operands. */
#include "isa/float_bits.h"
#include "isa/list_grow.h"
#include "isa/agx/agx_asm_names.h"
#include "isa/array_count.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS_MAX = 1024 };

static const char *const declarations[] = {".reg", ".half", ".arg", ".uniform", ".const"};

/* Types of arguments, uniforms and constants. */
static const struct type {
    char name[4];
    uint8_t bytes;
    bool is_float;
} types[] = {{"u64", 8, false}, {"u32", 4, false}, {"i32", 4, false}, {"f32", 4, true},
             {"u16", 2, false}, {"i16", 2, false}, {"f16", 2, true}};

bool agx_asm_is_declaration(const char *directive)
{
    for (unsigned i = 0; i < ARRAY_COUNT(declarations); i++)
        if (strcmp(declarations[i], directive) == 0)
            return true;
    return false;
}

static const struct type *find_type(const char *name)
{
    for (unsigned i = 0; i < ARRAY_COUNT(types); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static const struct agx_asm_symbol *find_symbol(const struct agx_asm_symbols *symbols, const char *name, size_t length)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (strncmp(symbols->symbols[i].name, name, length) == 0 && symbols->symbols[i].name[length] == '\0')
            return &symbols->symbols[i];
    return NULL;
}

/* Operands are written with these words; a name must not hide them. */
static bool is_taken(const char *name)
{
    struct agx_asm_registers r;
    if (agx_asm_registers(name, &r) || strcmp(name, "None") == 0 || strcmp(name, "pc") == 0 || strcmp(name, "lsl") == 0 ||
        strcmp(name, "mask") == 0)
        return true;
    for (unsigned i = 0; i < agx_values_count; i++)
        if (strcmp(agx_values[i].text, name) == 0)
            return true;
    for (unsigned i = 0; i < 32; i++) {
        const char *text = agx_condition_text(i & 16, i & 15);
        if (text && strcmp(text, name) == 0)
            return true;
    }
    static const char *const numbered[] = {"sr", "ts", "ss", "cf"};
    for (unsigned i = 0; i < 4; i++)
        if (strncmp(name, numbered[i], 2) == 0 && isdigit((unsigned char)name[2]))
            return true;
    return false;
}

static bool is_name(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n && n < AGX_ASM_NAME_BYTES && text[n] == '\0' && !isdigit((unsigned char)text[0]);
}

static bool add_symbol(struct agx_asm_symbols *symbols, const struct agx_asm_symbol *symbol, char *why, size_t size)
{
    const char *name = symbol->name;
    if (is_taken(name)) {
        snprintf(why, size, "%s means something in operands; choose another name", name);
        return false;
    }
    if (find_symbol(symbols, name, strlen(name))) {
        snprintf(why, size, "%s exists already", name);
        return false;
    }
    if (symbols->count == SYMBOLS_MAX) {
        snprintf(why, size, "more than %d names", SYMBOLS_MAX);
        return false;
    }
    struct agx_asm_symbol *const grown = list_grow(symbols->symbols, symbols->count, &symbols->room, sizeof *grown);
    if (!grown) {
        snprintf(why, size, "out of memory");
        return false;
    }
    symbols->symbols = grown;
    symbols->symbols[symbols->count++] = *symbol;
    return true;
}

/* "r4", "r4..r7", "r2l..r3h" */
static bool register_range(char *text, bool half, struct agx_asm_symbol *symbol)
{
    struct agx_asm_registers from, to;
    char *dots = strstr(text, "..");
    if (dots)
        *dots = '\0';
    if (!agx_asm_registers(text, &from) || from.count != 1 || from.uniform || from.half != half || text[strcspn(text, ".")])
        return false;
    to = from;
    if (dots && (!agx_asm_registers(dots + 2, &to) || to.count != 1 || to.uniform || to.half != half || strchr(dots + 2, '.')))
        return false;
    if (to.first < from.first || to.first >= AGX_HALVES)
        return false;
    symbol->half = half;
    symbol->first = from.first;
    symbol->count = (to.first - from.first) / (half ? 1 : 2) + 1;
    return true;
}

static void name_registers(struct agx_asm_symbol *symbol, const struct type *type, unsigned first_half)
{
    symbol->uniform = true;
    symbol->half = type->bytes == 2;
    symbol->first = first_half;
    symbol->count = type->bytes == 8 ? 2 : 1;
}

static bool use_uniforms(struct agx_asm_symbols *symbols, unsigned first, unsigned halves, char *why, size_t size)
{
    const unsigned end = first + halves;
    if (end > AGX_UNIFORM_HALVES) {
        snprintf(why, size, "there are %d uniform halves; this needs %u", AGX_UNIFORM_HALVES, end);
        return false;
    }
    if (end > symbols->uniform_end)
        symbols->uniform_end = end;
    return true;
}

static bool add_argument(struct agx_asm_symbols *symbols, struct agx_asm_symbol *symbol, const struct type *type, char *why,
                         size_t size)
{
    struct agx_argument *const grown =
        list_grow(symbols->arguments, symbols->argument_count, &symbols->argument_room, sizeof *grown);
    if (!grown) {
        snprintf(why, size, "out of memory");
        return false;
    }
    symbols->arguments = grown;
    const unsigned offset = (symbols->argument_bytes + type->bytes - 1u) / type->bytes * type->bytes;
    struct agx_argument *argument = &symbols->arguments[symbols->argument_count];
    *argument = (struct agx_argument){.offset_bytes = (uint16_t)offset, .bytes = type->bytes};
    snprintf(argument->name, sizeof argument->name, "%s", symbol->name);
    memcpy(argument->type, type->name, sizeof argument->type);
    if (!use_uniforms(symbols, offset / 2, type->bytes / 2u, why, size))
        return false;
    symbols->argument_count++;
    symbols->argument_bytes = offset + type->bytes;
    name_registers(symbol, type, offset / 2);
    return add_symbol(symbols, symbol, why, size);
}

/* Reads the place of a .uniform: "u4", "u4h" or the number of a 32-bit uniform. */
static bool uniform_place(const char *text, unsigned *half)
{
    struct agx_asm_registers r;
    int64_t number;
    if (agx_asm_number(text, &number) && number >= 0 && number < AGX_UNIFORM_HALVES / 2) {
        *half = 2 * (unsigned)number;
        return true;
    }
    if (!agx_asm_registers(text, &r) || !r.uniform || r.count != 1 || strchr(text, '.') || r.first >= AGX_UNIFORM_HALVES)
        return false;
    *half = r.first;
    return true;
}

static bool constant_bits(const char *text, const struct type *type, uint64_t *bits)
{
    int64_t number;
    float value;
    bool absolute, negate;
    if (type->is_float) {
        if (!agx_asm_float(text, &value, &absolute, &negate) || absolute || negate) {
            if (text[0] != '0' || text[1] != 'x' || !agx_asm_number(text, &number)) /* the bits themselves */
                return false;
            *bits = (uint64_t)number;
            return type->bytes == 8 || (uint64_t)number >> 8 * type->bytes == 0;
        }
        *bits = type->bytes == 2 ? agx_asm_half_bits(value) : f32_bits(value);
        return true;
    }
    if (!agx_asm_number(text, &number))
        return false;
    const int64_t limit = type->bytes == 8 ? INT64_MAX : (INT64_C(1) << 8 * type->bytes) - 1;
    if (number > limit || (type->bytes < 8 && number < -(INT64_C(1) << (8 * type->bytes - 1))))
        return false;
    *bits = (uint64_t)number;
    return true;
}

/* Finds or makes a place in the pool for these halves. Equal constants share one; words start at even halves. */
static bool pool_constant(struct agx_asm_symbols *symbols, uint64_t bits, unsigned halves, unsigned *place)
{
    const unsigned step = halves > 1 ? 2 : 1;
    for (unsigned at = 0; at + halves <= symbols->constant_halves; at += step) {
        bool same = true;
        for (unsigned i = 0; i < halves; i++)
            same = same && symbols->constants[at + i] == (uint16_t)(bits >> 16 * i);
        if (same) {
            *place = at;
            return true;
        }
    }
    const unsigned at = (symbols->constant_halves + step - 1) / step * step;
    if (at + halves > AGX_UNIFORM_HALVES)
        return false;
    for (unsigned i = 0; i < halves; i++)
        symbols->constants[at + i] = (uint16_t)(bits >> 16 * i);
    symbols->constant_halves = at + halves;
    *place = at;
    return true;
}

static bool declare_constant(struct agx_asm_symbols *symbols, struct agx_asm_symbol *symbol, char **words, char *why, size_t size)
{
    const struct type *type = find_type(words[2]);
    uint64_t bits;
    unsigned place;
    if (!type || !constant_bits(words[3], type, &bits)) {
        snprintf(why, size, ".const takes a name, a type (f32, f16, u32, i32, u16, i16, u64) and a value of it");
        return false;
    }
    if (!pool_constant(symbols, bits, type->bytes / 2u, &place)) {
        snprintf(why, size, "more than %d halves of constants", AGX_UNIFORM_HALVES);
        return false;
    }
    name_registers(symbol, type, place);
    symbol->constant = true;
    return add_symbol(symbols, symbol, why, size);
}

static bool declare_uniform(struct agx_asm_symbols *symbols, struct agx_asm_symbol *symbol, char **words, char *why, size_t size)
{
    const struct type *type = find_type(words[3]);
    unsigned half;
    if (!type || !uniform_place(words[2], &half) || (type->bytes > 2 && half & 1)) {
        snprintf(why, size, ".uniform takes a name, a uniform and a type");
        return false;
    }
    name_registers(symbol, type, half);
    return use_uniforms(symbols, half, type->bytes / 2u, why, size) && add_symbol(symbols, symbol, why, size);
}

bool agx_asm_declare(struct agx_asm_symbols *symbols, const char *line, char *why, size_t size)
{
    char copy[AGX_ASM_LINE_BYTES], *words[5], *rest = NULL;
    unsigned count = 0;
    struct agx_asm_symbol symbol = {.count = 0};
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok_r(copy, " ,", &rest); word && count < 5; word = strtok_r(NULL, " ,", &rest))
        words[count++] = word;
    if (!count || !agx_asm_is_declaration(words[0]))
        return true;
    const bool four = strcmp(words[0], ".uniform") == 0 || strcmp(words[0], ".const") == 0;
    if (count != (four ? 4 : 3) || !is_name(words[1])) {
        snprintf(why, size, "%s takes a name and %s", words[0], four ? "two more words" : "one more word");
        return false;
    }
    snprintf(symbol.name, sizeof symbol.name, "%s", words[1]);
    if (strcmp(words[0], ".const") == 0)
        return declare_constant(symbols, &symbol, words, why, size);
    if (strcmp(words[0], ".uniform") == 0)
        return declare_uniform(symbols, &symbol, words, why, size);
    if (strcmp(words[0], ".arg") == 0) {
        const struct type *type = find_type(words[2]);
        if (type)
            return add_argument(symbols, &symbol, type, why, size);
        snprintf(why, size, "%.40s is no type; expected u64, u32, i32, f32, u16, i16 or f16", words[2]);
        return false;
    }
    const bool half = strcmp(words[0], ".half") == 0;
    if (!register_range(words[2], half, &symbol)) {
        snprintf(why, size, "%s takes a name and %s", words[0], half ? "r2l or r2l..r5h" : "r4 or r4..r7");
        return false;
    }
    return add_symbol(symbols, &symbol, why, size);
}

bool agx_asm_place_constants(struct agx_asm_symbols *symbols, char *why, size_t size)
{
    symbols->constant_first_half = (symbols->uniform_end + 1) & ~1u;
    if (!use_uniforms(symbols, symbols->constant_first_half, symbols->constant_halves, why, size))
        return false;
    for (size_t i = 0; i < symbols->count; i++)
        if (symbols->symbols[i].constant)
            symbols->symbols[i].first += symbols->constant_first_half;
    return true;
}

/* Reads "[2]" or "[0..3]" after a name and moves *at past it; without brackets all registers are meant. */
static bool read_slice(const struct agx_asm_symbol *symbol, const char **at, unsigned *from, unsigned *count)
{
    char inside[64];
    const struct agx_asm_names none = {NULL, NULL};
    int64_t first, last;
    const char *why;
    *from = 0;
    *count = symbol->count;
    if (**at != '[')
        return true;
    const size_t length = strcspn(*at, "]");
    if ((*at)[length] != ']' || length - 1 >= sizeof inside)
        return false;
    memcpy(inside, *at + 1, length - 1);
    inside[length - 1] = '\0';
    *at += length + 1;
    char *dots = strstr(inside, "..");
    if (dots)
        *dots = '\0';
    if (!agx_asm_expression(inside, &none, &first, &why))
        return false;
    last = first;
    if (dots && !agx_asm_expression(dots + 2, &none, &last, &why))
        return false;
    if (first < 0 || last < first || last >= symbol->count)
        return false;
    *from = (unsigned)first;
    *count = (unsigned)(last - first) + 1;
    return true;
}

bool agx_asm_symbol_word(const struct agx_asm_symbols *symbols, const char **word, char scratch[AGX_ASM_SCRATCH_BYTES],
                         size_t *used, char *why, size_t why_size)
{
    const char *at = *word;
    unsigned from, count;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    const struct agx_asm_symbol *symbol = find_symbol(symbols, *word, (size_t)(at - *word));
    if (at == *word || !symbol)
        return true;
    if (!read_slice(symbol, &at, &from, &count)) {
        snprintf(why, why_size, "%.60s: %s has %u registers", *word, symbol->name, symbol->count);
        return false;
    }
    char *out = scratch + *used;
    const size_t room = AGX_ASM_SCRATCH_BYTES - *used;
    size_t length = 0;
    for (unsigned i = 0; i < count && length < room; i++) {
        const unsigned half = symbol->first + (from + i) * (symbol->half ? 1 : 2);
        const char *side = !symbol->half ? "" : half & 1 ? "h" : "l";
        length +=
            (size_t)snprintf(out + length, room - length, "%s%c%u%s", i ? "_" : "", symbol->uniform ? 'u' : 'r', half / 2, side);
    }
    if (length < room)
        length += (size_t)snprintf(out + length, room - length, "%s", at);
    if (length >= room) {
        snprintf(why, why_size, "operands are too long");
        return false;
    }
    *word = out;
    *used += length + 1;
    return true;
}

void agx_asm_symbols_free(struct agx_asm_symbols *symbols)
{
    free(symbols->symbols);
    free(symbols->arguments);
    *symbols = (struct agx_asm_symbols){.count = 0};
}
