// Sub-groups of 32 work items.
//: reduced_add out:int:256 in:int:256
//: reduced_add_uint out:uint:256 in:uint:256
//: reduced_max out:int:256 in:int:256
//: reduced_min out:int:256 in:int:256
//: reduced_max_uint out:uint:256 in:uint:256
//: reduced_min_uint out:uint:256 in:uint:256
//: reduced_add_float out:float:256 in:float:256:small ulp:8 abs:1e-3
//: reduced_max_float out:float:256 in:float:256:real
//: reduced_min_float out:float:256 in:float:256:real
//: inclusive_add out:int:256 in:int:256
//: inclusive_max out:uint:256 in:uint:256
//: inclusive_min out:int:256 in:int:256
//: exclusive_add out:int:256 in:int:256
//: exclusive_max out:uint:256 in:uint:256
//: exclusive_min out:int:256 in:int:256
//: exclusive_add_float out:float:256 in:float:256:small ulp:8 abs:1e-3
//: broadcasts out:int:256 in:int:256:small
//: votes out:int:256 in:int:256
//: places out:int:256
//: parted out:int:256 in:int:256
//: shuffled_lanes out:int:256 in:int:256:small
//: ballots out:uint:256 in:int:256
//: ballot_counts out:uint:256 in:int:256 unsupported

#define I const size_t i = get_global_id(0)

/* A device without sub-groups reads what the lanes have from the input: a sub-group is 32 work items in a row. */
#define FIRST ((i / 32) * 32)
#ifdef NATIVE
#define REDUCED(NAME, T, FUNCTION, START, NEXT)                                                              \
    kernel void NAME(global T *o, global const T *a)                                                         \
    {                                                                                                        \
        I;                                                                                                   \
        T sum = START;                                                                                       \
        for (int k = 0; k < 32; k++) {                                                                       \
            const T x = a[FIRST + k];                                                                        \
            sum = NEXT;                                                                                      \
        }                                                                                                    \
        o[i] = sum;                                                                                          \
    }
#define INCLUSIVE(NAME, T, FUNCTION, START, NEXT)                                                            \
    kernel void NAME(global T *o, global const T *a)                                                         \
    {                                                                                                        \
        I;                                                                                                   \
        T sum = START;                                                                                       \
        for (size_t k = FIRST; k <= i; k++) {                                                                \
            const T x = a[k];                                                                                \
            sum = NEXT;                                                                                      \
        }                                                                                                    \
        o[i] = sum;                                                                                          \
    }
#define EXCLUSIVE(NAME, T, FUNCTION, START, NEXT)                                                            \
    kernel void NAME(global T *o, global const T *a)                                                         \
    {                                                                                                        \
        I;                                                                                                   \
        T sum = START;                                                                                       \
        for (size_t k = FIRST; k < i; k++) {                                                                 \
            const T x = a[k];                                                                                \
            sum = NEXT;                                                                                      \
        }                                                                                                    \
        o[i] = sum;                                                                                          \
    }
#else
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define REDUCED(NAME, T, FUNCTION, START, NEXT)                                                              \
    kernel void NAME(global T *o, global const T *a)                                                         \
    {                                                                                                        \
        I;                                                                                                   \
        o[i] = FUNCTION(a[i]);                                                                               \
    }
#define INCLUSIVE REDUCED
#define EXCLUSIVE REDUCED
#endif
REDUCED(reduced_add, int, sub_group_reduce_add, 0, (int)((uint)sum + (uint)x))
REDUCED(reduced_add_uint, uint, sub_group_reduce_add, 0, sum + x)
REDUCED(reduced_max, int, sub_group_reduce_max, INT_MIN, max(sum, x))
REDUCED(reduced_min, int, sub_group_reduce_min, INT_MAX, min(sum, x))
REDUCED(reduced_max_uint, uint, sub_group_reduce_max, 0, max(sum, x))
REDUCED(reduced_min_uint, uint, sub_group_reduce_min, UINT_MAX, min(sum, x))
REDUCED(reduced_add_float, float, sub_group_reduce_add, 0, sum + x)
REDUCED(reduced_max_float, float, sub_group_reduce_max, -INFINITY, fmax(sum, x))
REDUCED(reduced_min_float, float, sub_group_reduce_min, INFINITY, fmin(sum, x))
INCLUSIVE(inclusive_add, int, sub_group_scan_inclusive_add, 0, (int)((uint)sum + (uint)x))
INCLUSIVE(inclusive_max, uint, sub_group_scan_inclusive_max, 0, max(sum, x))
INCLUSIVE(inclusive_min, int, sub_group_scan_inclusive_min, INT_MAX, min(sum, x))
EXCLUSIVE(exclusive_add, int, sub_group_scan_exclusive_add, 0, (int)((uint)sum + (uint)x))
EXCLUSIVE(exclusive_max, uint, sub_group_scan_exclusive_max, 0, max(sum, x))
EXCLUSIVE(exclusive_min, int, sub_group_scan_exclusive_min, INT_MAX, min(sum, x))
EXCLUSIVE(exclusive_add_float, float, sub_group_scan_exclusive_add, 0, sum + x)

