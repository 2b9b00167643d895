#include "isa/agx/compiler/ir_initial.h"

#include <string.h>

static bool write_initial(const struct ir_value *v, uint8_t *to)
{
    const struct ir_type *const type = v->type;
    switch (v->op) {
    case IR_UNDEFINED: return true;
    case IR_AGGREGATE:
        for (unsigned i = 0; i < v->operands; i++) {
            const uint64_t at = type->kind == IR_STRUCT ? type->member_offset[i] : i * type->element->bytes;
            if (!write_initial(v->operand[i], to + at))
                return false;
        }
        return true;
    case IR_CONSTANT:
        if (v->bits == 0)
            return true;
        if (type->kind != IR_INT && type->kind != IR_FLOAT)
            return false;
        memcpy(to, &v->bits, type->bytes < sizeof v->bits ? type->bytes : sizeof v->bits);
        return true;
    default: return false;
    }
}

bool ir_initial_bytes(const struct ir_value *global, uint8_t *bytes)
{
    return !global->initial || write_initial(global->initial, bytes);
}
