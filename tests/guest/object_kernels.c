/* Functions of an object file, with every kind of reference that compilers make inside one: calls, constants, tables, static and
 * common data, pointers in data, jump tables. Test programs also include this file and compare results.
 */
#include <stddef.h>
#include <stdint.h>

static const double weights[5] = {0.5, -1.25, 2.0, 3.75, -0.125};
static uint32_t calls = 100;
uint64_t kernel_common[4]; /* a common symbol under -fcommon */
static uint8_t bytes_store[8];
static uint16_t halves_store[8];

static __attribute__((noinline)) uint64_t mix(uint64_t a, uint64_t b)
{
    calls++;
    return (a ^ b) * UINT64_C(0x9e3779b97f4a7c15) + (b << 7 | b >> 57);
}

static __attribute__((noinline)) uint64_t turn(uint64_t a, uint64_t b)
{
    return (a << 31 | a >> 33) - b;
}

static uint64_t (*const table[])(uint64_t, uint64_t) = {mix, turn, mix};
static const char *const names[] = {"alpha", "beta", "gamma", "delta"};

uint64_t kernel_dispatch(uint64_t seed, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        seed = table[i % 3](seed, i) + (uint64_t)names[seed & 3][i & 3];
    return seed + calls;
}

double kernel_weigh(const double *x, int n, double start)
{
    for (int i = 0; i < n; i++)
        start += weights[i % 5] * x[i];
    return start;
}

/* Ten integers and ten numbers, of which two each are passed on the stack. */
uint64_t kernel_many(uint64_t a, uint32_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i,
                     int64_t j, double p, float q, double r, double s, double t, double u, double v, double w, double x, float y)
{
    const double sum = p + 2 * q + 3 * r + 4 * s + 5 * t + 6 * u + 7 * v + 8 * w + 9 * x + 10 * y;
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * (uint64_t)j + (uint64_t)(sum * 16);
}

uint64_t kernel_data(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        kernel_common[i & 3] += i * i;
        bytes_store[i & 7] ^= (uint8_t)(i * 3);
        halves_store[(i + 1) & 7] += (uint16_t)(i * 1001);
    }
    uint64_t sum = calls;
    for (int i = 0; i < 8; i++)
        sum = sum * 31 + bytes_store[i] + (uint64_t)halves_store[i] * 7 + kernel_common[i & 3];
    return sum;
}

int64_t kernel_switch(int64_t op, int64_t x)
{
    switch (op) {
    case 0: return x + 1;
    case 1: return x * x;
    case 2: return -x;
    case 3: return x / 3;
    case 4: return x ^ 0x55;
    case 5: return (int64_t)((uint64_t)x << 3);
    case 6: return x % 17;
    case 7: return (int64_t)mix((uint64_t)x, 7);
    default: return 0;
    }
}

void kernel_saxpy(size_t n, float a, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = __builtin_fmaf(a, x[i], y[i]);
}

float kernel_half(float a, float b)
{
    return (a + b) * 0.5f;
}

/* Values of each way in which AAPCS64 returns them. */
typedef float lanes __attribute__((vector_size(16)));
typedef signed char small_lanes __attribute__((vector_size(8)));
struct three_floats {
    float x, y, z;
};
struct two_longs {
    long long low, high;
};
struct mixed {
    int count;
    float share;
};

lanes kernel_lanes(void)
{
    return (lanes){1, -2, 3, 0.25f};
}

small_lanes kernel_small_lanes(void)
{
    return (small_lanes){1, 2, 3, 4, -5, -6, -7, -8};
}

struct three_floats kernel_three(void)
{
    return (struct three_floats){1.5f, 2.5f, -3.5f};
}

struct two_longs kernel_two(void)
{
    return (struct two_longs){7, -5000000000};
}

struct mixed kernel_mixed(void)
{
    return (struct mixed){-3, 4.5f};
}

unsigned char kernel_byte(void)
{
    return 250;
}

size_t kernel_length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

extern int kernel_not_there(int) __attribute__((weak));

int kernel_weak(int x)
{
    return kernel_not_there ? kernel_not_there(x) : x + 1000;
}
