/* The verb capabilities: what each unit of a chip can do, at which peak, and what orchard does not model. */
#include "isa/agx/agx_table.h"
#include "isa/amx/amx_table.h"
#include "isa/array_count.h"
#include "sim/chip/chip_peaks.h"
#include "sim/chip/chip_units.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "units/gpu/gpu_program.h"

#include <stdlib.h>
#include <string.h>

/* Units and what runs on them. A unit that cannot run programs still has its characteristics in the chip database. */
struct unit_facts {
    const char *unit;
    bool runs;
    const char *precisions, *limits;
};
static const struct unit_facts units[] = {
    {"cpu", true, "f64 f32 f16 (arithmetic); i64 i32 i16 i8",
     "AArch64 user-mode code; no SVE, no SME, no pointer authentication beyond its hint forms, no kernel mode"},
    {"amx", true, "f64 f32 f16; bf16 from M2 on; i8 i16 i32",
     "8 X and 8 Y registers of 64 bytes, 64 Z rows; loads and stores of two and more registers need 128-byte alignment"},
    {"gpu", true, "f32 f16 i32 i16, i64 from multiplies; no f64, no bf16 arithmetic before M3",
     "1024 threads per threadgroup, 32 KiB threadgroup memory per group (Metal feature set tables); 128 registers and 512 "
     "uniform half-words; compute only; M3 and M4 run G13/G14 code, their own encoding is not published"},
    {"ane", true, "f16 activations; f16, i8, palettized weights",
     "one request at a time; task descriptors of H13 (A14, M1), which later chips are taken to run at their own pace"},
};
enum { UNIT_COUNT = ARRAY_COUNT(units) };

static const char *const not_modelled[] = {
    "ray tracing",
    "texture sampling, rasterisation and everything else of the graphics pipeline",
    "media engines (video encoders and decoders, ProRes, JPEG)",
    "image signal processor, display engines, Secure Enclave, storage controller, Thunderbolt, PCI Express",
    "SME of the M4 family (its AMX encodings are)",
    "operating system: scheduling of other processes, page faults, interrupts",
};
enum { NOT_MODELLED_COUNT = ARRAY_COUNT(not_modelled) };

/* Lists instruction fields that came after M1: those that this generation has, or those that it lacks. */
static void newer_fields(enum amx_gen gen, bool present, json_object *list)
{
    for (size_t i = 0; i < amx_form_count; i++) {
        const struct amx_form *form = &amx_forms[i];
        for (const struct amx_field *f = amx_next_field(form, NULL, AMX_GEN_M4); f; f = amx_next_field(form, f, AMX_GEN_M4)) {
            char text[96];
            if (f->first_gen == AMX_GEN_M1 || (f->first_gen <= gen) != present)
                continue;
            snprintf(text, sizeof text, "%s %s (M%d)", form->mnemonic, f->name, f->first_gen);
            json_object_array_add(list, json_object_new_string(text));
        }
    }
}

/* The same for data types and operations, which the value of a field selects. */
static void newer_values(enum amx_gen gen, bool present, json_object *list)
{
    static const struct {
        enum amx_value_list list;
        const char *of;
    } named[] = {{AMX_LIST_FP_LANES, "vecfp and matfp lanes"},
                 {AMX_LIST_VECFP_ALU, "vecfp operation"},
                 {AMX_LIST_VECINT_ALU, "vecint operation"},
                 {AMX_LIST_EXTR9_FLOAT_LANES, "extrh and extrv conversion"}};
    for (size_t i = 0; i < amx_value_count; i++) {
        const struct amx_value *v = &amx_values[i];
        if (v->first_gen == AMX_GEN_M1 || (v->first_gen <= gen) != present)
            continue;
        for (size_t k = 0; k < ARRAY_COUNT(named); k++) {
            char text[96];
            if (named[k].list != v->list)
                continue;
            snprintf(text, sizeof text, "%s %s (M%d)", named[k].of, v->name, v->first_gen);
            json_object_array_add(list, json_object_new_string(text));
        }
    }
}

static json_object *amx_instructions(void)
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < amx_form_count; i++)
        json_object_array_add(list, json_object_new_string(amx_forms[i].mnemonic));
    return list;
}

