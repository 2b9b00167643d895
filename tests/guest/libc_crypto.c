/* AES-128 and SHA-256 by the instructions for them, on the examples of the standards: FIPS 197 appendix B, FIPS 180-4 ("abc"). */
#include <arm_neon.h>
#include <stdio.h>
#include <string.h>

static uint8_t substituted(uint8_t x)
{
    /* the S-box by the instruction itself: a state of equal bytes is not changed by shifting rows */
    return vgetq_lane_u8(vaeseq_u8(vdupq_n_u8(x), vdupq_n_u8(0)), 0);
}

static void expand(const uint8_t key[16], uint8_t round[11][16])
{
    uint8_t constant = 1;
    memcpy(round[0], key, 16);
    for (int r = 1; r < 11; r++) {
        for (int i = 0; i < 4; i++)
            round[r][i] = round[r - 1][i] ^ substituted(round[r - 1][12 + (i + 1) % 4]) ^ (i ? 0 : constant);
        for (int i = 4; i < 16; i++)
            round[r][i] = round[r - 1][i] ^ round[r][i - 4];
        constant = (uint8_t)(constant << 1 ^ (constant & 0x80 ? 0x1b : 0));
    }
}

static void aes(void)
{
    static const uint8_t key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                    0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
    static const uint8_t text[16] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d,
                                     0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
    uint8_t round[11][16], out[16];
    expand(key, round);
    uint8x16_t s = vld1q_u8(text);
    for (int r = 0; r < 9; r++)
        s = vaesmcq_u8(vaeseq_u8(s, vld1q_u8(round[r])));
    s = veorq_u8(vaeseq_u8(s, vld1q_u8(round[9])), vld1q_u8(round[10]));
    vst1q_u8(out, s);
    printf("aes ");
    for (int i = 0; i < 16; i++)
        printf("%02x", out[i]);
    s = vaesdq_u8(s, vld1q_u8(round[10]));
    for (int r = 9; r > 0; r--)
        s = vaesdq_u8(vaesimcq_u8(s), vaesimcq_u8(vld1q_u8(round[r])));
    vst1q_u8(out, veorq_u8(s, vld1q_u8(round[0])));
    printf(" back %d\n", memcmp(out, text, 16) == 0);
}

/* The first 32 bits of the fraction of the cube or square root of the nth prime: the constants of SHA-256. */
static uint32_t root_of_prime(int n, int cube)
{
    int prime = 1;
    for (int found = -1; found < n;) {
        prime++;
        int divisor = 2;
        while (prime % divisor)
            divisor++;
        found += divisor == prime;
    }
    unsigned __int128 low = 0, high = (unsigned __int128)1 << 36; /* root times 2^32 */
    while (high - low > 1) {
        const unsigned __int128 middle = (low + high) / 2;
        /* middle^3 <= prime 2^96, or middle^2 <= prime 2^64 */
        const int fits =
            cube ? middle * middle * middle <= (unsigned __int128)prime << 96 : middle * middle <= (unsigned __int128)prime << 64;
        if (fits)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static void sha256(void)
{
    uint32_t w[64] = {0x61626380, [15] = 24}, h[8], k[64];
    for (int i = 0; i < 64; i++)
        k[i] = root_of_prime(i, 1);
    for (int i = 0; i < 8; i++)
        h[i] = root_of_prime(i, 0);
    for (int i = 16; i < 64; i += 4)
        vst1q_u32(w + i, vsha256su1q_u32(vsha256su0q_u32(vld1q_u32(w + i - 16), vld1q_u32(w + i - 12)), vld1q_u32(w + i - 8),
                                         vld1q_u32(w + i - 4)));
    uint32x4_t a = vld1q_u32(h), e = vld1q_u32(h + 4);
    for (int i = 0; i < 64; i += 4) {
        const uint32x4_t words = vaddq_u32(vld1q_u32(w + i), vld1q_u32(k + i)), before = a;
        a = vsha256hq_u32(a, e, words);
        e = vsha256h2q_u32(e, before, words);
    }
    vst1q_u32(h, vaddq_u32(vld1q_u32(h), a));
    vst1q_u32(h + 4, vaddq_u32(vld1q_u32(h + 4), e));
    printf("sha256 ");
    for (int i = 0; i < 8; i++)
        printf("%08x", h[i]);
    puts("");
}

int main(void)
{
    aes();
    sha256();
    return 0;
}
