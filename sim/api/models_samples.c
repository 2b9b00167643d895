#include "sim/api/models_samples.h"

/* Without fused operators, which ONNX files do not know, and with the dimensions of the samples. */
struct net_model *models_tidy_network(struct api_context *context, const char *path, const struct net_samples *samples,
                                      struct orch_error *error)
{
    static const struct net_open_options tidy = {.level = 1};
    struct net_model *const model = net_import(path, error);
    bool ok = model != NULL;
    for (size_t k = 0; ok && k < api_count(&context->args, "dim"); k++)
        ok = net_bind(model, api_value_at(&context->args, "dim", k), error);
    ok = ok && (samples->count == 0 || net_bind_inputs(model, samples->set[0], error)) && net_prepare(model, &tidy, NULL, error);
    if (ok)
        return model;
    net_model_free(model);
    return NULL;
}

bool models_samples_load(struct api_context *context, const char *path, const char *from, struct net_samples *samples,
                         struct orch_error *error)
{
    struct image_scale scale = {{0, 0, 0}, {1, 1, 1}};
    struct net_model *const model = net_import(path, error);
    bool ok = model && image_scale_parse("mean", api_value(&context->args, "mean"), scale.mean, error) &&
              image_scale_parse("std", api_value(&context->args, "std"), scale.std, error);
    if (ok && (scale.std[0] == 0 || scale.std[1] == 0 || scale.std[2] == 0))
        ok = orch_fail(error, ORCH_USAGE, ORCH_OPTION("std") ": numbers are divided by it; give none that is 0");
    for (size_t k = 0; ok && k < api_count(&context->args, "dim"); k++)
        ok = net_bind(model, api_value_at(&context->args, "dim", k), error);
    net_samples_free(samples);
    ok = ok && net_samples_load(from, model, &scale, samples, error);
    net_model_free(model);
    return ok;
}
