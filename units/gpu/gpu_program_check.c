/* Which instructions the executing side models, and why it does not model the others. */
#include "units/gpu/gpu_program_internal.h"

/* 64-bit minimum and maximum came with M2 (philipturner/metal-benchmarks). A comment of dougallj/applegpu gives their encodings:
 * the opcode of cmpxchg with bits 45..46 = 1 or 3. 3 is also a coherent cmpxchg; here its returned value tells the two apart. */
static const char *check_atomic(const struct agx_inst *inst, enum gpu_generation generation)
{
    const unsigned coherency = (unsigned)inst->coherency >> 1;
    if (inst->atomic == AGX_ATOMIC_CMPXCHG && inst->dst.place == AGX_PLACE_NONE && coherency == 1 && generation == GPU_G13)
        return "64-bit atomics need an M2 (G14)";
    return NULL;
}

static const char *check_special(const struct agx_inst *inst)
{
    switch (inst->special) {
    case 0:
    case 1:
    case 2:
    case 4:
    case 5:
    case 6:
    case 8:
    case 9:
    case 10:
    case 20:
    case 21:
    case 48:
    case 49:
    case 50:
    case 51:
    case 52:
    case 53:
    case 56:
    case 57:
    case 58:
    case 59:
    case 60:
    case 63:
    case 80:
    case 81:
    case 82: return NULL;
    default: return "a special register that compute programs do not have";
    }
}

/* Judges by the operation and its fields alone; NULL when the instruction is modelled. */
const char *gpu_inst_unmodelled(const struct agx_inst *inst, enum gpu_generation generation)
{
    switch (inst->op) {
    case AGX_OP_ATOMIC: return check_atomic(inst, generation);
    case AGX_OP_GET_SR: return check_special(inst);
    case AGX_OP_STACK_ADJUST2: return "stack_adjust by a register: its unit is unknown";
    case AGX_OP_NONE:
    case AGX_OP_DEVICE_LOAD_OTHER:
    case AGX_OP_DEVICE_STORE_OTHER:
    case AGX_OP_IUNOP:
    case AGX_OP_FUNOP:
    case AGX_OP_JMP_INCOMPLETE:
    case AGX_OP_SIMD_SHUF_OP:
    case AGX_OP_SR_THING:
    case AGX_OP_POP_EXEC2:
    case AGX_OP_UNK30C0:
    case AGX_OP_UNK40C0:
    case AGX_OP_UNKC0000000:
    case AGX_OP_UNK51:
    case AGX_OP_UNKE800:
    case AGX_OP_UNK0C00:
    case AGX_OP_UNK75_ALT: return "nobody has found out what it does";
    case AGX_OP_DOORBELL:
    case AGX_OP_JMP_IF_SKIPPING_DOORBELL:
    case AGX_OP_MAP: return "belongs to the helper program, which is not modelled";
    case AGX_OP_ASYNC_LOAD:
    case AGX_OP_ASYNC_STORE: return "the descriptors of asynchronous copies are not published";
    case AGX_OP_TEXTURE_SAMPLE:
    case AGX_OP_TEXTURE_LOAD:
    case AGX_OP_IMAGE_WRITE:
    case AGX_OP_IMAGE_WRITE_BLOCK:
    case AGX_OP_TEX_STATE_STORE:
    case AGX_OP_SAMPLER_STATE_STORE: return "textures are not modelled";
    case AGX_OP_WAIT_PIX:
    case AGX_OP_SIGNAL_PIX:
    case AGX_OP_TILE:
    case AGX_OP_ITER:
    case AGX_OP_ITERPROJ:
    case AGX_OP_LDCF:
    case AGX_OP_NO_VAR:
    case AGX_OP_ST_VAR:
    case AGX_OP_ST_VAR_FINAL:
    case AGX_OP_SAMPLE_MASK:
    case AGX_OP_ZS_EMIT:
    case AGX_OP_AFTER_SAMPLING1:
    case AGX_OP_AFTER_SAMPLING2: return "graphics is not modelled";
    default: return NULL;
    }
}

/* Classes of device atomics whose results do not depend on the order among themselves: one bit per class. */
static unsigned order_class(uint8_t atomic)
{
    return atomic == AGX_ATOMIC_SUB ? 1U << AGX_ATOMIC_ADD : 1U << atomic;
}

bool gpu_program_order_free(const struct gpu_program *program)
{
    unsigned classes = 0;
    for (uint32_t i = 0; i < program->count; i++) {
        const struct agx_inst *inst = &program->inst[i].inst;
        if (inst->op != AGX_OP_ATOMIC)
            continue;
        if (inst->dst.place != AGX_PLACE_NONE || inst->atomic == AGX_ATOMIC_XCHG)
            return false;
        /* A cmpxchg that returns nothing is a 64-bit minimum or maximum, or a plain exchange whose success nobody can see. */
        if (inst->atomic == AGX_ATOMIC_CMPXCHG && gpu_atomic_wide(inst, program->generation) == GPU_ATOMIC_NARROW)
            return false;
        classes |= inst->atomic == AGX_ATOMIC_CMPXCHG ? 1U << (16 + gpu_atomic_wide(inst, program->generation))
                                                      : order_class(inst->atomic);
    }
    return (classes & (classes - 1)) == 0;
}

enum gpu_atomic_wide gpu_atomic_wide(const struct agx_inst *inst, enum gpu_generation generation)
{
    if (inst->op != AGX_OP_ATOMIC || inst->atomic != AGX_ATOMIC_CMPXCHG || inst->dst.place != AGX_PLACE_NONE ||
        generation == GPU_G13)
        return GPU_ATOMIC_NARROW;
    const unsigned coherency = (unsigned)inst->coherency >> 1;
    return coherency == 1 ? GPU_ATOMIC_UMIN64 : coherency == 3 ? GPU_ATOMIC_UMAX64 : GPU_ATOMIC_NARROW;
}
