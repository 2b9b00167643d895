#include "isa/agx/agx_runs.h"

/* Dimensions 0..8 are 1D, 1D array, 2D, 2D array, 2D multisampled, 3D, cube, cube array, 2D multisampled array. The array layer
 * and the sample index are halves after the coordinates. Source: dougallj/applegpu. */
static const uint8_t dim_coords[] = {1, 1, 2, 2, 2, 3, 3, 3, 2}, dim_extra[] = {0, 1, 0, 1, 1, 0, 0, 1, 2};

unsigned agx_dim_coords(uint32_t dim)
{
    return dim < sizeof dim_coords ? dim_coords[dim] : 0;
}

unsigned agx_dim_extra(uint32_t dim)
{
    return dim < sizeof dim_extra ? dim_extra[dim] : 0;
}

static struct agx_run sized_run(bool words, unsigned v, unsigned count)
{
    return (struct agx_run){words ? AGX_PLACE_WORD : AGX_PLACE_HALF, words ? v & ~1u : v, count};
}

static unsigned data_registers(const struct agx_inst *inst, const struct agx_operand_row *row)
{
    if (row->extra)
        return agx_get(inst, row->extra) ? 1 : 0;
    return (unsigned)__builtin_popcount(agx_get(inst, AGX_F_mask));
}

/* Coordinates are words when all of them are, else halves. Behind 32-bit coordinates the reference prints a single half, be it
 * a layer or a sample index. */
static struct agx_run coords_run(const struct agx_inst *inst, unsigned v, bool halves)
{
    const uint32_t dim = agx_get(inst, AGX_F_n);
    const unsigned coords = agx_dim_coords(dim), extra = agx_dim_extra(dim);
    if (extra == 0 && !halves)
        return sized_run(true, v, coords);
    return sized_run(false, v, halves ? coords + extra : 2 * coords + 1);
}

/* Level of detail: bits 0..1 say which one, bit 2 puts it in registers (gradients when it is alone), bit 3 adds a minimum. The
 * forms with a bias and a minimum are from Mesa, src/asahi/isa/test/cases.txt. */
static bool lod_run(const struct agx_inst *inst, uint32_t lod, unsigned v, struct agx_run *run)
{
    const unsigned coords = agx_dim_coords(agx_get(inst, AGX_F_n));
    switch (lod) {
    case 1:
    case 2: *run = (struct agx_run){AGX_PLACE_UNIFORM_HALF, v, 1}; return true;
    case 9: *run = (struct agx_run){AGX_PLACE_UNIFORM_HALF, v, 2}; return true;
    case 5:
    case 6: *run = sized_run(false, v, 1); return true;
    case 13: *run = sized_run(false, v, 2); return true;
    case 4:
    case 12: *run = sized_run(true, v, 2 * coords + (lod == 12)); return true;
    default: return false;
    }
}

bool agx_operand_run(const struct agx_inst *inst, const struct agx_operand_row *row, struct agx_run *run)
{
    const unsigned v = agx_get(inst, row->v), t = agx_get(inst, row->t), m = agx_get(inst, row->m);
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_DATA: *run = sized_run(t, v, data_registers(inst, row)); return true;
    case AGX_KIND_ATOMIC_SRC: *run = sized_run(true, v, agx_get(inst, AGX_F_op) == AGX_ATOMIC_CMPXCHG ? 2 : 1); return true;
    case AGX_KIND_ASYNC_PAIR: *run = (struct agx_run){t ? AGX_PLACE_UNIFORM_WORD : AGX_PLACE_WORD, v & ~1u, 2}; return true;
    case AGX_KIND_ASYNC_WORDS:
        *run = (struct agx_run){t ? AGX_PLACE_UNIFORM_WORD : AGX_PLACE_WORD, 2 * v, agx_get(inst, AGX_F_F) ? 5 : 3};
        return true;
    case AGX_KIND_BASE: *run = (struct agx_run){t ? AGX_PLACE_UNIFORM_WORD : AGX_PLACE_WORD, v & ~1u, 2}; return true;
    case AGX_KIND_UNIFORM_PAIR: *run = (struct agx_run){AGX_PLACE_UNIFORM_WORD, 2 * v, 2}; return true;
    case AGX_KIND_BINDLESS: *run = (struct agx_run){AGX_PLACE_UNIFORM_WORD, 4 * v, t & 2 ? 2 : 0}; return true;
    case AGX_KIND_DEPTH_STENCIL: *run = sized_run(false, v, 2 * t + m); return true;
    case AGX_KIND_VARYING: *run = sized_run(t, v, (m ? m : 4) * row->extra); return true;
    case AGX_KIND_COORDS: *run = coords_run(inst, v, m); return true;
    case AGX_KIND_TEXEL: *run = sized_run(t, v, 4); return true;
    case AGX_KIND_LOD: return lod_run(inst, t, v, run);
    default: return false;
    }
}
