__attribute__((reqd_work_group_size(64,1,1)))
__kernel void nbody(__global const float4 *p, __global float4 *v, uint n, float dt, float eps)
{
    __local float4 t[64];
    uint g = get_global_id(0), l = get_local_id(0);
    float4 me = p[g];
    float ax = 0, ay = 0, az = 0;
    for (uint b = 0; b < n; b += 64) {
        t[l] = p[b + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < 64; j++) {
            float4 o = t[j];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = native_rsqrt(fma(dx, dx, fma(dy, dy, fma(dz, dz, eps))));
            float s = o.w * r * r * r;
            ax = fma(dx, s, ax); ay = fma(dy, s, ay); az = fma(dz, s, az);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    v[g] += (float4)(ax, ay, az, 0) * dt;
}
