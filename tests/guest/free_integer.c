/* Integer work without a C library: CRC-32, a sieve, heap sort, 64-bit multiplication and division, bit tricks. */
#include "tests/guest/start.h"

static uint32_t crc_table[256];
static uint8_t composite[20000];
static int32_t numbers[1000];

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        crc_table[i] = c;
    }
}

static uint32_t crc32(const uint8_t *bytes, size_t size)
{
    uint32_t c = ~0u;
    for (size_t i = 0; i < size; i++)
        c = crc_table[(c ^ bytes[i]) & 255] ^ c >> 8;
    return ~c;
}

static uint32_t count_primes(void)
{
    uint32_t count = 0;
    for (uint32_t i = 2; i < sizeof composite; i++) {
        if (composite[i])
            continue;
        count++;
        for (uint32_t j = 2 * i; j < sizeof composite; j += i)
            composite[j] = 1;
    }
    return count;
}

static void sift(int32_t *a, uint32_t root, uint32_t n)
{
    for (uint32_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && a[child + 1] > a[child])
            child++;
        if (a[root] >= a[child])
            return;
        const int32_t t = a[root];
        a[root] = a[child];
        a[child] = t;
    }
}

static void heap_sort(int32_t *a, uint32_t n)
{
    for (uint32_t i = n / 2; i-- > 0;)
        sift(a, i, n);
    for (uint32_t i = n; i-- > 1;) {
        const int32_t t = a[0];
        a[0] = a[i];
        a[i] = t;
        sift(a, 0, i);
    }
}

static uint64_t ones(uint64_t x)
{
#ifdef __ARM_NEON
    return (uint64_t)__builtin_popcountll(x);
#else /* the compiler would call its own library, which counts in vector registers */
    uint64_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
#endif
}

static uint64_t arithmetic(void)
{
    uint64_t a = 0x123456789abcdef1u, sum = 0;
    for (int i = 1; i < 2000; i++) {
        const __uint128_t wide = (__uint128_t)a * 0x9e3779b97f4a7c15u;
        a = (uint64_t)wide ^ (uint64_t)(wide >> 64);
        sum += a / (uint64_t)i + (uint64_t)((int64_t)a / -i) + a % 977;
        sum ^= (uint64_t)__builtin_clzll(a | 1) << (i & 31) ^ __builtin_bswap64(a) ^ (a >> (i & 63) | a << (64 - (i & 63)) % 64);
        sum += ones(a) + (uint32_t)((int32_t)a >> (i & 31));
    }
    return sum;
}

/* A jump table, and bytes that the compiler can only reach one at a time. */
static uint64_t interpret(const char *program)
{
    uint64_t acc = 1;
    for (; *program; program++) {
        switch (*program) {
        case 'a': acc += 3; break;
        case 'b': acc *= 5; break;
        case 'c': acc ^= acc >> 7; break;
        case 'd': acc -= 11; break;
        case 'e': acc = (acc << 9) | (acc >> 55); break;
        case 'f': acc = ~acc; break;
        case 'g': acc += *program; break;
        default: acc = 0; break;
        }
    }
    return acc;
}

int guest_main(long argc, char **argv)
{
    make_crc_table();
    guest_report("crc", crc32((const uint8_t *)"123456789", 9));
    guest_report("crc-table", crc32((const uint8_t *)crc_table, sizeof crc_table));
    guest_report("primes", count_primes());
    guest_report("sieve", guest_hash(composite, sizeof composite));
    uint32_t state = 12345;
    for (int i = 0; i < 1000; i++)
        numbers[i] = (int32_t)(state = state * 1103515245u + 12345u);
    heap_sort(numbers, 1000);
    int sorted = 1;
    for (int i = 1; i < 1000; i++)
        sorted &= numbers[i - 1] <= numbers[i];
    guest_report("sorted", (uint64_t)sorted);
    guest_report("sort", guest_hash(numbers, sizeof numbers));
    guest_report("arithmetic", arithmetic());
    guest_report("interpret", interpret("abcdefgabbaceffgdcba"));
    guest_report("argc", (uint64_t)argc);
    for (long i = 1; i < argc; i++) {
        guest_text(argv[i]);
        guest_text("\n");
    }
    return sorted ? 42 : 1;
}
