/* The control flow graph as the structurer sees it: blocks in reverse postorder, dominators, loops. */
#ifndef ORCHARD_ISA_AGX_COMPILER_AGX_STRUCTURE_H
#define ORCHARD_ISA_AGX_COMPILER_AGX_STRUCTURE_H

#include "isa/agx/compiler/agx_machine.h"

#define AGX_NOWHERE UINT32_MAX

struct agx_flow_block {
    const struct ir_block *block;
    uint32_t *from; /* predecessors, as often as edges come from them */
    unsigned froms;
    uint32_t dominator;
    uint32_t loop;                  /* header of the innermost loop around, itself if it is one; AGX_NOWHERE = none */
    uint32_t around;                /* of a header: the header of the next loop around */
    uint8_t *members;               /* of a header: a byte per block */
    uint32_t parent;                /* block whose tree it is built with ... */
    bool outside;                   /* ... behind the loop that the parent heads */
    bool labelled;                  /* reached by leaving a scope rather than by falling into it */
    uint32_t child, sibling;        /* blocks built with this one, ascending */
    struct agx_tree *scope, *again; /* left to reach it; left to repeat the loop */
};
struct agx_flow {
    struct agx_flow_block *block; /* in reverse postorder */
    uint32_t blocks;
    uint32_t *number; /* by id of a block */
};

bool agx_flow_make(struct agx_compiler *c, struct agx_flow *flow);
bool agx_flow_in_loop(const struct agx_flow *flow, uint32_t header, uint32_t block);
/* Takes out scopes and ways out that falling through makes unnecessary. */
void agx_structure_simplify(struct agx_compiler *c);

#endif
