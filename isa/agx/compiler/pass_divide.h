/* What the files of division share. */
#ifndef ORCHARD_ISA_AGX_COMPILER_PASS_DIVIDE_H
#define ORCHARD_ISA_AGX_COMPILER_PASS_DIVIDE_H

#include "isa/agx/compiler/pass.h"

/* 64-bit division and remainder, bit by bit. */
struct ir_value *divide_long(struct pass *p, struct ir_value *v);

#endif
