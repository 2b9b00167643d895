/* orchard validate curve.csv: a machine's thermal model against a measured curve. */
#include "sim/cli/json_out.h"
#include "sim/cmd/cmd_validate_curve.h"
#include "sim/thermal/device_curve.h"

#include <stdlib.h>

bool cmd_is_curve(const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const bool is = cmd_read_file(path, &bytes, &size, NULL) && device_curve_recognise((const char *)bytes, size);
    free(bytes);
    return is;
}

static void print(struct cmd_context *context, const char *path, const struct chip *chip, const struct device *device,
                  const struct device_curve *curve, const struct device_curve_score *score)
{
    if (context->common.json) {
        struct json_object *const o = json_object_new_object();
        json_add_text(o, "file", path);
        json_add_text(o, "chip", chip_id(chip));
        json_add_text(o, "device", device->id);
        json_add_count(o, "points", curve->count);
        json_add_number(o, "rmse_k", score->rmse_k);
        json_add_number(o, "bias_k", score->bias_k);
        json_add_number(o, "worst_k", score->worst_k);
        json_add_number(o, "worst_s", score->worst_s);
        json_print(o, context->out);
        return;
    }
    fprintf(context->out, "%s: %zu points, %s in %s, measured watts in: error %.2f K (root mean square), bias %+.2f K, worst %+.2f K at %g s\n",
            path, curve->count, chip_id(chip), device->id, score->rmse_k, score->bias_k, score->worst_k, score->worst_s);
}

bool cmd_validate_curve(struct cmd_context *context, const char *path, struct orch_error *error)
{
    const char *const name = cli_value(&context->args, "device");
    struct cmd_chips chips = {0};
    struct device_list devices = {0};
    struct device_curve curve = {0};
    struct device_curve_score score;
    uint8_t *bytes = NULL;
    size_t size;
    bool ok = cmd_chips_open(context, NULL, &chips, error) && device_list_load(NULL, &devices, error) &&
              cmd_read_file(path, &bytes, &size, error) && device_curve_parse(path, (const char *)bytes, size, &curve, error);
    const struct device *const device =
        ok ? device_find(&devices, name ? name : "macbook-air", chip_id(chips.chip[0]), error) : NULL;

    ok = device && device_curve_score(&curve, chips.chip[0], device, &score, error);
    if (ok)
        print(context, path, chips.chip[0], device, &curve, &score);
    free(bytes);
    device_curve_free(&curve);
    device_list_free(&devices);
    cmd_chips_close(&chips);
    return ok;
}
