/* Where the code of a kernel comes from: a table of lines, and the texts of the lines that a listing shows. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_SOURCE_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_SOURCE_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_node;
struct json_object;

/* The code from `offset` on, up to the next entry, belongs to this line. */
struct abi_source_line {
    uint32_t offset, file, line;
};

struct abi_source_text {
    uint32_t file, line;
    char *text;
};

struct abi_source {
    struct abi_source_line *line; /* by ascending offset */
    size_t lines;
    char **file;
    size_t files;
    struct abi_source_text *text; /* by file and line; none where texts are not known */
    size_t texts;
    unsigned spills; /* values that the compiler keeps on the stack */
};

/* NULL when memory is out; room for so many. */
struct abi_source *abi_source_create(size_t lines, size_t files);
void abi_source_free(struct abi_source *source);

/* The entry that the code at an offset belongs to; NULL = none. */
const struct abi_source_line *abi_source_find(const struct abi_source *source, uint32_t offset);

/* Keeps those lines of a file's text (it need not end with a NUL) that have code, and some around them. Does nothing for a file
 * that the table does not name. False when memory is out. */
bool abi_source_take_text(struct abi_source *source, uint32_t file, const char *text, size_t bytes);

/* Sources may hold anything: what is no UTF-8 and what would steer a terminal becomes '?'. Returns the text, which may be NULL.
 */
char *abi_source_clean(char *text);

/* The member "source_lines" of a description. */
bool abi_source_read(const struct json_node *top, struct abi_source **source, struct orch_error *error);
struct json_object *abi_source_json(const struct abi_source *source);

#endif
