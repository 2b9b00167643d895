__attribute__((reqd_work_group_size(64,1,1)))
__kernel void scan(__global const uint *in, __global uint *out, __global uint *sums, uint n)
{
    __local uint t[64];
    uint l = get_local_id(0), g = get_global_id(0);
    t[l] = g < n ? in[g] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 64; d <<= 1) {
        uint x = l >= d ? t[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] += x;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (g < n) out[g] = t[l];
    if (l == 63) sums[get_group_id(0)] = t[l];
}
