#include "sim/ask/study/learned_rows.h"

#include "sim/ask/study/read_set.h"
#include "sim/run/run_version.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    const struct chip *chip;
    struct learned_set *set;
    char *names; /* the latest list of parameters: rows come in the order of theirs */
    struct db_parameter *parameters;
    struct read_set *read; /* has their names */
    size_t count;
};

static void forget(struct reading *r)
{
    free(r->names);
    free(r->parameters);
    read_set_free(r->read);
    r->names = NULL;
    r->parameters = NULL;
    r->read = NULL;
}

/* A list that names a key that there no longer is belongs to no row that holds. */
static const struct db_parameter *present(void *context, const char *names, size_t *count)
{
    struct reading *const r = context;
    struct orch_error unused = {0};
    if (!r->names || strcmp(r->names, names) != 0) {
        forget(r);
        r->names = strdup(names);
        r->read = read_set_parse(names, &unused);
        r->parameters = r->read ? read_set_parameters(r->read, r->chip, &r->count, &unused) : NULL;
    }
    *count = r->count;
    return r->parameters;
}

static bool visit(void *context, const struct db_learned *l, struct orch_error *error)
{
    const struct reading *const r = context;
    const struct learned_row row = {l->part, l->e_core, l->kernel, l->shape, l->precision, l->flops, l->seconds};
    return learned_add(r->set, &row, error);
}

struct learned_set *learned_rows_read(struct orch_db *db, const struct chip *chip, const char *detail, struct orch_error *error)
{
    struct reading r = {.chip = chip, .set = learned_create()};
    const char *const word = !detail || strcmp(detail, "auto") == 0 ? "op" : detail;
    bool ok = r.set || orch_no_memory(error);
    ok = ok && db_visit_learned(db, run_model_version(), word, present, visit, &r, error);
    forget(&r);
    if (ok) {
        learned_sort(r.set);
        return r.set;
    }
    learned_free(r.set);
    return NULL;
}
