/* The parameters of a package, and the rims of its spreader and sink. */
#include "power/text_lines.h"
#include "power/thermal_hotspot.h"

#include <stddef.h>
#include <string.h>

/* The template configuration of HotSpot 7.0. */
void thermal_package_init(struct thermal_package *package)
{
    *package = (struct thermal_package){
        .chip = {150e-6, 130, 1.6303e6},
        .interface = {20e-6, 4, 4e6},
        .spreader = {1e-3, 400, 3.55e6},
        .sink = {6.9e-3, 400, 3.55e6},
        .spreader_side_m = 30e-3,
        .sink_side_m = 60e-3,
        .convection_k_per_w = 1.042,
        .convection_j_per_k = 140.4,
        .ambient_k = 318.15,
        .initial_k = 318.15,
        .sampling_s = 10e-3,
        .capacity_factor = 0.333,
        .grid_rows = 39,
        .grid_cols = 39,
    };
}

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
#define NUMBER(key, field)                                                                                                       \
    {                                                                                                                            \
        key, offsetof(struct thermal_package, field)                                                                             \
    }
    NUMBER("t_chip", chip.thickness_m),
    NUMBER("k_chip", chip.conductivity_w_per_mk),
    NUMBER("p_chip", chip.capacity_j_per_m3k),
    NUMBER("t_interface", interface.thickness_m),
    NUMBER("k_interface", interface.conductivity_w_per_mk),
    NUMBER("p_interface", interface.capacity_j_per_m3k),
    NUMBER("t_spreader", spreader.thickness_m),
    NUMBER("k_spreader", spreader.conductivity_w_per_mk),
    NUMBER("p_spreader", spreader.capacity_j_per_m3k),
    NUMBER("t_sink", sink.thickness_m),
    NUMBER("k_sink", sink.conductivity_w_per_mk),
    NUMBER("p_sink", sink.capacity_j_per_m3k),
    NUMBER("s_spreader", spreader_side_m),
    NUMBER("s_sink", sink_side_m),
    NUMBER("r_convec", convection_k_per_w),
    NUMBER("c_convec", convection_j_per_k),
    NUMBER("ambient", ambient_k),
    NUMBER("init_temp", initial_k),
    NUMBER("sampling_intvl", sampling_s),
    NUMBER("capacity_factor", capacity_factor),
#undef NUMBER
};

static bool set_number(struct thermal_package *package, const char *key, struct text_line *line, bool *known,
                       struct power_error *error)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double value;
        if (strcmp(key, numbers[i].key) != 0)
            continue;
        *known = true;
        if (!text_number(line, &value))
            return power_fail(error, line->number, "%s needs a number", key);
        memcpy((char *)package + numbers[i].offset, &value, sizeof value);
    }
    return true;
}

static bool set_cells(unsigned *cells, const char *key, struct text_line *line, struct power_error *error)
{
    double value;

    if (!text_number(line, &value) || value < 2 || value > 256 || value != (unsigned)value)
        return power_fail(error, line->number, "%s needs a whole number from 2 to 256", key);
    *cells = (unsigned)value;
    return true;
}

static bool set_word(struct thermal_package *package, const char *key, struct text_line *line, bool *known,
                     struct power_error *error)
{
    char word[32];
    double flag;

    *known = true;
    if (strcmp(key, "grid_rows") == 0)
        return set_cells(&package->grid_rows, key, line, error);
    if (strcmp(key, "grid_cols") == 0)
        return set_cells(&package->grid_cols, key, line, error);
    if (strcmp(key, "block_omit_lateral") == 0) {
        package->omit_lateral = text_number(line, &flag) && flag != 0;
        return true;
    }
    if (strcmp(key, "model_type") == 0) {
        if (!text_word(line, word, sizeof word) || (strcmp(word, "block") != 0 && strcmp(word, "grid") != 0))
            return power_fail(error, line->number, "model_type is block or grid");
        package->grid = word[0] == 'g';
        return true;
    }
    if (strcmp(key, "grid_map_mode") == 0) {
        if (!text_word(line, word, sizeof word) || strcmp(word, "avg") != 0)
            return power_fail(error, line->number, "grid_map_mode: only avg is modelled");
        return true;
    }
    *known = false;
    return true;
}

