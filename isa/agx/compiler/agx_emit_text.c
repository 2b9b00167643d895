/* Lines as text for the assembler. */
#include "isa/agx/compiler/agx_lines.h"

#include <stdlib.h>
#include <string.h>

static void run_text(FILE *out, char file, unsigned half, unsigned part, unsigned count)
{
    for (unsigned i = 0; i < count; i++, half += part / 16)
        fprintf(out, "%s%c%u%s", i ? "_" : "", file, half / 2, part == 32 ? "" : half & 1 ? "h" : "l");
}

static void ref_text(const struct agx_compiler *c, FILE *out, const struct agx_ref *ref)
{
    float value;
    char number[32];
    switch ((enum agx_ref_kind)ref->kind) {
    case AGX_REF_REGISTER: run_text(out, 'r', c->reg[ref->index].place + ref->offset, ref->part, ref->count); break;
    case AGX_REF_FIXED: run_text(out, 'r', ref->index, ref->part, ref->count); break;
    case AGX_REF_UNIFORM: run_text(out, 'u', ref->index, ref->part, ref->count); break;
    case AGX_REF_NUMBER: fprintf(out, "%d", ref->index < 0x10000 ? (int)ref->index : (int32_t)ref->index); break;
    case AGX_REF_CONSTANT: fprintf(out, "k%u", ref->index); break;
    case AGX_REF_FLOAT:
        memcpy(&value, &ref->index, sizeof value);
        snprintf(number, sizeof number, "%.9g", (double)value);
        fprintf(out, "%s%s", number, strchr(number, '.') ? "" : ".0");
        break;
    case AGX_REF_NONE: break;
    }
    if (ref->kind == AGX_REF_NUMBER)
        return;
    fprintf(out, "%s%s%s%s",
            ref->hint == AGX_REF_CACHE     ? ".cache"
            : ref->hint == AGX_REF_DISCARD ? ".discard"
                                           : "",
            ref->sign_extend ? ".sx" : "", ref->absolute ? ".abs" : "", ref->negate ? ".neg" : "");
}

static void line_text(const struct agx_compiler *c, FILE *out, const struct agx_line *line)
{
    for (const char *at = line->format; *at; at++)
        if (*at != '%')
            fputc(*at, out);
        else if (*++at == 'd')
            ref_text(c, out, &line->write);
        else if (*at == 's')
            fprintf(out, "%u", line->slot);
        else if (*at >= '0' && *at < '0' + AGX_LINE_READS)
            ref_text(c, out, &line->read[*at - '0']);
    fputc('\n', out);
}

static void directives(const struct agx_compiler *c, FILE *out)
{
    static const char *const axes[] = {"x", "y", "z"};
    const uint32_t *const size = c->f->group_size;
    for (unsigned i = 0; i < c->f->arguments; i++) {
        const struct ir_type *const type = c->f->argument[i]->type;
        const bool is_float = type->kind == IR_FLOAT;
        const unsigned bits = type->kind == IR_POINTER ? 64 : agx_bits(type);
        fprintf(out, ".arg arg%u %c%u\n", i, is_float ? 'f' : 'u', bits);
    }
    for (unsigned half = 0; half < c->argument_bytes / 2; half++) {
        for (unsigned i = 0; i < 6; i++)
            if (c->implicit[i] == half + 1)
                fprintf(out, ".arg %s_%s u32\n", i < 3 ? AGX_GLOBAL_SIZE : AGX_GROUP_COUNT, axes[i % 3]);
        for (unsigned i = 0; i < c->tables; i++)
            if (c->table[i].half == half)
                fprintf(out, ".arg %s_%u u64\n", AGX_TABLE, i);
    }
    if (c->results)
        fprintf(out, ".uniform result u%u%s u16\n", (c->result_end - 1) / 2, (c->result_end - 1) & 1 ? "h" : "l");
    for (unsigned i = 0; i < c->constants; i++)
        fprintf(out, ".const k%u u%u %u\n", i, c->constant[i].part, c->constant[i].bits);
    if (size[0])
        fprintf(out, ".local_size %u %u %u\n", size[0], size[1] ? size[1] : 1, size[2] ? size[2] : 1);
    if (c->group_bytes)
        fprintf(out, ".threadgroup_memory %u\n", c->group_bytes);
    if (c->stack_bytes)
        fprintf(out, ".stack %u\n", ((c->stack_bytes + 3) / 4 + 10 + 3) / 4 * 4);
}

static void lines_text(const struct agx_compiler *c, FILE *out)
{
    for (unsigned i = 0; i < c->lines; i++) {
        const struct agx_line *const line = &c->line[i];
        for (unsigned slot = 0; slot < 2; slot++)
            if (line->wait >> slot & 1)
                fprintf(out, "wait %u\n", slot);
        if (line->kind == AGX_LINE_LABEL)
            fprintf(out, "L%u:\n", line->label);
        else if (line->kind == AGX_LINE_JUMP)
            fprintf(out, "%s L%u\n", line->format, line->label);
        else
            line_text(c, out, line);
    }
}

char *agx_print(struct agx_compiler *c, size_t *bytes)
{
    char *text = NULL;
    FILE *const out = open_memstream(&text, bytes);
    if (!out) {
        agx_refuse(c, NULL, "out of memory");
        return NULL;
    }
    directives(c, out);
    lines_text(c, out);
    if (c->preamble) {
        fputs(".preamble\n", out);
        lines_text(c->preamble, out);
    }
    if (fclose(out) != 0) {
        free(text);
        agx_refuse(c, NULL, "out of memory");
        return NULL;
    }
    return text;
}
