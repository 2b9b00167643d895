/* orchard validate curve.csv: a machine's thermal model against a measured curve. */
#include "sim/cli/json_out.h"
#include "sim/cmd/cmd_validate_curve.h"

#include <stdlib.h>

bool cmd_is_curve(const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const bool is = cmd_read_file(path, &bytes, &size, NULL) && device_curve_recognise((const char *)bytes, size);
    free(bytes);
    return is;
}

static bool add(struct cmd_curves *curves, const struct cmd_curve *curve, struct orch_error *error)
{
    struct cmd_curve *grown = realloc(curves->item, (curves->count + 1) * sizeof *grown);
    if (!grown)
        return orch_fail(error, ORCH_INTERNAL, "out of memory");
    curves->item = grown;
    grown[curves->count++] = *curve;
    return true;
}

bool cmd_curves_add(struct cmd_context *context, const char *path, struct cmd_curves *curves, struct orch_error *error)
{
    const char *const name = cli_value(&context->args, "device");
    struct cmd_chips chips = {0};
    struct device_list devices = {0};
    struct device_curve curve = {0};
    struct cmd_curve result = {.path = path};
    uint8_t *bytes = NULL;
    size_t size;
    bool ok = cmd_chips_open(context, NULL, &chips, error) && device_list_load(NULL, &devices, error) &&
              cmd_read_file(path, &bytes, &size, error) && device_curve_parse(path, (const char *)bytes, size, &curve, error);
    const struct device *const device =
        ok ? device_find(&devices, name ? name : "macbook-air", chip_id(chips.chip[0]), error) : NULL;

    ok = device && device_curve_score(&curve, chips.chip[0], device, &result.score, error);
    if (ok) {
        snprintf(result.chip, sizeof result.chip, "%s", chip_id(chips.chip[0]));
        snprintf(result.device, sizeof result.device, "%s", device->id);
        result.points = curve.count;
        ok = add(curves, &result, error);
    }
    free(bytes);
    device_curve_free(&curve);
    device_list_free(&devices);
    cmd_chips_close(&chips);
    return ok;
}

void cmd_curves_free(struct cmd_curves *curves)
{
    free(curves->item);
    *curves = (struct cmd_curves){0};
}

void cmd_curves_print(const struct cmd_curves *curves, FILE *out)
{
    for (size_t i = 0; i < curves->count; i++) {
        const struct cmd_curve *c = &curves->item[i];
        fprintf(out, "%s: %zu points, %s in %s, measured watts in: error %.2f K (root mean square), bias %+.2f K, worst %+.2f K at %g s\n",
                c->path, c->points, c->chip, c->device, c->score.rmse_k, c->score.bias_k, c->score.worst_k, c->score.worst_s);
    }
}

static struct json_object *curve_json(const struct cmd_curve *c)
{
    struct json_object *const o = json_object_new_object();
    json_add_text(o, "file", c->path);
    json_add_text(o, "chip", c->chip);
    json_add_text(o, "device", c->device);
    json_add_count(o, "points", c->points);
    json_add_number(o, "rmse_k", c->score.rmse_k);
    json_add_number(o, "bias_k", c->score.bias_k);
    json_add_number(o, "worst_k", c->score.worst_k);
    json_add_number(o, "worst_s", c->score.worst_s);
    return o;
}

struct json_object *cmd_curves_json(const struct cmd_curves *curves)
{
    struct json_object *const list = json_object_new_array();
    for (size_t i = 0; i < curves->count; i++)
        json_object_array_add(list, curve_json(&curves->item[i]));
    return list;
}

void cmd_curves_report(struct cmd_context *context, const struct cmd_curves *curves)
{
    if (!context->common.json)
        cmd_curves_print(curves, context->out);
    else
        json_print(curves->count == 1 ? curve_json(&curves->item[0]) : cmd_curves_json(curves), context->out);
}
