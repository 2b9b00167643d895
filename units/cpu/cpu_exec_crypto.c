/* AES, SHA and the product of polynomials over 64 bits, and the logic of three registers that came with SHA-3. All cores have
 * them. Rules: Arm Architecture Reference Manual (DDI 0487), C7 and shared pseudocode; FIPS 197 (AES), FIPS 180-4 (SHA).
 */
#include "units/cpu/cpu_exec_vector.h"

/* ---- AES: a state is 16 bytes, column by column ---- */

static const uint8_t substitute[256] = {
    0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76, 0xca, 0x82, 0xc9, 0x7d,
    0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0, 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc,
    0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15, 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2,
    0xeb, 0x27, 0xb2, 0x75, 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84,
    0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf, 0xd0, 0xef, 0xaa, 0xfb,
    0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8, 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5,
    0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2, 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d,
    0x64, 0x5d, 0x19, 0x73, 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb,
    0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79, 0xe7, 0xc8, 0x37, 0x6d,
    0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08, 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6,
    0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a, 0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9,
    0x86, 0xc1, 0x1d, 0x9e, 0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
    0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16};

static const uint8_t substitute_back[256] = {
    0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7, 0xfb, 0x7c, 0xe3, 0x39, 0x82,
    0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde, 0xe9, 0xcb, 0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d,
    0xee, 0x4c, 0x95, 0x0b, 0x42, 0xfa, 0xc3, 0x4e, 0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49,
    0x6d, 0x8b, 0xd1, 0x25, 0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c, 0xcc, 0x5d, 0x65, 0xb6, 0x92,
    0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15, 0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84, 0x90, 0xd8, 0xab, 0x00,
    0x8c, 0xbc, 0xd3, 0x0a, 0xf7, 0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06, 0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02,
    0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b, 0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc, 0xea, 0x97, 0xf2, 0xcf, 0xce,
    0xf0, 0xb4, 0xe6, 0x73, 0x96, 0xac, 0x74, 0x22, 0xe7, 0xad, 0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e,
    0x47, 0xf1, 0x1a, 0x71, 0x1d, 0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b, 0xfc, 0x56, 0x3e, 0x4b,
    0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4, 0x1f, 0xdd, 0xa8, 0x33, 0x88, 0x07, 0xc7, 0x31,
    0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f, 0x60, 0x51, 0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f,
    0x93, 0xc9, 0x9c, 0xef, 0xa0, 0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61,
    0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c, 0x7d};

/* Rows are shifted, then each byte is substituted; back: to the other side. */
static union cpu_vec shift_and_substitute(union cpu_vec state, bool back)
{
    union cpu_vec r;
    for (unsigned i = 0; i < 16; i++) {
        const unsigned row = i % 4, column = i / 4, from = (back ? column + 4 - row : column + row) % 4;
        r.u8[i] = (back ? substitute_back : substitute)[state.u8[4 * from + row]];
    }
    return r;
}

static void run_aes_round(struct cpu_core *core, const struct a64_insn *insn)
{
    union cpu_vec state = core->v[insn->rd];
    for (unsigned i = 0; i < 2; i++)
        state.u64[i] ^= core->v[insn->rn].u64[i];
    core->v[insn->rd] = shift_and_substitute(state, insn->form == A64_AESD);
}

/* x times 2 in the field of AES. */
static uint8_t twice(uint8_t x)
{
    return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1b : 0));
}

/* One column times the polynomial 3 x^3 + x^2 + x + 2. */
static void mix_column(uint8_t c[4])
{
    const uint8_t all = (uint8_t)(c[0] ^ c[1] ^ c[2] ^ c[3]), first = c[0];
    for (unsigned i = 0; i < 4; i++)
        c[i] = (uint8_t)(c[i] ^ all ^ twice((uint8_t)(c[i] ^ (i < 3 ? c[i + 1] : first))));
}

/* The inverse is the same after a factor of 4 x^2 + 5. */
static void unmix_column(uint8_t c[4])
{
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t u = twice(twice((uint8_t)(c[i] ^ c[i + 2])));
        c[i] ^= u;
        c[i + 2] ^= u;
    }
    mix_column(c);
}

static void run_aes_mix(struct cpu_core *core, const struct a64_insn *insn)
{
    union cpu_vec state = core->v[insn->rn];
    for (unsigned column = 0; column < 4; column++)
        (insn->form == A64_AESMC ? mix_column : unmix_column)(state.u8 + (size_t)4 * column);
    core->v[insn->rd] = state;
}

