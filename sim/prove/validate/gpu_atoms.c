/* AGX instructions for the names of philipturner/metal-benchmarks. Sequences follow its own list of expansions, and Mesa
 * src/asahi where a compiler writes several instructions (64-bit sums, medians as minima and maxima, rotation, division). */
#include "sim/prove/validate/gpu_atoms.h"
#include "isa/array_count.h"

#include <stdio.h>
#include <string.h>

/* In templates: @ chain register, % & a chain pair, # and ~ temporaries, < > a pair of temporaries. Constants are r2 and r3. */
struct atom {
    const char *names; /* separated by ";" */
    const char *text;
};

#define SUM_64_32 "iadd #, @, r2\nicmpsel ult, #, #.cache, r2, 1, 0\niadd @, @, #.cache\n"
#define SUM_64    "iadd #, @, r2\nicmpsel ult, #, #.cache, r2, 1, 0\niadd @, @, #.cache\niadd @, @.cache, r3\n"
#define FRACT     "trunc #, @\nfadd32 @, @, #.cache.neg\n"
#define SINE                                                                                                                     \
    "fmul32 @, @, r2\ntrunc #, @.cache\nfadd32 @, @.cache, #.cache.neg\nfmadd32 @, @.cache, r2, r3\n"                            \
    "sin_pt_1 @, @.cache\nsin_pt_2 @, @.cache\n"
#define PRODUCT_64 "imadd <_>, @, r2, 0\nimadd #, @, r3, 0\nimadd @, @, r2, #\n"

static const struct atom plain[] = {
    {"FADD16;FADD/FFMA16;FADD/FFMA/IADD16", "fadd16 @l, @l, r2l\n"},
    {"FMUL16", "fmul16 @l, @l, r2l\n"},
    {"FFMA16", "fmadd16 @l, @l, r2l, r3l\n"},
    {"FADD32;FADD/FFMA32;FADD/FFMA/IADD32", "fadd32 @, @, r2\n"},
    {"FMUL32", "fmul32 @, @, r2\n"},
    {"FFMA32", "fmadd32 @, @, r2, r3\n"},
    {"CONVERT(F->I32)", "f_to_s32 @, @\n"},
    {"RINT32", "rint @, @\n"},
    {"TRUNC32", "trunc @, @\n"},
    {"RECIP16", "rcp @l, @l\n"},
    {"RECIP32", "rcp @, @\n"},
    {"RSQRT16", "rsqrt @l, @l\n"},
    {"RSQRT32;Precise RSQRT32", "rsqrt @, @\n"},
    {"EXP2_16", "exp2 @l, @l\n"},
    {"LOG2_16", "log2 @l, @l\n"},
    {"EXP2_32;Precise EXP2_32", "exp2 @, @\n"},
    {"LOG2_32;Precise LOG2_32", "log2 @, @\n"},
    {"FMAX32", "fmax @, @, r2\n"},
    {"FMIN32;FCMPSEL32", "fmin @, @, r2\n"},
    {"FCMPSEL16", "fmin @l, @l, r2l\n"},
    {"FRACT32", FRACT},
    {"FMEDIAN32", "fmin #, @, r2\nfmax @, @, r2\nfmin @, @.cache, r3\nfmax @, @.cache, #.cache\n"},
    {"DIV16", "rcp #l, r2l\nfmul16 @l, @l, #l.cache\n"},
    {"DIV32;DIV_32", "rcp #, r2\nfmul32 @, @, #.cache\n"},
    {"SQRT16", "rsqrt_special #l, @l\nfmul16 @l, @l, #l.cache\n"},
    {"SQRT32", "rsqrt_special #, @\nfmul32 @, @, #.cache\n"},
    {"SIN32;COS32;SIN16", SINE},
    {"EXPE_32;EXP10_32", "fmul32 @, @, r2\nexp2 @, @.cache\n"},
    {"LOGE_32;LOG10_32", "log2 @, @\nfmul32 @, @.cache, r2\n"},
    {"IADD16", "iadd @l, @l, r2l\n"},
    {"IMUL16", "imadd @l, @l, r2l, 0\n"},
    {"IMAD16;IMUL/MAD16", "imadd @l, @l, r2l, r3l\n"},
    {"IMUL(16x16=32)", "imadd @, @l, r2l, 0\n"},
    {"IMAD((16x16=32)+32)", "imadd @, @l, r2l, r3\n"},
    {"IADD32", "iadd @, @, r2\n"},
    {"IMUL32", "imadd @, @, r2, 0\n"},
    {"IMAD32", "imadd @, @, r2, r3\n"},
    {"IMULHI32;IMUL(32x32=64)", "imadd <_>, @, r2, 0\n"},
    {"IADDSAT32", "iadd.sat @, @, r2\n"},
    {"BITEXTRACT32", "bfeil @, 0, @, 5\n"},
    {"BITINSERT32", "bfi @, @, r2, r3\n"},
    {"BITWISE32", "xor @, @, r2\n"},
    {"BITREV32", "bitrev @, @\n"},
    {"BITINTERLEAVE16", "intl @, @l, r2l\n"},
    {"POPCOUNT32", "popcount @, @\n"},
    {"IMAX32", "imax @, @, r2\n"},
    {"IMIN32;ICMPSEL32", "imin @, @, r2\n"},
    {"ICMPSEL16", "umin @l, @l, r2l\n"},
    {"IMADHI16", "imadd #, @l, r2l, 0\nmov @l, #h.cache\n"},
    {"BITWISE32 + ADD32", "xor @, @, r2\niadd @, @.cache, r2\n"},
    {"BITINSERT32 + ADD32", "bfi @, @, r2, r3\niadd @, @.cache, r2\n"},
    {"BITREV16", "bitrev #, @\nmov @l, #h.cache\n"},
    {"BITROTATE32", "shl #, @, 5\nshr @, @, 27\nor @, @.cache, #.cache\n"},
    {"RHADD16", "iadd #, @l, r2l\niadd #, #.cache, 1\nshr @, #.cache, 1\n"},
    {"RHADD32", "or #, @, r2\nxor @, @, r2\nshr @, @.cache, 1\nisub @, #, @.cache\n"}, /* Mesa nir_lower_alu */
    {"ABSDIFF32", "isub #, r2, @\nisub ~, @, r2\nicmpsel slt, @, @, r2, #.cache, ~.cache\n"},
    {"CLZ32", "ffs @, @\niadd @, @.cache, r2\n"},
    {"LSHIFT32", "and #, r2, 31\nbfi @, 0, @, #.cache\n"},
    {"IADD(32+32=64)", "iadd #, @, r2\nicmpsel ult, @, #.cache, r2, 1, 0\nmov #, 0\n"},
    {"IADD(64+32=64)", SUM_64_32},
    {"IADD(64+64=64);IADD64", SUM_64},
    {"IMUL(64x64=64)", PRODUCT_64},
    {"IMADHI32", "imadd <_>, @, r2, 0\niadd @, >, r3\n"},
    {"IMAD((32x32=32)+64);IMAD((32x32=32)+64=64)", "imadd @, @, r2, 0\n" SUM_64_32},
    {"IMAD((32x32=64)+64)", "imadd <_>, @, r2, 0\n" SUM_64},
    {"IMAD((64x64=64)+64)", PRODUCT_64 SUM_64},
};

