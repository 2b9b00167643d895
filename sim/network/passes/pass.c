#include "sim/network/passes/pass.h"

#include "isa/array_count.h"
#include "sim/base/suggest.h"
#include "sim/network/passes/passes.h"

#include <string.h>

static const struct net_pass passes[] = {
#define PASS(name, level, function, text) {#name, level, net_pass_##function, text},
#include "sim/network/passes/passes.inc"
#undef PASS
};

const struct net_pass *net_pass_at(size_t index)
{
    return index < ARRAY_COUNT(passes) ? &passes[index] : NULL;
}

const struct net_pass *net_pass_find(const char *name, struct orch_error *error)
{
    char hint[96];
    struct suggest s;
    suggest_start(&s, name);
    for (size_t k = 0; k < ARRAY_COUNT(passes); k++) {
        if (strcmp(passes[k].name, name) == 0)
            return &passes[k];
        suggest_offer(&s, passes[k].name);
    }
    orch_fail(error, ORCH_USAGE, "unknown pass '%.60s'%s (", name, suggest_phrase(&s, hint, sizeof hint));
    for (size_t k = 0; k < ARRAY_COUNT(passes); k++)
        orch_fail_more(error, "%s%s", k ? " " : "", passes[k].name);
    orch_fail_more(error, ")");
    return NULL;
}
