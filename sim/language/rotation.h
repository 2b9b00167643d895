/* How fast pairs of a head turn: by the base alone, or scaled for contexts longer than those of the training. */
#ifndef ORCHARD_SIM_LANGUAGE_ROTATION_H
#define ORCHARD_SIM_LANGUAGE_ROTATION_H

#include "sim/language/shape.h"

/* Radians a position for each of rope_size / 2 pairs. `context`: tokens that the cache has room for, on which LongRoPE and
 * dynamic scaling depend. What low and high are: of Llama 3 factors of wave lengths, of YaRN turns within the first context. */
void rotation_speeds(const struct language_shape *shape, unsigned context, double *speed);
/* What cosines and sines are multiplied by. */
double rotation_attention(const struct language_shape *shape);
/* YaRN's of a factor, and LongRoPE's of how much longer a context is. */
double rotation_yarn_attention(double factor);
double rotation_long_attention(double factor, double first_context);

#endif
