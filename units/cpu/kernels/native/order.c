/* Rows in order; compiled for each type of elements.
 *
 * Elements become keys of 32 bits whose order as numbers without sign is that of the elements; NaN stands at the ends, by its
 * sign. Keys are distributed by one byte after the other, the lowest first; passes in which all keys have the same byte move
 * nothing. */
#include <stdbool.h>
#include <stdint.h>

#if defined ELEMENT_F16 || defined ELEMENT_BF16
typedef uint16_t element;
#else
typedef uint32_t element;
#endif
#if defined ELEMENT_F32
#define NAME(x) x##_f32
#elif defined ELEMENT_F16
#define NAME(x) x##_f16
#elif defined ELEMENT_BF16
#define NAME(x) x##_bf16
#elif defined ELEMENT_I32
#define NAME(x) x##_i32
#else
#define NAME(x) x##_u32
#endif
#if defined ELEMENT_I32 || defined ELEMENT_U32
enum { BITS = 8 * sizeof(element), IS_FLOAT = 0 };
#else
enum { BITS = 8 * sizeof(element), IS_FLOAT = 1 };
#endif
#ifdef ELEMENT_U32
enum { HAS_SIGN = 0 };
#else
enum { HAS_SIGN = 1 };
#endif

/* ORDER: cpu_kernel_scan.c. */
struct sort {
    const element *x;
    element *out;
    char *own; /* of each thread: two rows of keys */
    int64_t own_bytes, columns, descending;
};
void NAME(neon_sort)(const struct sort *s, uint64_t first, uint64_t end, uint64_t thread);

enum { DIGITS = 256, FEW = 32 };

static inline uint32_t key_of(element x, uint32_t turned)
{
    const uint32_t top = UINT32_C(1) << (BITS - 1), all = top | (top - 1);
    const uint32_t key = !HAS_SIGN ? x : IS_FLOAT && (x & top) ? ~(uint32_t)x & all : x ^ top;
    return key ^ turned;
}

static inline element of_key(uint32_t key, uint32_t turned)
{
    const uint32_t top = UINT32_C(1) << (BITS - 1), all = top | (top - 1), x = key ^ turned;
    return (element)(!HAS_SIGN ? x : IS_FLOAT && !(x & top) ? ~x & all : x ^ top);
}

static void insert_all(uint32_t *key, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        const uint32_t x = key[i];
        int64_t at = i;
        for (; at > 0 && key[at - 1] > x; at--)
            key[at] = key[at - 1];
        key[at] = x;
    }
}

/* Moves keys to where their byte belongs; false = they are where they belong. */
static bool distribute(const uint32_t *from, uint32_t *to, int64_t count, int shift)
{
    uint32_t place[DIGITS], sum = 0;
    for (int i = 0; i < DIGITS; i++)
        place[i] = 0;
    for (int64_t i = 0; i < count; i++)
        place[from[i] >> shift & 255]++;
    if (place[from[0] >> shift & 255] == (uint64_t)count)
        return false;
    for (int i = 0; i < DIGITS; i++) {
        const uint32_t here = place[i];
        place[i] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++)
        to[place[from[i] >> shift & 255]++] = from[i];
    return true;
}

/* Items are rows. */
void NAME(neon_sort)(const struct sort *s, uint64_t first, uint64_t end, uint64_t thread)
{
    uint32_t *const own = (uint32_t *)(void *)(s->own + thread * (uint64_t)s->own_bytes);
    const uint32_t top = UINT32_C(1) << (BITS - 1), turned = s->descending ? top | (top - 1) : 0;
    for (uint64_t row = first; row < end; row++) {
        const element *const x = s->x + row * (uint64_t)s->columns;
        element *const out = s->out + row * (uint64_t)s->columns;
        uint32_t *key = own, *other = own + s->columns;
        for (int64_t i = 0; i < s->columns; i++)
            key[i] = key_of(x[i], turned);
        if (s->columns <= FEW)
            insert_all(key, s->columns);
        for (int shift = 0; s->columns > FEW && shift < BITS; shift += 8)
            if (distribute(key, other, s->columns, shift)) {
                uint32_t *const sorted = other;
                other = key;
                key = sorted;
            }
        for (int64_t i = 0; i < s->columns; i++)
            out[i] = of_key(key[i], turned);
    }
}
