#include "sim/base/content_hash.h"

#include "isa/float_bits.h"

#include <math.h>
#include <string.h>

/* Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static void spread(uint32_t w[64], const uint8_t block[64])
{
    for (int i = 0; i < 16; i++)
        w[i] =
            (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void mix_block(struct content_hash *h)
{
    uint32_t w[64], v[8];
    spread(w, h->block);
    memcpy(v, h->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        const uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        const uint32_t t1 = v[7] + s1 + choice + round_constant[i] + w[i];
        const uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; i++)
        h->state[i] += v[i];
}

void content_hash_begin(struct content_hash *h)
{
    /* Fractional parts of the square roots of the first 8 primes (FIPS 180-4, 5.3.3). */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(h->state, start, sizeof start);
    h->bytes = 0;
}

void content_hash_add_bytes(struct content_hash *h, const void *data, size_t size)
{
    const uint8_t *from = data;
    while (size > 0) {
        const size_t used = h->bytes % sizeof h->block;
        const size_t room = sizeof h->block - used, part = size < room ? size : room;
        memcpy(h->block + used, from, part);
        h->bytes += part;
        from += part;
        size -= part;
        if (part == room)
            mix_block(h);
    }
}

static void add_tagged(struct content_hash *h, char tag, uint64_t number)
{
    uint8_t bytes[9] = {(uint8_t)tag};
    for (int i = 0; i < 8; i++)
        bytes[1 + i] = (uint8_t)(number >> 8 * i);
    content_hash_add_bytes(h, bytes, sizeof bytes);
}

void content_hash_add_text(struct content_hash *h, const char *text)
{
    if (!text) {
        add_tagged(h, 'n', 0);
        return;
    }
    const size_t size = strlen(text);
    add_tagged(h, 't', size);
    content_hash_add_bytes(h, text, size);
}

void content_hash_add_number(struct content_hash *h, double number)
{
    if (isnan(number))
        number = (double)NAN;
    if (number == 0)
        number = 0; /* drops the sign */
    add_tagged(h, 'd', f64_bits(number));
}

void content_hash_add_integer(struct content_hash *h, uint64_t number)
{
    add_tagged(h, 'i', number);
}

void content_hash_end_sha256(struct content_hash *h, uint8_t digest[SHA256_BYTES])
{
    const uint64_t bits = h->bytes * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    static const uint8_t padding[64] = {0x80};
    const size_t used = h->bytes % 64;
    content_hash_add_bytes(h, padding, used < 56 ? 56 - used : 120 - used);
    content_hash_add_bytes(h, length, sizeof length);
    for (int i = 0; i < SHA256_BYTES; i++)
        digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void content_hash_end(struct content_hash *h, char text[CONTENT_HASH_SIZE])
{
    uint8_t digest[SHA256_BYTES];
    content_hash_end_sha256(h, digest);
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < CONTENT_HASH_SIZE / 2; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[CONTENT_HASH_SIZE - 1] = 0;
}
