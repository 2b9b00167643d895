/* Floorplans, package parameters, measured curves and machines from arbitrary bytes: refused with a message, or sound. */
#include "power/floorplan.h"
#include "power/thermal_hotspot.h"
#include "sim/machine/device/device.h"
#include "sim/machine/thermal/device_curve.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_plan(const char *text, size_t size)
{
    struct floorplan plan;
    struct thermal_package package;
    struct thermal_network network;
    struct power_error error;

    if (!floorplan_parse(text, size, &plan, &error))
        return;
    thermal_package_init(&package);
    if (plan.count < 40 && thermal_hotspot_network(&plan, &package, &network, &error)) {
        if (network.nodes != 4 * plan.count + 12)
            abort();
        thermal_network_free(&network);
    }
    floorplan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *const text = (const char *)data + 1;
    struct orch_error error = {0};

    switch (data[0] % 4) {
    case 0: look_at_plan(text, size - 1); break;
    case 1: {
        struct thermal_package package;
        struct power_error why;
        (void)thermal_package_parse(text, size - 1, &package, &why);
        break;
    }
    case 2: {
        struct device_curve curve;
        if (device_curve_parse("curve", text, size - 1, &curve, &error)) {
            if (curve.count < 2 || !isfinite(curve.celsius[curve.count - 1]))
                abort();
            device_curve_free(&curve);
        }
        break;
    }
    default: {
        struct device device;
        (void)device_parse("device", text, size - 1, &device, &error);
        break;
    }
    }
    return 0;
}
