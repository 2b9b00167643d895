#include "sim/prove/validate/row_chip.h"

#include "isa/array_count.h"

#include <stdlib.h>
#include <string.h>

struct row_chip {
    const struct chip_db *db;
    struct chip_overrides given; /* by the user */
    struct chip *chip;           /* the last one; NULL = none */
    char name[64], row_set[2][48];
    const char **text; /* what `sets` points to */
    struct chip_overrides sets;
};

struct row_chip *row_chip_create(const struct chip_db *db, const struct chip_overrides *overrides)
{
    struct row_chip *const c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->db = db;
    if (overrides)
        c->given = *overrides;
    c->text = calloc(c->given.count + ARRAY_COUNT(c->row_set), sizeof *c->text);
    if (c->text)
        return c;
    free(c);
    return NULL;
}

static void close_chip(struct row_chip *c)
{
    if (c->chip)
        chip_close(c->chip);
    c->chip = NULL;
}

void row_chip_free(struct row_chip *c)
{
    if (!c)
        return;
    close_chip(c);
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

const struct chip *row_chip_open(struct row_chip *c, const struct validate_program *program, struct orch_error *error)
{
    if (c->chip && strcmp(c->name, program->chip) == 0 && memcmp(c->row_set, program->set, sizeof c->row_set) == 0)
        return c->chip;
    close_chip(c);
    memcpy(c->name, program->chip, sizeof c->name);
    memcpy(c->row_set, program->set, sizeof c->row_set);
    collect_sets(c);
    c->chip = chip_open(c->db, c->name, &c->sets, error);
    return c->chip;
}

const struct chip_overrides *row_chip_sets(const struct row_chip *c)
{
    return &c->sets;
}
