/* The rule of the MAC as written down, one column after another; the other sets are compared with it. */
#include "units/ane/ane_kernel_set.h"
#include "units/ane/ane_numeric.h"

/* Returns sum + product, both rounded to multiples of the last place of the larger, which has as many bits as the group's adder.
 */
static float join(float align, float sum, float product)
{
    const float larger = fmaxf(fabsf(sum), fabsf(product));
    const float binade = f32_of_bits(f32_bits(larger) & 0x7f800000u); /* 0 when both are */
    const float raised = 1.5f * align * binade;                       /* one unit in its last place is one step of the grid */
    return ((raised + sum) + product) - raised;
}

float ane_mac_column(const struct ane_mac_block *b, const float *column, const float *weight, float limit, float *peak)
{
    float sum = 0;
    *peak = 0;
    for (size_t k = 0; k < b->k; k += b->group) {
        float part = column[k * ANE_MAC_LANES] * weight[k];
        for (size_t i = 1; i < b->group; i++)
            part = join(b->align, part, column[(k + i) * ANE_MAC_LANES] * weight[k + i]);
        sum += part;
        *peak = fmaxf(*peak, fabsf(sum));
        if (limit > 0 && fabsf(sum) >= limit)
            return sum > 0 ? INFINITY : -INFINITY;
    }
    return sum;
}

static bool usable(void)
{
    return true;
}

static void mac(const struct ane_mac_block *b)
{
    for (size_t row = 0; row < b->rows; row++)
        for (size_t lane = 0; lane < ANE_MAC_LANES; lane++) {
            float peak;
            const size_t at = row * ANE_MAC_LANES + lane;
            b->out[at] = ane_mac_column(b, b->panel + lane, b->weight + row * b->k, 0, &peak);
            if (b->peak)
                b->peak[at] = peak;
        }
}

static void expand(const struct ane_numeric *rules, bool mac_rules, const uint8_t *from, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, from + 2 * i, sizeof bits);
        to[i] = mac_rules ? ane_mac_value(rules, bits) : ane_operand_value(rules, bits);
    }
}

static void reduce(const struct ane_numeric *rules, const float *from, uint8_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint16_t bits = ane_result_bits(rules, from[i]);
        memcpy(to + 2 * i, &bits, sizeof bits);
    }
}

const struct ane_kernel_set ane_set_reference = {"reference", usable, mac, expand, reduce};
