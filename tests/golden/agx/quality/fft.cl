__attribute__((reqd_work_group_size(64,1,1)))
__kernel void fft(__global float2 *d, __global const float2 *w, uint half_size, uint n)
{
    uint i = get_global_id(0);
    uint k = i & (half_size - 1), j = (i / half_size) * 2 * half_size + k;
    if (j + half_size >= n) return;
    float2 a = d[j], b = d[j + half_size], t = w[k];
    float2 c = (float2)(b.x * t.x - b.y * t.y, b.x * t.y + b.y * t.x);
    d[j] = a + c;
    d[j + half_size] = a - c;
}
