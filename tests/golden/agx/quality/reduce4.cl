__attribute__((reqd_work_group_size(64,1,1)))
__kernel void reduce4(__global const float4 *in, __global float *out, uint n)
{
    __local float t[64];
    uint l = get_local_id(0);
    float4 s = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) s += in[i];
    float x = s.x + s.y + s.z + s.w;
    t[l] = x;
    for (uint d = 32; d; d >>= 1) { barrier(CLK_LOCAL_MEM_FENCE); if (l < d) t[l] += t[l + d]; }
    if (!l) out[get_group_id(0)] = t[0];
}
