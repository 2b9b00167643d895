/* The public Neural Engine programs, golden files in tests/golden/ane/. */
#ifndef ORCHARD_TESTS_ISA_ANE_GOLDEN_H
#define ORCHARD_TESTS_ISA_ANE_GOLDEN_H

#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define ANE_GOLDEN_HWX_TEXT 0x4000u /* where descriptors start in the public .hwx files */

/* The name below tests/golden/ane, and the operation (gemm is a 1x1 convolution of a 1x1 image). */
struct ane_golden {
    const char *file, *operation;
};
static const struct ane_golden ane_goldens[] = {
    {"eiln/activation_gelu.bin.gz", "gelu"},
    {"eiln/activation_hardtanh.bin.gz", "hardtanh"},
    {"eiln/activation_relu.bin.gz", "relu"},
    {"eiln/activation_selu.bin.gz", "selu"},
    {"eiln/activation_softmax.bin.gz", "softmax"},
    {"eiln/binary_add.bin.gz", "add"},
    {"eiln/binary_div.bin.gz", "div"},
    {"eiln/binary_max.bin.gz", "max"},
    {"eiln/binary_mul.bin.gz", "mul"},
    {"eiln/unary_abs.bin.gz", "abs"},
    {"eiln/unary_exp.bin.gz", "exp"},
    {"eiln/unary_exp2.bin.gz", "exp2"},
    {"eiln/unary_log2.bin.gz", "log2"},
    {"eiln/unary_sigmoid.bin.gz", "sigmoid"},
    {"eiln/unary_sqrt.bin.gz", "sqrt"},
    {"eiln/unary_tanh.bin.gz", "tanh"},
    {"tinygrad/conv.ff52f832dc.hwx.gz", "conv2d"},
    {"tinygrad/gemm.73ae6d7821.hwx.gz", "conv2d"},
    {"tinygrad/golden.1dcaecacc4.hwx.gz", "conv2d"},
    {"tinygrad/golden.23664c99bd.hwx.gz", "conv2d"},
    {"tinygrad/relu.da873cd556.hwx.gz", "relu"},
    {"tinygrad/sum.6ca449afd2.hwx.gz", "add"},
};
#define ANE_GOLDENS (ARRAY_COUNT(ane_goldens))

/* The contents of a golden file, which the caller frees; NULL and a failed check when it cannot be read. */
static inline uint8_t *ane_golden_read(const char *file, size_t *size)
{
    enum { ROOM = 1 << 17 };
    char name[128];
    uint8_t *bytes = malloc(ROOM);
    snprintf(name, sizeof name, "ane/%s", file);
    gzFile gz = gzopen(suite_golden(name), "rb");
    const int got = gz && bytes ? gzread(gz, bytes, ROOM) : -1;
    if (gz)
        gzclose(gz);
    CHECK(got > 0 && got < ROOM, "%s cannot be read", name);
    if (got > 0) {
        *size = (size_t)got;
        return bytes;
    }
    free(bytes);
    return NULL;
}

static inline uint32_t ane_golden_word(const uint8_t *bytes, size_t offset)
{
    return (uint32_t)bytes[offset] | (uint32_t)bytes[offset + 1] << 8 | (uint32_t)bytes[offset + 2] << 16 |
           (uint32_t)bytes[offset + 3] << 24;
}

#endif