/* ---- functions of SHA ---- */

static uint32_t left(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t right(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint64_t right_64(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

static uint64_t choose(uint64_t x, uint64_t y, uint64_t z)
{
    return (x & y) ^ (~x & z);
}

static uint64_t majority(uint64_t x, uint64_t y, uint64_t z)
{
    return (x & y) ^ (x & z) ^ (y & z);
}

/* ---- SHA-1 ---- */

static uint32_t mix_1(unsigned form, const uint32_t x[4])
{
    return form == A64_SHA1C   ? (uint32_t)choose(x[1], x[2], x[3])
           : form == A64_SHA1M ? (uint32_t)majority(x[1], x[2], x[3])
                               : x[1] ^ x[2] ^ x[3];
}

/* Four rounds: the words a to d are in rd, e in rn, words of the message with their constants in rm. */
static void run_sha1_rounds(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec w = core->v[insn->rm];
    union cpu_vec x = core->v[insn->rd];
    uint32_t y = core->v[insn->rn].u32[0];
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t a = y + left(x.u32[0], 5) + mix_1(insn->form, x.u32) + w.u32[i];
        y = x.u32[3];
        x.u32[3] = x.u32[2];
        x.u32[2] = left(x.u32[1], 30);
        x.u32[1] = x.u32[0];
        x.u32[0] = a;
    }
    core->v[insn->rd] = x;
}

static void run_sha1_rotate(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec r = {.u32 = {left(core->v[insn->rn].u32[0], 30)}};
    core->v[insn->rd] = r;
}

static void run_sha1_schedule_0(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec d = core->v[insn->rd], n = core->v[insn->rn], m = core->v[insn->rm];
    core->v[insn->rd].u64[0] = d.u64[1] ^ d.u64[0] ^ m.u64[0];
    core->v[insn->rd].u64[1] = n.u64[0] ^ d.u64[1] ^ m.u64[1];
}

static void run_sha1_schedule_1(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec d = core->v[insn->rd], n = core->v[insn->rn];
    union cpu_vec r;
    for (unsigned i = 0; i < 4; i++)
        r.u32[i] = left(d.u32[i] ^ (i < 3 ? n.u32[i + 1] : 0), 1);
    r.u32[3] ^= left(d.u32[0] ^ n.u32[1], 2);
    core->v[insn->rd] = r;
}

/* ---- SHA-256 ---- */

/* Four rounds on the words a to d (x) and e to h (y). */
static void rounds_256(union cpu_vec *x, union cpu_vec *y, const union cpu_vec *w)
{
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t a = x->u32[0], e = y->u32[0];
        const uint32_t t =
            y->u32[3] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + (uint32_t)choose(e, y->u32[1], y->u32[2]) + w->u32[i];
        const uint32_t u = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + (uint32_t)majority(a, x->u32[1], x->u32[2]);
        const uint32_t d = x->u32[3];
        for (unsigned k = 3; k > 0; k--) {
            x->u32[k] = x->u32[k - 1];
            y->u32[k] = y->u32[k - 1];
        }
        x->u32[0] = t + u;
        y->u32[0] = d + t;
    }
}

static void run_sha256_rounds(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool first = insn->form == A64_SHA256H;
    union cpu_vec x = core->v[first ? insn->rd : insn->rn], y = core->v[first ? insn->rn : insn->rd];
    const union cpu_vec w = core->v[insn->rm];
    rounds_256(&x, &y, &w);
    core->v[insn->rd] = first ? x : y;
}

static void run_sha256_schedule_0(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec d = core->v[insn->rd], n = core->v[insn->rn];
    union cpu_vec r;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t w = i < 3 ? d.u32[i + 1] : n.u32[0];
        r.u32[i] = d.u32[i] + (right(w, 7) ^ right(w, 18) ^ w >> 3);
    }
    core->v[insn->rd] = r;
}

static void run_sha256_schedule_1(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec d = core->v[insn->rd], n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t w = i < 2 ? m.u32[i + 2] : r.u32[i - 2];
        r.u32[i] = d.u32[i] + (i < 3 ? n.u32[i + 1] : m.u32[0]) + (right(w, 17) ^ right(w, 19) ^ w >> 10);
    }
    core->v[insn->rd] = r;
}

/* ---- SHA-512 ---- */

static uint64_t sum_1(uint64_t x)
{
    return right_64(x, 14) ^ right_64(x, 18) ^ right_64(x, 41);
}

