#include "sim/api/verb_run_profile.h"

#include "sim/api/verb_run_device.h"
#include "sim/listen/profile_text.h"
#include "sim/scenario/together.h"

#include <string.h>

bool verb_run_profile_read(const struct api_context *context, bool recording, struct run_request *request, bool *assembly,
                           struct orch_error *error)
{
    const char *const how = api_value(&context->args, "profile");
    if (!how)
        return true;
    if (how[0] && strcmp(how, "asm") != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("profile") " %.40s: expected nothing or asm", how);
    if (recording || verb_run_wants_device(context) ||
        (together_is(request->workload) && !request->steps && !run_network_are_joint(request->workload, request->unit)))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("profile") ": of one workload at fixed clocks");
    request->profile = true;
    *assembly = how[0] != 0;
    return true;
}

bool verb_run_profile_show(const struct api_context *context, const struct run_result *r, bool assembly, struct orch_error *error)
{
    return !r->profile || profile_print(context->out, r->profile, r->chip, assembly) || orch_no_memory(error);
}
