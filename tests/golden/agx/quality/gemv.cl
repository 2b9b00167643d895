__attribute__((reqd_work_group_size(64,1,1)))
__kernel void gemv(__global const float *a, __global const float *x, __global float *y, uint m, uint n)
{
    uint r = get_global_id(0);
    if (r >= m) return;
    float s = 0;
    for (uint i = 0; i < n; i++) s = fma(a[r * n + i], x[i], s);
    y[r] = s;
}
