#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__attribute__((reqd_work_group_size(64,1,1)))
__kernel void halfmix(__global const half *a, __global const half *b, __global half *c, uint n)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    half x = a[i], y = b[i];
    half z = x * y + (half)0.5f;
    z = fmax(z, (half)0.0f);
    if (z > (half)2.0f) z = z - y;
    c[i] = z * z;
}
