/* Whole programs: sections, labels, directives, and the layout of the finished code. */
#include "isa/agx/agx_asm.h"
#include "isa/agx/agx_asm_names.h"
#include "isa/list_grow.h"
#include "isa/rounding.h"
#include "isa/agx/agx_asm_parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 4096 };

struct label {
    char name[AGX_ASM_NAME_BYTES];
    size_t offset;
};

/* A branch whose target is a label. */
struct fixup {
    struct agx_inst inst;
    char label[AGX_ASM_NAME_BYTES];
    size_t offset;
    unsigned long line;
};

/* Code of .main or .preamble. */
struct section {
    uint8_t *code;
    size_t bytes, room;
    struct label *labels;
    size_t label_count, label_room;
    struct fixup *fixups;
    size_t fixup_count, fixup_room;
    struct agx_source_line *lines;
    size_t line_count, line_room;
    unsigned register_halves; /* one past the highest touched */
    unsigned declared_halves;
    uint16_t last_op;
};

struct program {
    struct agx_assembly *assembly;
    struct agx_asm_symbols symbols;
    struct section sections[2]; /* main, preamble */
    unsigned section;
    const struct agx_asm_text_line *line;
    struct isa_error *error;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct program *p, size_t column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *p->error = (struct isa_error){.line = p->line ? p->line->number : 0, .offset = (p->line ? p->line->column : 0) + column};
    vsnprintf(p->error->text, sizeof p->error->text, format, args);
    va_end(args);
    return false;
}

static bool out_of_memory(struct program *p)
{
    return fail(p, 0, "out of memory");
}

static bool add_code(struct program *p, struct section *section, const uint8_t *bytes, size_t count)
{
    while (section->bytes + count > section->room) {
        uint8_t *const code = list_grow(section->code, section->room, &section->room, 1);
        if (!code)
            return out_of_memory(p);
        section->code = code;
    }
    memcpy(section->code + section->bytes, bytes, count);
    section->bytes += count;
    return true;
}

static unsigned range_end(const struct agx_range *range)
{
    return range->count ? (unsigned)range->first + range->count : 0;
}

static void count_registers(struct section *section, const struct agx_inst *inst)
{
    struct agx_effect effect;
    agx_effect_of(inst, &effect);
    unsigned end = range_end(&effect.write);
    for (unsigned i = 0; i < effect.read_count; i++)
        if (range_end(&effect.read[i]) > end)
            end = range_end(&effect.read[i]);
    if (end > section->register_halves)
        section->register_halves = end;
}

static bool add_instruction(struct program *p, const struct agx_inst *inst, const char *label)
{
    struct section *section = &p->sections[p->section];
    uint8_t bytes[AGX_MAX_BYTES];
    const size_t count = agx_encode(inst, bytes);
    struct agx_source_line *const lines = list_grow(section->lines, section->line_count, &section->line_room, sizeof *lines);
    if (!lines)
        return out_of_memory(p);
    section->lines = lines;
    if (label) {
        struct fixup *const fixups = list_grow(section->fixups, section->fixup_count, &section->fixup_room, sizeof *fixups);
        if (!fixups)
            return out_of_memory(p);
        section->fixups = fixups;
        struct fixup *fixup = &section->fixups[section->fixup_count++];
        *fixup = (struct fixup){.inst = *inst, .offset = section->bytes, .line = p->line->number};
        snprintf(fixup->label, sizeof fixup->label, "%s", label);
    }
    section->lines[section->line_count++] = (struct agx_source_line){(uint32_t)section->bytes, (uint32_t)p->line->number};
    section->last_op = inst->op;
    count_registers(section, inst);
    return add_code(p, section, bytes, count);
}

static const struct label *find_label(const struct section *section, const char *name)
{
    for (size_t i = 0; i < section->label_count; i++)
        if (strcmp(section->labels[i].name, name) == 0)
            return &section->labels[i];
    return NULL;
}

