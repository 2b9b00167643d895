/* Encoders of texts against golden cases (tests/golden/language/encoder*): a document with "cases", each of which has a text, its
 * tokens and the numbers of a pass in double precision. */
#ifndef ORCHARD_TESTS_SIM_ENCODER_EXAMPLE_H
#define ORCHARD_TESTS_SIM_ENCODER_EXAMPLE_H

#include "isa/array_count.h"
#include "sim/base/json_read.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/network.h"
#include "sim/network/operators/run.h"
#include "sim/run/language/language_options.h"
#include "sim/run/network/run_network_text.h"
#include "tests/sim/run_example.h"

#include <math.h>

static inline json_object *encoder_golden(const char *path)
{
    json_object *const root = json_object_from_file(path);
    CHECK(root && json_peek(root, "cases", json_type_array), "%s", path);
    return root;
}

/* The largest difference of an output from the golden numbers, which are lists or lists of lists. */
static inline double encoder_difference(const struct net_array *got, json_object *want)
{
    double most = 0;
    const size_t rows = json_object_array_length(want);
    const bool lists = json_object_is_type(json_object_array_get_idx(want, 0), json_type_array);
    int64_t at = 0;
    for (size_t i = 0; i < rows; i++) {
        json_object *const item = json_object_array_get_idx(want, i);
        for (size_t k = 0; k < (lists ? json_object_array_length(item) : 1); k++, at++) {
            const double number = json_object_get_double(lists ? json_object_array_get_idx(item, k) : item);
            most = at < got->count ? fmax(most, fabs(net_array_double(got, at) - number)) : INFINITY;
        }
    }
    return at == got->count ? most : INFINITY;
}

/* One text on a unit: every output that the case has is within the bound, the hidden states at least, and no operator is left to
 * the reference. */
static inline void encoder_check_case(struct chip_db *db, const char *model, const char *unit, json_object *golden, double bound)
{
    static const char *const names[] = {"last_hidden_state", "sentence_embedding", "pooler_output"};
    struct net_array *none[2] = {NULL}, *output[ARRAY_COUNT(names)] = {NULL};
    const struct run_network_arrays arrays = {none, output, NULL};
    const struct language_options options = {.prompt_text = json_peek_string(golden, "text"),
                                             .sampling = {.repetition_penalty = 1}};
    struct outcome o =
        run_on(db, "m1", model,
               (struct run_request){.unit = unit, .mode = RUN_FUNCTIONAL, .threads = 1, .language = &options, .arrays = &arrays});
    CHECK(o.ok, "%s on %s: %s", model, unit, o.error.text);
    CHECK(json_peek(golden, names[0], json_type_array) && json_peek(golden, names[1], json_type_array), "%s: no numbers", model);
    for (size_t k = 0; o.ok && k < ARRAY_COUNT(names); k++) {
        json_object *const want = json_peek(golden, names[k], json_type_array);
        const double off = want && output[k] ? encoder_difference(output[k], want) : want ? INFINITY : 0;
        CHECK(off <= bound, "%s on %s: %s is off by %g", model, unit, names[k], off);
    }
    for (size_t k = 0; o.ok && k < o.result.placement.count; k++)
        CHECK(strcmp(o.result.placement.item[k].unit, "reference") != 0, "%s on %s: %s is left", model, unit,
              o.result.placement.item[k].op);
    for (size_t k = 0; k < ARRAY_COUNT(output); k++)
        net_array_release(output[k]);
    run_result_free(&o.result);
}

static inline void encoder_check(struct chip_db *db, const char *model, const char *golden, const char *unit, double bound)
{
    json_object *const root = encoder_golden(golden), *const cases = json_peek(root, "cases", json_type_array);
    for (size_t i = 0; cases && i < json_object_array_length(cases); i++)
        encoder_check_case(db, model, unit, json_object_array_get_idx(cases, i), bound);
    json_object_put(root);
}

/* Three texts side by side, the shorter ones filled up with tokens that the mask hides: each has the embedding that it has
 * alone. */
static inline void encoder_check_filled_up(const char *path, const char *golden)
{
    enum { TEXTS = 3 };
    static const struct net_open_options everything = {.level = 2};
    json_object *const root = encoder_golden(golden), *const cases = json_peek(root, "cases", json_type_array);
    struct orch_error error = {0};
    struct net_model *const model = encoder_load(path, &error);
    struct net_array *input[2] = {NULL}, *output[3] = {NULL};
    struct token_list text[TEXTS] = {{0}};
    for (size_t i = 0; cases && i < TEXTS; i++) {
        json_object *const ids = json_peek(json_object_array_get_idx(cases, i), "ids", json_type_array);
        for (size_t k = 0; k < json_object_array_length(ids); k++)
            token_list_add(&text[i], (uint32_t)json_object_get_int(json_object_array_get_idx(ids, k)), &error);
    }
    const struct net_run run = {.model = model, .input = input};
    const bool ok = model && run_network_put_tokens(model, input, text, TEXTS, &error) && net_bind_inputs(model, input, &error) &&
                    net_prepare(model, &everything, NULL, &error) && net_run(&run, output, &error);
    CHECK(ok, "%s: %s", path, error.text);
    for (size_t i = 0; ok && i < TEXTS; i++) {
        json_object *const want = json_peek(json_object_array_get_idx(cases, i), "sentence_embedding", json_type_array);
        const size_t width = json_object_array_length(want);
        for (size_t k = 0; k < width; k++)
            CHECK(fabs(net_array_double(output[1], (int64_t)(i * width + k)) -
                       json_object_get_double(json_object_array_get_idx(want, k))) < 2e-6,
                  "%s, text %zu, number %zu", path, i, k);
    }
    for (size_t k = 0; k < 3; k++) {
        net_array_release(output[k]);
        token_list_free(&text[k]);
        if (k < 2)
            net_array_release(input[k]);
    }
    net_model_free(model);
    json_object_put(root);
}

#endif
