#include "units/amx/amx_core_dispatch.h"

const struct amx_dispatch amx_dispatch_portable = DISPATCH_TABLE;
