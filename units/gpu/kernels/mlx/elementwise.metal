// Element by element, as MLX launches it: one element a thread, or eight bytes a thread (mlx/backend/metal/kernels).
#include <metal_math>
#include <metal_stdlib>
using namespace metal;

struct op_exp {
    static float of(float x) { return exp(x); }
};
struct op_log {
    static float of(float x) { return log(x); }
};
struct op_sigmoid {
    static float of(float x)
    {
        const float y = 1 / (1 + exp(-abs(x)));
        return x < 0 ? 1 - y : y;
    }
};
struct op_tanh {
    static float of(float x)
    {
        const float y = 1 - 2 / (1 + exp(2 * abs(x)));
        return x < 0 ? -y : y;
    }
};
struct op_sqrt {
    static float of(float x) { return sqrt(x); }
};
struct op_rsqrt {
    static float of(float x) { return rsqrt(x); }
};
struct op_square {
    static float of(float x) { return x * x; }
};
struct op_abs {
    static float of(float x) { return abs(x); }
};
struct op_neg {
    static float of(float x) { return -x; }
};
struct op_copy {
    static float of(float x) { return x; }
};
struct op_add {
    static float of(float x, float y) { return x + y; }
};
struct op_sub {
    static float of(float x, float y) { return x - y; }
};
struct op_mul {
    static float of(float x, float y) { return x * y; }
};
struct op_div {
    static float of(float x, float y) { return x / y; }
};
struct op_max {
    static float of(float x, float y) { return x > y ? x : y; }
};
struct op_min {
    static float of(float x, float y) { return x < y ? x : y; }
};

// W elements a thread; the last thread may have fewer.
template <typename T, typename OP, uint W>
[[kernel]] void unary(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant uint &size [[buffer(2)]],
                      uint thread_index [[thread_position_in_grid]])
{
    const uint first = thread_index * W;
    if (W > 1 && first + W > size) {
        for (uint i = first; i < size; i++)
            out[i] = (T)OP::of((float)in[i]);
        return;
    }
    T x[W];
#pragma unroll
    for (uint i = 0; i < W; i++)
        x[i] = in[first + i];
#pragma unroll
    for (uint i = 0; i < W; i++)
        out[first + i] = (T)OP::of((float)x[i]);
}

// The second operand is as long as the first, or one number for all.
template <typename T, typename OP, uint W, bool SCALAR>
[[kernel]] void binary(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *out [[buffer(2)]],
                       constant uint &size [[buffer(3)]], uint thread_index [[thread_position_in_grid]])
{
    const uint first = thread_index * W;
    if (W > 1 && first + W > size) {
        for (uint i = first; i < size; i++)
            out[i] = (T)OP::of((float)a[i], (float)b[SCALAR ? 0 : i]);
        return;
    }
    T x[W], y[W];
#pragma unroll
    for (uint i = 0; i < W; i++) {
        x[i] = a[first + i];
        y[i] = b[SCALAR ? 0 : first + i];
    }
#pragma unroll
    for (uint i = 0; i < W; i++)
        out[first + i] = (T)OP::of((float)x[i], (float)y[i]);
}

// Strides of two dimensions: a broadcast row has none in y. One element a thread, the grid is the result.
struct strides {
    uint width, a_y, a_x, b_y, b_x;
};
template <typename T, typename OP>
[[kernel]] void binary_general(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *out [[buffer(2)]],
                               constant strides &s [[buffer(3)]], uint2 at [[thread_position_in_grid]])
{
    out[at.y * s.width + at.x] = (T)OP::of((float)a[at.y * s.a_y + at.x * s.a_x], (float)b[at.y * s.b_y + at.x * s.b_x]);
}

#define UNARY(op, T, W) \
    template [[host_name("mlx_" #op "_" #T "_" #W)]] kernel void unary<T, op_##op, W>(device const T *, device T *, \
                                                                                     constant uint &, uint);
#define UNARIES(T, W) \
    UNARY(exp, T, W) UNARY(log, T, W) UNARY(sigmoid, T, W) UNARY(tanh, T, W) UNARY(sqrt, T, W) UNARY(rsqrt, T, W) \
    UNARY(square, T, W) UNARY(abs, T, W) UNARY(neg, T, W) UNARY(copy, T, W)
#define BINARY(op, T, W, form, SCALAR) \
    template [[host_name("mlx_" #op "_" form "_" #T "_" #W)]] kernel void binary<T, op_##op, W, SCALAR>( \
        device const T *, device const T *, device T *, constant uint &, uint);
#define BINARIES(op, T, W) BINARY(op, T, W, "vv", false) BINARY(op, T, W, "vs", true)
#define GENERAL(op, T) \
    template [[host_name("mlx_" #op "_general_" #T)]] kernel void binary_general<T, op_##op>( \
        device const T *, device const T *, device T *, constant strides &, uint2);
#define ALL(T, W) \
    UNARIES(T, 1) UNARIES(T, W) \
    BINARIES(add, T, 1) BINARIES(add, T, W) BINARIES(sub, T, 1) BINARIES(sub, T, W) BINARIES(mul, T, 1) BINARIES(mul, T, W) \
    BINARIES(div, T, 1) BINARIES(div, T, W) BINARIES(max, T, 1) BINARIES(max, T, W) BINARIES(min, T, 1) BINARIES(min, T, W) \
    GENERAL(add, T) GENERAL(sub, T) GENERAL(mul, T) GENERAL(div, T) GENERAL(max, T) GENERAL(min, T)

ALL(float, 2)
ALL(half, 4)
