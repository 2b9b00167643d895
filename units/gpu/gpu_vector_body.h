/* One set of vector handlers: the including file defines the primitives (gpu_vector_lanes.h lists them) and names the set. */
#include "units/gpu/gpu_vector_lanes.h"

#include "units/gpu/gpu_vector_alu.h"
#include "units/gpu/gpu_vector_cross.h"
#include "units/gpu/gpu_vector_function.h"
#include "units/gpu/gpu_vector_memory.h"
#include "units/gpu/gpu_vector_number.h"
#include "units/gpu/gpu_vector_reduce.h"

static gpu_handler *pick(struct gpu_op *op)
{
    switch (op->inst->op) {
    case AGX_OP_FMADD32: return pick_float(op, WAY_FMA);
    case AGX_OP_FADD32: return pick_float(op, WAY_ADD);
    case AGX_OP_FMUL32: return pick_float(op, WAY_MUL);
    case AGX_OP_FMADD16: return half_fma;
    case AGX_OP_FADD16: return half_add;
    case AGX_OP_FMUL16: return half_multiply;
    case AGX_OP_IADD: return op->dst_kind == GPU_PAIR ? long_add : pick_add(op);
    case AGX_OP_IMADD: return op->dst_kind == GPU_PAIR ? long_multiply : pick_multiply(op);
    case AGX_OP_MOV_IMM: return move_any;
    case AGX_OP_BITOP: return pick_bitop(op);
    case AGX_OP_BFI: return field_insert;
    case AGX_OP_BFEIL: return field_extract;
    case AGX_OP_EXTR: return field_funnel;
    case AGX_OP_ASR: return shift_signed;
    case AGX_OP_ICMPSEL: return select_int;
    case AGX_OP_FCMPSEL: return select_float;
    case AGX_OP_IF_ICMP: return if_int;
    case AGX_OP_IF_FCMP: return if_float;
    case AGX_OP_ELSE_ICMP: return else_int;
    case AGX_OP_ELSE_FCMP: return else_float;
    case AGX_OP_WHILE_ICMP: return while_int;
    case AGX_OP_WHILE_FCMP: return while_float;
    case AGX_OP_POP_EXEC: return pop;
    case AGX_OP_SIMD_SHUFFLE: return shuffle_index;
    case AGX_OP_SIMD_SHUFFLE_XOR: return shuffle_xor;
    case AGX_OP_SIMD_SHUFFLE_UP: return shuffle_up;
    case AGX_OP_SIMD_SHUFFLE_DOWN: return shuffle_down;
    case AGX_OP_SIMD_SHUFFLE_ROTATE_UP: return shuffle_rotate;
    case AGX_OP_SIMD_MATRIX_FMADD32:
    case AGX_OP_SIMD_MATRIX_FMADD16: return matrix;
    case AGX_OP_GET_SR: return pick_special(op);
    case AGX_OP_RCP: return reciprocal;
    case AGX_OP_CONVERT: return pick_convert(op);
    case AGX_OP_ICMP_BALLOT: return ballot_int;
    case AGX_OP_FCMP_BALLOT: return ballot_float;
    case AGX_OP_ICMP_QUAD_BALLOT: return quad_ballot_int;
    case AGX_OP_FCMP_QUAD_BALLOT: return quad_ballot_float;
    case AGX_OP_DEVICE_LOAD:
    case AGX_OP_DEVICE_STORE:
    case AGX_OP_THREADGROUP_LOAD:
    case AGX_OP_THREADGROUP_STORE: return pick_memory(op);
    default:
        return op->inst->op >= AGX_OP_QUAD_AND && op->inst->op <= AGX_OP_SIMD_OP ? pick_reduction(op)
                                                                                 : pick_function(op->inst->op);
    }
}

#define VECTOR_SET(set_name)                                                                                                     \
    {                                                                                                                            \
        .name = (set_name), .pick = pick, .one_turn = one_turn, .inside = inside, .enter = enter, .leave = leave                 \
    }
