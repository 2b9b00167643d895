/* The verb validate with a curve.csv: scores a machine's thermal model and its closed loop against a measured curve. */
#include "sim/base/json_out.h"
#include "sim/api/verb_validate_curve.h"
#include "sim/base/output_file.h"
#include "sim/base/temporary.h"
#include "sim/run/run_profile.h"
#include "sim/prove/validate/power_loops.h"
#include "sim/prove/validate/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool verb_is_curve(const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const bool is = api_read_file(path, &bytes, &size, NULL) && device_curve_recognise((const char *)bytes, size);
    free(bytes);
    return is;
}

static bool add(struct verb_curves *curves, const struct verb_curve *curve, struct orch_error *error)
{
    struct verb_curve *grown = realloc(curves->item, (curves->count + 1) * sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    curves->item = grown;
    grown[curves->count++] = *curve;
    return true;
}

/* ---- closed loop ---- */

/* Writes the loop that stands for Cinebench, as a program that the verb run accepts. */
static bool write_loop(const char *path, struct orch_error *error)
{
    struct emit e = {0};
    size_t bytes;

    power_loop_emit(&e, POWER_LOOP_RENDERER, VALIDATE_DATA_ADDR);
    if (e.failed) {
        emit_free(&e);
        return orch_no_memory(error);
    }
    const struct validate_program program = {.code = e.word, .words = e.count, .data_bytes = power_loop_data_bytes()};
    uint8_t *const file = validate_program_elf(&program, false, &bytes, error);
    const bool ok = file && output_file_write(path, file, bytes, error);
    free(file);
    emit_free(&e);
    return ok;
}

static unsigned cores_of(const struct chip *chip)
{
    double p = 0, e = 0;
    return chip_number(chip, "p_cores", &p, NULL) && chip_number(chip, "e_cores", &e, NULL) ? (unsigned)(p + e) : 1;
}

static bool profile_of_loop(struct api_context *context, const struct chip *chip, unsigned cores, struct power_profile *profile,
                            struct orch_error *error)
{
    const struct chip_overrides overrides = {context->common.sets, context->common.set_count};
    const char *const folder = getenv("TMPDIR");
    struct chip_db *const db = api_chip_db(context, error);
    struct run_result result;
    char path[512];

    snprintf(path, sizeof path, "%.400s/orchard-loop", folder && *folder ? folder : "/tmp");
    struct temporary *program;
    const int file = db ? temporary_create(path, 0600, &program) : -1;
    if (file < 0)
        return db ? orch_fail(error, ORCH_USAGE, "cannot write a program to %.400s", path) : false;
    close(file);
    const struct run_request request = {.chip = chip, .workload = temporary_path(program), .cores = cores};
    run_result_init(&result);
    const bool ok = write_loop(request.workload, error) && run_profile(&request, db, &overrides, profile, &result, error);
    run_result_free(&result);
    temporary_remove(program);
    return ok;
}

static bool close_loop(struct api_context *context, const struct device_curve *curve, const struct chip *chip,
                       const struct device *device, struct verb_curve *result, struct orch_error *error)
{
    struct power_profile profile;

    result->cores = cores_of(chip);
    return profile_of_loop(context, chip, result->cores, &profile, error) &&
           device_closed_score(curve, chip, device, &profile, &result->closed, error);
}

/* ---- curves ---- */

bool verb_curves_add(struct api_context *context, const char *path, struct verb_curves *curves, struct orch_error *error)
{
    const char *const name = api_value(&context->args, "device");
    struct api_chips chips = {0};
    struct device_list devices = {0};
    struct device_curve curve = {0};
    struct verb_curve result = {.path = strdup(path)};
    uint8_t *bytes = NULL;
    size_t size;
    bool ok = (result.path || orch_no_memory(error)) && api_chips_open(context, NULL, &chips, error) &&
              device_list_load(NULL, &devices, error) && api_read_file(path, &bytes, &size, error) &&
              device_curve_parse(path, (const char *)bytes, size, &curve, error);
    const struct device *const device =
        ok ? device_find(&devices, name ? name : "macbook-air", chip_id(chips.chip[0]), error) : NULL;

    ok = device && device_curve_score(&curve, chips.chip[0], device, &result.score, error) &&
         close_loop(context, &curve, chips.chip[0], device, &result, error);
    if (ok) {
        snprintf(result.chip, sizeof result.chip, "%s", chip_id(chips.chip[0]));
        snprintf(result.device, sizeof result.device, "%s", device->id);
        result.points = curve.count;
        ok = add(curves, &result, error);
    }
    if (!ok)
        free(result.path);
    free(bytes);
    device_curve_free(&curve);
    device_list_free(&devices);
    api_chips_close(&chips);
    return ok;
}

void verb_curves_free(struct verb_curves *curves)
{
    for (size_t i = 0; i < curves->count; i++)
        free(curves->item[i].path);
    free(curves->item);
    *curves = (struct verb_curves){0};
}

static void print_closed(const struct verb_curve *c, FILE *out)
{
    const struct device_closed_score *const s = &c->closed;
    fprintf(out, "  closed loop, a renderer's loop on %u cores from %.0f to %.0f s: error %.2f K, bias %+.2f K; ", c->cores,
            s->begin_s, s->end_s, s->rmse_k, s->bias_k);
    if (isnan(s->onset_s))
        fputs("clocks never fall", out);
    else
        fprintf(out, "clocks fall after %.0f s", s->onset_s);
    fprintf(out,
            "; P cluster %.2f W at %.0f MHz, in the end %.2f W at %.0f MHz; chip %.2f W (measured %.2f), in the end %.2f W "
            "(measured %.2f)\n",
            s->first_w, s->first_mhz, s->last_w, s->last_mhz, s->chip_first_w, s->measured_first_w, s->chip_last_w,
            s->measured_last_w);
}

void verb_curves_print(const struct verb_curves *curves, FILE *out)
{
    for (size_t i = 0; i < curves->count; i++) {
        const struct verb_curve *c = &curves->item[i];
        fprintf(
            out,
            "%s: %zu points, %s in %s, measured watts in: error %.2f K (root mean square), bias %+.2f K, worst %+.2f K at %g s\n",
            c->path, c->points, c->chip, c->device, c->score.rmse_k, c->score.bias_k, c->score.worst_k, c->score.worst_s);
        print_closed(c, out);
    }
}

static struct json_object *closed_json(const struct verb_curve *c)
{
    const struct device_closed_score *const s = &c->closed;
    struct json_object *const o = json_object_new_object();
    json_add_count(o, "cores", c->cores);
    json_add_number(o, "begin_s", s->begin_s);
    json_add_number(o, "end_s", s->end_s);
    json_add_number(o, "rmse_k", s->rmse_k);
    json_add_number(o, "bias_k", s->bias_k);
    json_add_number(o, "onset_s", s->onset_s);
    json_add_number(o, "p_cluster_first_w", s->first_w);
    json_add_number(o, "p_cluster_first_mhz", s->first_mhz);
    json_add_number(o, "p_cluster_last_w", s->last_w);
    json_add_number(o, "p_cluster_last_mhz", s->last_mhz);
    json_add_number(o, "chip_first_w", s->chip_first_w);
    json_add_number(o, "chip_last_w", s->chip_last_w);
    json_add_number(o, "measured_first_w", s->measured_first_w);
    json_add_number(o, "measured_last_w", s->measured_last_w);
    return o;
}

static struct json_object *curve_json(const struct verb_curve *c)
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
    json_object_object_add(o, "closed", closed_json(c));
    return o;
}

struct json_object *verb_curves_json(const struct verb_curves *curves)
{
    struct json_object *const list = json_object_new_array();
    for (size_t i = 0; i < curves->count; i++)
        json_object_array_add(list, curve_json(&curves->item[i]));
    return list;
}

void verb_curves_report(struct api_context *context, const struct verb_curves *curves)
{
    if (api_wants_document(context))
        api_documents(context, verb_curves_json(curves));
    if (api_wants_text(context))
        verb_curves_print(curves, context->out);
}
