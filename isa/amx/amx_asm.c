#include "isa/amx/amx_table.h"
#include "isa/isa_suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 24, SETTINGS_MAX = 40 };

/* One "name=value" or "name" between the braces. */
struct setting {
    char name[NAME_MAX_BYTES], value[NAME_MAX_BYTES];
    bool has_value, used;
};

struct parser {
    const char *line, *at;
    struct isa_error *error;
    struct setting settings[SETTINGS_MAX];
    size_t count;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *p->error = (struct isa_error){.offset = (unsigned long)(p->at - p->line)};
    vsnprintf(p->error->text, sizeof p->error->text, format, args);
    va_end(args);
    return false;
}

static void skip_space(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n')
        p->at++;
}

static bool at_end(struct parser *p)
{
    skip_space(p);
    return *p->at == '\0' || *p->at == ';' || *p->at == '#' || (p->at[0] == '/' && p->at[1] == '/');
}

/* Reads a word of letters, digits, '_' and '.'; false when there is none or it is too long. */
static bool read_word(struct parser *p, char word[NAME_MAX_BYTES], const char *what)
{
    size_t n = 0;
    skip_space(p);
    while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_' || p->at[n] == '.')
        n++;
    if (n == 0)
        return fail(p, "expected %s at column %zu", what, (size_t)(p->at - p->line) + 1);
    if (n >= NAME_MAX_BYTES)
        return fail(p, "%s is longer than %d characters", what, NAME_MAX_BYTES - 1);
    memcpy(word, p->at, n);
    word[n] = '\0';
    p->at += n;
    return true;
}

static bool read_number(const char *text, uint64_t *value)
{
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    char *end;
    if (!isxdigit((unsigned char)*digits))
        return false;
    errno = 0;
    *value = strtoull(digits, &end, hex ? 16 : 10);
    return *end == '\0' && errno == 0;
}

static bool read_setting(struct parser *p)
{
    if (p->count == SETTINGS_MAX)
        return fail(p, "more than %d operand fields", SETTINGS_MAX);
    struct setting *setting = &p->settings[p->count];
    *setting = (struct setting){.used = false};
    if (!read_word(p, setting->name, "an operand field"))
        return false;
    skip_space(p);
    if (*p->at == '=') {
        p->at++;
        setting->has_value = true;
        if (!read_word(p, setting->value, "a value"))
            return false;
    }
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->settings[i].name, setting->name) == 0)
            return fail(p, "field %s is given twice", setting->name);
    p->count++;
    return true;
}

/* Reads "{a, b=1}". */
static bool read_settings(struct parser *p)
{
    p->at++;
    skip_space(p);
    while (*p->at != '}') {
        if (!read_setting(p))
            return false;
        skip_space(p);
        if (*p->at == ',')
            p->at++;
        else if (*p->at != '}')
            return fail(p, "expected ',' or '}' at column %zu", (size_t)(p->at - p->line) + 1);
        skip_space(p);
    }
    p->at++;
    return true;
}

static struct setting *find_setting(struct parser *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->settings[i].used && strcmp(p->settings[i].name, name) == 0)
            return &p->settings[i];
    return NULL;
}

static bool setting_value(struct parser *p, const struct setting *setting, const struct amx_field *field, uint64_t *value)
{
    *value = 1;
    if (!setting->has_value)
        return field->width == 1 || fail(p, "field %s needs a value of %d bits", field->name, field->width);
    if (amx_value_named(field, setting->value, value))
        return true;
    if (!read_number(setting->value, value)) {
        struct isa_suggest suggest;
        char hint[64];
        isa_suggest_start(&suggest, setting->value);
        for (size_t i = 0; i < amx_value_count; i++)
            if (amx_values[i].list == field->list)
                isa_suggest_offer(&suggest, amx_values[i].name);
        isa_suggest_text(&suggest, hint, sizeof hint);
        return fail(p, "field %s: %s is no value%s", field->name, setting->value, hint);
    }
    if (*value >> field->width)
        return fail(p, "field %s: %s does not fit %d bits", field->name, setting->value, field->width);
    return true;
}

/* Says why a setting found no field: the field exists under other conditions only, or not at all. */
static bool fail_unused(struct parser *p, const struct amx_form *form, const struct setting *setting)
{
    struct isa_suggest suggest;
    char hint[64];
    isa_suggest_start(&suggest, setting->name);
    for (const struct amx_field *field = NULL; (field = amx_next_field(form, field, AMX_GEN_M4));) {
        if (strcmp(field->name, setting->name) == 0)
            return fail(p, "%s: field %s does not exist together with the other fields given", form->mnemonic, setting->name);
        isa_suggest_offer(&suggest, field->name);
    }
    isa_suggest_text(&suggest, hint, sizeof hint);
    return fail(p, "%s has no field %s%s", form->mnemonic, setting->name, hint);
}

