#include "isa/agx/agx_minifloat.h"
#include "isa/agx/agx_runs.h"
#include "isa/agx/agx_table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* Text being written; `length` goes on counting past the end, as snprintf does. */
struct output {
    char *text;
    size_t size;
    int length;
    unsigned operands;
};

__attribute__((format(printf, 2, 3))) static void append(struct output *out, const char *format, ...)
{
    const size_t used = (size_t)out->length;
    va_list args;
    va_start(args, format);
    out->length += vsnprintf(used < out->size ? out->text + used : NULL, used < out->size ? out->size - used : 0, format, args);
    va_end(args);
}

/* Separates an operand from what stands before it. Absent operands never call it. */
static void next_operand(struct output *out)
{
    append(out, out->operands++ ? ", " : " ");
}

static void append_half(struct output *out, char file, unsigned half)
{
    append(out, "%c%u%c", file, half >> 1, half & 1 ? 'h' : 'l');
}

static void append_run(struct output *out, const struct agx_run *run)
{
    const bool uniform = run->place == AGX_PLACE_UNIFORM_HALF || run->place == AGX_PLACE_UNIFORM_WORD;
    const bool half = run->place == AGX_PLACE_HALF || run->place == AGX_PLACE_UNIFORM_HALF;
    const char file = uniform ? 'u' : 'r';
    for (unsigned i = 0; i < run->count; i++) {
        if (i)
            append(out, "_");
        if (half)
            append_half(out, file, run->first + i);
        else
            append(out, "%c%u", file, run->first / 2 + i);
    }
}

static void append_hint(struct output *out, unsigned hint)
{
    static const char *const hints[] = {".unknown", "", ".cache", ".discard"};
    append(out, "%s", hints[hint & 3]);
}

static void append_minifloat(struct output *out, uint32_t bits)
{
    char number[24];
    snprintf(number, sizeof number, "%.9g", (double)agx_minifloat_value((uint8_t)bits));
    append(out, "%s%s", number, strchr(number, '.') ? "" : ".0");
}

static void append_binary(struct output *out, uint32_t value, unsigned width)
{
    append(out, "0b");
    for (unsigned i = width; i-- > 0;)
        append(out, "%u", value >> i & 1);
}

static void append_alu_dst(struct output *out, const struct agx_operand_row *row, uint32_t v, uint32_t t)
{
    const bool word = t & 2 && row->max >= 32, pair = word && row->max == 64 && v & 1;
    const struct agx_run run = {word ? AGX_PLACE_WORD : AGX_PLACE_HALF, word ? v & ~1u : v, pair || row->extra ? 2 : 1};
    append_run(out, &run);
    append(out, "%s", t & 1 ? ".cache" : "");
}

/* Writes a register or uniform of the 4-bit type. */
static void append_typed(struct output *out, const struct agx_operand_row *row, uint32_t v, uint32_t t)
{
    const unsigned size = t >> 2;
    if (size == 1) {
        const unsigned half = v | (t & 1) << 8;
        const struct agx_run uniform = {t & 2 ? AGX_PLACE_UNIFORM_WORD : AGX_PLACE_UNIFORM_HALF, t & 2 ? half & ~1u : half, 1};
        append_run(out, &uniform);
        return;
    }
    const bool word = size != 0 && row->max > 16, pair = size == 3 && row->max == 64;
    const struct agx_run run = {word ? AGX_PLACE_WORD : AGX_PLACE_HALF, word ? v & ~1u : v, pair || row->extra ? 2 : 1};
    append_run(out, &run);
    append_hint(out, t & 3);
}

static void append_source(struct output *out, const struct agx_operand_row *row, uint32_t v, uint32_t t, uint32_t m)
{
    if (t)
        append_typed(out, row, v, t);
    else if (row->kind == AGX_KIND_ALU_SRC)
        append(out, "%" PRIu32, v);
    else
        append_minifloat(out, v);
    if (row->kind == AGX_KIND_ALU_SRC)
        append(out, "%s", m && t ? ".sx" : "");
    else
        append(out, "%s%s", m & 1 ? ".abs" : "", m & 2 ? ".neg" : "");
}

static void append_select(struct output *out, const struct agx_inst *inst, uint32_t v, uint32_t t)
{
    const bool word = agx_get(inst, AGX_F_Dt) & 2;
    if (t == 4) {
        append(out, "%" PRIu32, v);
        return;
    }
    const bool uniform = t >= 6;
    const unsigned half = uniform ? v | (t & 1) << 8 : v;
    const enum agx_place half_place = uniform ? AGX_PLACE_UNIFORM_HALF : AGX_PLACE_HALF;
    const enum agx_place word_place = uniform ? AGX_PLACE_UNIFORM_WORD : AGX_PLACE_WORD;
    const struct agx_run run = {word ? word_place : half_place, word ? half & ~1u : half, 1};
    append_run(out, &run);
    if (!uniform)
        append_hint(out, t & 3);
}