/* Mnemonics of the instructions that are executed, or of those that decode but are not. */
static json_object *gpu_instructions(enum gpu_generation generation, bool modelled)
{
    json_object *list = json_object_new_array();
    for (unsigned form = 0; form < agx_form_count(); form++) {
        const struct agx_inst inst = {.form = (uint16_t)form, .op = agx_forms[form].op};
        unsigned earlier = 0;
        while (earlier < form && strcmp(agx_form_mnemonic(earlier), agx_form_mnemonic(form)) != 0)
            earlier++;
        if (earlier == form && (gpu_inst_unmodelled(&inst, generation) == NULL) == modelled)
            json_object_array_add(list, json_object_new_string(agx_form_mnemonic(form)));
    }
    return list;
}

static void add_feature(json_object *present, json_object *absent, bool has, const char *text)
{
    json_object_array_add(has ? present : absent, json_object_new_string(text));
}

/* What the engine of this generation accepts, and its sizes. */
static void ane_unit(json_object *unit, const struct ane_limits *l)
{
    json_object *present = json_object_new_array(), *absent = json_object_new_array();
    char text[160];
    snprintf(text, sizeof text,
             "H%d: kernels up to %ux%u, pooling up to %ux%u, width and height up to %u, channels up to %u, %u KiB of "
             "tile memory",
             (int)l->generation, l->kernel_max, l->kernel_max, l->pool_max, l->pool_max, l->dimension_max, l->channels_max,
             l->l2_bytes >> 10);
    json_object_array_add(present, json_object_new_string(text));
    add_feature(present, absent, l->int8_weights, "int8 weights on the direct path");
    add_feature(present, absent, l->int4_palette, "4-bit palettes");
    add_feature(present, absent, l->sparse_weights, "sparse weights");
    add_feature(present, absent, l->dynamic_shapes, "shapes known at run time only");
    add_feature(present, absent, l->sin_cos, "sine and cosine");
    add_feature(present, absent, l->resize_any, "resizing by any factor");
    json_object_object_add(unit, "features", present);
    json_object_object_add(unit, "features_missing", absent);
}

static json_object *unit_json(const struct unit_facts *facts, const struct chip *chip)
{
    json_object *unit = json_object_new_object();
    json_add_text(unit, "unit", facts->unit);
    json_add_bool(unit, "runs_programs", facts->runs);
    json_add_text(unit, "precisions", facts->precisions);
    json_add_text(unit, "limits", facts->limits);
    enum amx_gen gen;
    struct orch_error unused;
    enum gpu_generation generation;
    struct ane_limits limits;
    if (strcmp(facts->unit, "ane") == 0 && chip_ane_limits(chip, &limits, &unused))
        ane_unit(unit, &limits);
    if (strcmp(facts->unit, "gpu") == 0 && chip_gpu_generation(chip, &generation, &unused)) {
        generation = generation == GPU_G15 ? GPU_G14 : generation; /* which is taken to run the older code */
        json_object_object_add(unit, "instructions", gpu_instructions(generation, true));
        json_object_object_add(unit, "features_missing", gpu_instructions(generation, false));
    }
    if (strcmp(facts->unit, "amx") == 0 && chip_amx_gen(chip, &gen, &unused)) {
        json_object *present = json_object_new_array(), *absent = json_object_new_array();
        newer_fields(gen, true, present);
        newer_values(gen, true, present);
        newer_fields(gen, false, absent);
        newer_values(gen, false, absent);
        json_object_object_add(unit, "instructions", amx_instructions());
        json_object_object_add(unit, "features", present);
        json_object_object_add(unit, "features_missing", absent);
    }
    return unit;
}

static json_object *peaks_json(const struct chip_peaks *peaks)
{
    json_object *list = json_object_new_array();
    for (unsigned i = 0; i < peaks->count; i++) {
        const struct chip_peak *peak = &peaks->peak[i];
        json_object *row = json_object_new_object();
        json_add_text(row, "unit", peak->unit);
        json_add_text(row, "precision", peak->precision);
        json_add_bool(row, "supported", peak->supported);
        json_add_number(row, "value", peak->supported ? peak->value : __builtin_nan(""));
        json_add_text(row, "measure", peak->measure);
        json_add_text(row, "formula", peak->formula);
        json_object_array_add(list, row);
    }
    return list;
}

