__attribute__((reqd_work_group_size(64,1,1)))
__kernel void bitonic(__global float *a, uint k, uint j, uint n)
{
    uint i = get_global_id(0), l = i ^ j;
    if (i >= n || l <= i || l >= n) return;
    float x = a[i], y = a[l];
    bool up = (i & k) == 0;
    if ((x > y) == up) { a[i] = y; a[l] = x; }
}
