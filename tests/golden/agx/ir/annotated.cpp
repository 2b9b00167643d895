#define device      __attribute__((opencl_global))
#define threadgroup __attribute__((opencl_local))
#define constant    const __attribute__((opencl_global_host))
#define convergent  __attribute__((convergent))
typedef unsigned uint;
template <typename T, int N> struct vec {
    T e[N];
    vec() = default;
    vec(T a)
    {
        for (int i = 0; i < N; i++)
            e[i] = a;
    }
    T &operator[](int i)
    {
        return e[i];
    }
    vec operator+(const vec &o) const
    {
        vec r;
        for (int i = 0; i < N; i++)
            r.e[i] = e[i] + o.e[i];
        return r;
    }
};
typedef vec<float, 4> float4;
typedef vec<uint, 3> uint3;
convergent void tg_barrier();
constant float tab[3] = {1, 2, 3};
struct args {
    int n;
    float s;
    float4 v;
};
[[clang::annotate("kernel")]] [[gnu::used]] void k(device float4 *a [[clang::annotate("buffer(0)")]],
                                                   constant args &p [[clang::annotate("buffer(1)")]],
                                                   uint3 tid [[clang::annotate("thread_position_in_grid")]],
                                                   threadgroup float *sh [[clang::annotate("threadgroup(0)")]])
{
    threadgroup static float4 t[8];
    t[tid[0]] = a[tid[0]];
    tg_barrier();
    a[tid[1]] = t[7 - tid[0]] + p.v + float4(tab[p.n] * p.s);
    sh[0] = (_Float16)p.s;
    if (p.n < 0) {
        float x = 0;
        for (int i = 0; i < p.n; i++)
            x += sh[i];
        a[0] = x;
    }
}
template <typename T>
[[clang::annotate("kernel")]] void g(device T *a [[clang::annotate("buffer(0)")]],
                                     uint i [[clang::annotate("thread_position_in_grid")]])
{
    a[i] = a[i] * T(2);
}
[[clang::annotate("host_name=g_f32")]] [[gnu::used]] auto *hn0 = &g<float>;
[[clang::annotate("host_name=g_i32")]] [[gnu::used]] auto *hn1 = &g<int>;
