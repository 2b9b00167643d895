#include "units/ane/native/ane_probes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- rules ---- */

struct probe_rule probe_rule(unsigned number)
{
    return (struct probe_rule){(enum probe_rounding)(number % PROBE_ROUNDINGS),
                               (enum probe_order)(number / PROBE_ROUNDINGS % PROBE_ORDERS),
                               (enum probe_groups)(number / PROBE_ROUNDINGS / PROBE_ORDERS % PROBE_GROUPINGS)};
}

const char *probe_rule_name(unsigned number, char text[64])
{
    static const char *const rounding[] = {"nearest even", "toward zero", "down"};
    static const char *const order[] = {"in turn", "by pairs"};
    static const char *const groups[] = {"four next channels", "channels 16 apart"};
    const struct probe_rule r = probe_rule(number);
    snprintf(text, 64, "%s, %s, %s", rounding[r.rounding], order[r.order], groups[r.groups]);
    return text;
}

static double rounded(double value, enum probe_rounding rounding)
{
    switch (rounding) {
    case PROBE_TOWARD_ZERO: return trunc(value);
    case PROBE_DOWN: return floor(value);
    default: return nearbyint(value);
    }
}

/* Both operands become multiples of 2^-11 of the larger one's binade. */
static double add(double a, double b, enum probe_rounding rounding)
{
    int exponent;
    const double larger = fmax(fabs(a), fabs(b));
    if (larger == 0)
        return 0;
    frexp(larger, &exponent);
    const double step = ldexp(1, exponent - 1 - 11);
    return (rounded(a / step, rounding) + rounded(b / step, rounding)) * step;
}

static double group_sum(const double p[PROBE_GROUP], const struct probe_rule *rule)
{
    if (rule->order == PROBE_PAIRS)
        return add(add(p[0], p[1], rule->rounding), add(p[2], p[3], rule->rounding), rule->rounding);
    return add(add(add(p[0], p[1], rule->rounding), p[2], rule->rounding), p[3], rule->rounding);
}

static double to_half(double value)
{
    int exponent;
    frexp(value, &exponent);
    const double step = ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
    return nearbyint(value / step) * step;
}

double probe_sum(const struct probe *probe, const struct probe_rule *rule)
{
    double sum = 0;
    for (unsigned g = 0; g < PROBE_CHANNELS / PROBE_GROUP; g++) {
        double p[PROBE_GROUP];
        for (unsigned i = 0; i < PROBE_GROUP; i++)
            p[i] = probe->value[rule->groups == PROBE_NEXT ? PROBE_GROUP * g + i : g + PROBE_CHANNELS / PROBE_GROUP * i];
        sum += group_sum(p, rule);
    }
    return to_half(sum);
}

/* ---- probes ---- */

/* A large value, small ones, and the large one taken away again in a group far from it, so that fp16 shows what was left. */
struct shape {
    const char *what;
    struct {
        unsigned channel;
        double value;
    } part[6];
};

#define STEP 0x1p-11
static const struct shape shapes[] = {
    {"1.75 steps beside 1", {{0, 1}, {1, 1.75 * STEP}, {63, -1}}},
    {"1.75 steps below -1", {{0, -1}, {1, -1.75 * STEP}, {63, 1}}},
    {"1.25 steps below -1", {{0, -1}, {1, -1.25 * STEP}, {63, 1}}},
    {"half a step beside 1: a tie", {{0, 1}, {1, 0.5 * STEP}, {63, -1}}},
    {"one step and a half: a tie", {{0, 1}, {1, 1.5 * STEP}, {63, -1}}},
    {"two quarter steps, then 1", {{0, 0.375 * STEP}, {1, 0.375 * STEP}, {2, 1}, {63, -1}}},
    {"1, then two times 0.375 steps", {{0, 1}, {2, 0.375 * STEP}, {3, 0.375 * STEP}, {63, -1}}},
    {"1, then two times 0.75 steps", {{0, 1}, {2, 0.75 * STEP}, {3, 0.75 * STEP}, {63, -1}}},
    {"1.75 steps beside 1, 16 channels on", {{0, 1}, {16, 1.75 * STEP}, {63, -1}}},
    {"1.75 steps below -1, 16 channels on", {{0, -1}, {16, -1.75 * STEP}, {63, 1}}},
    {"1, then two times 0.375 steps, 16 channels apart", {{0, 1}, {32, 0.375 * STEP}, {48, 0.375 * STEP}, {63, -1}}},
    {"1, then two times 0.75 steps, 16 channels apart", {{0, 1}, {32, 0.75 * STEP}, {48, 0.75 * STEP}, {63, -1}}},
    {"1 and 0.375 steps 16 channels on", {{0, 1}, {16, 0.375 * STEP}, {63, -1}}},
    {"1 and 0.375 steps 3 channels on", {{0, 1}, {3, 0.375 * STEP}, {63, -1}}},
    {"1 and 0.375 steps 4 channels on", {{0, 1}, {4, 0.375 * STEP}, {63, -1}}},
};