static bool add_label(struct program *p, const char *name)
{
    struct section *section = &p->sections[p->section];
    if (find_label(section, name))
        return fail(p, 0, "label %s exists already", name);
    if (section->label_count == LABELS_MAX)
        return fail(p, 0, "more than %d labels", LABELS_MAX);
    struct label *const labels = list_grow(section->labels, section->label_count, &section->label_room, sizeof *labels);
    if (!labels)
        return out_of_memory(p);
    section->labels = labels;
    struct label *label = &section->labels[section->label_count++];
    snprintf(label->name, sizeof label->name, "%.*s", AGX_ASM_NAME_BYTES - 1, name);
    label->offset = section->bytes;
    return true;
}

static bool assemble_instruction(struct program *p, const char *text, size_t column)
{
    char copy[AGX_ASM_LINE_BYTES], scratch[AGX_ASM_SCRATCH_BYTES], why[128];
    struct agx_asm_line line;
    struct agx_inst inst;
    size_t word_column[AGX_ASM_OPERANDS];
    const char *label = NULL;
    memcpy(copy, text, strlen(text) + 1);
    if (!agx_asm_split(copy, &line))
        return fail(p, column, "more than %d operands", AGX_ASM_OPERANDS);
    for (unsigned i = 0; i < line.count; i++)
        word_column[i] = column + (size_t)(line.word[i] - copy);
    size_t used = 0;
    for (unsigned i = 0; i < line.count; i++)
        if (!agx_asm_symbol_word(&p->symbols, &line.word[i], scratch, &used, why, sizeof why))
            return fail(p, word_column[i], "%s", why);
    struct isa_error error;
    if (!agx_asm_instruction(&line, &inst, &label, &error))
        return fail(p, error.offset && error.offset <= line.count ? word_column[error.offset - 1] : column, "%s", error.text);
    if (label && strlen(label) >= AGX_ASM_NAME_BYTES)
        return fail(p, column, "a label is longer than %d characters", AGX_ASM_NAME_BYTES - 1);
    return add_instruction(p, &inst, label);
}

/* ---- directives of the second pass ---- */

static bool numbers_of(struct program *p, char *text, uint32_t *values, unsigned wanted, uint32_t limit)
{
    unsigned count = 0;
    for (char *word = strtok_r(text, " ,", &text); word; word = strtok_r(NULL, " ,", &text)) {
        int64_t number;
        if (count == wanted || !agx_asm_number(word, &number) || number < 0 || number > limit)
            return fail(p, 0, "%.40s: expected %u number%s up to %u", word, wanted, wanted == 1 ? "" : "s", limit);
        values[count++] = (uint32_t)number;
    }
    return count == wanted || fail(p, 0, "expected %u number%s", wanted, wanted == 1 ? "" : "s");
}

static bool local_size(struct program *p, char *text)
{
    uint32_t *size = p->assembly->local_size;
    char copy[AGX_ASM_LINE_BYTES];
    unsigned words = 0;
    memcpy(copy, text, strlen(text) + 1);
    for (char *rest = copy, *word = strtok_r(copy, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest))
        words++;
    size[1] = size[2] = 1;
    if (words < 1 || words > 3 || !numbers_of(p, text, size, words, 1024))
        return words >= 1 && words <= 3 ? false : fail(p, 0, ".local_size takes one to three numbers");
    const uint64_t threads = (uint64_t)size[0] * size[1] * size[2];
    return (threads >= 1 && threads <= 1024) || fail(p, 0, "a threadgroup has 1 to 1024 threads");
}

static bool directive(struct program *p, const char *name, char *rest)
{
    uint32_t number;
    if (strcmp(name, ".main") == 0 || strcmp(name, ".preamble") == 0) {
        p->section = strcmp(name, ".preamble") == 0;
        return !*rest || fail(p, 0, "%s takes nothing", name);
    }
    if (strcmp(name, ".local_size") == 0)
        return local_size(p, rest);
    if (strcmp(name, ".threadgroup_memory") == 0)
        return numbers_of(p, rest, &p->assembly->threadgroup_memory_bytes, 1, 65536);
    if (strcmp(name, ".stack") == 0)
        return numbers_of(p, rest, &p->assembly->stack_words, 1, 1u << 20);
    if (strcmp(name, ".registers") == 0) {
        if (!numbers_of(p, rest, &number, 1, AGX_HALVES))
            return false;
        p->sections[p->section].declared_halves = number;
        return true;
    }
    return agx_asm_is_declaration(name) || fail(p, 0, "unknown directive %.40s", name);
}

