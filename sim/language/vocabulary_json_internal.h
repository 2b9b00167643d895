/* What a tokenizer.json says, on its way to metadata. */
#ifndef ORCHARD_SIM_LANGUAGE_VOCABULARY_JSON_INTERNAL_H
#define ORCHARD_SIM_LANGUAGE_VOCABULARY_JSON_INTERNAL_H

#include "sim/base/json_read.h"
#include "sim/language/gguf_write.h"

struct json_piece {
    const char *text;
    size_t length;
    uint32_t type, flags; /* how it is found in a text: ADDED_... */
    float score;
};

struct json_vocabulary {
    struct json_piece *piece;
    uint64_t count;
    const char *model; /* of the tokens of a word, in a plan of steps; NULL = a form that GGUF files have as well */
    bool scored;
    bool byte_fallback; /* SentencePiece's BPE in this form; else BPE of bytes */
    bool add_begin, add_end, add_space;
    const char *family; /* of how texts are split */
};

/* Chooses between the forms that GGUF files have as well and a plan of steps (tokenizer_plan.h). */
void vocabulary_choose_form(struct json_vocabulary *v, const struct json_node *top, const struct json_node *model);
/* For the forms of GGUF files: whether words begin with a space that was not there, and what stands around a text. */
void vocabulary_find_space(struct json_vocabulary *v, const struct json_node *top);
void vocabulary_find_frame(struct json_vocabulary *v, const struct json_node *top);

/* Writes the keys of the normalizer, the pre_tokenizer, the post_processor and the decoder; what is not known is refused through
 * the reader of `top`. */
void vocabulary_write_steps(struct gguf_writer *w, const struct json_node *top);

#endif