bool thermal_package_parse(const char *text, size_t size, struct thermal_package *package, struct power_error *error)
{
    struct text_line line;
    char key[40];

    thermal_package_init(package);
    text_lines_begin(&line, text, size);
    while (text_next_line(&line)) {
        bool known = false;
        if (!text_word(&line, key, sizeof key))
            return power_fail(error, line.number, "expected: key value");
        if (!set_number(package, key, &line, &known, error) || (!known && !set_word(package, key, &line, &known, error)))
            return false;
        if (!known)
            return power_fail(error, line.number, "unknown key %s", key);
        if (!text_line_ended(&line))
            return power_fail(error, line.number, "%s takes one value", key);
    }
    return true;
}

bool thermal_package_check(const struct thermal_package *p, const struct floorplan *plan, struct power_error *error)
{
    const struct thermal_material *const layer[] = {&p->chip, &p->interface, &p->spreader, &p->sink};
    const double die_m = plan->width_m > plan->height_m ? plan->width_m : plan->height_m;

    for (size_t i = 0; i < sizeof layer / sizeof layer[0]; i++)
        if (!(layer[i]->thickness_m > 0) || !(layer[i]->conductivity_w_per_mk > 0) || !(layer[i]->capacity_j_per_m3k > 0))
            return power_fail(error, 0, "thickness, conductivity and heat capacity of every layer must be positive");
    if (!(p->convection_k_per_w > 0) || !(p->convection_j_per_k >= 0) || !(p->capacity_factor > 0))
        return power_fail(error, 0, "r_convec and capacity_factor must be positive, c_convec not negative");
    if (!(p->ambient_k > 0) || !(p->initial_k > 0) || !(p->sampling_s > 0))
        return power_fail(error, 0, "ambient and init_temp are in kelvin, sampling_intvl in seconds: all above 0");
    if (p->spreader_side_m < die_m)
        return power_fail(error, 0, "the spreader (%.4g mm) is smaller than the die (%.4g mm)", 1e3 * p->spreader_side_m,
                          1e3 * die_m);
    if (p->spreader_side_m - plan->width_m < FLOORPLAN_EPSILON_M || p->spreader_side_m - plan->height_m < FLOORPLAN_EPSILON_M)
        return power_fail(error, 0, "the spreader must be larger than the die: its rim has no width");
    if (!(p->sink_side_m > p->spreader_side_m))
        return power_fail(error, 0, "the sink (%.4g mm) must be larger than the spreader (%.4g mm)", 1e3 * p->sink_side_m,
                          1e3 * p->spreader_side_m);
    return true;
}

void thermal_hotspot_rims(const struct floorplan *plan, const struct thermal_package *p, struct thermal_rims *rims)
{
    const double sp = p->spreader_side_m, ss = p->sink_side_m;
    const double k_sp = p->spreader.conductivity_w_per_mk * p->spreader.thickness_m;
    const double k_s = p->sink.conductivity_w_per_mk * p->sink.thickness_m;

    for (unsigned side = 0; side < 4; side++) { /* W E N S */
        const bool west_east = side < 2;
        const double across = west_east ? plan->width_m : plan->height_m; /* die extent towards the rim */
        const double along = west_east ? plan->height_m : plan->width_m;
        const double area = (sp + along) * (sp - across) / 4; /* trapezoid of the spreader outside the die */
        const double outer_area = (ss * ss - sp * sp) / 4;
        rims->spreader_resistance[side] = (sp - across) / 4 / (k_sp * (sp + 3 * along) / 4);
        rims->sink_resistance[side] = (sp - across) / 4 / (k_s * (sp + 3 * along) / 4);
        rims->spreader_to_inner[side] = p->spreader.conductivity_w_per_mk * area / p->spreader.thickness_m;
        rims->inner_to_outer[side] =
            1 / ((sp - across) / 4 / (k_s * (3 * sp + along) / 4) + (ss - sp) / 4 / (k_s * (ss + 3 * sp) / 4));
        rims->inner_to_ambient[side] =
            1 / (p->sink.thickness_m / (p->sink.conductivity_w_per_mk * area) + p->convection_k_per_w * ss * ss / area);
        rims->outer_to_ambient[side] = 1 / (p->sink.thickness_m / (p->sink.conductivity_w_per_mk * outer_area) +
                                            p->convection_k_per_w * ss * ss / outer_area);
        rims->spreader_capacity[side] = p->capacity_factor * p->spreader.capacity_j_per_m3k * p->spreader.thickness_m * area;
        const double sink = p->capacity_factor * p->sink.capacity_j_per_m3k * p->sink.thickness_m;
        const double convection = p->capacity_factor * p->convection_j_per_k / (ss * ss);
        rims->inner_capacity[side] = (sink + convection) * area;
        rims->outer_capacity[side] = (sink + convection) * outer_area;
    }
}