static const struct atom simd[] = {
    {"BALLOT;ICMP_BALLOT", "icmp_ballot @, ueq, @, r2\n"},
    {"FCMP_BALLOT", "fcmp_ballot @, eq, @, r2\n"},
    {"BROADCAST32", "simd_shuffle @, @, 3\n"},
    {"SHUFFLE_ROTATE32", "simd_shuffle_rotate_up @, @, 1\n"},
    {"SHUFFLE_NOROTATE32", "simd_shuffle_up @, @, 1\n"},
    {"SUM<F16>", "simd_fadd @l, @l\n"},
    {"SUM<F32>", "simd_fadd @, @\n"},
    {"SUM<I16>", "simd_iadd @l, @l\n"},
    {"SUM<I32>", "simd_iadd @, @\n"},
    {"PRODUCT<F16>", "simd_fmul @l, @l\n"},
    {"PRODUCT<F32>", "simd_fmul @, @\n"},
    {"BITWISE_REDUCE16", "simd_xor @l, @l\n"},
    {"BITWISE_REDUCE32", "simd_xor @, @\n"},
    {"PREFIX_ESUM<F32>", "simd_prefix_fadd @, @\n"},
    {"PREFIX_ISUM<F32>", "simd_prefix_fadd #, @\nfadd32 @, @, #.cache\n"},
    {"PREFIX_ESUM<I32>", "simd_prefix_iadd @, @\n"},
    {"PREFIX_ISUM<I32>", "simd_prefix_iadd #, @\niadd @, @, #.cache\n"},
    {"PREFIX_EPROD<F32>", "simd_prefix_fmul @, @\n"},
    {"PREFIX_IPROD<F32>", "simd_prefix_fmul #, @\nfmul32 @, @, #.cache\n"},
    {"MATMUL<8x8xF16>", "simd_matrix_fmadd16 %l_%h, r2l_r2h, r3l_r3h, %l_%h\n"},
    {"MATMUL<8x8xF32>", "simd_matrix_fmadd32 %_&, r2_r3, r2_r3, %_&\n"},
};

