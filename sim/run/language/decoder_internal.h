/* What the files of decoders in ONNX share. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_DECODER_INTERNAL_H
#define ORCHARD_SIM_RUN_LANGUAGE_DECODER_INTERNAL_H

#include "sim/language/tokenizer.h"
#include "sim/language/vocabulary_beside.h"
#include "sim/run/language/decoder_graph.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run_internal.h"

/* What steps took. */
struct steps {
    double seconds, low, high, device_s, overhead_s, joules, joules_low, joules_high, flops, macs, dram_bytes;
    unsigned count;
};

struct decoding {
    struct net_model *model;
    struct decoder_graph graph;
    struct language_options options;
    struct vocabulary_beside *vocabulary; /* NULL = there is no tokenizer.json */
    struct token_list prompt, tokens, history;
    struct token_text text;
    struct token_stream stream;
    struct net_array *kept[DECODER_KEPT];
    size_t past; /* tokens that `kept` is of */
    const char *stop;
    struct steps prefill, decode;
    double stalled_s, used_s; /* of all steps that say why they stall, and of all */
};

/* decoder_answer.c: `account` of the kinds. */
bool decoder_account(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);

#endif
