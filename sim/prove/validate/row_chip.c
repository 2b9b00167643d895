#include "sim/prove/validate/row_chip.h"

#include "isa/array_count.h"

#include <stdlib.h>
#include <string.h>

enum { OPEN_MAX = 48 }; /* more than there are chips */

/* A chip that is open, as a row named it. */
struct open_chip {
    struct chip *chip; /* NULL = none */
    char name[64], row_set[2][48];
};

struct row_chip {
    const struct chip_db *db;
    struct chip_overrides given; /* by the user */
    struct open_chip open[OPEN_MAX];
    size_t next;         /* the place of the next chip; then the oldest makes room */
    char row_set[2][48]; /* of the last row */
    const char **text;   /* what `sets` points to */
    struct chip_overrides sets;
    struct run_source source;
};

struct row_chip *row_chip_create(const struct chip_db *db, const struct chip_overrides *overrides)
{
    struct row_chip *const c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->db = db;
    c->source = (struct run_source){db, &c->sets};
    if (overrides)
        c->given = *overrides;
    c->text = calloc(c->given.count + ARRAY_COUNT(c->row_set), sizeof *c->text);
    if (c->text)
        return c;
    free(c);
    return NULL;
}

void row_chip_free(struct row_chip *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < OPEN_MAX; i++)
        chip_close(c->open[i].chip);
    free(c->text);
    free(c);
}

static void collect_sets(struct row_chip *c)
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(c->row_set); i++)
        if (*c->row_set[i])
            c->text[count++] = c->row_set[i];
    for (size_t i = 0; i < c->given.count; i++)
        c->text[count++] = c->given.text[i];
    c->sets = (struct chip_overrides){c->text, count};
}

static const struct chip *open_as_set(struct row_chip *c, const struct validate_program *program, struct orch_error *error)
{
    memcpy(c->row_set, program->set, sizeof c->row_set);
    collect_sets(c);
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (c->open[i].chip && strcmp(c->open[i].name, program->chip) == 0 &&
            memcmp(c->open[i].row_set, program->set, sizeof c->row_set) == 0)
            return c->open[i].chip;
    struct open_chip *const o = &c->open[c->next++ % OPEN_MAX];
    chip_close(o->chip);
    memcpy(o->name, program->chip, sizeof o->name);
    memcpy(o->row_set, program->set, sizeof o->row_set);
    o->chip = chip_open(c->db, o->name, &c->sets, error);
    return o->chip;
}

/* Cores of the E clusters and their blocks at the clock for threads of background priority; left alone where it is not known. */
static void set_background(struct validate_program *program, const struct chip *chip)
{
    static const char *const keys[] = {"cpu_e.clock_ghz", "amx_e.clock_ghz"};
    const struct chip_value *const mhz = chip_value(chip, "e_background_mhz");
    for (size_t k = 0; mhz && mhz->known && k < ARRAY_COUNT(keys); k++) {
        char *const set = program->set[k];
        const size_t size = sizeof program->set[k];
        size_t length = (size_t)snprintf(set, size, "%s=", keys[k]);
        for (size_t i = 0; i < mhz->count && length + sizeof ",99.999" < size; i++)
            length += (size_t)snprintf(set + length, size - length, "%s%.5g", i ? "," : "", mhz->list[i] / 1000);
    }
}

const struct chip *row_chip_open(struct row_chip *c, const struct validate_program *program, struct orch_error *error)
{
    const struct chip *const chip = open_as_set(c, program, error);
    if (!chip || !program->background)
        return chip;
    struct validate_program at_background = *program;
    set_background(&at_background, chip);
    return open_as_set(c, &at_background, error);
}

const struct chip_overrides *row_chip_sets(const struct row_chip *c)
{
    return &c->sets;
}

const struct run_source *row_chip_source(const struct row_chip *c)
{
    return &c->source;
}
