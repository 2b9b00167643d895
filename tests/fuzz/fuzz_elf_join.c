/* Archives and objects to be joined. An input that starts like one of them is taken as it is; any other is a list of patches
 * (offset, value) of a good archive of two objects. What is joined must be an object that can be opened and loaded.
 */
#include "isa/elf/elf_join.h"
#include "sim/workload/cpu/program_runtime.h"
#include "units/cpu/cpu_load.h"

#include <ar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const uint8_t *bytes, size_t size)
{
    struct elf_file elf;
    struct isa_error error;
    struct cpu_image image;
    struct mem_space *space = mem_space_create(UINT64_C(1) << 29);
    if (space && elf_open(&elf, bytes, size, &error) && cpu_load(space, &elf, &image, &error))
        cpu_image_release(&image);
    mem_space_free(space);
}

static void join(const uint8_t *bytes, size_t size, bool twice)
{
    const struct elf_join_file files[2] = {{"a", bytes, size, false}, {"b", bytes, size, true}};
    struct isa_error error = {0};
    size_t joined_bytes = 0;
    uint8_t *joined = elf_join(files, twice ? 2 : 1, "exp", &joined_bytes, &error);
    if (joined)
        load(joined, joined_bytes);
    else if (!error.text[0] || strchr(error.text, '\n'))
        __builtin_trap();
    free(joined);
}

static size_t add_member(uint8_t *to, const char *name, const void *bytes, size_t size)
{
    char header[sizeof(struct ar_hdr) + 1];
    snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644, size);
    memcpy(to, header, sizeof(struct ar_hdr));
    memcpy(to + sizeof(struct ar_hdr), bytes, size);
    return sizeof(struct ar_hdr) + size + (size & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t good_bytes, used = SARMAG;
    const void *const good = program_runtime(&good_bytes);
    if (size >= 4 && (elf_is_archive(data, size) || memcmp(data, "\177ELF", 4) == 0)) {
        uint8_t *const copy = malloc(size);
        if (copy) {
            memcpy(copy, data, size);
            join(copy, size, false);
        }
        free(copy);
        return 0;
    }
    uint8_t *const archive = calloc(1, 2 * good_bytes + 1000);
    if (!archive)
        return 0;
    memcpy(archive, ARMAG, SARMAG);
    used += add_member(archive + used, "one.o/", good, good_bytes);
    used += add_member(archive + used, "two.o/", good, good_bytes);
    for (size_t i = 0; i + 3 <= size; i += 3)
        archive[(size_t)(data[i] | data[i + 1] << 8) % used] = data[i + 2];
    join(archive, used, true);
    free(archive);
    return 0;
}
