/* What integer comparisons say. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_COMPARE_H
#define ORCHARD_ISA_AGX_COMPILER_IR_COMPARE_H

#include "isa/agx/compiler/ir.h"

/* Of two numbers as unsigned ones, x and y, and as signed ones, sx and sy. */
static inline bool ir_compare(unsigned condition, uint64_t x, uint64_t y, int64_t sx, int64_t sy)
{
    switch (condition) {
    case IR_EQ: return x == y;
    case IR_NE: return x != y;
    case IR_UGT: return x > y;
    case IR_UGE: return x >= y;
    case IR_ULT: return x < y;
    case IR_ULE: return x <= y;
    case IR_SGT: return sx > sy;
    case IR_SGE: return sx >= sy;
    case IR_SLT: return sx < sy;
    default: return sx <= sy;
    }
}

#endif
