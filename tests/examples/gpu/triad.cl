// out = a + s b, four elements a thread; arguments of the operator stream-triad.
kernel void triad(global const float4 *a, global const float4 *b, global float4 *out, ulong bytes, float s)
{
    const uint i = get_global_id(0);
    out[i] = a[i] + s * b[i];
}
