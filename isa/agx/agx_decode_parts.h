/* Between decoder and operand reader. */
#ifndef ORCHARD_ISA_AGX_DECODE_PARTS_H
#define ORCHARD_ISA_AGX_DECODE_PARTS_H

#include "isa/agx/agx_isa.h"

/* Fills the operands and modifiers of an instruction whose form and fields are known. */
void agx_decode_operands(struct agx_inst *inst);

#endif
