#include "sim/workload/cpu/program_link.h"

#include "isa/elf/elf_join.h"
#include "sim/workload/cpu/program_runtime.h"

#include <stdlib.h>

bool program_is_archive(const void *bytes, size_t size)
{
    return elf_is_archive(bytes, size);
}

bool program_needs_link(const void *bytes, size_t size)
{
    return elf_is_archive(bytes, size) || elf_has_undefined(bytes, size);
}

uint8_t *program_link(const struct program_link_file *files, size_t count, const char *entry, size_t *size,
                      struct orch_error *error)
{
    struct isa_error why = {.offset = 0};
    struct elf_join_file *const all = calloc(count + 1, sizeof *all);
    if (!all) {
        orch_no_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        all[i] = (struct elf_join_file){.name = files[i].path, .bytes = files[i].bytes, .size = files[i].size};
    all[count].name = "the runtime";
    all[count].bytes = program_runtime(&all[count].size);
    all[count].optional = true;
    uint8_t *const joined = elf_join(all, count + 1, entry, size, &why);
    free(all);
    if (!joined)
        orch_fail(error, ORCH_USAGE, "%s", why.text);
    return joined;
}