kernel void broadcasts(global int *o, global const int *a)
{
    I;
#ifdef NATIVE
    o[i] = a[FIRST + 5] + a[FIRST + 31] * 2;
#else
    o[i] = sub_group_broadcast(a[i], 5) + sub_group_broadcast(a[i], 31) * 2;
#endif
}

kernel void votes(global int *o, global const int *a)
{
    I;
#ifdef NATIVE
    int some = 0, every = 1;
    for (int k = 0; k < 32; k++) {
        some |= a[FIRST + k] > 2000000000;
        every &= a[FIRST + k] < 2000000000;
    }
    o[i] = some + 2 * every;
#else
    o[i] = (sub_group_any(a[i] > 2000000000) != 0) + 2 * (sub_group_all(a[i] < 2000000000) != 0);
#endif
}

kernel void places(global int *o)
{
    I;
#ifdef NATIVE
    o[i] = (int)(i % 32 + 100 * (i % 64 / 32) + 10000 * 2 + 100000 * 32);
#else
    o[i] = (int)(get_sub_group_local_id() + 100 * get_sub_group_id() + 10000 * get_num_sub_groups() + 100000 * get_sub_group_size());
#endif
}

kernel void parted(global int *o, global const int *a)
{
    I;
    int x = a[i];
    for (int k = 0; k < (int)(i & 3); k++)
        x = x * 3 + 1 & 0xffff;
#ifdef NATIVE
    int sum = 0;
    for (int j = 0; j < 32; j++) {
        int y = a[FIRST + j];
        for (int k = 0; k < (j & 3); k++)
            y = y * 3 + 1 & 0xffff;
        sum = (int)((uint)sum + (uint)y);
    }
    o[i] = sum;
#else
    o[i] = sub_group_reduce_add(x);
#endif
}

kernel void shuffled_lanes(global int *o, global const int *a)
{
    I;
#ifdef NATIVE
    const size_t l = i & 31;
    o[i] = a[FIRST + (a[i] & 31)] + a[FIRST + (l ^ 3)];
    o[i] = (int)((uint)o[i] + (l + 2 < 32 ? a[i + 2] & 255 : 0) + (l >= 1 ? a[i - 1] & 255 : 0));
#else
    const uint l = get_sub_group_local_id();
    const int x = a[i], other = sub_group_shuffle(x, x & 31) + sub_group_shuffle_xor(x, 3);
    const int down = sub_group_shuffle_down(x, 2), up = sub_group_shuffle_up(x, 1);
    o[i] = (int)((uint)other + (l + 2 < 32 ? down & 255 : 0) + (l >= 1 ? up & 255 : 0));
#endif
}

kernel void ballots(global uint *o, global const int *a)
{
    I;
#ifdef NATIVE
    uint bits = 0;
    for (uint k = 0; k < 32; k++)
        bits |= (uint)(a[FIRST + k] > 0) << k;
    o[i] = bits + popcount(bits);
#else
    const uint4 b = sub_group_ballot(a[i] > 0);
    o[i] = b.x + popcount(b.x);
#endif
}

kernel void ballot_counts(global uint *o, global const int *a)
{
    I;
#ifdef NATIVE
    uint sum = 0;
    for (uint k = 0; k < 32; k++)
        sum += a[FIRST + k] > 0;
    o[i] = sum;
#else
    o[i] = sub_group_ballot_bit_count(sub_group_ballot(a[i] > 0));
#endif
}
