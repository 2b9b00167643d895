/* The block functions that compilers call, for code without a C library: sixty-four bytes at a time, then single ones. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t count);
void *memset(void *dst, int value, size_t count);

void *memcpy(void *restrict dst, const void *restrict src, size_t count)
{
    typedef struct {
        uint64_t word[8];
    } __attribute__((packed, aligned(1))) line;
    uint8_t *d = dst;
    const uint8_t *s = src;
    for (; count >= sizeof(line); count -= sizeof(line), d += sizeof(line), s += sizeof(line))
        *(line *)d = *(const line *)s;
    for (; count; count--)
        *d++ = *s++;
    return dst;
}

void *memset(void *dst, int value, size_t count)
{
    typedef struct {
        uint64_t word[8];
    } __attribute__((packed, aligned(1))) line;
    uint8_t *d = dst;
    const uint64_t w = (uint64_t)(uint8_t)value * UINT64_C(0x0101010101010101);
    const line filled = {{w, w, w, w, w, w, w, w}};
    for (; count >= sizeof filled; count -= sizeof filled, d += sizeof filled)
        *(line *)d = filled;
    for (; count; count--)
        *d++ = (uint8_t)value;
    return dst;
}
