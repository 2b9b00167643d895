/* What tiny models with an encoder compute: a forward pass over all places at once in double precision, without caches, written
 * after modeling_t5.py and modeling_whisper.py of transformers. */
#ifndef ORCHARD_TESTS_SIM_RUN_ENCODER_TRUTH_H
#define ORCHARD_TESTS_SIM_RUN_ENCODER_TRUTH_H

#include "tests/sim/run/encoder_example.h"

#include <math.h>

static inline const struct made_tensor *made_find(const struct made_model *m, const char *layer, const char *part,
                                                  const char *end)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s%s%s", layer, part, *end ? "." : "", end);
    for (size_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, name) == 0)
            return &m->tensor[i];
    return NULL;
}

/* Of rows x columns of a matrix and its bias. */
static inline void exact_product(const struct made_model *m, const char *layer, const char *part, const double *x, unsigned count,
                                 double *y)
{
    const struct made_tensor *const t = made_find(m, layer, part, "weight"), *const bias = made_find(m, layer, part, "bias");
    const uint64_t columns = t->shape[0], rows = t->shape[1];
    for (unsigned i = 0; i < count; i++)
        for (uint64_t r = 0; r < rows; r++) {
            double sum = bias ? (double)bias->value[r] : 0;
            for (uint64_t c = 0; c < columns; c++)
                sum += (double)t->value[r * columns + c] * x[i * columns + c];
            y[i * rows + r] = sum;
        }
}

static inline void exact_norm(const struct made_model *m, const char *layer, const char *part, const double *x, unsigned count,
                              double *y)
{
    const struct made_tensor *const scale = made_find(m, layer, part, "weight"), *const shift = made_find(m, layer, part, "bias");
    const unsigned w = m->width;
    for (unsigned i = 0; i < count; i++) {
        double mean = 0, square = 0;
        for (unsigned c = 0; c < w && shift; c++)
            mean += x[i * w + c] / w;
        for (unsigned c = 0; c < w; c++)
            square += (x[i * w + c] - mean) * (x[i * w + c] - mean) / w;
        for (unsigned c = 0; c < w; c++)
            y[i * w + c] = (x[i * w + c] - mean) / sqrt(square + (shift ? 1e-5 : (double)1e-6F)) * (double)scale->value[c] +
                           (shift ? (double)shift->value[c] : 0);
    }
}

/* T5's steps of distance in whole numbers: step k of n begins where d^n reaches exact^n (128 / exact)^k. */
static inline int64_t exact_bucket(int64_t distance, int64_t buckets, bool both)
{
    const int64_t own = both ? buckets / 2 : buckets, exact = own / 2, steps = own - exact;
    const int64_t far = distance < 0 ? -distance : both ? distance : 0, first = both && distance > 0 ? own : 0;
    int64_t k = 0;
    if (far < exact)
        return first + far;
    for (int64_t next = 1; next < steps; next++) {
        unsigned __int128 reached = 1, limit = 1;
        for (int64_t i = 0; i < steps; i++) {
            reached *= (unsigned __int128)far;
            limit *= (unsigned __int128)exact;
        }
        for (int64_t i = 0; i < next; i++)
            limit *= (unsigned __int128)(128 / exact);
        k = reached >= limit ? next : k;
    }
    return first + exact + k;
}

/* Rows of keys or values as a cache of a type has them: halves, or blocks of 32 whole numbers with a half as scale (ggml, q8_0).
 */
static inline void exact_keep(const struct made_model *m, double *x, unsigned values)
{
    for (unsigned i = 0; m->cached && i < values; i += 32) {
        double most = 0;
        for (unsigned j = i; j < i + 32; j++)
            most = fmax(most, fabs(x[j]));
        const double step = (double)ane_half_to_float(ane_float_to_half((float)(most / 127)));
        for (unsigned j = i; j < i + 32; j++)
            x[j] = m->cached[0] == 'f' ? (double)ane_half_to_float(ane_float_to_half((float)x[j]))
                   : most > 0          ? round(x[j] / (most / 127)) * step
                                       : 0;
    }
}

struct exact_sight {
    bool causal, across;
    const char *biases; /* layer whose table has them; NULL = none */
};

