/* Keeps validations in the performance database: measurements, their predictions, and the scores by which versions are compared.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_RECORD_H
#define ORCHARD_SIM_PROVE_VALIDATE_RECORD_H

#include "sim/chip/chip.h"
#include "sim/db/db.h"
#include "sim/prove/validate/validate.h"

enum { VALIDATION_VERSION_SIZE = 96 };

/* Hash of everything that decides predictions: the code of the model, how rows become programs, and every value of every chip,
 * including overrides. */
bool validation_version(const struct chip_db *chips, const struct chip_overrides *overrides,
                        char version[VALIDATION_VERSION_SIZE], struct orch_error *error);

/* Stores every row that has a value, and scores of each file as a whole, by chip, by source and by unit, with fitted rows apart.
 * One transaction; storing the same again changes nothing but dates. */
bool validation_record(const struct validation *v, struct orch_db *db, const char *version, struct orch_error *error);

/* Prints the scores of whole files by version, oldest first, with what changed from one to the next and which groups moved most.
 * `file` is a name without folders; NULL = all files. */
bool validation_history_text(struct orch_db *db, const char *file, FILE *out, struct orch_error *error);
struct json_object *validation_history_json(struct orch_db *db, const char *file, struct orch_error *error);

#endif
