/* orchard isa: what its families share, and the families with a file of their own; cmd_isa.c chooses. */
#ifndef ORCHARD_SIM_API_VERB_ISA_H
#define ORCHARD_SIM_API_VERB_ISA_H

#include "sim/api/api.h"

/* asm: the text of `path` (free it) and where -o says that the code goes. When false, the user was told; *code is the exit code.
 */
bool cmd_isa_source(struct cmd_context *context, const char *path, uint8_t **text, size_t *size, const char **output, int *code);

/* Each returns an exit code. */
int cmd_isa_agx_disasm(struct cmd_context *context, const char *path);
int cmd_isa_agx_asm(struct cmd_context *context, const char *path);
int cmd_isa_agx_check(struct cmd_context *context, int files, char **paths);
int cmd_isa_ane_disasm(struct cmd_context *context, const char *path);
int cmd_isa_ane_asm(struct cmd_context *context, const char *path);
int cmd_isa_ane_check(struct cmd_context *context, int files, char **paths);

#endif
