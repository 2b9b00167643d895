/* What Whisper hears of a sound: logarithms of the power in channels of the mel scale, a hundred frames a second.
 *
 * Sound of 16 kHz, Hann windows of 400 samples every 160, the ends mirrored; the filters of the mel scale as Slaney has it, from
 * 0 to 8 kHz, of one area each; logarithms to the base ten, no more than eight below the greatest, from which (x + 4) / 4.
 * Sources: Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision (2022), section 2.2; OpenAI's whisper,
 * audio.py; librosa.filters.mel.
 */
#ifndef ORCHARD_SIM_LANGUAGE_MEL_SPECTROGRAM_H
#define ORCHARD_SIM_LANGUAGE_MEL_SPECTROGRAM_H

#include "sim/base/error.h"

#include <stddef.h>

enum { MEL_RATE = 16000, MEL_WINDOW = 400, MEL_STEP = 160, MEL_BINS = MEL_WINDOW / 2 + 1 };

/* What the power at a bin of 40 Hz counts in a channel. */
double mel_weight(unsigned channel, unsigned channels, unsigned bin);
/* `count` samples, at most frames * MEL_STEP, and silence after them, become `channels` rows of `frames` values in `out`. At
 * least three frames. False when memory is out. */
bool mel_spectrogram(const float *sample, size_t count, unsigned channels, unsigned frames, float *out, struct orch_error *error);

#endif
