/* Sources: transformers, modeling_rope_utils.py; B. Peng et al., "YaRN" (2023), for its ramp; Y. Ding et al., "LongRoPE" (2024).
 */
#include "sim/language/rotation.h"

#include <math.h>

/* Llama 3 stretches long waves by a factor, short ones not at all, and those between in part. */
static double stretched(const struct language_shape *s, double frequency)
{
    const double wave = 2 * M_PI / frequency, longest = s->scaling_context / s->scaling_low,
                 shortest = s->scaling_context / s->scaling_high;
    if (wave < shortest)
        return frequency;
    if (wave > longest)
        return frequency / s->scaling_factor;
    const double share = (s->scaling_context / wave - s->scaling_low) / (s->scaling_high - s->scaling_low);
    return (1 - share) * frequency / s->scaling_factor + share * frequency;
}

/* The pair that turns so many times within the first context. */
static double pair_of(const struct language_shape *s, double turns)
{
    return s->rope_size * log(s->scaling_context / (turns * 2 * M_PI)) / (2 * log(s->rope_base));
}

/* YaRN leaves pairs that turn often as they are, stretches those that turn seldom, and goes from the first to the others along a
 * ramp. */
static double ramped(const struct language_shape *s, unsigned pair, double frequency)
{
    const double early = pair_of(s, s->scaling_high), late = pair_of(s, s->scaling_low);
    const double first = fmax(s->scaling_between ? early : floor(early), 0),
                 last = fmin(s->scaling_between ? late : ceil(late), s->rope_size - 1);
    const double width = last - first != 0 ? last - first : 0.001;
    const double stretch = fmin(fmax((pair - first) / width, 0), 1);
    return frequency / s->scaling_factor * stretch + frequency * (1 - stretch);
}

/* A longer context turns all pairs slower, the later ones more. */
static double dynamic_base(const struct language_shape *s, unsigned context)
{
    const double length = context > s->context ? context : s->context, size = s->rope_size;
    return s->rope_base * pow(s->scaling_factor * length / s->context - (s->scaling_factor - 1), size / (size - 2));
}

void rotation_speeds(const struct language_shape *shape, unsigned context, double *speed)
{
    const struct language_shape *const s = shape;
    const float *const factor = context > s->scaling_context ? s->scaling_long : s->scaling_short;
    const double base = s->scaling == SHAPE_SCALING_DYNAMIC && s->rope_size > 2 ? dynamic_base(s, context) : s->rope_base;
    for (unsigned i = 0; i < s->rope_size / 2; i++) {
        const double frequency = pow(base, -2.0 * i / s->rope_size);
        speed[i] = s->scaling == SHAPE_SCALING_LINEAR && s->scaling_factor > 0 ? frequency / s->scaling_factor
                   : s->scaling == SHAPE_SCALING_LLAMA3                        ? stretched(s, frequency)
                   : s->scaling == SHAPE_SCALING_YARN                          ? ramped(s, i, frequency)
                   : s->scaling == SHAPE_SCALING_LONGROPE                      ? frequency / (double)factor[i]
                                                                               : frequency;
    }
}

double rotation_attention(const struct language_shape *shape)
{
    return shape->scaling_attention > 0 ? shape->scaling_attention : 1;
}

double rotation_yarn_attention(double factor)
{
    return factor > 1 ? 0.1 * log(factor) + 1 : 1;
}

double rotation_long_attention(double factor, double first_context)
{
    return factor > 1 && first_context > 1 ? sqrt(1 + log(factor) / log(first_context)) : 1;
}
