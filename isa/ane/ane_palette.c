/* The codebooks of palettized weights. */
#include "isa/ane/ane_bank.h"
#include "isa/ane/ane_half.h"

#include <stdlib.h>
#include <string.h>

#define HALVES 65536u
#define ROUNDS 32

/* fp16 bits as integers that are ordered like the values (both zeros count as +0), and back. */
static unsigned order_of(uint16_t bits)
{
    if ((bits & 0x7fff) == 0)
        return 0x8000;
    return bits & 0x8000 ? 0x8000u - (bits & 0x7fffu) : 0x8000u + bits;
}

static uint16_t bits_of(unsigned order)
{
    return (uint16_t)(order >= 0x8000 ? order - 0x8000 : 0x8000 | (0x8000 - order));
}

/* The different values in ascending order, and how often each occurs. */
struct histogram {
    double value[HALVES];
    size_t often[HALVES];
    unsigned count;
    size_t total;
};

static void fill(struct histogram *h, const uint16_t *weight, size_t count, bool zeros)
{
    memset(h->often, 0, sizeof h->often);
    for (size_t i = 0; i < count; i++)
        h->often[order_of(weight[i])]++;
    if (!zeros)
        h->often[order_of(0)] = 0;
    h->count = 0;
    h->total = 0;
    for (unsigned order = 0; order < HALVES; order++)
        if (h->often[order]) {
            h->value[h->count] = ane_half_value(bits_of(order));
            h->total += h->often[order];
            h->often[h->count++] = h->often[order];
        }
}

/* Chooses initial centres such that each has an equal share of the weights. */
static void start(const struct histogram *h, unsigned size, double *centre)
{
    size_t passed = 0;
    unsigned i = 0;
    for (unsigned c = 0; c < size; c++) {
        const double target = ((double)c + 0.5) / size * (double)h->total;
        while (i + 1 < h->count && (double)(passed + h->often[i]) < target)
            passed += h->often[i++];
        centre[c] = h->value[i];
    }
}

/* Moves the centres, which are ascending, to the mean of the values that are nearest to them. True when one moved. */
static bool improve(const struct histogram *h, unsigned size, double *centre)
{
    double sum[256] = {0}, often[256] = {0};
    unsigned c = 0;
    bool moved = false;
    for (unsigned i = 0; i < h->count; i++) {
        while (c + 1 < size && h->value[i] > 0.5 * (centre[c] + centre[c + 1]))
            c++;
        sum[c] += h->value[i] * (double)h->often[i];
        often[c] += (double)h->often[i];
    }
    for (c = 0; c < size; c++)
        if (often[c] > 0 && centre[c] != sum[c] / often[c]) {
            centre[c] = sum[c] / often[c];
            moved = true;
        }
    return moved;
}

bool ane_palette_choose(const uint16_t *weight, size_t count, bool zeros, unsigned bits, uint16_t palette[256])
{
    const unsigned size = 1u << bits;
    struct histogram *h = malloc(sizeof *h);
    double centre[256];
    if (!h)
        return false;
    fill(h, weight, count, zeros);
    if (h->count <= size) {
        for (unsigned c = 0; c < size; c++)
            centre[c] = h->count ? h->value[c < h->count ? c : h->count - 1] : 0;
    } else {
        start(h, size, centre);
        for (unsigned i = 0; i < ROUNDS && improve(h, size, centre); i++) {
        }
    }
    for (unsigned c = 0; c < size; c++)
        palette[c] = ane_half_bits(centre[c]);
    free(h);
    return true;
}

void ane_palette_prepare(struct ane_palette *palette, const uint16_t *codebook, unsigned bits)
{
    palette->size = 1u << bits;
    for (unsigned i = 0; i < palette->size; i++)
        palette->value[i] = ane_half_value(codebook[i]);
}

unsigned ane_palette_index(const struct ane_palette *palette, uint16_t weight)
{
    const double value = ane_half_value(weight), *const of = palette->value;
    unsigned low = 0; /* the first value that is not below ours, else the last one */
    for (unsigned step = palette->size / 2; step; step /= 2)
        low += of[low + step - 1] < value ? step : 0;
    return low > 0 && value - of[low - 1] < of[low] - value ? low - 1 : low;
}
