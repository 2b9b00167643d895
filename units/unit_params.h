/* The parameters of a unit are written down once: as the rows of a list in units/<unit>/<unit>_params.inc.
 *
 *     X(name, "unit of measure", KIND, lowest, highest, "meaning")
 *
 * The fields of the unit's plain struct come from the list (PARAM_FIELD). So do, in sim/chip, the keys of the chip database with
 * their checks and texts and the code that fills the struct, and the table in units/<unit>/PARAMETERS.md. A new parameter is a
 * new row; then the unit can use the field.
 */
#ifndef ORCHARD_UNITS_UNIT_PARAMS_H
#define ORCHARD_UNITS_UNIT_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

/* The kinds of parameters, as C types. */
#define PARAM_TYPE_INT    uint32_t /* a count */
#define PARAM_TYPE_REAL   double   /* a quantity */
#define PARAM_TYPE_CORES  double   /* a quantity that varies with the busy cores of the cluster: its value at the moment */
#define PARAM_TYPE_SWITCH bool     /* 0 or 1 */
#define PARAM_TYPE_CHOICE uint8_t  /* one of the names that the meaning lists, as an enumerator */

#define PARAM_FIELD(name, unit, kind, lowest, highest, text) PARAM_TYPE_##kind name;

/* Rows of the memory system also say which member they set: OWNER(HOW, member, name, "unit of measure", KIND, lowest, highest,
 * "meaning"). HOW is FIELD when the row declares the member, PART when the member is declared elsewhere: in a component such as a
 * cache, or by the row of another owner with the same struct. */
#define PARAM_MEMBER(how, member, name, unit, kind, lowest, highest, text) PARAM_MEMBER_##how(member, kind)
#define PARAM_MEMBER_FIELD(member, kind)                                   PARAM_TYPE_##kind member;
#define PARAM_MEMBER_PART(member, kind)

/* For the owners that are not asked for. */
#define PARAM_NONE(...)

#endif
