#include "isa/agx/agx_coherent.h"

#include "isa/agx/agx_isa.h"

enum { COHERENT_BIT = 45 };

bool agx_make_coherent(uint8_t *code, size_t begin, size_t bytes)
{
    bool found = false;
    struct agx_inst inst;
    for (size_t at = begin, length; at < bytes && (length = agx_decode(code + at, bytes - at, &inst)) != 0; at += length) {
        if (inst.op != AGX_OP_ATOMIC)
            continue;
        code[at + COHERENT_BIT / 8] |= (uint8_t)(1u << COHERENT_BIT % 8);
        found = true;
    }
    return found;
}
