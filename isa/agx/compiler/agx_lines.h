/* Lines of the finished program. */
#ifndef ORCHARD_ISA_AGX_COMPILER_AGX_LINES_H
#define ORCHARD_ISA_AGX_COMPILER_AGX_LINES_H

#include "isa/agx/compiler/agx_machine.h"

struct agx_line *agx_add_line(struct agx_compiler *c, const struct agx_step *op);
void agx_write_copies(struct agx_compiler *c, const struct agx_step *op);
/* Whether all of it is in place already. */
bool agx_copies_nothing(struct agx_compiler *c, const struct agx_step *op);

#endif
