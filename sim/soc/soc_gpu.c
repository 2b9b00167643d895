/* The GPU of a chip, opened when something runs on it: the memory ports of its cores and its timing model. */
#include "sim/soc/soc_internal.h"

#include "sim/chip/chip_units.h"

#include <stdlib.h>

static bool open_ports(struct soc *soc, struct mem_port **ports, struct orch_error *error)
{
    for (unsigned core = 0; core < soc->gpu.params.cores; core++) {
        struct mem_port_params params;
        if (!chip_gpu_port(soc->chip, soc->gpu_cluster, core, &params, error))
            return false;
        ports[core] = mem_port_open(soc->memory, &params, NULL);
        if (!ports[core])
            return orch_no_memory(error);
    }
    return true;
}

struct soc_gpu *soc_gpu(struct soc *soc, struct orch_error *error)
{
    struct gpu_params *const params = &soc->gpu.params;
    if (soc->gpu.timing)
        return &soc->gpu;
    if (!chip_gpu_params(soc->chip, params, error))
        return NULL;
    if (!soc->has_gpu_memory) {
        orch_fail(error, ORCH_UNMODELLED, "%s: the caches of its GPU are not known", chip_id(soc->chip));
        return NULL;
    }
    struct mem_port **ports = soc->gpu.port ? soc->gpu.port : calloc(params->cores, sizeof *ports);
    soc->gpu.port = ports;
    if (ports && open_ports(soc, ports, error)) {
        soc->gpu.timing = gpu_timing_create(params, ports);
        if (!soc->gpu.timing)
            orch_no_memory(error);
    } else if (!ports) {
        orch_no_memory(error);
    }
    return soc->gpu.timing ? &soc->gpu : NULL;
}