static const struct atom quad[] = {
    {"BALLOT;ICMP_BALLOT", "icmp_quad_ballot @, ueq, @, r2\nand @, @.cache, r3\n"},
    {"FCMP_BALLOT", "fcmp_quad_ballot @, eq, @, r2\nand @, @.cache, r3\n"},
    {"BROADCAST32", "quad_shuffle @, @, 1\n"},
    {"SHUFFLE_ROTATE32", "quad_shuffle_rotate_up @, @, 1\n"},
    {"SHUFFLE_DOWNUP32", "quad_shuffle_down @, @, 1\n"},
    {"SHUFFLE_RANDOM_SAME32;SHUFFLE_RANDOM_DIFF32", "quad_shuffle @, @, r2l\n"},
    {"SUM<F16>", "quad_fadd @l, @l\n"},
    {"SUM<F32>", "quad_fadd @, @\n"},
    {"SUM<I16>", "quad_iadd @l, @l\n"},
    {"SUM<I32>", "quad_iadd @, @\n"},
    {"PRODUCT<F16>", "quad_fmul @l, @l\n"},
    {"PRODUCT<F32>", "quad_fmul @, @\n"},
    {"BITWISE_REDUCE16", "quad_xor @l, @l\n"},
    {"BITWISE_REDUCE32", "quad_xor @, @\n"},
    {"PREFIX_ESUM<F32>", "quad_prefix_fadd @, @\n"},
    {"PREFIX_ISUM<F32>", "quad_prefix_fadd #, @\nfadd32 @, @, #.cache\n"},
    {"PREFIX_ESUM<I32>", "quad_prefix_iadd @, @\n"},
    {"PREFIX_ISUM<I32>", "quad_prefix_iadd #, @\niadd @, @, #.cache\n"},
    {"PREFIX_EPROD<F32>", "quad_prefix_fmul @, @\n"},
    {"PREFIX_IPROD<F32>", "quad_prefix_fmul #, @\nfmul32 @, @, #.cache\n"},
};

static bool listed(const char *names, const char *name, size_t length)
{
    for (const char *at = names; *at;) {
        const size_t n = strcspn(at, ";");
        if (n == length && memcmp(at, name, n) == 0)
            return true;
        at += n + (at[n] == ';');
    }
    return false;
}

const char *gpu_atom_find(const char *category, const char *name, size_t length)
{
    const bool is_simd = strcmp(category, "simd") == 0, is_quad = strcmp(category, "quad") == 0;
    const struct atom *const table = is_simd ? simd : is_quad ? quad : plain;
    const size_t count = is_simd ? ARRAY_COUNT(simd) : is_quad ? ARRAY_COUNT(quad) : ARRAY_COUNT(plain);
    for (size_t i = 0; i < count; i++)
        if (listed(table[i].names, name, length))
            return table[i].text;
    return NULL;
}

void gpu_atom_write(FILE *out, const char *text, unsigned number, unsigned chains)
{
    const unsigned single = number % chains, pair = number % (GPU_ATOM_CHAINS / 2);
    for (; *text; text++)
        switch (*text) {
        case '@': fprintf(out, "r%u", GPU_ATOM_FIRST + single); break;
        case '%': fprintf(out, "r%u", GPU_ATOM_FIRST + 2 * pair); break;
        case '&': fprintf(out, "r%u", GPU_ATOM_FIRST + 2 * pair + 1); break;
        case '#': fprintf(out, "r%u", GPU_ATOM_TEMPORARY + single); break;
        case '~': fprintf(out, "r%u", GPU_ATOM_TEMPORARY + (single + GPU_ATOM_CHAINS / 2) % GPU_ATOM_CHAINS); break;
        case '<': fprintf(out, "r%u", GPU_ATOM_TEMPORARY + 2 * pair); break;
        case '>': fprintf(out, "r%u", GPU_ATOM_TEMPORARY + 2 * pair + 1); break;
        default: fputc(*text, out);
        }
}

unsigned gpu_atom_instructions(const char *text)
{
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}
