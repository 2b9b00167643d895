__attribute__((reqd_work_group_size(32,8,1)))
__kernel void transpose(__global const float *in, __global float *out, uint w, uint h)
{
    __local float t[32][33];
    uint x = get_group_id(0) * 32 + get_local_id(0), y = get_group_id(1) * 32 + get_local_id(1);
    for (uint j = 0; j < 32; j += 8) t[get_local_id(1) + j][get_local_id(0)] = in[(y + j) * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 32 + get_local_id(0); y = get_group_id(0) * 32 + get_local_id(1);
    for (uint j = 0; j < 32; j += 8) out[(y + j) * h + x] = t[get_local_id(0)][get_local_id(1) + j];
}
