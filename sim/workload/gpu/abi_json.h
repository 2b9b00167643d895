/* Members of a JSON description, taken with their type and range checked. What is wrong is told as
 * "FILE: PLACE: reason; fix", where PLACE is the path of the member: "args[1].count".
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_JSON_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_JSON_H

#include "sim/base/error.h"

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

/* An object of the file and where it stands. */
struct abi_node {
    struct json_object *object;
    const char *file;
    char place[64]; /* "" = the file's top, "args[1]" */
    struct orch_error *error;
};

/* Parses a whole file: one object, nothing behind it. The caller puts *document. */
bool abi_json_parse(const char *file, const char *text, size_t size, struct json_object **document, struct orch_error *error);

/* Fails with exit code 2 and the place of `member` (NULL: of the node itself); returns false. */
bool abi_wrong(const struct abi_node *node, const char *member, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* NULL when absent or null. */
struct json_object *abi_member(const struct abi_node *node, const char *member);
/* Absent members leave *value alone and are true; required ones are false. */
bool abi_whole(const struct abi_node *node, const char *member, uint64_t lowest, uint64_t highest, uint64_t *value);
bool abi_whole32(const struct abi_node *node, const char *member, uint32_t lowest, uint32_t highest, uint32_t *value);
bool abi_real(const struct abi_node *node, const char *member, double *value);
bool abi_text(const struct abi_node *node, const char *member, const char **value);
/* *child->object is NULL when the member is absent. */
bool abi_object(const struct abi_node *node, const char *member, struct abi_node *child);
bool abi_array(const struct abi_node *node, const char *member, struct json_object **array);
bool abi_required(const struct abi_node *node, const char *member, const char *fix);

/* A member that is none of `known` but nearly one is a typing mistake; others are the author's own and let be. */
bool abi_no_misspelling(const struct abi_node *node, const char *const *known, size_t count);

#endif