/* The length of "name:" at the start of text, 0 when there is none. */
static size_t label_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n && text[n] == ':' && !isdigit((unsigned char)text[0]) ? n : 0;
}

static bool assemble_line(struct program *p)
{
    char copy[AGX_ASM_LINE_BYTES];
    const char *text = p->line->text;
    const size_t length = label_length(text);
    if (length) {
        if (length >= AGX_ASM_NAME_BYTES)
            return fail(p, 0, "a label is longer than %d characters", AGX_ASM_NAME_BYTES - 1);
        memcpy(copy, text, length);
        copy[length] = '\0';
        if (!add_label(p, copy))
            return false;
        text += length + 1;
        text += strspn(text, " ");
    }
    if (!*text)
        return true;
    if (*text != '.')
        return assemble_instruction(p, text, (size_t)(text - p->line->text));
    memcpy(copy, text, strlen(text) + 1);
    char *rest = copy + strcspn(copy, " ");
    if (*rest)
        *rest++ = '\0';
    return directive(p, copy, rest);
}

/* ---- putting it together ---- */

static bool resolve(struct program *p, struct section *section)
{
    for (size_t i = 0; i < section->fixup_count; i++) {
        struct fixup *fixup = &section->fixups[i];
        const struct label *label = find_label(section, fixup->label);
        const struct agx_asm_text_line line = {.number = fixup->line};
        p->line = &line;
        if (!label)
            return fail(p, 0, "there is no label %s", fixup->label);
        const int64_t distance = (int64_t)label->offset - (int64_t)fixup->offset;
        const int index = agx_field_index(&agx_forms[fixup->inst.form], AGX_F_off);
        const unsigned width = index < 0 ? 0 : agx_field_width(&agx_forms[fixup->inst.form].fields[index]);
        if (index < 0 || (width < 32 && (distance < -128 || distance > 127)))
            return fail(p, 0, "label %s is too far away", fixup->label);
        fixup->inst.field[index] = width < 32 ? (uint32_t)distance & 255 : (uint32_t)distance;
        uint8_t bytes[AGX_MAX_BYTES];
        const size_t count = agx_encode(&fixup->inst, bytes);
        memcpy(section->code + fixup->offset, bytes, count);
    }
    p->line = NULL;
    return true;
}

static bool ends_well(uint16_t op)
{
    return op == AGX_OP_STOP || op == AGX_OP_RET || op == AGX_OP_TRAP || op == AGX_OP_JMP_EXEC_ANY;
}

static bool check_section(struct program *p, struct section *section, const char *name)
{
    if (section->bytes && !ends_well(section->last_op))
        return fail(p, 0, "%s does not end with stop", name);
    if (section->declared_halves && section->declared_halves < section->register_halves)
        return fail(p, 0, "%s: .registers %u, but %u halves are used", name, section->declared_halves, section->register_halves);
    return resolve(p, section);
}

/* Fills the gap with trap, as compilers do after stop. */
static void fill_traps(uint8_t *code, size_t from, size_t to)
{
    for (size_t i = from; i + 1 < to; i += 2) {
        code[i] = 0x08;
        code[i + 1] = 0x00;
    }
}

static bool join_lines(struct program *p)
{
    struct agx_assembly *a = p->assembly;
    a->lines = calloc(p->sections[0].line_count + p->sections[1].line_count + 1, sizeof *a->lines);
    if (!a->lines)
        return out_of_memory(p);
    for (unsigned s = 0; s < 2; s++)
        for (size_t i = 0; i < p->sections[s].line_count; i++) {
            const struct agx_source_line *line = &p->sections[s].lines[i];
            const size_t base = s ? a->preamble_offset : a->main_offset;
            a->lines[a->line_count++] = (struct agx_source_line){(uint32_t)(base + line->offset), line->line};
        }
    return true;
}

