/* Content hashes, for rows that are looked up by what they contain: the first 128 bits of SHA-256 (FIPS 180-4), so that different
 * contents practically never share a row. Each part is added together with its length, so ("ab","c") and ("a","bc") differ.
 */
#ifndef ORCHARD_SIM_BASE_CONTENT_HASH_H
#define ORCHARD_SIM_BASE_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { CONTENT_HASH_SIZE = 33, SHA256_BYTES = 32 };

struct content_hash {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void content_hash_begin(struct content_hash *h);
/* Adds plain bytes without their length, for long contents that arrive in pieces. */
void content_hash_add_bytes(struct content_hash *h, const void *data, size_t size);
/* Adds a text as one part; NULL differs from "". */
void content_hash_add_text(struct content_hash *h, const char *text);
/* Adds a number by value: -0 and 0 hash alike, and so do all NANs. */
void content_hash_add_number(struct content_hash *h, double number);
void content_hash_add_integer(struct content_hash *h, uint64_t number);
/* Writes the hash as 32 hexadecimal digits. */
void content_hash_end(struct content_hash *h, char text[CONTENT_HASH_SIZE]);
/* Writes all 256 bits of the digest instead. */
void content_hash_end_sha256(struct content_hash *h, uint8_t digest[SHA256_BYTES]);

#endif