const char *agx_condition_text(bool is_float, uint32_t code)
{
    static const char *const ints[16] = {"ueq",  "ult",  "ugt",  NULL, "seq",  "slt",  "sgt",  NULL,
                                         "nueq", "ugte", "ulte", NULL, "nseq", "sgte", "slte", NULL};
    static const char *const floats[16] = {"eq",  "lt",  "gt",  "ltn",  NULL, "gte",  "lte",  "gtn",
                                           "neq", "nlt", "ngt", "nltn", NULL, "ngte", "nlte", "ngtn"};
    return (is_float ? floats : ints)[code & 15];
}

static void append_condition(struct output *out, const struct agx_inst *inst, bool is_float)
{
    const uint32_t code = agx_get(inst, AGX_F_cc) | agx_get(inst, AGX_F_ccn) << 3;
    const char *name = agx_condition_text(is_float, code);
    if (name)
        append(out, "%s", name);
    else
        append(out, "%" PRIu32, code);
}

static void append_special(struct output *out, uint32_t number)
{
    append(out, "sr%" PRIu32, number);
    for (unsigned i = 0; i < agx_specials_count; i++)
        if (agx_specials[i].number == number && agx_specials[i].text)
            append(out, " (%s)", agx_specials[i].text);
}

static void append_texture(struct output *out, uint32_t v, uint32_t t)
{
    if (t == 0)
        append(out, "ts%" PRIu32, v);
    else if (t == 3)
        append(out, "r%" PRIu32, v >> 1);
    else if (t == 2 && v == 0)
        append(out, "0");
    else
        append_half(out, 'r', v);
}

/* Writes the 32-bit reference value and the half with packed offsets, each if it is present. */
static void append_compare_offset(struct output *out, uint32_t v, bool offset, bool compare)
{
    if (compare)
        append(out, "r%" PRIu32 "%s", v >> 1, offset ? "_" : "");
    if (offset)
        append_half(out, 'r', compare ? v + 2 : v);
}

static void append_signed(struct output *out, uint32_t v)
{
    append(out, "%d", (int)(int16_t)(uint16_t)v);
}

/* Writes a half register, or a number when `number` is set. */
static void append_half_or_number(struct output *out, uint32_t v, bool number)
{
    if (number)
        append(out, "%" PRIu32, v);
    else
        append_half(out, 'r', v);
}

static void append_branch(struct output *out, const struct agx_inst *inst)
{
    append(out, "pc%+" PRId32, inst->branch_bytes);
}

/* Writes operands of load, store, atomic and stack instructions; false for other kinds. */
static bool append_memory_operand(struct output *out, const struct agx_operand_row *row, uint32_t v, uint32_t t)
{
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_INDEX:
        if (t)
            append_signed(out, v);
        else
            append(out, "r%" PRIu32, v >> 1);
        return true;
    case AGX_KIND_GROUP_INDEX:
        if (t)
            append_signed(out, v);
        else
            append_half(out, 'r', v);
        return true;
    case AGX_KIND_GROUP_BASE:
        if (t == 2)
            append(out, "0");
        else
            append_half(out, t & 1 ? 'u' : 'r', v | (t >> 1) << 8);
        return true;
    case AGX_KIND_ATOMIC_DST:
        if (t)
            append(out, "r%" PRIu32, v >> 1);
        else
            append(out, "None");
        return true;
    default: return false;
    }
}

/* Writes operands of texture, vertex and pixel instructions. */
static void append_graphics(struct output *out, const struct agx_inst *inst, const struct agx_operand_row *row, uint32_t v,
                            uint32_t t, uint32_t m)
{
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_SAMPLES: append_half_or_number(out, v, t == row->extra); break;
    case AGX_KIND_TARGET:
    case AGX_KIND_HALF_OR_NUMBER: append_half_or_number(out, v, t); break;
    case AGX_KIND_COEFFICIENT_OR_HALF:
        if (t)
            append_half(out, 'r', v);
        else
            append(out, "cf%" PRIu32, v);
        break;
    case AGX_KIND_COEFFICIENT: append(out, "cf%" PRIu32, v); break;
    case AGX_KIND_SAMPLE_INDEX: append_half_or_number(out, v, !(agx_get(inst, AGX_F_interpolation) & 2)); break;
    case AGX_KIND_TEXTURE_STATE: append(out, "ts%" PRIu32, v); break;
    case AGX_KIND_SAMPLER_STATE: append(out, "ss%" PRIu32, v); break;
    case AGX_KIND_SAMPLER:
        if (t)
            append_half(out, 'r', v);
        else
            append(out, "ss%" PRIu32, v);
        break;
    case AGX_KIND_TEXTURE: append_texture(out, v, t); break;
    case AGX_KIND_COMPARE_OFFSET: append_compare_offset(out, v, t, m); break;
    case AGX_KIND_LOD: append(out, "0"); break;
    default: append(out, "?");
    }
}

