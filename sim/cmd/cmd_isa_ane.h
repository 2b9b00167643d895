/* The ane family of orchard isa; cmd_isa.c chooses. Each returns an exit code. */
#ifndef ORCHARD_SIM_CMD_ISA_ANE_H
#define ORCHARD_SIM_CMD_ISA_ANE_H

#include "sim/cmd/cmd.h"

int cmd_isa_ane_disasm(struct cmd_context *context, const char *path);
int cmd_isa_ane_asm(struct cmd_context *context, const char *path);
int cmd_isa_ane_check(struct cmd_context *context, int files, char **paths);

#endif
