/* Which of ONNX's single-operator tests are about what networks compute: inference with tensors. */
#ifndef ORCHARD_TESTS_SIM_NETWORK_ONNX_CASES_H
#define ORCHARD_TESTS_SIM_NETWORK_ONNX_CASES_H

#include "isa/array_count.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Training, text and sequences are no part of that. */
static inline bool onnx_case_is_inference(const char *name)
{
    static const char *const others[] = {"adagrad",   "adam",     "momentum",      "nesterov", "training",
                                         "bernoulli", "sequence", "strnormalizer", "tfidf",    "optional",
                                         "STRING",    "_opt",     "_seq",          "loop13",   "loop16"};
    for (size_t k = 0; k < ARRAY_COUNT(others); k++)
        if (strstr(name, others[k]))
            return false;
    return true;
}

#endif