/* x += attention of its rows over `seen` others. */
static inline void exact_attend(const struct made_model *m, const char *layer, unsigned norm, double *x, unsigned count,
                                const double *others, unsigned seen, struct exact_sight sight)
{
    enum { INNER = 48, WIDTH = 48 };
    static double normed[MADE_PLACES * WIDTH], q[MADE_PLACES * INNER], k[MADE_PLACES * INNER], v[MADE_PLACES * INNER],
        found[MADE_PLACES * INNER], out[MADE_PLACES * WIDTH];
    const unsigned inner = m->heads * m->size;
    const double scale = m->kind == SOUND ? 1 / sqrt(m->size) : 1;
    exact_norm(m, layer, made_part(m, norm), x, count, normed);
    exact_product(m, layer, made_part(m, norm + P_Q), normed, count, q);
    exact_product(m, layer, made_part(m, norm + P_K), sight.across ? others : normed, seen, k);
    exact_product(m, layer, made_part(m, norm + P_V), sight.across ? others : normed, seen, v);
    if (sight.causal || sight.across) {
        exact_keep(m, k, seen * inner);
        exact_keep(m, v, seen * inner);
    }
    const struct made_tensor *const table = sight.biases ? made_find(m, sight.biases, "attn_rel_b", "weight") : NULL;
    for (unsigned i = 0; i < count; i++)
        for (unsigned h = 0; h < m->heads; h++) {
            const unsigned end = sight.causal ? i + 1 : seen, at = h * m->size;
            double score[MADE_PLACES], sum = 0;
            for (unsigned j = 0; j < end; j++) {
                score[j] = 0;
                for (unsigned c = 0; c < m->size; c++)
                    score[j] += q[i * inner + at + c] * k[j * inner + at + c] * scale;
                if (table)
                    score[j] += (double)table->value[exact_bucket((int64_t)j - i, MADE_DISTANCES, !sight.causal) * m->heads + h];
                sum += score[j] = exp(score[j]);
            }
            for (unsigned c = 0; c < m->size; c++) {
                found[i * inner + at + c] = 0;
                for (unsigned j = 0; j < end; j++)
                    found[i * inner + at + c] += score[j] / sum * v[j * inner + at + c];
            }
        }
    exact_product(m, layer, made_part(m, norm + P_O), found, count, out);
    for (unsigned i = 0; i < count * m->width; i++)
        x[i] += out[i];
}

static inline double exact_gelu(double x)
{
    return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}

static inline void exact_feed(const struct made_model *m, const char *layer, double *x, unsigned count)
{
    enum { FORWARD = 128, WIDTH = 48 };
    static double normed[MADE_PLACES * WIDTH], up[MADE_PLACES * FORWARD], gate[MADE_PLACES * FORWARD], out[MADE_PLACES * WIDTH];
    const unsigned forward = m->kind == SOUND ? 4 * m->width : MADE_FORWARD;
    exact_norm(m, layer, made_part(m, P_FED), x, count, normed);
    exact_product(m, layer, made_part(m, P_UP), normed, count, up);
    if (m->kind == TEXT_GATED)
        exact_product(m, layer, made_part(m, P_GATE), normed, count, gate);
    for (unsigned i = 0; i < count * forward; i++)
        if (m->kind == TEXT_GATED) /* gelu_new */
            up[i] *= 0.5 * gate[i] * (1 + tanh(sqrt(2 / M_PI) * (gate[i] + 0.044715 * gate[i] * gate[i] * gate[i])));
        else
            up[i] = m->kind == SOUND ? exact_gelu(up[i]) : fmax(up[i], 0);
    exact_product(m, layer, made_part(m, P_DOWN), up, count, out);
    for (unsigned i = 0; i < count * m->width; i++)
        x[i] += out[i];
}

