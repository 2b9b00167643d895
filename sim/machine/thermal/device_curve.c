#include "sim/machine/thermal/device_curve.h"

#include "sim/machine/sustain/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char header[] = "time_s,soc_power_W,soc_temp_C";

bool device_curve_recognise(const char *text, size_t size)
{
    return size >= sizeof header - 1 && memcmp(text, header, sizeof header - 1) == 0;
}

void device_curve_free(struct device_curve *curve)
{
    free(curve->time_s);
    free(curve->watts);
    free(curve->celsius);
    memset(curve, 0, sizeof *curve);
}

static bool read_line(const char *line, size_t length, double value[3])
{
    char copy[200], *next = copy, *end;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, line, length);
    copy[length] = '\0';
    for (int i = 0; i < 3; i++) {
        value[i] = strtod(next, &end);
        if (end == next || !isfinite(value[i]) || *end != (i < 2 ? ',' : '\0'))
            return false;
        next = end + 1;
    }
    return true;
}

bool device_curve_parse(const char *name, const char *text, size_t size, struct device_curve *curve, struct orch_error *error)
{
    const char *at = text, *const end = text + size;
    const size_t room = size / 6 + 1; /* "0,0,0\n" is the shortest line */
    unsigned long line = 0;
    *curve = (struct device_curve){calloc(room, sizeof(double)), calloc(room, sizeof(double)), calloc(room, sizeof(double)), 0};
    bool ok = (curve->time_s && curve->watts && curve->celsius) || orch_no_memory(error);
    while (ok && at < end) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        double value[3];
        if (length && at[length - 1] == '\r')
            length--;
        if (++line > 1 && length) {
            const size_t n = curve->count;
            ok = read_line(at, length, value) ||
                 orch_fail(error, ORCH_USAGE, "%.300s:%lu: expected time, watts, degrees", name, line);
            if (ok && (value[1] < 0 || (n && value[0] <= curve->time_s[n - 1])))
                ok = orch_fail(error, ORCH_USAGE, "%.300s:%lu: times must rise and watts not be negative", name, line);
            curve->time_s[n] = value[0];
            curve->watts[n] = value[1];
            curve->celsius[n] = value[2];
            curve->count += ok;
        }
        at = newline ? newline + 1 : end;
    }
    if (ok && curve->count < 2)
        ok = orch_fail(error, ORCH_USAGE, "%.300s: a curve has at least two points", name);
    if (!ok)
        device_curve_free(curve);
    return ok;
}

bool device_curve_score(const struct device_curve *curve, const struct chip *chip, const struct device *device,
                        struct device_curve_score *score, struct orch_error *error)
{
    const struct sustain_setup setup = {.chip = chip, .device = device, .ambient_c = NAN, .start_c = curve->celsius[0]};
    struct machine m;
    unsigned busy[POWER_DOMAIN_COUNT] = {0};
    double squares = 0;
    memset(score, 0, sizeof *score);
    if (!machine_open(&m, &setup, 1, error))
        return false;
    busy[POWER_P_CPU] = m.slices[POWER_P_CPU];
    busy[POWER_E_CPU] = m.slices[POWER_E_CPU];
    for (size_t i = 1; i < curve->count; i++) {
        const double rest = fmin(curve->watts[i], 1.6);
        const double watts[POWER_DOMAIN_COUNT] = {
            [POWER_P_CPU] = curve->watts[i] - rest, [POWER_E_CPU] = 0.8 * rest, [POWER_SOC] = 0.2 * rest};
        machine_step(&m, watts, busy, curve->time_s[i] - curve->time_s[i - 1]);
        const double off = m.mean_c - curve->celsius[i];
        squares += off * off;
        score->bias_k += off / (double)(curve->count - 1);
        if (fabs(off) > fabs(score->worst_k)) {
            score->worst_k = off;
            score->worst_s = curve->time_s[i];
        }
    }
    score->rmse_k = sqrt(squares / (double)(curve->count - 1));
    machine_close(&m);
    return true;
}
