/* Hashes of content, for rows that are found by what they contain: the first 128 bits of SHA-256 (FIPS 180-4), so that
 * different contents practically never share a row. Every part is added with its length; ("ab","c") and ("a","bc") differ.
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
/* Plain bytes without a length, for long contents that are added in pieces. */
void content_hash_add_bytes(struct content_hash *h, const void *data, size_t size);
/* A text of its own; NULL differs from "". */
void content_hash_add_text(struct content_hash *h, const char *text);
/* By value: -0 equals 0, all NANs are one. */
void content_hash_add_number(struct content_hash *h, double number);
void content_hash_add_integer(struct content_hash *h, uint64_t number);
/* 32 hexadecimal digits. */
void content_hash_end(struct content_hash *h, char text[CONTENT_HASH_SIZE]);
/* All of SHA-256 instead. */
void content_hash_end_sha256(struct content_hash *h, uint8_t digest[SHA256_BYTES]);

#endif
