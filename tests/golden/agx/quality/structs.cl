struct p { float a, b; uint n; int mode; };
__attribute__((reqd_work_group_size(64,1,1)))
__kernel void structs(__global const float *in, __global float *out, struct p p)
{
    uint i = get_global_id(0);
    if (i >= p.n) return;
    float x = in[i], y;
    switch (p.mode) {
    case 0: y = x * p.a; break;
    case 1: y = x + p.b; break;
    case 2: y = x * x; break;
    case 3: y = fabs(x); break;
    default: y = p.a * p.b; break;
    }
    out[i] = y;
}
