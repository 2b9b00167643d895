/* The verb isa: verb_isa.c chooses the family; the GPU and the Neural Engine have files of their own. */
#ifndef ORCHARD_SIM_API_VERB_ISA_H
#define ORCHARD_SIM_API_VERB_ISA_H

#include "sim/api/api.h"

/* For asm: the text of `path` (free it) and the file that the code goes to. False when the verb has failed; *code is then its
 * exit code. */
bool verb_isa_source(struct api_context *context, const char *path, uint8_t **text, size_t *size, const char **output, int *code);

/* Each returns an exit code. */
int verb_isa_agx_disasm(struct api_context *context, const char *path);
int verb_isa_agx_asm(struct api_context *context, const char *path);
int verb_isa_agx_check(struct api_context *context, int files, const char *const *paths);
int verb_isa_ane_disasm(struct api_context *context, const char *path);
int verb_isa_ane_asm(struct api_context *context, const char *path);
int verb_isa_ane_check(struct api_context *context, int files, const char *const *paths);

#endif
