#include "isa/agx/agx_decode_parts.h"
#include "isa/agx/agx_table.h"

/* The class of the row, except that multiplications with a 64-bit result have a class of their own. */
static enum agx_class class_of(const struct agx_inst *inst, const struct agx_row_effect *row)
{
    return inst->op == AGX_OP_IMADD && inst->dst.place == AGX_PLACE_PAIR ? AGX_CLASS_IMUL64 : row->unit_class;
}

static bool in_registers(const struct agx_operand *operand)
{
    return operand->place >= AGX_PLACE_HALF && operand->place <= AGX_PLACE_PAIR;
}

static struct agx_range range_of(const struct agx_operand *operand)
{
    if (!in_registers(operand))
        return (struct agx_range){0, 0};
    return (struct agx_range){operand->index, (uint8_t)(agx_place_halves(operand->place) * operand->count)};
}

/* Counts the different 32-bit registers among the ranges. A word counts unless an earlier range has it; ranges are short. */
static uint8_t count_words(const struct agx_effect *effect)
{
    unsigned count = 0;
    for (unsigned i = 0; i < effect->read_count; i++) {
        const struct agx_range *range = &effect->read[i];
        for (unsigned word = range->first / 2u; word <= (range->first + range->count - 1u) / 2u; word++) {
            bool seen = false;
            for (unsigned j = 0; j < i && !seen; j++)
                seen = word >= effect->read[j].first / 2u && word <= (effect->read[j].first + effect->read[j].count - 1u) / 2u;
            count += !seen;
        }
    }
    return (uint8_t)count;
}

static void read_sources(const struct agx_inst *inst, struct agx_effect *effect)
{
    for (unsigned i = 0; i < inst->source_count && i < AGX_MAX_SOURCES; i++) {
        const struct agx_operand *source = &inst->source[i];
        const struct agx_range range = range_of(source);
        if (range.count == 0)
            continue;
        if (source->hint != AGX_HINT_NONE)
            effect->cached_sources |= (uint8_t)(1u << effect->read_count);
        effect->read[effect->read_count++] = range;
    }
    effect->distinct_words_read = count_words(effect);
}

/* Sets the bytes in memory of one component and the components per lane. Packed formats are one element of 4 bytes. */
static void read_memory(const struct agx_inst *inst, struct agx_effect *effect)
{
    static const uint8_t bytes[16] = {1, 2, 4, 2, 1, 1, 2, 2, 4, 0, 1, 0, 4, 4, 4, 4};
    switch (effect->unit_class) {
    case AGX_CLASS_DEVICE_ATOMIC:
    case AGX_CLASS_GROUP_ATOMIC:
        effect->element_bytes = 4;
        effect->elements = 1;
        break;
    case AGX_CLASS_DEVICE_LOAD:
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_GROUP_LOAD:
    case AGX_CLASS_GROUP_STORE:
    case AGX_CLASS_STACK_LOAD:
    case AGX_CLASS_STACK_STORE:
        effect->element_bytes = bytes[inst->format & 15];
        effect->elements = (uint8_t)__builtin_popcount(inst->component_mask);
        if (inst->format == AGX_FORMAT_RGB10A2 || inst->format >= AGX_FORMAT_RG11B10F)
            effect->elements = 1;
        break;
    case AGX_CLASS_UNIFORM_STORE:
        effect->element_bytes = 2;
        effect->elements = (uint8_t)__builtin_popcount(inst->component_mask);
        break;
    default: break;
    }
}

void agx_effect_of(const struct agx_inst *inst, struct agx_effect *effect)
{
    *effect = (struct agx_effect){.unit_class = AGX_CLASS_UNKNOWN};
    if (inst->op == AGX_OP_NONE || inst->form >= agx_forms_count)
        return;
    const struct agx_row_effect *row = &agx_forms[inst->form].effect;
    effect->unit_class = class_of(inst, row);
    effect->flops = row->flops;
    effect->write = range_of(&inst->dst);
    effect->cache_result = inst->dst.hint == AGX_HINT_CACHE;
    effect->reads_r0l = effect->writes_mask = effect->unit_class == AGX_CLASS_MASK;
    read_sources(inst, effect);
    read_memory(inst, effect);
}
