/* Addresses of loads, stores and atomics. */
#ifndef ORCHARD_ISA_AGX_COMPILER_AGX_SELECT_ADDRESS_H
#define ORCHARD_ISA_AGX_COMPILER_AGX_SELECT_ADDRESS_H

#include "isa/agx/compiler/agx_select.h"

struct agx_device_address {
    struct agx_ref base, index; /* a pair; a 32-bit register or a number */
    bool is_signed;
    unsigned shift;
};
/* For components of so many bytes. */
struct agx_device_address agx_device_address(struct agx_compiler *c, const struct ir_value *v, const struct ir_value *pointer,
                                             unsigned bytes, unsigned most_shift);

struct agx_group_address {
    struct agx_ref base, index; /* 0, a half of a register or a uniform; a half of a register or 0 */
};
struct agx_group_address agx_group_address(struct agx_compiler *c, const struct ir_value *pointer, unsigned bytes);
/* A GEP, ALLOCA or GLOBAL as a value. */
void agx_select_pointer(struct agx_compiler *c, const struct ir_value *v);
struct agx_ref agx_variable_address(struct agx_compiler *c, const struct ir_value *variable);

#endif
