/* Kernels in OpenCL C with their launches, for comparing implementations.
 *
 * A source holds any number of kernels. A line that begins with "//: " names one and says how it is launched:
 *
 *     //: add_float out:float:256 in:float:256:real val:float:2.5 grid:256 group:64 ulp:2
 *
 * Arguments, in order: out:TYPE:COUNT a buffer that the kernel writes; in:TYPE:COUNT[:NUMBERS] one that it reads;
 * io:TYPE:COUNT[:NUMBERS] both; val:TYPE:NUMBER[,NUMBER...] a scalar, vector or structure by value; local:BYTES memory of the
 * threadgroup. TYPE is a scalar type of OpenCL C. NUMBERS: any, small, shift, nonzero, index, zero, real, unit, positive,
 * LOW~HIGH; see opencl_case.c. grid:XxYxZ and group:XxYxZ count threads (256 and 64 when left out). ulp:N and abs:X are what
 * results may be off, in units of the last place or at all; without them every bit counts. ref:NAME is a function of the host's
 * mathematics library that tells the exact result of the inputs. own: no other OpenCL takes this kernel.
 * unsupported: the compiler may say that it cannot do this (if it can, the results must be right).
 */
#ifndef ORCHARD_TESTS_OPENCL_CASE_H
#define ORCHARD_TESTS_OPENCL_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPENCL_ARGS = 12, OPENCL_CASES = 256, OPENCL_VALUE_BYTES = 64 };

enum opencl_type {
    OPENCL_CHAR, /* signed types are even */
    OPENCL_UCHAR,
    OPENCL_SHORT,
    OPENCL_USHORT,
    OPENCL_INT,
    OPENCL_UINT,
    OPENCL_LONG,
    OPENCL_ULONG,
    OPENCL_HALF,
    OPENCL_FLOAT,
    OPENCL_TYPES
};

enum opencl_use { OPENCL_IN, OPENCL_OUT, OPENCL_IO, OPENCL_VALUE, OPENCL_LOCAL };

struct opencl_arg {
    enum opencl_use use;
    enum opencl_type type;
    size_t count, bytes; /* of a buffer, a value or threadgroup memory */
    uint8_t *start;      /* what a buffer begins with */
    uint8_t value[OPENCL_VALUE_BYTES];
};

struct opencl_case {
    char name[64];
    unsigned line;
    uint32_t grid[3], group[3];
    struct opencl_arg arg[OPENCL_ARGS];
    unsigned args;
    double ulp, absolute;
    char reference[32]; /* "" = none */
    bool own, unsupported;
};

struct opencl_file {
    char *text;
    size_t bytes;
    struct opencl_case *cases;
    unsigned count;
};

size_t opencl_type_bytes(enum opencl_type type);
double opencl_number(enum opencl_type type, const void *at); /* of a half or a float */
/* The number itself, or what is taken for the same: one NaN, zero for what is too small to be normal in 32 bits. */
uint64_t opencl_bits(enum opencl_type type, const void *at);

/* Takes the text, from malloc. False prints what is wrong. */
bool opencl_file_parse(char *text, size_t bytes, struct opencl_file *file);
bool opencl_file_read(const char *path, struct opencl_file *file);
void opencl_file_free(struct opencl_file *file);

#endif
