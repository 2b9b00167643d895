__attribute__((reqd_work_group_size(64,1,1)))
__kernel void spmv(__global const uint *ptr, __global const uint *col, __global const float *val, __global const float *x, __global float *y, uint rows)
{
    uint r = get_global_id(0);
    if (r < rows) {
        float s = 0;
        for (uint i = ptr[r], e = ptr[r + 1]; i < e; i++) s += val[i] * x[col[i]];
        y[r] = s;
    }
}
