/* Which form a tokenizer.json has: one that GGUF files have as well, by how it prepares texts, or a plan of steps. */
#include "sim/language/vocabulary_json_internal.h"

#include "sim/language/text_split.h"

#include <string.h>

enum { STEPS_MAX = 64 };

/* Steps of a normalizer, pre_tokenizer or post_processor: itself, or what a Sequence lists under `list`. */
struct steps {
    struct json_node step[STEPS_MAX], list;
    size_t count;
};

/* `sequence` and `of` must outlive the steps. */
static void list_steps(const struct json_node *of, const char *list, struct steps *steps)
{
    struct json_node item;
    steps->count = 0;
    if (!of->value)
        return;
    if (strcmp(json_get_string(of, "type"), "Sequence") != 0) {
        steps->step[steps->count++] = *of;
        return;
    }
    steps->list = json_get_array(of, list, 0, STEPS_MAX);
    for (struct json_walk walk = {.of = &steps->list}; json_next(&walk, &item);)
        steps->step[steps->count++] = item;
}

static bool is_step(const struct json_node *step, const char *type)
{
    return strcmp(json_get_string(step, "type"), type) == 0;
}

/* The expression that a step splits by; NULL = it does not, or not by an expression. */
static const char *expression_of(const struct json_node *step)
{
    if (is_step(step, "Split")) {
        const struct json_node pattern = json_get_object(step, "pattern");
        return json_has(&pattern, "Regex") ? json_get_string(&pattern, "Regex") : NULL;
    }
    if (is_step(step, "Digits"))
        return json_find_boolean(step, "individual_digits", false) ? "\\p{N}" : "\\p{N}+";
    const struct split_family *const gpt2 = split_family_named("gpt-2");
    return is_step(step, "ByteLevel") && json_find_boolean(step, "use_regex", true) ? gpt2->expression[0] : NULL;
}

static bool same_expressions(const struct split_family *f, const char *const *expression, size_t count)
{
    size_t i = 0;
    while (i < count && i < SPLIT_EXPRESSIONS_MAX && f->expression[i] && strcmp(f->expression[i], expression[i]) == 0)
        i++;
    return i == count && (i == SPLIT_EXPRESSIONS_MAX || !f->expression[i]);
}

/* The family that splits by the same expressions and takes whole words or not, by the first of its names; NULL = none. */
static const char *family_of(const struct json_node *top, const struct json_node *model)
{
    const struct json_node pre = json_find_object(top, "pre_tokenizer");
    const bool whole = json_find_boolean(model, "ignore_merges", false);
    const char *expression[STEPS_MAX], *family = NULL;
    const struct split_family *f;
    struct steps steps;
    size_t count = 0;
    list_steps(&pre, "pretokenizers", &steps);
    for (size_t i = 0; i < steps.count; i++) {
        if ((expression[count] = expression_of(&steps.step[i])))
            count++;
        else if (!is_step(&steps.step[i], "ByteLevel"))
            return NULL;
        if (is_step(&steps.step[i], "ByteLevel") && json_find_boolean(&steps.step[i], "add_prefix_space", true))
            return NULL;
    }
    for (size_t i = 0; !family && (f = split_family_at(i)); i++)
        if (f->whole_words == whole && same_expressions(f, expression, count))
            family = f->names;
    return family;
}

/* Whether texts are prepared as SentencePiece's BPE is in GGUF files: spaces are written U+2581, and nothing else happens. */
static bool is_plain(const struct json_node *top)
{
    const struct json_node normal = json_find_object(top, "normalizer"), pre = json_find_object(top, "pre_tokenizer");
    struct steps steps;
    bool plain = true;
    list_steps(&normal, "normalizers", &steps);
    for (size_t i = 0; i < steps.count; i++) {
        const struct json_node pattern = json_find_object(&steps.step[i], "pattern");
        plain = plain && (is_step(&steps.step[i], "Prepend") ||
                          (is_step(&steps.step[i], "Replace") && strcmp(json_find_string(&pattern, "String", ""), " ") == 0));
    }
    list_steps(&pre, "pretokenizers", &steps);
    for (size_t i = 0; i < steps.count; i++)
        plain = plain && is_step(&steps.step[i], "Metaspace") && !json_find_boolean(&steps.step[i], "split", true);
    return plain;
}

