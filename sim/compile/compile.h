/* From the source of a GPU kernel to machine code that the simulator runs: clang or a stored text of its intermediate
 * representation, then isa/agx/compiler, with a cache of what was compiled before.
 *
 *     struct compile_request q = {.path = "saxpy.cl", .optimise = 2};
 *     struct compile_result r;
 *     if (compile_source(&q, &r, &error))
 *         ...                                  // r.kernel has code and arguments; grid and contents are the caller's
 *     compile_result_free(&r);
 */
#ifndef ORCHARD_SIM_COMPILE_COMPILE_H
#define ORCHARD_SIM_COMPILE_COMPILE_H

#include "sim/base/error.h"
#include "sim/workload/gpu/abi_kernel.h"

#include <stdint.h>
#include <stdio.h>

enum compile_language { COMPILE_OPENCL, COMPILE_METAL, COMPILE_LLVM };

/* Where the compiler shows its work: the names of the source's kernels (of Metal's with their functions), the text of clang, the
 * module as read, every pass, the kernel as lowered, assembler text. */
enum compile_stage {
    COMPILE_SHOW_NONE,
    COMPILE_SHOW_KERNELS,
    COMPILE_SHOW_LLVM,
    COMPILE_SHOW_READ,
    COMPILE_SHOW_PASSES,
    COMPILE_SHOW_LOWERED,
    COMPILE_SHOW_ASM
};
#define COMPILE_STAGES "kernels|llvm|read|passes|lowered|asm" /* in the order of enum compile_stage, without NONE */

struct compile_request {
    const char *path; /* its suffix (.cl, .metal, .ll) says the language; messages name it */
    const char *text; /* the source; NULL = what is in the file */
    size_t text_bytes;
    const char *entry;         /* name of the kernel; NULL = the only one */
    const char *const *define; /* "NAME" or "NAME=VALUE" */
    size_t defines;
    const char *const *include; /* folders that #include may reach; nothing else of the host is visible */
    size_t includes;
    const char *const *constant; /* of Metal: "NAME=VALUE" or "NUMBER=VALUE", function constants; others are 0 */
    size_t constants;
    unsigned optimise; /* clang's level, 0 to 3 */
    bool fast_math;
    bool fresh; /* compile even when the cache has it */
    enum compile_stage show;
    FILE *shown;    /* where `show` goes */
    bool show_only; /* nothing is compiled beyond that stage; there is no result then */
};

/* Which line of the source code from `offset` on belongs to. */
struct compile_line {
    uint32_t offset, file, line;
};

struct compile_result {
    /* Code, its parts and limits, arguments with names, types and offsets. The group is that of the source, zeros when it states
     * none; grid and contents of arguments are empty. */
    struct abi_kernel kernel;
    struct compile_line *line;
    size_t lines;
    char **file; /* names of the files that lines count */
    size_t files;
    unsigned spills;
    bool cached;    /* taken from the cache */
    char *warnings; /* of clang; "" = none */
};

/* False with *error: exit code 2 for sources that are wrong, 3 for what the compiler does not support. */
bool compile_source(const struct compile_request *request, struct compile_result *result, struct orch_error *error);
/* Every kernel of a source in its order, of one run of clang, past the cache; none may call another as a function. request->entry
 * and request->show are not looked at.
 * `take` gets each result and keeps nothing of it; when it is false the rest is left. Fails as compile_source does. */
bool compile_every(const struct compile_request *request, bool (*take)(void *context, const struct compile_result *result),
                   void *context, struct orch_error *error);
void compile_result_free(struct compile_result *result);

/* The language that a name's suffix says; false when it says none. */
bool compile_language_of(const char *path, enum compile_language *language);
/* Whether the machine has what the language needs; false with *error says what to install. */
bool compile_is_possible(enum compile_language language, struct orch_error *error);
/* The same, with the path and version of the tool in `text`; "" when the language needs none. */
bool compile_tool(enum compile_language language, char *text, size_t size, struct orch_error *error);

#endif
