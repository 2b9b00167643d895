/* The listing of a program: notes, fields, and every byte that no field explains, so that it assembles to the same file. */
#include "isa/float_bits.h"
#include "isa/ane/ane_disasm_parts.h"
#include "isa/ane/ane_expression.h"
#include "isa/ane/ane_half.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_PER_LINE 32u

const char *const ane_container_names[3] = {"raw", "hwx", "anec"};

/* ---- head ---- */

static const char *const kind_names[] = {"unused", "command", "coefficients", "scratch", "output", "input"};
static const char *const format_names[] = {"u8", "i8", "f16"};

static void write_port(const struct ane_program *program, unsigned bar, FILE *out)
{
    const struct ane_port *port = &program->port[bar];
    if (port->kind == ANE_PORT_UNUSED)
        return;
    fprintf(out, "; bar %u: %s", bar, kind_names[port->kind]);
    if (port->name[0])
        fprintf(out, " \"%s\"", port->name);
    if (port->width)
        fprintf(out, ", %s, channels %u, height %u, width %u, row 0x%x, plane 0x%x", format_names[port->format % 3],
                port->channels, port->height, port->width, port->row, port->plane);
    if (port->bytes)
        fprintf(out, ", 0x%llx bytes", (unsigned long long)port->bytes);
    fprintf(out, "\n");
}

static void write_expressions(const struct ane_program *program, FILE *out)
{
    struct ane_expressions e;
    char text[240];
    if (!ane_expressions_make(program, &e))
        return;
    for (uint32_t i = 0; i < e.outputs && i < 4; i++) {
        ane_expression_text(&e, e.output[i], text, sizeof text);
        fprintf(out, "; output = %s%s\n", text, strlen(text) == sizeof text - 1 ? "..." : "");
    }
    ane_expressions_free(&e);
}

static void write_head(const struct ane_program *program, FILE *out)
{
    char detail[160];
    const char *operation = ane_program_operation(program, detail, sizeof detail);
    if (operation)
        fprintf(out, "; %s%s%s\n", operation, detail[0] ? ": " : "", detail);
    else
        fprintf(out, "; operation not recognised\n");
    write_expressions(program, out);
    fprintf(out, "; Neural Engine H%d, %zu task%s, 0x%zx bytes of coefficients\n", (int)program->generation, program->count,
            program->count == 1 ? "" : "s", program->const_bytes);
    if (program->compiler)
        fprintf(out, "; compiler: %.*s\n", (int)strcspn(program->compiler, "\r\n"), program->compiler);
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        write_port(program, bar, out);
    fprintf(out, "\n.container %s\n.size 0x%zx\n.text 0x%zx\n.coefficients 0x%zx\n", ane_container_names[program->container],
            program->size, program->text_offset, program->const_offset);
}

/* ---- fields ---- */

unsigned ane_field_float_bits(enum ane_field field)
{
    const struct ane_field_info *info = ane_field_info(field);
    return info->is_float ? info->width : 0;
}

/* Writes a decimal number if that gives the same bits again. */
static bool write_float(unsigned bits, uint32_t value, FILE *out)
{
    char text[40];
    const double number = bits == 16 ? ane_half_value((uint16_t)value) : (double)f32_of_bits(value);
    if (isinf(number) || isnan(number) || number == 0)
        return false; /* these are written as bits */
    bool same = false;
    for (int digits = 3; digits <= 9 && !same; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        same = bits == 16 ? ane_half_bits(strtod(text, NULL)) == value : strtof(text, NULL) == f32_of_bits(value);
    }
    if (!same)
        return false;
    fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    return true;
}

static void write_value(enum ane_field field, uint32_t value, FILE *out)
{
    const struct ane_field_info *info = ane_field_info(field);
    const unsigned float_bits = ane_field_float_bits(field);
    if (float_bits && write_float(float_bits, value, out))
        return;
    if (info->shift)
        fprintf(out, "0x%llx", (unsigned long long)value << info->shift);
    else
        fprintf(out, value < 10 || info->width <= 17 ? "%u" : "0x%x", value);
}

/* Writes "KernelDMASrc.CoeffDMAConfig[0..2].En". */
static void write_name(enum ane_field field, unsigned first, unsigned last, FILE *out)
{
    const struct ane_field_info *info = ane_field_info(field);
    const char *part = strrchr(info->name, '.');
    if (info->count == 1 || !part)
        fprintf(out, "%s", info->name);
    else if (first == last)
        fprintf(out, "%.*s[%u]%s", (int)(part - info->name), info->name, first, part);
    else
        fprintf(out, "%.*s[%u..%u]%s", (int)(part - info->name), info->name, first, last, part);
}

/* Addresses and strides are written in bytes, so the meaning loses its "/ 64". */
static void write_meaning(const struct ane_field_info *info, FILE *out)
{
    const char *unit = info->shift ? strstr(info->text, " / ") : NULL;
    if (unit)
        fprintf(out, "  ; %.*s%s", (int)(unit - info->text), info->text, unit + 3 + strspn(unit + 3, "0123456789"));
    else if (info->text[0])
        fprintf(out, "  ; %s", info->text);
}