/* y[frame][filter] = gelu of a convolution of width 3 over x[frame][channel], zeros beyond its ends. */
static inline void exact_convolve(const struct made_model *m, const char *name, const double *x, unsigned frames, unsigned stride,
                                  double *y)
{
    const struct made_tensor *const t = made_find(m, "", name, "weight"), *const bias = made_find(m, "", name, "bias");
    const unsigned channels = (unsigned)t->shape[1], filters = (unsigned)t->shape[2];
    for (unsigned f = 0; f < frames / stride; f++)
        for (unsigned o = 0; o < filters; o++) {
            double sum = (double)bias->value[o];
            for (unsigned tap = 0; tap < 3; tap++)
                for (unsigned c = 0; c < channels; c++)
                    if (f * stride + tap >= 1 && f * stride + tap - 1 < frames)
                        sum += (double)t->value[(o * channels + c) * 3 + tap] * x[(f * stride + tap - 1) * channels + c];
            y[f * filters + o] = exact_gelu(sum);
        }
}

/* Rows of the table of tokens. */
static inline void exact_embed(const struct made_model *m, const uint32_t *token, unsigned count, double *x)
{
    const struct made_tensor *const t = made_find(m, "", m->kind == SOUND ? "decoder.token_embedding" : "token_embd", "weight");
    for (unsigned i = 0; i < count * m->width; i++)
        x[i] = (double)t->value[token[i / m->width] * m->width + i % m->width];
}

/* What the encoder makes of tokens, or of sound[channel][frame]. Returns how many rows. */
static inline unsigned exact_encode(const struct made_model *m, const uint32_t *token, unsigned count, const float *sound,
                                    double *memory)
{
    static double frames[MADE_FRAMES * MADE_CHANNELS], filtered[MADE_FRAMES * 48], x[MADE_PLACES * 48];
    char layer[32];
    if (sound) {
        const struct made_tensor *const places = made_find(m, "", "encoder.positional_embedding", "");
        for (unsigned i = 0; i < MADE_FRAMES * MADE_CHANNELS; i++)
            frames[i] = (double)sound[i % MADE_CHANNELS * MADE_FRAMES + i / MADE_CHANNELS];
        exact_convolve(m, "encoder.conv1", frames, MADE_FRAMES, 1, filtered);
        exact_convolve(m, "encoder.conv2", filtered, MADE_FRAMES, 2, x);
        count = MADE_FRAMES / 2;
        for (unsigned i = 0; i < count * m->width; i++)
            x[i] += (double)places->value[i];
    } else {
        exact_embed(m, token, count, x);
    }
    for (unsigned l = 0; l < MADE_ENCODER_LAYERS; l++) {
        made_layer_name(m, true, l, layer, sizeof layer);
        exact_attend(m, layer, P_NORM, x, count, NULL, count, (struct exact_sight){.biases = sound ? NULL : "enc.blk.0."});
        exact_feed(m, layer, x, count);
    }
    exact_norm(m, "", sound ? "encoder.ln_post" : "enc.output_norm", x, count, memory);
    return count;
}

/* The logits behind the last of some tokens. */
static inline void exact_logits(const struct made_model *m, const double *memory, unsigned seen, const uint32_t *token,
                                unsigned count, double *logits)
{
    static double x[MADE_PLACES * 48], last[48];
    char layer[32];
    exact_embed(m, token, count, x);
    const struct made_tensor *const places = made_find(m, "", "decoder.positional_embedding", "");
    for (unsigned i = 0; places && i < count * m->width; i++)
        x[i] += (double)places->value[i];
    for (unsigned l = 0; l < MADE_LAYERS; l++) {
        made_layer_name(m, false, l, layer, sizeof layer);
        exact_attend(m, layer, P_NORM, x, count, NULL, count,
                     (struct exact_sight){.causal = true, .biases = m->kind == SOUND ? NULL : "dec.blk.0."});
        exact_attend(m, layer, P_CROSS, x, count, memory, seen, (struct exact_sight){.across = true});
        exact_feed(m, layer, x, count);
    }
    exact_norm(m, "", m->kind == SOUND ? "decoder.ln" : "dec.output_norm", x + (count - 1) * m->width, 1, last);
    for (unsigned c = 0; m->kind == TEXT_PLAIN && c < m->width; c++) /* where the embedding is the head */
        last[c] /= sqrt(m->width);
    exact_product(m, "",
                  m->kind == TEXT_GATED ? "output"
                  : m->kind == SOUND    ? "decoder.token_embedding"
                                        : "token_embd",
                  last, 1, logits);
}

#endif
