/* What a function returned that was called by name (--entry), read from registers as AAPCS64 says for its type.
 *
 *     i8 .. i64, u8 .. u64, ptr   x0                     f16, f32, f64   the low bytes of v0
 *     TYPExN                      a vector of 8 or 16 bytes: v0
 *     {TYPE,TYPE ...}             a struct: up to four equal floating-point members are in v0 to v3; others, of at most 16
 *                                 bytes, in x0 and x1 as they lie in memory
 *     void                        nothing
 *     registers                   what x0 and v0 have, for those who do not say
 *
 * The bits are kept with the checksums of a result, so that they come back from the performance database.
 */
#ifndef ORCHARD_SIM_BASE_RETURNED_H
#define ORCHARD_SIM_BASE_RETURNED_H

#include "sim/base/error.h"
#include "sim/base/run_result.h"

#define RETURNED_REGISTERS "registers"

struct returned_registers {
    uint64_t x[2];
    uint8_t v[4][16];
};

/* False with *error when the text is no type. */
bool returned_check(const char *type, struct orch_error *error);
/* False when memory is out. The type is a right one. */
bool returned_add(struct run_result *result, const char *type, const struct returned_registers *registers);
/* Whether an entry of the checksums is one of these. */
bool returned_is(const char *name);
/* The type and the value as JSON text; false when nothing was returned. */
bool returned_get(const struct run_result *result, char *type, size_t type_size, char *value, size_t value_size);

#endif