/* Writes the elements that differ from `known` in one line, and puts them into `known`. */
static void write_field(const struct ane_td *td, struct ane_td *known, enum ane_field field, FILE *out)
{
    const unsigned count = ane_field_info(field)->count;
    unsigned first = 0, last = count;
    while (first < count && ane_get_at(td, field, first) == ane_get_at(known, field, first))
        first++;
    if (first == count)
        return;
    while (ane_get_at(td, field, last - 1) == ane_get_at(known, field, last - 1))
        last--;
    bool same = true;
    for (unsigned i = first; i < last; i++) {
        same = same && ane_get_at(td, field, i) == ane_get_at(td, field, first);
        ane_set_at(known, field, i, ane_get_at(td, field, i));
    }
    fprintf(out, "    ");
    write_name(field, first, last - 1, out);
    fprintf(out, " =");
    for (unsigned i = first; i < (same ? first + 1 : last); i++) {
        fprintf(out, " ");
        write_value(field, ane_get_at(td, field, i), out);
    }
    write_meaning(ane_field_info(field), out);
    fprintf(out, "\n");
}

static void write_descriptor(const struct ane_td *td, size_t offset, FILE *out)
{
    struct ane_td known;
    ane_td_init(&known);
    fprintf(out, ".td 0x%zx\n", offset);
    for (unsigned i = 0; i < ANE_FIELD_COUNT; i++)
        write_field(td, &known, (enum ane_field)i, out);
    for (unsigned i = 0; i < ANE_TD_WORDS; i++)
        if (known.word[i] != td->word[i])
            fprintf(out, "    .word 0x%03x = 0x%08x\n", 4 * i, td->word[i]);
}

/* ---- bytes ---- */

static bool zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Writes the bytes in lines, without those lines that are all zero. */
static void write_bytes(const uint8_t *file, size_t from, size_t to, FILE *out)
{
    bool open = false;
    for (size_t at = from, length; at < to; at += length) {
        length = to - at < BYTES_PER_LINE ? to - at : BYTES_PER_LINE;
        if (zero(file + at, length)) {
            open = false;
            continue;
        }
        if (!open)
            fprintf(out, ".bytes 0x%zx\n", at);
        open = true;
        fprintf(out, "   ");
        for (size_t i = 0; i < length; i++)
            fprintf(out, "%s%02x", i % 2 ? "" : " ", file[at + i]);
        fprintf(out, "\n");
    }
}

/* A piece of the coefficients that a task reads. */
struct piece {
    uint32_t base;
    size_t task;
    unsigned bank;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->task != y->task ? (x->task < y->task ? -1 : 1) : (x->bank > y->bank) - (x->bank < y->bank);
}

static size_t find_pieces(const struct ane_program *program, struct piece *pieces)
{
    size_t count = 0;
    for (size_t t = 0; t < program->count; t++)
        for (unsigned k = 0; k < ANE_BANKS; k++)
            if (program->task[t].bank[k].enabled && program->task[t].bank[k].base <= program->const_bytes)
                pieces[count++] = (struct piece){program->task[t].bank[k].base, t, k};
    qsort(pieces, count, sizeof *pieces, compare_pieces);
    return count;
}

static void write_coefficients(const struct ane_program *program, FILE *out)
{
    struct piece *pieces = malloc((program->count * ANE_BANKS + 1) * sizeof *pieces);
    const size_t base = program->const_offset;
    size_t at = 0;
    fprintf(out, "\n; ---- coefficients\n");
    const size_t count = pieces ? find_pieces(program, pieces) : 0;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].base > at) {
            write_bytes(program->bytes, base + at, base + pieces[i].base, out);
            at = pieces[i].base;
        }
        fprintf(out, "; 0x%x: task %zu, bank %u\n", pieces[i].base, pieces[i].task, pieces[i].bank);
    }
    write_bytes(program->bytes, base + at, base + program->const_bytes, out);
    free(pieces);
}

struct stretch {
    size_t from, to;
};

static int compare_stretches(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Writes what is neither a descriptor of the chain nor coefficients: the container and unused descriptors. */
static void write_rest(const struct ane_program *program, FILE *out)
{
    struct stretch *taken = malloc((program->count + 2) * sizeof *taken);
    size_t at = 0, count = 0;
    if (!taken)
        return;
    for (; count < program->count; count++) {
        const size_t from = program->text_offset + program->td_offset[count];
        taken[count] = (struct stretch){from, from + ANE_TD_BYTES};
    }
    taken[count++] = (struct stretch){program->const_offset, program->const_offset + program->const_bytes};
    qsort(taken, count, sizeof *taken, compare_stretches);
    taken[count++] = (struct stretch){program->size, program->size};
    fprintf(out, "\n; ---- rest of the file\n");
    for (size_t i = 0; i < count; i++) {
        if (taken[i].from > at)
            write_bytes(program->bytes, at, taken[i].from, out);
        at = taken[i].to > at ? taken[i].to : at;
    }
    free(taken);
}

void ane_disassemble(const struct ane_program *program, FILE *out)
{
    write_head(program, out);
    for (size_t i = 0; i < program->count; i++) {
        ane_write_notes(program, i, out);
        write_descriptor(&program->td[i], program->td_offset[i], out);
    }
    write_coefficients(program, out);
    write_rest(program, out);
}