static void append_plain(struct output *out, const struct agx_inst *inst, const struct agx_operand_row *row)
{
    const uint32_t v = agx_get(inst, row->v), t = agx_get(inst, row->t), m = agx_get(inst, row->m);
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_MASK_DST: append(out, "r0l%s", t & 1 ? ".cache" : ""); break;
    case AGX_KIND_ALU_DST: append_alu_dst(out, row, v, t); break;
    case AGX_KIND_ALU_SRC:
    case AGX_KIND_FLOAT_SRC:
    case AGX_KIND_FLOAT16_SRC: append_source(out, row, v, t, m); break;
    case AGX_KIND_SELECT_SRC: append_select(out, inst, v, t); break;
    case AGX_KIND_TRUTH:
        append(out, "%" PRIu32 "%" PRIu32 "%" PRIu32 "%" PRIu32, v, agx_get(inst, AGX_F_tt1), agx_get(inst, AGX_F_tt2),
               agx_get(inst, AGX_F_tt3));
        break;
    case AGX_KIND_NUMBER: append(out, "%" PRIu32, v); break;
    case AGX_KIND_BITS: append_binary(out, v, row->extra); break;
    case AGX_KIND_INT_CONDITION: append_condition(out, inst, false); break;
    case AGX_KIND_FLOAT_CONDITION: append_condition(out, inst, true); break;
    case AGX_KIND_BRANCH: append_branch(out, inst); break;
    case AGX_KIND_SIGNED16: append_signed(out, v); break;
    case AGX_KIND_SHIFT: append(out, "lsl %" PRIu32, v); break;
    case AGX_KIND_LOW_BITS: append(out, "mask 0x%" PRIX32, (UINT32_C(1) << (v & 31)) - 1); break;
    case AGX_KIND_HALF: append_half(out, 'r', v); break;
    case AGX_KIND_WORD: append(out, "r%" PRIu32, v); break;
    case AGX_KIND_WORD_AT_HALF: append(out, "r%" PRIu32, v >> 1); break;
    case AGX_KIND_SPECIAL: append_special(out, v); break;
    default:
        if (!append_memory_operand(out, row, v, t))
            append_graphics(out, inst, row, v, t, m);
    }
}

/* Text leaves out shifts by 0, full masks, and offsets and sample indices that are not present. */
static bool is_absent(const struct agx_inst *inst, const struct agx_operand_row *row)
{
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_SHIFT:
    case AGX_KIND_LOW_BITS: return agx_get(inst, row->v) == 0;
    case AGX_KIND_COMPARE_OFFSET: return !agx_get(inst, row->t) && !agx_get(inst, row->m);
    case AGX_KIND_SAMPLE_INDEX: return !(agx_get(inst, AGX_F_interpolation) & 1);
    default: return false;
    }
}

/* A run without registers is "None" for optional results, and nothing at all for other kinds. */
static void append_run_operand(struct output *out, const struct agx_operand_row *row, const struct agx_inst *inst,
                               const struct agx_run *run)
{
    const bool says_none = row->kind == AGX_KIND_BINDLESS || (row->kind == AGX_KIND_DATA && row->extra);
    if (run->count == 0 && !says_none)
        return;
    next_operand(out);
    if (run->count == 0)
        append(out, "None");
    append_run(out, run);
    if (row->kind == AGX_KIND_COORDS && agx_get(inst, row->t))
        append(out, ".discard");
}

static void append_operand(struct output *out, const struct agx_inst *inst, const struct agx_operand_row *row)
{
    struct agx_run run;
    if (agx_operand_run(inst, row, &run)) {
        append_run_operand(out, row, inst, &run);
    } else if (row->kind == AGX_KIND_ENUM) {
        const uint32_t value = agx_get(inst, row->v);
        const char *word = agx_value_text((enum agx_list)row->extra, value);
        if (word && !*word)
            return;
        next_operand(out);
        if (word)
            append(out, "%s", word);
        else
            append(out, "%" PRIu32, value);
    } else if (!is_absent(inst, row)) {
        next_operand(out);
        append_plain(out, inst, row);
    }
}

const char *agx_mnemonic(const struct agx_inst *inst)
{
    if (inst->op == AGX_OP_NONE)
        return "?";
    const struct agx_rename *rename = agx_renamed(inst);
    return rename ? rename->name : agx_form_mnemonic(inst->form);
}

int agx_disasm(const struct agx_inst *inst, char *text, size_t size)
{
    struct output out = {.text = text, .size = size};
    if (size)
        text[0] = '\0';
    if (inst->op == AGX_OP_NONE || inst->form >= agx_forms_count) {
        append(&out, "?");
        return out.length;
    }
    const struct agx_form *form = &agx_forms[inst->form];
    const struct agx_rename *rename = agx_renamed(inst);
    append(&out, "%s%s", agx_mnemonic(inst), inst->saturate ? ".sat" : "");
    for (unsigned i = 0; i < form->operand_count; i++)
        if (!agx_rename_drops(rename, &form->operands[i]))
            append_operand(&out, inst, &form->operands[i]);
    return out.length;
}