static json_object *capabilities_json(const struct chip *chip)
{
    struct chip_peaks peaks;
    chip_peaks(chip, &peaks);
    json_object *object = json_object_new_object(), *list = json_object_new_array(), *missing = json_object_new_array();
    json_add_text(object, "chip", chip_id(chip));
    json_add_text(object, "name", chip_name(chip));
    json_add_bool(object, "experimental", chip_experimental(chip));
    json_add_bool(object, "modified", chip_modified(chip));
    for (int i = 0; i < UNIT_COUNT; i++)
        json_object_array_add(list, unit_json(&units[i], chip));
    for (int i = 0; i < NOT_MODELLED_COUNT; i++)
        json_object_array_add(missing, json_object_new_string(not_modelled[i]));
    json_object_object_add(object, "units", list);
    json_object_object_add(object, "peaks", peaks_json(&peaks));
    json_object_object_add(object, "not_modelled", missing);
    return object;
}

static void print_list(FILE *out, const char *title, json_object *unit, const char *member)
{
    json_object *list;
    if (!json_object_object_get_ex(unit, member, &list) || json_object_array_length(list) == 0)
        return;
    fprintf(out, "      %s: ", title);
    for (size_t i = 0; i < json_object_array_length(list); i++)
        fprintf(out, "%s%s", i ? ", " : "", json_object_get_string(json_object_array_get_idx(list, i)));
    fputc('\n', out);
}

static void print_units(FILE *out, const struct chip *chip)
{
    for (int i = 0; i < UNIT_COUNT; i++) {
        json_object *unit = unit_json(&units[i], chip);
        fprintf(out, "  %s%s\n      precisions: %s\n      limits: %s\n", units[i].unit,
                units[i].runs ? "" : ": characteristics only, this version runs no programs on it", units[i].precisions,
                units[i].limits);
        print_list(out, "instructions", unit, "instructions");
        print_list(out, strcmp(units[i].unit, "ane") == 0 ? "accepts" : "beyond M1", unit, "features");
        print_list(out, "not here", unit, "features_missing");
        json_object_put(unit);
    }
}

static void print_peaks(struct api_context *context, const struct chip *chip)
{
    static const struct table_column columns[] = {
        {"unit", NULL, false, 0}, {"precision", NULL, false, 0}, {"peak", NULL, true, 0}, {"computed as", NULL, false, 0}};
    struct chip_peaks peaks;
    chip_peaks(chip, &peaks);
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (unsigned i = 0; i < peaks.count; i++) {
        const struct chip_peak *peak = &peaks.peak[i];
        char text[FORMAT_SIZE];
        table_row(table);
        table_cell(table, "%s", peak->unit);
        table_cell(table, "%s", peak->precision);
        table_cell(table, "%s", peak->supported ? format_si(text, peak->value, peak->measure) : "none");
        table_cell(table, "%s", peak->formula);
    }
    api_table(context, table);
}

static void print_capabilities(struct api_context *context, const struct chip *chip)
{
    fprintf(context->out, "%s (%s)%s%s\n\nunits\n", chip_name(chip), chip_id(chip),
            chip_experimental(chip) ? ", experimental" : "", chip_modified(chip) ? ", modified" : "");
    print_units(context->out, chip);
    fprintf(context->out, "\npeaks, all cores busy; a multiply-add is two operations\n");
    print_peaks(context, chip);
    fprintf(context->out, "\nnot modelled\n");
    for (int i = 0; i < NOT_MODELLED_COUNT; i++)
        fprintf(context->out, "  %s\n", not_modelled[i]);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct api_chips chips;
    if (words > 1 || (words == 1 && context->common.chips_given))
        return api_usage(context, "takes its chip from " ORCH_OPTION("chip"));
    if (!api_chips_open(context, words == 1 ? word[0] : NULL, &chips, &error))
        return api_fail(context, &error);
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < chips.count; i++) {
        if (api_wants_document(context))
            json_object_array_add(list, capabilities_json(chips.chip[i]));
        if (!api_wants_text(context))
            continue;
        print_capabilities(context, chips.chip[i]);
        if (i + 1 < chips.count)
            fputc('\n', context->out);
    }
    if (api_wants_document(context))
        api_documents(context, json_object_get(list));
    json_object_put(list);
    api_chips_close(&chips);
    return ORCH_OK;
}

const struct api_verb verb_capabilities = {
    .help =
        {
            .name = "capabilities",
            .synopsis = "--chip ID[,ID...]",
            .summary = "what the units of a chip can do, and their computed peaks",
            .text = "Precisions, instructions, limits and peaks per unit with the formula, and what is not modelled.",
            .examples = "orchard capabilities --chip m2-pro\n"
                        "orchard capabilities --chip m1,m3 --json",
        },
    .ask = ask,
};