static bool apply_raw(struct parser *p, uint64_t *operand)
{
    struct setting *raw = find_setting(p, "raw");
    uint64_t bits = 0;
    if (!raw)
        return true;
    raw->used = true;
    if (!raw->has_value || !read_number(raw->value, &bits))
        return fail(p, "field raw needs a number of 64 bits");
    *operand |= bits;
    return true;
}

static bool assemble_operand(struct parser *p, const struct amx_form *form, uint64_t *operand)
{
    uint64_t claimed = form->fixed_value;
    for (const struct amx_field *field = NULL; (field = amx_next_field(form, field, AMX_GEN_M4));) {
        struct setting *setting = find_setting(p, field->name);
        uint64_t value;
        if (!setting || !amx_field_applies(field, claimed))
            continue;
        if (!setting_value(p, setting, field, &value))
            return false;
        setting->used = true;
        claimed |= value << field->pos;
    }
    if (!apply_raw(p, &claimed))
        return false;
    for (size_t i = 0; i < p->count; i++)
        if (!p->settings[i].used)
            return fail_unused(p, form, &p->settings[i]);
    if (strcmp(amx_op_name(form->op, claimed), form->mnemonic) != 0)
        return fail(p, "the bits given make this %s, not %s", amx_op_name(form->op, claimed), form->mnemonic);
    *operand = claimed;
    return true;
}

static bool read_register(struct parser *p, unsigned *number)
{
    char word[NAME_MAX_BYTES];
    uint64_t value;
    if (!read_word(p, word, "a register x0..x30, xzr, or {operand fields}"))
        return false;
    if (strcmp(word, "xzr") == 0)
        value = 31;
    else if (word[0] != 'x' || !isdigit((unsigned char)word[1]) || !read_number(word + 1, &value) || value > 30)
        return fail(p, "%s is no register; expected x0..x30, xzr, or {operand fields}", word);
    *number = (unsigned)value;
    return true;
}

static bool fail_mnemonic(struct parser *p, const char *word)
{
    struct isa_suggest suggest;
    char hint[64];
    isa_suggest_start(&suggest, word);
    for (size_t i = 0; i < amx_form_count; i++)
        isa_suggest_offer(&suggest, amx_forms[i].mnemonic);
    isa_suggest_text(&suggest, hint, sizeof hint);
    return fail(p, "unknown instruction %s%s", word, hint);
}

static bool read_long(struct parser *p, uint32_t *word)
{
    char text[NAME_MAX_BYTES];
    uint64_t value;
    if (!read_word(p, text, "a 32-bit number"))
        return false;
    if (!read_number(text, &value) || value > UINT32_MAX)
        return fail(p, ".long: %s is no 32-bit number", text);
    *word = (uint32_t)value;
    return true;
}

static bool parse_line(struct parser *p, uint32_t *word, uint64_t *operand, bool *has_operand)
{
    char mnemonic[NAME_MAX_BYTES];
    unsigned number = 0;
    if (!read_word(p, mnemonic, "an instruction"))
        return false;
    if (strcmp(mnemonic, ".long") == 0)
        return read_long(p, word);
    const struct amx_form *form = amx_form_named(mnemonic);
    if (!form)
        return fail_mnemonic(p, mnemonic);
    if (form->op == AMX_SETCLR) {
        number = form == amx_form_of(AMX_SETCLR, 1);
    } else if (skip_space(p), *p->at == '{') {
        *has_operand = true;
        if (!read_settings(p) || !assemble_operand(p, form, operand))
            return false;
    } else if (!read_register(p, &number)) {
        return false;
    }
    *word = amx_encode(form->op, number);
    return true;
}

bool amx_asm_line(const char *line, uint32_t *word, uint64_t *operand, bool *has_operand, struct isa_error *error)
{
    struct parser p = {.line = line, .at = line, .error = error};
    *word = 0;
    *operand = 0;
    *has_operand = false;
    if (!parse_line(&p, word, operand, has_operand))
        return false;
    if (!at_end(&p))
        return fail(&p, "unexpected text at column %zu", (size_t)(p.at - line) + 1);
    return true;
}
