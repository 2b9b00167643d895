/* Operands that are runs of registers, and operands of texture, vertex and pixel instructions. */
#include "isa/agx/agx_asm_operand.h"

#include <string.h>

static bool read_half_or_number(struct agx_asm_build *build, const struct agx_operand_row *row, uint32_t t_number)
{
    struct agx_asm_registers r;
    int64_t number;
    const char *word = agx_asm_take(build, "a half register or a number");
    if (!word)
        return false;
    if (agx_asm_number(word, &number))
        return number >= 0 && number < 256 ? agx_asm_set_vt(build, row, (uint32_t)number, t_number)
                                           : agx_asm_wants(build, word, "0..255");
    if (!agx_asm_registers(word, &r) || r.uniform || !r.half || r.count != 1 || !agx_asm_plain(&r))
        return agx_asm_wants(build, word, "a half register or a number");
    return agx_asm_set_vt(build, row, r.first, !t_number);
}

/* "cf4", "ts3", "ss1" */
static bool prefixed(const char *word, const char *prefix, uint32_t *number)
{
    int64_t value;
    const size_t length = strlen(prefix);
    if (strncmp(word, prefix, length) != 0 || !agx_asm_all_digits(word + length) || !agx_asm_number(word + length, &value) ||
        value > 255)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* Reads the number of a state, or a half register. */
static bool read_state_or_half(struct agx_asm_build *build, const struct agx_operand_row *row, const char *prefix)
{
    uint32_t number;
    unsigned first;
    const char *word = agx_asm_peek(build);
    if (word && prefixed(word, prefix, &number)) {
        build->next++;
        return row->t ? agx_asm_set_vt(build, row, number, 0) : agx_asm_set(build, row->v, number);
    }
    if (row->kind != AGX_KIND_COEFFICIENT_OR_HALF && row->kind != AGX_KIND_SAMPLER)
        return agx_asm_fail(build, "%s: expected %s and a number", word ? word : "end of line", prefix);
    return agx_asm_one_register(build, true, false, &first) && agx_asm_set_vt(build, row, first, 1);
}

static bool read_sample_index(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    int64_t number;
    const char *word = agx_asm_peek(build);
    if (word && agx_asm_number(word, &number)) {
        build->next++;
        return number >= 0 && number < 256
                   ? agx_asm_set(build, row->v, (uint32_t)number) && agx_asm_set(build, AGX_F_interpolation, 1)
                   : agx_asm_wants(build, word, "0..255");
    }
    if (word && agx_asm_registers(word, &r) && r.half && !r.uniform && r.count == 1 && agx_asm_plain(&r)) {
        build->next++;
        return agx_asm_set(build, row->v, r.first) && agx_asm_set(build, AGX_F_interpolation, 3);
    }
    return true;
}

static bool read_texture(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    /* Forms without a bindless operand still have the register kinds of bindless textures. */
    const bool bindless = agx_get(&build->inst, row->t) & 2, either = agx_field_index(build->form, AGX_F_U) < 0;
    struct agx_asm_registers r;
    uint32_t number;
    const char *word = agx_asm_take(build, "a texture");
    if (!word)
        return false;
    if (!bindless && prefixed(word, "ts", &number))
        return agx_asm_set_vt(build, row, number, 0);
    if ((bindless || either) && strcmp(word, "0") == 0)
        return agx_asm_set_vt(build, row, 0, 2);
    if (!agx_asm_registers(word, &r) || r.uniform || r.count != 1 || !agx_asm_plain(&r) || (!bindless && !either && !r.half))
        return agx_asm_wants(build, word, "a texture");
    if (either)
        return agx_asm_set_vt(build, row, r.first, r.half ? 1 : 3);
    return agx_asm_set_vt(build, row, r.first, bindless ? (r.half ? 2 : 3) : 1);
}

/* "r77", "r18l", "r68_r69l" */
static bool read_compare_offset(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const bool compare = agx_get(&build->inst, row->m);
    struct agx_asm_registers r;
    char copy[32];
    const char *word = agx_asm_peek(build);
    if (!compare && (!word || !agx_asm_registers(word, &r)))
        return true;
    if (!agx_asm_take(build, "a register to compare with"))
        return false;
    if (strlen(word) >= sizeof copy)
        return agx_asm_wants(build, word, "a register");
    memcpy(copy, word, strlen(word) + 1);
    char *second = compare ? strchr(copy, '_') : NULL;
    if (second)
        *second++ = '\0';
    if (!agx_asm_registers(copy, &r) || r.uniform || r.count != 1 || r.half == compare || !agx_asm_plain(&r))
        return agx_asm_wants(build, word, "a register");
    const unsigned first = r.first;
    if (!agx_asm_set_vt(build, row, first, !compare || second))
        return false;
    if (second && (!agx_asm_registers(second, &r) || !r.half || r.first < first + 2 || r.first > first + 3))
        return agx_asm_wants(build, word, "the offset in the register behind the compared one");
    return !second || agx_asm_set(build, row->v, first | (r.first & 1));
}

static bool mask_precedes(const struct agx_form *form, unsigned index)
{
    for (unsigned i = 0; i < index; i++)
        if (form->operands[i].v == AGX_F_mask)
            return true;
    return false;
}

/* Puts registers into the fields of an operand; false when the operand cannot name such registers. */
static bool store_run(struct agx_asm_build *build, const struct agx_operand_row *row, const struct agx_asm_registers *r)
{
    const bool words = !r->half, uniform = r->uniform;
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_DATA:
    case AGX_KIND_TEXEL:
        return !uniform && agx_asm_set_vt(build, row, r->first, words) && (!row->extra || agx_asm_set(build, row->extra, 1));
    case AGX_KIND_BASE:
    case AGX_KIND_ASYNC_PAIR: return words && agx_asm_set_vt(build, row, r->first, uniform);
    case AGX_KIND_ASYNC_WORDS: return words && agx_asm_set_vt(build, row, r->first / 2, uniform);
    case AGX_KIND_UNIFORM_PAIR: return uniform && words && agx_asm_set(build, row->v, r->first / 2);
    case AGX_KIND_BINDLESS: /* pairs at multiples of two words */
        return uniform && words && r->first % 4 == 0 && agx_asm_set_vt(build, row, r->first / 4, 2);
    case AGX_KIND_ATOMIC_SRC: return !uniform && words && agx_asm_set(build, row->v, r->first);
    case AGX_KIND_DEPTH_STENCIL: /* two halves of depth, one of stencil */
        return !uniform && !words && r->count <= 3 && agx_asm_set(build, row->v, r->first) &&
               agx_asm_set(build, row->t, r->count >> 1) && agx_asm_set(build, row->m, r->count & 1);
    case AGX_KIND_VARYING:
        return !uniform && r->count % row->extra == 0 && r->count / row->extra <= 4 &&
               agx_asm_set_vt(build, row, r->first, words) && agx_asm_set(build, row->m, r->count / row->extra & 3);
    case AGX_KIND_COORDS: return !uniform && agx_asm_set_vt(build, row, r->first, r->discard);
    default: return false;
    }
}