static uint64_t sum_0(uint64_t x)
{
    return right_64(x, 28) ^ right_64(x, 34) ^ right_64(x, 39);
}

/* The half of two rounds that changes e to h: rd holds sums, rn and rm hold words of the state. */
static void run_sha512_first(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec w = core->v[insn->rd], x = core->v[insn->rn], y = core->v[insn->rm];
    union cpu_vec r;
    r.u64[1] = choose(y.u64[1], x.u64[0], x.u64[1]) + sum_1(y.u64[1]) + w.u64[1];
    const uint64_t e = r.u64[1] + y.u64[0];
    r.u64[0] = choose(e, y.u64[1], x.u64[0]) + sum_1(e) + w.u64[0];
    core->v[insn->rd] = r;
}

/* The half that changes a to d. */
static void run_sha512_second(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec w = core->v[insn->rd], x = core->v[insn->rn], y = core->v[insn->rm];
    union cpu_vec r;
    r.u64[1] = majority(x.u64[0], y.u64[1], y.u64[0]) + sum_0(y.u64[0]) + w.u64[1];
    r.u64[0] = majority(r.u64[1], y.u64[0], y.u64[1]) + sum_0(r.u64[1]) + w.u64[0];
    core->v[insn->rd] = r;
}

static void run_sha512_schedule_0(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec w = core->v[insn->rd];
    const uint64_t next[2] = {w.u64[1], core->v[insn->rn].u64[0]};
    for (unsigned i = 0; i < 2; i++)
        core->v[insn->rd].u64[i] = w.u64[i] + (right_64(next[i], 1) ^ right_64(next[i], 8) ^ next[i] >> 7);
}

static void run_sha512_schedule_1(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec w = core->v[insn->rd], x = core->v[insn->rn], y = core->v[insn->rm];
    for (unsigned i = 0; i < 2; i++)
        core->v[insn->rd].u64[i] = w.u64[i] + (right_64(x.u64[i], 19) ^ right_64(x.u64[i], 61) ^ x.u64[i] >> 6) + y.u64[i];
}

/* ---- logic of SHA-3, polynomials ---- */

static void run_three_way(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], a = core->v[insn->ra];
    for (unsigned i = 0; i < 2; i++)
        core->v[insn->rd].u64[i] = n.u64[i] ^ (insn->form == A64_EOR3 ? m.u64[i] ^ a.u64[i] : m.u64[i] & ~a.u64[i]);
}

static void run_rotated(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t x = n.u64[i] ^ m.u64[i];
        core->v[insn->rd].u64[i] = insn->form == A64_RAX1 ? n.u64[i] ^ right_64(m.u64[i], 63)
                                   : insn->amount         ? right_64(x, insn->amount)
                                                          : x;
    }
}

static void run_polynomials(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint64_t n = core->v[insn->rn].u64[insn->q], m = core->v[insn->rm].u64[insn->q];
    union cpu_vec r = {.u64 = {m & 1 ? n : 0, 0}};
    for (unsigned i = 1; i < 64; i++)
        if (m >> i & 1) {
            r.u64[0] ^= n << i;
            r.u64[1] ^= n >> (64 - i);
        }
    core->v[insn->rd] = r;
}

cpu_handler *cpu_crypto_handler_of(const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_AESE:
    case A64_AESD: return run_aes_round;
    case A64_AESMC:
    case A64_AESIMC: return run_aes_mix;
    case A64_SHA1C:
    case A64_SHA1P:
    case A64_SHA1M: return run_sha1_rounds;
    case A64_SHA1H: return run_sha1_rotate;
    case A64_SHA1SU0: return run_sha1_schedule_0;
    case A64_SHA1SU1: return run_sha1_schedule_1;
    case A64_SHA256H:
    case A64_SHA256H2: return run_sha256_rounds;
    case A64_SHA256SU0: return run_sha256_schedule_0;
    case A64_SHA256SU1: return run_sha256_schedule_1;
    case A64_SHA512H: return run_sha512_first;
    case A64_SHA512H2: return run_sha512_second;
    case A64_SHA512SU0: return run_sha512_schedule_0;
    case A64_SHA512SU1: return run_sha512_schedule_1;
    case A64_EOR3:
    case A64_BCAX: return run_three_way;
    case A64_RAX1:
    case A64_XAR: return run_rotated;
    case A64_PMULL_Q_V: return run_polynomials;
    default: return NULL;
    }
}
