/* safetensors files: a JSON header with names, types, shapes and places, then the tensors. One file, or all that an index
 * (model.safetensors.index.json) names.
 *
 * As with GGUF everything is checked when the file is opened; the tensors must cover the data without holes.
 * Format: crate safetensors, documentation of its format.
 */
#ifndef ORCHARD_SIM_LANGUAGE_SAFETENSORS_H
#define ORCHARD_SIM_LANGUAGE_SAFETENSORS_H

#include "sim/language/weights.h"

struct safetensors;

/* Whether a file of so many bytes in all may be one, by its first bytes. */
bool safetensors_is(const void *bytes, size_t size, uint64_t file_bytes);
/* A path that ends in .json is an index. NULL = *error. */
struct safetensors *safetensors_open(const char *path, struct orch_error *error);
/* Reads one file that is in memory already and must stay there; `name` is for messages. */
struct safetensors *safetensors_parse(const char *name, const uint8_t *bytes, size_t size, struct orch_error *error);
void safetensors_close(struct safetensors *file);

/* Shapes are innermost first, the other way round than in the file. */
const struct weight_list *safetensors_weights(const struct safetensors *file);
uint64_t safetensors_file_bytes(const struct safetensors *file);
unsigned safetensors_parts(const struct safetensors *file);

#endif
