/* Sound files: RIFF/WAVE with whole numbers of 8, 16, 24 or 32 bits or floats of 32, of any rate and number of channels.
 * Format: IBM and Microsoft, Multimedia Programming Interface and Data Specifications 1.0 (1991); Microsoft,
 * WAVEFORMATEXTENSIBLE.
 */
#ifndef ORCHARD_SIM_LANGUAGE_WAVE_FILE_H
#define ORCHARD_SIM_LANGUAGE_WAVE_FILE_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct wave_sound {
    float *sample; /* -1 to 1, the mean of the channels; wave_release frees it */
    size_t count;
    unsigned rate; /* samples a second */
};

/* Reads a file that is in memory. False with what is wrong; then nothing is held. */
bool wave_parse(const void *bytes, size_t size, struct wave_sound *sound, struct orch_error *error);
/* Reads a file from disk; error lines start with its path. */
bool wave_load(const char *path, struct wave_sound *sound, struct orch_error *error);
void wave_release(struct wave_sound *sound);

#endif
