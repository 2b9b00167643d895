/* Tensors of a file of weights, whatever its format: what they are called, their shape, and where their bytes are. */
#ifndef ORCHARD_SIM_LANGUAGE_WEIGHTS_H
#define ORCHARD_SIM_LANGUAGE_WEIGHTS_H

#include "sim/base/error.h"
#include "sim/language/block_format.h"

#include <stddef.h>
#include <stdint.h>

enum { WEIGHT_DIMS_MAX = 8, WEIGHT_NAME_MAX = 255 };

struct weight_tensor {
    const char *name;
    const struct block_format *format;
    unsigned dims;
    uint64_t shape[WEIGHT_DIMS_MAX]; /* innermost first: shape[0] values make a row */
    uint64_t count, bytes;
    uint64_t offset; /* in the data of its file */
    const uint8_t *data;
    unsigned part; /* of which file of several, from 0 */
};

struct weight_list {
    struct weight_tensor *tensor;
    size_t count, room;
};

/* Refused when the dimensions are zero or too large, or a row does not consist of whole blocks; then `count` and `bytes` are not
 * set. The error names the tensor. */
bool weight_measure(struct weight_tensor *tensor, struct orch_error *error);
/* Takes a copy of the record, and of its name. */
bool weight_add(struct weight_list *list, const struct weight_tensor *tensor, struct orch_error *error);
void weight_list_free(struct weight_list *list);
/* NULL when there is none. */
const struct weight_tensor *weight_find(const struct weight_list *list, const char *name);
/* Whether names differ and no two tensors of one file share bytes. */
bool weight_list_is_sound(const struct weight_list *list, struct orch_error *error);
/* Values of row `row`, shape[0] of them; the format must have a decoder. */
void weight_row(const struct weight_tensor *tensor, uint64_t row, float *value);

#endif
