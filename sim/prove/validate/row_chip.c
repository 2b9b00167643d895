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

const struct chip *row_chip_open(struct row_chip *c, const struct validate_program *program, struct orch_error *error)
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

const struct chip_overrides *row_chip_sets(const struct row_chip *c)
{
    return &c->sets;
}
