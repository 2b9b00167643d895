#include "sim/language/utf8.h"

/* How many bytes a code point has by its first byte; 0 = none begins like that. */
static unsigned length_of(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The second byte decides about long spellings, surrogates and what is too large. */
static bool second_is_right(uint8_t first, uint8_t second)
{
    const uint8_t low = first == 0xe0   ? 0xa0
                        : first == 0xf0 ? 0x90
                                        : 0x80,
                  high = first == 0xed   ? 0x9f
                         : first == 0xf4 ? 0x8f
                                         : 0xbf;
    return second >= low && second <= high;
}

/* How many of the bytes are a code point or its beginning. */
static unsigned right_bytes(const uint8_t *byte, size_t size, unsigned length)
{
    unsigned right = length != 0 && size != 0;
    while (right && right < length && right < size &&
           (right == 1 ? second_is_right(byte[0], byte[1]) : (byte[right] & 0xc0) == 0x80))
        right++;
    return right;
}

unsigned utf8_read(const void *bytes, size_t size, uint32_t *code)
{
    static const uint8_t first_bits[UTF8_MAX + 1] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const uint8_t *const byte = bytes;
    const unsigned length = size ? length_of(*byte) : 0;
    if (length == 0 || right_bytes(byte, size, length) < length)
        return 0;
    *code = byte[0] & first_bits[length];
    for (unsigned i = 1; i < length; i++)
        *code = *code << 6 | (byte[i] & 0x3f);
    return length;
}

unsigned utf8_write(uint32_t code, char *bytes)
{
    static const uint8_t first_bits[UTF8_MAX + 1] = {0, 0, 0xc0, 0xe0, 0xf0};
    const unsigned length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (unsigned i = length; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(first_bits[length] | code);
    return length;
}

bool utf8_is_valid(const void *bytes, size_t size, size_t *wrong)
{
    const uint8_t *const byte = bytes;
    uint32_t code;
    for (size_t at = 0; at < size;) {
        const unsigned length = utf8_read(byte + at, size - at, &code);
        if (length == 0) {
            if (wrong)
                *wrong = at;
            return false;
        }
        at += length;
    }
    return true;
}

bool utf8_is_beginning(const void *bytes, size_t size)
{
    const uint8_t *const byte = bytes;
    const unsigned length = size ? length_of(*byte) : 0;
    return size < length && right_bytes(byte, size, length) == size;
}
