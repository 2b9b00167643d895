// The types of Apple's simd library, as kernels and host code share them.
#pragma once
#include <metal_matrix>

#define ORCHARD_M(type)                                                                                                          \
    typedef ::type##2 simd_##type##2, vector_##type##2;                                                                          \
    typedef ::type##3 simd_##type##3, vector_##type##3;                                                                          \
    typedef ::type##4 simd_##type##4, vector_##type##4;                                                                          \
    typedef ::packed_##type##2 simd_packed_##type##2;                                                                            \
    typedef ::packed_##type##4 simd_packed_##type##4;                                                                            \
    namespace simd {                                                                                                             \
    using ::type##2;                                                                                                             \
    using ::type##3;                                                                                                             \
    using ::type##4;                                                                                                             \
    using ::packed_##type##2;                                                                                                    \
    using ::packed_##type##3;                                                                                                    \
    using ::packed_##type##4;                                                                                                    \
    }
ORCHARD_M(char)
ORCHARD_M(uchar)
ORCHARD_M(short)
ORCHARD_M(ushort)
ORCHARD_M(int)
ORCHARD_M(uint)
ORCHARD_M(long)
ORCHARD_M(ulong)
ORCHARD_M(half)
ORCHARD_M(float)
#undef ORCHARD_M
#define ORCHARD_M(size)                                                                                                          \
    typedef ::float##size simd_float##size, matrix_float##size;                                                                  \
    typedef ::half##size simd_half##size, matrix_half##size;                                                                     \
    namespace simd {                                                                                                             \
    using ::float##size;                                                                                                         \
    using ::half##size;                                                                                                          \
    }
ORCHARD_M(2x2)
ORCHARD_M(2x3)
ORCHARD_M(2x4)
ORCHARD_M(3x2)
ORCHARD_M(3x3)
ORCHARD_M(3x4)
ORCHARD_M(4x2)
ORCHARD_M(4x3)
ORCHARD_M(4x4)
#undef ORCHARD_M
