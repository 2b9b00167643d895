/* Tensors as transformers names and lays them out, by the names and in the layout of GGUF files. */
#ifndef ORCHARD_SIM_LANGUAGE_TRANSFORMERS_WEIGHTS_H
#define ORCHARD_SIM_LANGUAGE_TRANSFORMERS_WEIGHTS_H

#include "sim/language/shape.h"

struct transformers_weights;

/* `from` must outlive the result: what needs no change stays where it is. NULL = *error: a tensor is none of the architecture's,
 * so that passing it over would compute something else, or what belongs together differs in type. */
struct transformers_weights *transformers_weights_of(const struct language_shape *shape, const struct weight_list *from,
                                                     struct orch_error *error);
void transformers_weights_free(struct transformers_weights *weights);
const struct weight_list *transformers_weights_list(const struct transformers_weights *weights);

#endif