static bool lay_out(struct program *p)
{
    struct agx_assembly *a = p->assembly;
    const struct section *code = &p->sections[0], *preamble = &p->sections[1];
    const size_t constant_bytes = 2 * (size_t)p->symbols.constant_halves;
    a->main_offset = round_up(constant_bytes, AGX_ASSEMBLY_ALIGN);
    a->main_end = a->main_offset + code->bytes;
    a->has_preamble = preamble->bytes;
    a->preamble_offset = a->has_preamble ? round_up(a->main_end, AGX_ASSEMBLY_ALIGN) : 0;
    a->preamble_end = a->preamble_offset + preamble->bytes;
    a->code_bytes = a->has_preamble ? a->preamble_end : a->main_end;
    a->code = calloc(a->code_bytes, 1);
    if (!a->code)
        return out_of_memory(p);
    for (unsigned i = 0; i < p->symbols.constant_halves; i++) {
        a->code[2 * i] = (uint8_t)p->symbols.constants[i];
        a->code[2 * i + 1] = (uint8_t)(p->symbols.constants[i] >> 8);
    }
    memcpy(a->code + a->main_offset, code->code, code->bytes);
    if (a->has_preamble) {
        fill_traps(a->code, a->main_end, a->preamble_offset);
        memcpy(a->code + a->preamble_offset, preamble->code, preamble->bytes);
    }
    a->constant_halves = p->symbols.constant_halves;
    a->constant_first_half = p->symbols.constant_first_half;
    a->register_halves = code->declared_halves ? code->declared_halves : code->register_halves;
    a->preamble_register_halves = preamble->declared_halves ? preamble->declared_halves : preamble->register_halves;
    a->arguments = p->symbols.arguments;
    a->argument_count = p->symbols.argument_count;
    a->argument_bytes = p->symbols.argument_bytes;
    p->symbols.arguments = NULL;
    return join_lines(p);
}

static bool declare(struct program *p, const struct agx_asm_text *text)
{
    char why[160];
    for (size_t i = 0; i < text->count; i++) {
        p->line = &text->lines[i];
        if (text->lines[i].text[0] == '.' && !agx_asm_declare(&p->symbols, text->lines[i].text, why, sizeof why))
            return fail(p, 0, "%s", why);
    }
    p->line = NULL;
    return agx_asm_place_constants(&p->symbols, why, sizeof why) || fail(p, 0, "%s", why);
}

static bool assemble_text(struct program *p, const struct agx_asm_text *text)
{
    if (!declare(p, text))
        return false;
    for (size_t i = 0; i < text->count; i++) {
        p->line = &text->lines[i];
        if (!assemble_line(p))
            return false;
    }
    p->line = NULL;
    if (!p->sections[0].bytes)
        return fail(p, 0, "there are no instructions");
    return check_section(p, &p->sections[0], "the program") && check_section(p, &p->sections[1], "the preamble") && lay_out(p);
}

static void free_program(struct program *p)
{
    for (unsigned s = 0; s < 2; s++) {
        free(p->sections[s].code);
        free(p->sections[s].labels);
        free(p->sections[s].fixups);
        free(p->sections[s].lines);
    }
    agx_asm_symbols_free(&p->symbols);
}

bool agx_assemble(const char *text, size_t size, struct agx_assembly *assembly, struct isa_error *error)
{
    struct agx_asm_text expanded;
    struct program p = {.assembly = assembly, .error = error};
    *assembly = (struct agx_assembly){.code = NULL};
    *error = (struct isa_error){.line = 0};
    if (!agx_asm_expand(text, size, &expanded, error))
        return false;
    const bool ok = assemble_text(&p, &expanded);
    agx_asm_text_free(&expanded);
    free_program(&p);
    if (!ok)
        agx_assembly_free(assembly);
    return ok;
}

void agx_assembly_free(struct agx_assembly *assembly)
{
    free(assembly->code);
    free(assembly->arguments);
    free(assembly->lines);
    *assembly = (struct agx_assembly){.code = NULL};
}
