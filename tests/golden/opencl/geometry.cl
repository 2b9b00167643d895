// Geometric functions.
//: dot_products out:float:1024 in:float:1024:small in:float:1024:small ulp:8 abs:2e-3
//: cross_products out:float:768 in:float:768:small in:float:768:small ulp:8 abs:2e-3
//: cross_products_of_four out:float:1024 in:float:1024:small in:float:1024:small ulp:8 abs:2e-3
//: lengths out:float:1536 in:float:1024:small in:float:1024:small ulp:8
//: lengths_of_far out:float:256 in:float:768:1e18~8e18 ulp:8
//: normals out:float:1024 in:float:1024:small ulp:8
//: normals_of_three out:float:768 in:float:768:small ulp:8
//: fast_normals out:float:1024 in:float:1024:small ulp:8192
//: reflected out:float:768 in:float:768:small in:float:768:small ulp:8 abs:1e-3
//: matrix_times_vector out:float:1024 in:float:16:small in:float:1024:small ulp:8 abs:4e-3
//: quaternions out:float:1024 in:float:1024:unit in:float:1024:unit ulp:8 abs:2e-6

#define I const size_t i = get_global_id(0)

kernel void dot_products(global float *o, global const float *a, global const float *b)
{
    I;
    const float4 x = vload4(i, a), y = vload4(i, b);
    o[i * 4] = dot(x, y);
    o[i * 4 + 1] = dot(x.xyz, y.yzw);
    o[i * 4 + 2] = dot(x.xy, y.zw);
    o[i * 4 + 3] = dot(x.x, y.x);
}

kernel void cross_products(global float *o, global const float *a, global const float *b)
{
    I;
    const float3 x = vload3(i, a), y = vload3(i, b);
    vstore3(cross(x, y), i, o);
}

kernel void cross_products_of_four(global float *o, global const float *a, global const float *b)
{
    I;
    vstore4(cross(vload4(i, a), vload4(i, b)), i, o);
}

kernel void lengths(global float *o, global const float *a, global const float *b)
{
    I;
    const float4 x = vload4(i, a), y = vload4(i, b);
    o[i * 6] = length(x);
    o[i * 6 + 1] = length(x.xyz);
    o[i * 6 + 2] = distance(x, y);
    o[i * 6 + 3] = distance(x.xy, y.yx);
    o[i * 6 + 4] = fast_length(x);
    o[i * 6 + 5] = length(x.x) + distance(x.y, y.y);
}

kernel void lengths_of_far(global float *o, global const float *a)
{
    I;
    o[i] = length(vload3(i, a));
}

kernel void normals(global float *o, global const float *a)
{
    I;
    vstore4(normalize(vload4(i, a)), i, o);
}

kernel void normals_of_three(global float *o, global const float *a)
{
    I;
    vstore3(normalize(vload3(i, a)), i, o);
}

kernel void fast_normals(global float *o, global const float *a)
{
    I;
    vstore4(fast_normalize(vload4(i, a)), i, o);
}

kernel void reflected(global float *o, global const float *a, global const float *b)
{
    I;
    const float3 n = normalize(vload3(i, b)), v = vload3(i, a);
    vstore3(v - 2.0f * dot(v, n) * n, i, o);
}

kernel void matrix_times_vector(global float *o, global const float *m, global const float *v)
{
    I;
    const float16 a = vload16(0, m);
    const float4 x = vload4(i, v);
    vstore4((float4)(dot(a.s0123, x), dot(a.s4567, x), dot(a.s89ab, x), dot(a.scdef, x)), i, o);
}

kernel void quaternions(global float *o, global const float *a, global const float *b)
{
    I;
    const float4 p = vload4(i, a), q = vload4(i, b);
    vstore4((float4)(p.w * q.xyz + q.w * p.xyz + cross(p.xyz, q.xyz), p.w * q.w - dot(p.xyz, q.xyz)), i, o);
}
