#include "sim/language/mel_spectrogram.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

enum { HALVINGS = 4, ODD = MEL_WINDOW >> HALVINGS }; /* 400 is 16 times 25 */
_Static_assert(ODD << HALVINGS == MEL_WINDOW && ODD % 2 == 1, "halves of the window");

#define TOP_HZ           8000.0
#define BIN_HZ           ((double)MEL_RATE / MEL_WINDOW)
#define LEAST_POWER      1e-10
#define DECADES_OF_SOUND 8

/* ---- the mel scale ---- */

/* Slaney, Auditory Toolbox (1998): straight up to 1 kHz, 15 mels; then 27 mels for a factor of 6.4. */
static double mels_of(double hz)
{
    return hz < 1000 ? hz * 3 / 200 : 15 + 27 * log(hz / 1000) / log(6.4);
}

static double hz_of(double mels)
{
    return mels < 15 ? mels * 200 / 3 : 1000 * exp((mels - 15) / 27 * log(6.4));
}

/* Where filter `corner` - 1 has its middle, `corner` its lower and `corner` - 2 its upper end. */
static double corner_hz(unsigned corner, unsigned channels)
{
    return hz_of(mels_of(TOP_HZ) * corner / (channels + 1));
}

double mel_weight(unsigned channel, unsigned channels, unsigned bin)
{
    const double low = corner_hz(channel, channels), middle = corner_hz(channel + 1, channels);
    const double high = corner_hz(channel + 2, channels), hz = bin * BIN_HZ;
    const double up = (hz - low) / (middle - low), down = (high - hz) / (high - middle);
    return fmax(0, fmin(up, down)) * 2 / (high - low);
}

/* ---- the spectrum ---- */

struct spectrum {
    double window[MEL_WINDOW];
    double complex turn[MEL_WINDOW]; /* e^(-2 pi i k / 400) */
};

static void start_spectrum(struct spectrum *s)
{
    const double step = 2 * acos(-1) / MEL_WINDOW;
    for (unsigned i = 0; i < MEL_WINDOW; i++) {
        s->window[i] = 0.5 - 0.5 * cos(step * i);
        s->turn[i] = cos(step * i) - I * sin(step * i);
    }
}

/* The Fourier transform of `count` values, every `stride`-th of `value`: halved while that goes, then by its definition. */
static void transform(const struct spectrum *s, const double *value, unsigned stride, unsigned count, double complex *out)
{
    if (count == ODD) {
        for (unsigned k = 0; k < ODD; k++) {
            out[k] = 0;
            for (unsigned i = 0; i < ODD; i++)
                out[k] += value[i * stride] * s->turn[i * k % ODD * stride];
        }
        return;
    }
    const unsigned half = count / 2;
    transform(s, value, 2 * stride, half, out);
    transform(s, value + stride, 2 * stride, half, out + half);
    for (unsigned k = 0; k < half; k++) {
        const double complex even = out[k], odd = s->turn[k * stride] * out[half + k];
        out[k] = even + odd;
        out[half + k] = even - odd;
    }
}

/* Of a sound of `length` samples, mirrored at its ends; those behind `count` are silent. */
static double sample_at(const float *sample, size_t count, size_t length, ptrdiff_t at)
{
    const size_t place = at < 0 ? (size_t)-at : (size_t)at < length ? (size_t)at : 2 * (length - 1) - (size_t)at;
    return place < count ? sample[place] : 0;
}

/* ---- all of it ---- */

static float decades_of(const double *weight, const double *power)
{
    double sum = 0;
    for (unsigned b = 0; b < MEL_BINS; b++)
        sum += weight[b] * power[b];
    return (float)log10(fmax(sum, LEAST_POWER));
}

/* No further below the loudest than the range, and about from -1 to 1. */
static void scale(float *out, size_t values)
{
    float most = out[0];
    for (size_t i = 1; i < values; i++)
        most = fmaxf(most, out[i]);
    for (size_t i = 0; i < values; i++)
        out[i] = (fmaxf(out[i], most - DECADES_OF_SOUND) + 4) / 4;
}

bool mel_spectrogram(const float *sample, size_t count, unsigned channels, unsigned frames, float *out, struct orch_error *error)
{
    struct spectrum spectrum;
    double complex of[MEL_WINDOW];
    double part[MEL_WINDOW], power[MEL_BINS];
    const size_t length = (size_t)frames * MEL_STEP;
    double *const weight = malloc((size_t)channels * MEL_BINS * sizeof *weight);
    if (!weight)
        return orch_no_memory(error);
    start_spectrum(&spectrum);
    for (unsigned c = 0; c < channels; c++)
        for (unsigned b = 0; b < MEL_BINS; b++)
            weight[(size_t)c * MEL_BINS + b] = mel_weight(c, channels, b);
    for (unsigned f = 0; f < frames; f++) {
        const ptrdiff_t begin = (ptrdiff_t)f * MEL_STEP - MEL_WINDOW / 2;
        for (unsigned i = 0; i < MEL_WINDOW; i++)
            part[i] = spectrum.window[i] * sample_at(sample, count, length, begin + (ptrdiff_t)i);
        transform(&spectrum, part, 1, MEL_WINDOW, of);
        for (unsigned b = 0; b < MEL_BINS; b++)
            power[b] = creal(of[b]) * creal(of[b]) + cimag(of[b]) * cimag(of[b]);
        for (unsigned c = 0; c < channels; c++)
            out[(size_t)c * frames + f] = decades_of(weight + (size_t)c * MEL_BINS, power);
    }
    free(weight);
    scale(out, (size_t)channels * frames);
    return true;
}
