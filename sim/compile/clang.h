/* Clang as a process: from OpenCL C, or from Metal by way of metal_prepass.h, to the text of LLVM's intermediate representation.
 *
 * Clang is the program that ORCHARD_CLANG names, else clang-16 or clang of the PATH; its major version must be 16 to 19, whose
 * text ir_read.h takes. It reads the source from standard input and sees no file but its own headers and those of the folders
 * that the request names: what it opened is in its preprocessed text, and anything else is refused.
 */
#ifndef ORCHARD_SIM_COMPILE_CLANG_H
#define ORCHARD_SIM_COMPILE_CLANG_H

#include "sim/compile/compile.h"

struct clang {
    char path[4096];
    char version[200]; /* first line of what it says about itself */
    char own[4096];    /* folder of its own headers */
};

/* The folder of the headers that Metal sources include; NULL when they are not there. */
const char *clang_metal_headers(void);

/* False (exit code 2) names the Debian package when there is none, and what was found when its version is another. */
bool clang_find(struct clang *clang, struct orch_error *error);
/* The source after preprocessing; messages of clang become *error, with their place. *text is from malloc. */
bool clang_preprocess(const struct clang *clang, const struct compile_request *request, enum compile_language language,
                      const char *source, size_t bytes, char **text, size_t *text_bytes, struct orch_error *error);
/* The intermediate representation; Metal comes as metal_prepass has left it. `warnings` (from malloc, may be "") is what clang
 * had to remark. */
bool clang_compile(const struct clang *clang, const struct compile_request *request, enum compile_language language,
                   const char *source, size_t bytes, char **text, size_t *text_bytes, char **warnings, struct orch_error *error);

#endif
