/* Between decoder and operand reader. */
#ifndef ORCHARD_ISA_AGX_AGX_DECODE_PARTS_H
#define ORCHARD_ISA_AGX_AGX_DECODE_PARTS_H

#include "isa/agx/agx_isa.h"

/* Fills the operands and modifiers of an instruction whose form and fields are known. */
void agx_decode_operands(struct agx_inst *inst);

/* Halves that one register of this place takes, 0 when it is no register. */
static inline unsigned agx_place_halves(enum agx_place place)
{
    switch (place) {
    case AGX_PLACE_HALF:
    case AGX_PLACE_UNIFORM_HALF: return 1;
    case AGX_PLACE_WORD:
    case AGX_PLACE_UNIFORM_WORD: return 2;
    case AGX_PLACE_PAIR:
    case AGX_PLACE_UNIFORM_PAIR: return 4;
    default: return 0;
    }
}

#endif
