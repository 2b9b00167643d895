__attribute__((reqd_work_group_size(64,1,1)))
__kernel void layernorm(__global const float *x, __global const float *g, __global const float *b, __global float *y, uint n, float eps)
{
    __local float t[64];
    uint l = get_local_id(0);
    __global const float *row = x + get_group_id(0) * n;
    float s = 0;
    for (uint i = l; i < n; i += 64) s += row[i];
    t[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 32; d > 0; d >>= 1) { if (l < d) t[l] += t[l + d]; barrier(CLK_LOCAL_MEM_FENCE); }
    float mean = t[0] * native_recip((float)n);
    barrier(CLK_LOCAL_MEM_FENCE);
    s = 0;
    for (uint i = l; i < n; i += 64) { float d = row[i] - mean; s = fma(d, d, s); }
    t[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 32; d > 0; d >>= 1) { if (l < d) t[l] += t[l + d]; barrier(CLK_LOCAL_MEM_FENCE); }
    float r = native_rsqrt(t[0] * native_recip((float)n) + eps);
    for (uint i = l; i < n; i += 64) y[get_group_id(0) * n + i] = fma((row[i] - mean) * r, g[i], b[i]);
}
