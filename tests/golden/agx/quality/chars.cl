__attribute__((reqd_work_group_size(64,1,1)))
__kernel void chars(__global const uchar *a, __global const char *b, __global const short *s, __global int *o, __global uchar *q, uint n)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    int x = a[i] * b[i] + s[i];
    o[i] = x;
    q[i] = (uchar)clamp(x >> 4, 0, 255);
}