size_t probe_count(void)
{
    return sizeof shapes / sizeof shapes[0];
}

void probe_make(size_t index, struct probe *probe)
{
    memset(probe, 0, sizeof *probe);
    probe->what = shapes[index].what;
    for (size_t i = 0; i < sizeof shapes[0].part / sizeof shapes[0].part[0]; i++)
        if (shapes[index].part[i].value != 0)
            probe->value[shapes[index].part[i].channel] = (float)shapes[index].part[i].value;
}

/* ---- the model: messages of apple/coremltools mlmodel/format (Model, FeatureTypes, NeuralNetwork) ---- */

struct writer {
    unsigned char *to;
    size_t used, room;
};

static void put(struct writer *w, const void *bytes, size_t size)
{
    if (w->used + size <= w->room)
        memcpy(w->to + w->used, bytes, size);
    w->used += size;
}

static void put_varint(struct writer *w, unsigned long long value)
{
    do {
        const unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(w, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_number(struct writer *w, unsigned field, unsigned long long value)
{
    put_varint(w, field << 3);
    put_varint(w, value);
}

static void put_bytes(struct writer *w, unsigned field, const void *bytes, size_t size)
{
    put_varint(w, field << 3 | 2);
    put_varint(w, size);
    put(w, bytes, size);
}

static void put_text(struct writer *w, unsigned field, const char *text)
{
    put_bytes(w, field, text, strlen(text));
}

static void put_message(struct writer *w, unsigned field, const struct writer *message)
{
    put_bytes(w, field, message->to, message->used);
}

enum { SPEC = 4, MESSAGE_MAX = 4096, FLOAT32 = 65568 };

/* FeatureDescription: name 1, type 3 (multiArrayType 5: shape 1, dataType 2). */
static void put_feature(struct writer *w, unsigned field, const char *name, unsigned channels)
{
    unsigned char a[64], t[80], f[128];
    struct writer array = {a, 0, sizeof a}, type = {t, 0, sizeof t}, feature = {f, 0, sizeof f};
    put_number(&array, 1, channels);
    put_number(&array, 1, 1);
    put_number(&array, 1, 1);
    put_number(&array, 2, FLOAT32);
    put_message(&type, 5, &array);
    put_text(&feature, 1, name);
    put_message(&feature, 3, &type);
    put_message(w, field, &feature);
}

/* ConvolutionLayerParams: outputChannels 1, kernelChannels 2, nGroups 10, kernelSize 20, stride 30, valid padding 50, weights 90
 * (floatValue 1). */
static void put_convolution(struct writer *w)
{
    static const float one[PROBE_CHANNELS] = {
#define FOUR    1, 1, 1, 1
#define SIXTEEN FOUR, FOUR, FOUR, FOUR
        SIXTEEN, SIXTEEN, SIXTEEN, SIXTEEN};
    unsigned char m[512], k[300];
    struct writer convolution = {m, 0, sizeof m}, weights = {k, 0, sizeof k};
    put_number(&convolution, 1, 1);
    put_number(&convolution, 2, PROBE_CHANNELS);
    put_number(&convolution, 10, 1);
    for (unsigned field = 20; field <= 30; field += 10) {
        put_number(&convolution, field, 1);
        put_number(&convolution, field, 1);
    }
    put_bytes(&convolution, 50, "", 0);
    put_bytes(&weights, 1, one, sizeof one);
    put_message(&convolution, 90, &weights);
    put_message(w, 100, &convolution);
}

size_t probe_model(unsigned char *to, size_t room)
{
    unsigned char d[400], n[1024], l[900];
    struct writer model = {to, 0, room}, description = {d, 0, sizeof d}, network = {n, 0, sizeof n}, layer = {l, 0, sizeof l};
    put_feature(&description, 1, "x", PROBE_CHANNELS);
    put_feature(&description, 10, "sum", 1);
    put_text(&layer, 1, "sum");
    put_text(&layer, 2, "x");
    put_text(&layer, 3, "sum");
    put_convolution(&layer);
    put_message(&network, 1, &layer);
    put_number(&model, 1, SPEC);
    put_message(&model, 2, &description);
    put_message(&model, 500, &network);
    return model.used <= room ? model.used : 0;
}