/* Reads a run of registers, which some operands may leave out. agx_asm_settle checks their number. */
static bool read_run(struct agx_asm_build *build, const struct agx_operand_row *row, unsigned index)
{
    struct agx_asm_registers r;
    const char *word = agx_asm_peek(build);
    const bool optional = row->kind == AGX_KIND_DATA || row->kind == AGX_KIND_DEPTH_STENCIL;
    if (word && strcmp(word, "None") == 0 && (row->kind == AGX_KIND_BINDLESS || row->extra)) {
        build->next++;
        return true;
    }
    /* With an empty mask there are no registers, and a register that follows is the next operand. */
    if (row->kind == AGX_KIND_DATA && mask_precedes(build->form, index) && agx_get(&build->inst, AGX_F_mask) == 0)
        return true;
    if (!word || !agx_asm_registers(word, &r))
        return (optional && !row->extra) || agx_asm_wants(build, word ? word : "end of line", "registers");
    if (r.cache || r.sign_extend || r.absolute || r.negate || (r.discard && row->kind != AGX_KIND_COORDS))
        return agx_asm_wants(build, word, "registers without modifiers");
    build->next++;
    build->run_count[index] = (uint8_t)r.count;
    build->run_halves[index] = r.half;
    build->why[0] = '\0';
    if (store_run(build, row, &r))
        return true;
    return build->why[0] ? false : agx_asm_wants(build, word, row->kind == AGX_KIND_BASE ? "a 64-bit pair" : "other registers");
}

