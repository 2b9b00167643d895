/* Pairs of elements turned by their position; compiled for each type of elements. Angles are found in double precision, once for
 * each position, and reduced before sine and cosine are taken in float32. */
#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/neon_math.h"

/* ORDER: cpu_kernel_attention.c. */
struct rope {
    const element *x;
    const float *scales; /* of each pair's speed; NULL = 1 */
    element *out;
    float *turns;                    /* [position][cosines of part / 2 pairs, sines] */
    int64_t length, together, depth; /* together: rows that have one position */
    int64_t part, offset, interleaved;
    double log_base;
};
void NAME(neon_rope_turns)(const struct rope *r, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_rope)(const struct rope *r, uint64_t first, uint64_t end, uint64_t thread);

/* e^x for x in [-40, 0]: a power of two times a series of 14 terms. */
static double exp_double(double x)
{
    const double n = __builtin_rint(x * 0x1.71547652b82fep+0);
    const double r = __builtin_fma(-n, 0x1.abc9e3b39803fp-56, __builtin_fma(-n, 0x1.62e42fefa39efp-1, x));
    double sum = 1, term = 1;
    for (int i = 1; i < 14; i++) {
        term *= r / i;
        sum += term;
    }
    const int64_t bits = ((int64_t)n + 1023) << 52;
    double power;
    __builtin_memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* Items are positions. */
void NAME(neon_rope_turns)(const struct rope *r, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t pairs = r->part / 2;
    (void)thread;
    for (int64_t pair = 0; pair < pairs; pair++) {
        const double scale = r->scales ? (double)r->scales[pair] : 1;
        const double speed = scale * exp_double(-2.0 * (double)pair / (double)r->part * r->log_base);
        for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
            const double angle = (double)(at + r->offset) * speed, turns = __builtin_rint(angle * 0x1.45f306dc9c883p-3);
            const double rest = __builtin_fma(-turns, 0x1.1a62633145c07p-52, __builtin_fma(-turns, 0x1.921fb54442d18p+2, angle));
            const float32x4_t x = four((float)rest);
            r->turns[2 * at * pairs + pair] = vgetq_lane_f32(cos4(x), 0);
            r->turns[(2 * at + 1) * pairs + pair] = vgetq_lane_f32(sin4(x), 0);
        }
    }
}

static void turn(const struct rope *r, const element *x, element *out, const float *cosine, const float *sine)
{
    const int64_t pairs = r->part / 2, step = r->interleaved ? 1 : pairs, next = r->interleaved ? 2 : 1;
    int64_t i = 0;
    for (; !r->interleaved && i + 4 <= pairs; i += 4) {
        const float32x4_t a = load4(x + i), b = load4(x + i + pairs), c = vld1q_f32(cosine + i), s = vld1q_f32(sine + i);
        store4(out + i, vfmsq_f32(vmulq_f32(a, c), b, s));
        store4(out + i + pairs, vfmaq_f32(vmulq_f32(b, c), a, s));
    }
    for (; i < pairs; i++) {
        const float a = load1(x + i * next), b = load1(x + i * next + step);
        store1(out + i * next, __builtin_fmaf(-b, sine[i], a * cosine[i]));
        store1(out + i * next + step, __builtin_fmaf(a, sine[i], b * cosine[i]));
    }
    for (int64_t k = r->part; k < r->depth; k++)
        out[k] = x[k];
}

/* Items are rows of d elements. */
void NAME(neon_rope)(const struct rope *r, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
        const float *const cosine = r->turns + row / r->together % r->length * r->part;
        turn(r, r->x + row * r->depth, r->out + row * r->depth, cosine, cosine + r->part / 2);
    }
}
