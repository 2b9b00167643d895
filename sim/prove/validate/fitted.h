/* Values that were taken from measured rows or chosen over them, and these rows. That a fitted row fits says nothing about the
 * model: it is scored apart. The list is made of what stands beside each value: `fitted_on` of the chip database, the rows of
 * overheads.inc, and the few numbers below that recognisers and libraries have in code.
 *
 * Rows are named by id, or by a pattern: conditions joined by " & ", each "column=text" for the whole cell or "column~text" for a
 * part of it. Columns are chip ("M1" is neither M1 Max nor M1 Pro), source, what (the item, instruction or workload), condition,
 * shape and unit. "*" stands for all rows.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_FITTED_H
#define ORCHARD_SIM_PROVE_VALIDATE_FITTED_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/row.h"

/* Seconds between requests in sbryngelson/ane-guide's table of efficiencies (plan_power.c). */
#define FITTED_ANE_IDLE_S 0.41e-3

/* AMX threads of one performance cluster that stay there although another cluster is idle (soc_runner.c). */
#define FITTED_THREADS_THAT_STAY 2

struct fitted_value {
    char *key, *where, *value;
    char **row; /* ids and patterns */
    size_t rows;
    bool interval; /* decides intervals alone, not predictions */
};

struct fitted_list;

/* `chips` may be NULL: then what the chip database says is left out. NULL when memory is out. */
struct fitted_list *fitted_list_create(const struct chip_db *chips);
void fitted_list_free(struct fitted_list *list);
size_t fitted_list_count(const struct fitted_list *list);
const struct fitted_value *fitted_list_at(const struct fitted_list *list, size_t index);

/* Whether an id or a pattern names the row. */
bool fitted_names(const char *pattern, const struct validate_row *row);
/* The first value that decides predictions and was fitted on the row; NULL when none was. Valid as long as the list. */
const char *fitted_list_key(const struct fitted_list *list, const struct validate_row *row);

#endif