/* Whether words begin with a space that was not there: Prepend, or Metaspace as it usually is. */
void vocabulary_find_space(struct json_vocabulary *v, const struct json_node *top)
{
    const struct json_node normal = json_find_object(top, "normalizer"), pre = json_find_object(top, "pre_tokenizer");
    struct steps steps;
    list_steps(&normal, "normalizers", &steps);
    for (size_t i = 0; i < steps.count; i++)
        v->add_space = v->add_space || is_step(&steps.step[i], "Prepend");
    list_steps(&pre, "pretokenizers", &steps);
    for (size_t i = 0; i < steps.count; i++)
        if (is_step(&steps.step[i], "Metaspace"))
            v->add_space = v->add_space || (json_find_boolean(&steps.step[i], "add_prefix_space", true) &&
                                            strcmp(json_find_string(&steps.step[i], "prepend_scheme", "always"), "never") != 0);
}

/* What TemplateProcessing puts around a single text. */
void vocabulary_find_frame(struct json_vocabulary *v, const struct json_node *top)
{
    const struct json_node post = json_find_object(top, "post_processor");
    struct json_node item;
    struct steps steps;
    list_steps(&post, "processors", &steps);
    for (size_t i = 0; i < steps.count; i++) {
        if (!is_step(&steps.step[i], "TemplateProcessing"))
            continue;
        const struct json_node single = json_get_array(&steps.step[i], "single", 0, STEPS_MAX);
        bool text = false;
        for (struct json_walk walk = {.of = &single}; json_next(&walk, &item);) {
            text = text || json_has(&item, "Sequence");
            v->add_begin = v->add_begin || (!text && json_has(&item, "SpecialToken"));
            v->add_end = v->add_end || (text && json_has(&item, "SpecialToken"));
        }
    }
}

static bool has_byte_level(const struct json_node *top)
{
    const struct json_node decoder = json_find_object(top, "decoder"), pre = json_find_object(top, "pre_tokenizer");
    struct steps steps;
    bool found = false;
    list_steps(&decoder, "decoders", &steps);
    for (size_t i = 0; i < steps.count; i++)
        found = found || is_step(&steps.step[i], "ByteLevel");
    list_steps(&pre, "pretokenizers", &steps);
    for (size_t i = 0; i < steps.count; i++)
        found = found || is_step(&steps.step[i], "ByteLevel");
    return found;
}

/* Whether the tokens around a text are those of BERT or RoBERTa, which a plan says alone: their ends are no ends of generation.
 */
static bool has_pair_around(const struct json_node *top)
{
    const struct json_node post = json_find_object(top, "post_processor");
    struct steps steps;
    bool found = false;
    list_steps(&post, "processors", &steps);
    for (size_t i = 0; i < steps.count; i++)
        found = found || is_step(&steps.step[i], "BertProcessing") || is_step(&steps.step[i], "RobertaProcessing");
    return found;
}

/* Files of the first versions do not say what their model is. */
static const char *type_of(const struct json_node *model)
{
    const char *const absent = json_has(model, "merges")                           ? "BPE"
                               : json_peek(model->value, "vocab", json_type_array) ? "Unigram"
                               : json_has(model, "continuing_subword_prefix")      ? "WordPiece"
                                                                                   : "WordLevel";
    return json_find_string(model, "type", absent);
}

/* Chooses between the forms that GGUF files have as well and a plan of steps. */
void vocabulary_choose_form(struct json_vocabulary *v, const struct json_node *top, const struct json_node *model)
{
    static const char *const types[][2] = {
        {"BPE", "bpe"}, {"Unigram", "unigram"}, {"WordPiece", "word_piece"}, {"WordLevel", "words"}};
    const char *const type = type_of(model);
    const bool pairs = strcmp(type, "BPE") == 0, normalised = json_has(top, "normalizer");
    v->byte_fallback = json_find_boolean(model, "byte_fallback", false);
    v->scored = strcmp(type, "Unigram") == 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        v->model = strcmp(types[i][0], type) == 0 ? types[i][1] : v->model;
    if (json_ok(model) && !v->model) {
        json_wrong(model, "type", "\"%.40s\" is not read; BPE, Unigram, WordPiece and WordLevel are", type);
        top->reader->error->exit_code = ORCH_UNMODELLED;
    }
    if (pairs && *json_find_string(model, "continuing_subword_prefix", "")) {
        json_wrong(model, "continuing_subword_prefix", "a prefix within words of BPE is not modelled");
        top->reader->error->exit_code = ORCH_UNMODELLED;
    }
    if (!pairs || !json_ok(top) || has_pair_around(top))
        return;
    v->family = !v->byte_fallback && !normalised && has_byte_level(top) ? family_of(top, model) : NULL;
    if (v->family || (v->byte_fallback && is_plain(top)))
        v->model = NULL;
}
