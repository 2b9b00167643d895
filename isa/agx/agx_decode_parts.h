/* What the files of the decoder share. */
#ifndef ORCHARD_ISA_AGX_AGX_DECODE_PARTS_H
#define ORCHARD_ISA_AGX_AGX_DECODE_PARTS_H

#include "isa/agx/agx_table.h"

/* Fills the operands and modifiers of an instruction whose form and fields are known. */
void agx_decode_operands(struct agx_inst *inst);
/* Modifiers come before the operands, which depend on them, and the check of the meaning comes last. */
void agx_read_modifiers(struct agx_inst *inst, const struct agx_form *form);
void agx_check_meaning(struct agx_inst *inst, const struct agx_form *form);

/* Notes why the instruction must not be executed; the first reason stays. */
static inline void agx_reject(struct agx_inst *inst, const char *why)
{
    if (!inst->invalid)
        inst->invalid = why;
}

/* The halves that one register of this place takes; 0 when it is no register. */
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
