/* Sums of 64 products that tell rules of the Neural Engine's adder apart, and what each rule makes of them.
 *
 * Published probes leave open how operands are rounded when an addition aligns them, in which order a group of four is added, and
 * which channels form a group (units/ane/README.md). These sums do not: on a Mac, `make native` runs them through a 1 x 1
 * convolution of 64 channels whose weights are 1.
 */
#ifndef ORCHARD_UNITS_ANE_NATIVE_ANE_PROBES_H
#define ORCHARD_UNITS_ANE_NATIVE_ANE_PROBES_H

#include <stdbool.h>
#include <stddef.h>

enum { PROBE_CHANNELS = 64, PROBE_GROUP = 4 };

enum probe_rounding { PROBE_NEAREST_EVEN, PROBE_TOWARD_ZERO, PROBE_DOWN, PROBE_ROUNDINGS };
enum probe_order { PROBE_IN_TURN, PROBE_PAIRS, PROBE_ORDERS };  /* ((a + b) + c) + d, (a + b) + (c + d) */
enum probe_groups { PROBE_NEXT, PROBE_APART, PROBE_GROUPINGS }; /* channels 4 g + i, g + 16 i */

struct probe_rule {
    enum probe_rounding rounding;
    enum probe_order order;
    enum probe_groups groups;
};
enum { PROBE_RULES = PROBE_ROUNDINGS * PROBE_ORDERS * PROBE_GROUPINGS };
/* The rules by number; number 0 is the one that orchard follows. */
struct probe_rule probe_rule(unsigned number);
const char *probe_rule_name(unsigned number, char text[64]);

struct probe {
    const char *what;
    float value[PROBE_CHANNELS]; /* of the channels; fp16 holds each */
};
size_t probe_count(void);
void probe_make(size_t index, struct probe *probe);
/* What the engine returns by a rule: fp16, as a number. */
double probe_sum(const struct probe *probe, const struct probe_rule *rule);

/* The Core ML model of the convolution: a protobuf message of `bytes` bytes in `to`, which has room for `room`; 0 = too small. */
size_t probe_model(unsigned char *to, size_t room);

#endif
