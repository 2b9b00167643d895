#include "sim/ask/sweep/sweep_price.h"

#include <math.h>

#define STEP 0.01 /* relative, by which a part is changed to see what it does */

void sweep_price_begin(struct sweep_price *price, size_t index)
{
    struct study_setting setting = {0};
    struct orch_error unused = {0};
    price->work.known = false;
    if (sweep_design_setting(price->design, price->point[index], &setting) &&
        !study_work(price->study, &setting, &price->work, &unused))
        price->work.known = false;
    study_setting_free(&setting);
    if (!price->work.known)
        price->study = NULL;
}

double sweep_price_joules(const struct sweep_price *price, size_t index, const struct run_timing_took *took)
{
    struct study_setting setting = {0};
    struct orch_error unused = {0};
    double joules = NAN;
    if (price->work.known && sweep_design_setting(price->design, price->point[index], &setting))
        study_work_joules(price->study, &price->work, &setting, took, &joules, &unused);
    study_setting_free(&setting);
    return joules;
}

bool sweep_price_of(const struct sweep_price *price, size_t index, const struct sweep_answer *answer, struct sweep_priced *to)
{
    const double *const r = answer->response;
    const double busy = r[SWEEP_device_seconds], rest = r[SWEEP_seconds] - busy, bytes = r[SWEEP_dram_bytes];
    const struct run_timing_took as_is = {busy + rest, busy, bytes};
    const struct run_timing_took more[SWEEP_PRICE_PARTS] = {
        [SWEEP_PRICE_BUSY] = {busy * (1 + STEP) + rest, busy * (1 + STEP), bytes},
        [SWEEP_PRICE_REST] = {busy + rest * (1 + STEP), busy, bytes},
        [SWEEP_PRICE_BYTES] = {busy + rest, busy, bytes * (1 + STEP)},
    };
    to->joules = sweep_price_joules(price, index, &as_is);
    if (!(to->joules > 0) || !(r[SWEEP_joules] > 0))
        return false;
    for (int part = 0; part < SWEEP_PRICE_PARTS; part++)
        to->by[part] = (sweep_price_joules(price, index, &more[part]) / to->joules - 1) / STEP;
    return true;
}
