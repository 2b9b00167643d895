/* Arbitrary bytes as AGX words: nothing crashes, decoding an encoded instruction gives the same fields, and text that assembles
 * stands for one word.
 */
#include "isa/agx/agx_asm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_ranges(const struct agx_inst *inst, const struct agx_effect *effect)
{
    require(effect->read_count <= AGX_MAX_SOURCES && effect->unit_class < AGX_CLASS_COUNT);
    if (inst->invalid)
        return;
    require(effect->write.first + effect->write.count <= AGX_HALVES);
    for (unsigned i = 0; i < effect->read_count; i++)
        require(effect->read[i].count && effect->read[i].first + effect->read[i].count <= AGX_HALVES);
}

/* Bits that the text does not show may be lost once. After that, text and word agree. */
static void check_text(const struct agx_inst *inst, enum agx_class unit_class)
{
    char text[AGX_TEXT_BYTES], again[AGX_TEXT_BYTES];
    struct agx_inst back;
    struct isa_error error;
    require(agx_disasm(inst, text, sizeof text) < (int)sizeof text);
    if (!agx_asm_one(text, &back, &error)) {
        /* Registers that no instruction of a compute program can name. Graphics operands have more such cases. */
        require(inst->invalid != NULL || unit_class == AGX_CLASS_GRAPHICS || unit_class == AGX_CLASS_UNKNOWN);
        return;
    }
    agx_disasm(&back, again, sizeof again);
    require(strcmp(text, again) == 0);
}

static size_t check_word(const uint8_t *data, size_t size)
{
    struct agx_inst inst, back;
    struct agx_effect effect;
    uint8_t bytes[AGX_MAX_BYTES];
    const size_t length = agx_decode(data, size, &inst);
    agx_effect_of(&inst, &effect);
    check_ranges(&inst, &effect);
    if (length == 0)
        return 2;
    const size_t encoded = agx_encode(&inst, bytes);
    require(encoded && encoded <= length);
    require(agx_decode(bytes, encoded, &back) == encoded && back.form == inst.form && back.op == inst.op);
    require(memcmp(back.field, inst.field, sizeof inst.field) == 0);
    check_text(&inst, effect.unit_class);
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        /* The copy is on the heap with nothing behind it, so that the sanitizer sees reads past the end. */
        const size_t left = size - at < AGX_MAX_BYTES ? size - at : AGX_MAX_BYTES;
        uint8_t *copy = malloc(left);
        if (!copy)
            return 0;
        memcpy(copy, data + at, left);
        at += check_word(copy, left);
        free(copy);
    }
    return 0;
}
