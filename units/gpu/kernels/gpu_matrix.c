#include "units/gpu/kernels/gpu_matrix.h"

void gpu_matrix_lane(struct gpu_emit *e, unsigned row, unsigned pair)
{
    const unsigned lane = gpu_register(e, 1), bits = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", lane, GPU_SR_LANE);
    gpu_emit(e, "bfeil r%u, 0, r%u, 4, mask 0x1", bits, lane);
    gpu_emit(e, "bfeil r%u, 0, r%u, 1, mask 0x3", row, lane);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 2", row, row, bits);
    gpu_emit(e, "bfeil r%u, 0, r%u, 3, mask 0x1", bits, lane);
    gpu_and_imm(e, pair, lane, 1);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 1", pair, pair, bits);
    gpu_register_free(e, lane, 1);
    gpu_register_free(e, bits, 1);
}

const char *gpu_matrix_operand(struct gpu_emit *e, bool halves, unsigned half)
{
    return halves ? gpu_half_run(e, half, 2) : gpu_run(e, half / 2, 2);
}

void gpu_matrix_fmadd(struct gpu_emit *e, unsigned acc, const char *a, const char *b)
{
    const char *c = gpu_run(e, acc, 2);
    gpu_emit(e, "simd_matrix_fmadd32 %s, %s, %s, %s", c, a, b, c);
}
