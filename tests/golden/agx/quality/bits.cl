__attribute__((reqd_work_group_size(64,1,1)))
__kernel void bits(__global const uint *a, __global uint *b, uint n)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    uint x = a[i];
    uint p = popcount(x), z = clz(x), t = x & -x;
    uint r = rotate(x, 7u) ^ (x >> 3);
    uint m = (x & 0x55555555u) << 1 | ((x >> 1) & 0x55555555u);
    uint byte = (x >> 8) & 0xff;
    b[i] = p + z * t + r + m * byte + (x % 10u) + x / 7u;
}
