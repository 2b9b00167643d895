// Relations, selection.
//: relations out:int:1024 in:float:1024 in:float:1024 grid:1024
//: kinds_of_numbers out:int:1024 in:float:1024 grid:1024
//: relations2 out:int:128 in:float:128 in:float:128 grid:64 group:32
//: relations3 out:int:192 in:float:192 in:float:192 grid:64 group:32
//: relations4 out:int:256 in:float:256 in:float:256 grid:64 group:32
//: relations8 out:int:512 in:float:512 in:float:512 grid:64 group:32
//: relations16 out:int:1024 in:float:1024 in:float:1024 grid:64 group:32
//: any_and_all out:int:256 in:int:1024
//: selected_char out:char:512 in:char:256 in:char:256 in:char:256
//: selected_char4 out:char:256 in:char:256 in:char:256 in:char:256 grid:64 group:32
//: selected_ushort out:ushort:512 in:ushort:256 in:ushort:256 in:short:256
//: selected_ushort4 out:ushort:256 in:ushort:256 in:ushort:256 in:short:256 grid:64 group:32
//: selected_int out:int:512 in:int:256 in:int:256 in:int:256
//: selected_int4 out:int:256 in:int:256 in:int:256 in:int:256 grid:64 group:32
//: selected_uint out:uint:512 in:uint:256 in:uint:256 in:uint:256
//: selected_uint4 out:uint:256 in:uint:256 in:uint:256 in:uint:256 grid:64 group:32
//: selected_long out:long:512 in:long:256 in:long:256 in:long:256
//: selected_long4 out:long:256 in:long:256 in:long:256 in:long:256 grid:64 group:32
//: selected_float out:float:512 in:float:256 in:float:256 in:int:256
//: selected_float4 out:float:256 in:float:256 in:float:256 in:int:256 grid:64 group:32

#define I const size_t i = get_global_id(0)

kernel void relations(global int *o, global const float *a, global const float *b)
{
    I;
    const float x = a[i], y = b[i];
    o[i] = isequal(x, y) | isnotequal(x, y) << 1 | isgreater(x, y) << 2 | isgreaterequal(x, y) << 3 | isless(x, y) << 4 |
           islessequal(x, y) << 5 | islessgreater(x, y) << 6 | isordered(x, y) << 7 | isunordered(x, y) << 8;
}

kernel void kinds_of_numbers(global int *o, global const float *a)
{
    I;
    const float x = a[i];
    o[i] = isfinite(x) | isinf(x) << 1 | isnan(x) << 2 | isnormal(x) << 3 | (signbit(x) && !isnan(x)) << 4;
}

#define RELATION_VECTORS(N)                                                                                  \
    kernel void relations##N(global int *o, global const float *a, global const float *b)                    \
    {                                                                                                        \
        I;                                                                                                   \
        const float##N x = vload##N(i, a), y = vload##N(i, b);                                               \
        const int##N r = isequal(x, y) + 2 * isless(x, y) + 4 * isnan(x) + 8 * isunordered(x, y) + 16 * isfinite(y) + 32 * isinf(x); \
        vstore##N(r, i, o);                                                                                  \
    }
RELATION_VECTORS(2)
RELATION_VECTORS(3)
RELATION_VECTORS(4)
RELATION_VECTORS(8)
RELATION_VECTORS(16)

kernel void any_and_all(global int *o, global const int *a)
{
    I;
    const int4 v = vload4(i, a) << 1;
    o[i] = any(v) | all(v) << 1 | any(v.xy) << 2 | all(v.zw) << 3 | any(v < 0) << 4 | all(v != 0) << 5 | any(v.x) << 6 | any((char2)(v.x, v.y)) << 7;
}

#define SELECTED(T, U)                                                                                       \
    kernel void selected_##T(global T *o, global const T *a, global const T *b, global const U *c)           \
    {                                                                                                        \
        I;                                                                                                   \
        o[i * 2] = select(a[i], b[i], c[i]);                                                                 \
        o[i * 2 + 1] = bitselect(a[i], b[i], as_##T(c[i]));                                                  \
    }                                                                                                        \
    kernel void selected_##T##4(global T *o, global const T *a, global const T *b, global const U *c)        \
    {                                                                                                        \
        I;                                                                                                   \
        const T##4 x = vload4(i, a), y = vload4(i, b);                                                       \
        vstore4(select(x, y, vload4(i, c)), i, o);                                                           \
    }
SELECTED(char, char)
SELECTED(ushort, short)
SELECTED(int, int)
SELECTED(uint, uint)
SELECTED(long, long)
SELECTED(float, int)
