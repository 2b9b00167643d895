/* Kernels for any host: 4 columns per GNU vector. Rows of fp16 are converted one by one. */
#include "units/ane/ane_kernel_set.h"
#include "units/ane/ane_numeric.h"

enum { LANES = 4 }; /* as wide as the vectors of any host: wider ones would pass through memory */
typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));

static bool usable(void)
{
    return true;
}

static inline vf load(const float *from)
{
    vf v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline vf join(float align, vf sum, vf product)
{
    const vi a = (vi)sum & 0x7f800000, b = (vi)product & 0x7f800000;
    const vi more = a > b;
    const vf binade = (vf)((a & more) | (b & ~more));
    const vf raised = binade * (1.5f * align);
    return ((raised + sum) + product) - raised;
}

static inline vf larger(vf peak, vf sum)
{
    const vi size = (vi)sum & 0x7fffffff, more = size > (vi)peak;
    return (vf)((size & more) | ((vi)peak & ~more));
}

static inline __attribute__((always_inline)) void row_of(const struct ane_mac_block *b, size_t row, size_t lane,
                                                         const size_t group)
{
    const float *w = b->weight + row * b->k;
    vf sum = {0}, peak = {0};
    for (size_t k = 0; k < b->k; k += group) {
        const float *x = b->panel + k * ANE_MAC_LANES + lane;
        vf part = load(x) * w[k];
        for (size_t i = 1; i < group; i++)
            part = join(b->align, part, load(x + i * ANE_MAC_LANES) * w[k + i]);
        sum += part;
        peak = larger(peak, sum);
    }
    memcpy(b->out + row * ANE_MAC_LANES + lane, &sum, sizeof sum);
    if (b->peak)
        memcpy(b->peak + row * ANE_MAC_LANES + lane, &peak, sizeof peak);
}

static void mac(const struct ane_mac_block *b)
{
    for (size_t row = 0; row < b->rows; row++)
        for (size_t lane = 0; lane < ANE_MAC_LANES; lane += LANES) {
            if (b->group == 4)
                row_of(b, row, lane, 4);
            else
                row_of(b, row, lane, b->group);
        }
}

static void expand(const struct ane_numeric *rules, bool mac_rules, const uint8_t *from, float *to, size_t count)
{
    ane_set_reference.expand(rules, mac_rules, from, to, count);
}

static void reduce(const struct ane_numeric *rules, const float *from, uint8_t *to, size_t count)
{
    ane_set_reference.reduce(rules, from, to, count);
}

const struct ane_kernel_set ane_set_portable = {"portable", usable, mac, expand, reduce};