static bool read_lod(struct agx_asm_build *build, const struct agx_operand_row *row, unsigned index)
{
    const uint32_t lod = agx_get(&build->inst, AGX_F_lod);
    struct agx_asm_registers r;
    const char *word = agx_asm_take(build, "a level of detail or 0");
    if (!word)
        return false;
    if (strcmp(word, "0") == 0)
        return true;
    if (!agx_asm_registers(word, &r) || !agx_asm_plain(&r))
        return agx_asm_wants(build, word, "registers");
    build->run_count[index] = (uint8_t)r.count;
    build->run_halves[index] = r.half;
    /* "auto_lod_bias" and "lod_min" stand for two codes each: uniform and register. */
    return agx_asm_set(build, row->v, r.first) && agx_asm_set(build, AGX_F_lod, r.uniform ? lod & ~4u : lod | 4);
}

bool agx_asm_graphics_operand(struct agx_asm_build *build, unsigned index)
{
    const struct agx_operand_row *row = &build->form->operands[index];
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_SAMPLES: return read_half_or_number(build, row, row->extra);
    case AGX_KIND_TARGET:
    case AGX_KIND_HALF_OR_NUMBER: return read_half_or_number(build, row, 1);
    case AGX_KIND_COEFFICIENT_OR_HALF:
    case AGX_KIND_COEFFICIENT: return read_state_or_half(build, row, "cf");
    case AGX_KIND_TEXTURE_STATE: return read_state_or_half(build, row, "ts");
    case AGX_KIND_SAMPLER_STATE:
    case AGX_KIND_SAMPLER: return read_state_or_half(build, row, "ss");
    case AGX_KIND_SAMPLE_INDEX: return read_sample_index(build, row);
    case AGX_KIND_TEXTURE: return read_texture(build, row);
    case AGX_KIND_COMPARE_OFFSET: return read_compare_offset(build, row);
    case AGX_KIND_LOD: return read_lod(build, row, index);
    default: return read_run(build, row, index);
    }
}

/* Coordinates given as halves are either 16-bit coordinates, or 32-bit ones with a layer after them. */
static bool settle_coords(struct agx_asm_build *build, const struct agx_operand_row *row, unsigned index)
{
    const unsigned coords = agx_dim_coords(agx_get(&build->inst, AGX_F_n));
    const bool wide = agx_dim_extra(agx_get(&build->inst, AGX_F_n)) && build->run_count[index] == 2 * coords + 1;
    return agx_asm_set(build, row->m, build->run_halves[index] && !wide);
}

bool agx_asm_settle(struct agx_asm_build *build)
{
    for (unsigned i = 0; i < build->form->operand_count; i++) {
        const struct agx_operand_row *row = &build->form->operands[i];
        struct agx_run run;
        if (row->kind == AGX_KIND_COORDS && !settle_coords(build, row, i))
            return false;
        if (!agx_operand_run(&build->inst, row, &run))
            continue;
        const bool halves = run.place == AGX_PLACE_HALF || run.place == AGX_PLACE_UNIFORM_HALF;
        if (run.count != build->run_count[i] || (run.count && halves != build->run_halves[i]))
            return agx_asm_fail(build, "operand %s: expected %u %s register%s", agx_operand_text(row), run.count,
                                halves ? "half" : "32-bit", run.count == 1 ? "" : "s");
    }
    return true;
}
