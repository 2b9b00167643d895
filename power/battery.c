#include "power/battery.h"

#include <math.h>

void battery_set(struct battery *b, const struct battery_params *params, double percent)
{
    *b = (struct battery){.params = *params, .charge_j = params->capacity_wh * 3600 * percent / 100};
}

static double drain_w(const struct battery_params *p, double watts)
{
    return (watts + p->floor_w) / p->efficiency;
}

bool battery_draw(struct battery *b, double watts, double seconds, double *lasted_s)
{
    const double rate = drain_w(&b->params, watts);

    *lasted_s = seconds;
    if (b->params.capacity_wh == 0)
        return true;
    if (rate * seconds > b->charge_j)
        *lasted_s = b->charge_j / rate;
    b->charge_j -= rate * *lasted_s;
    b->drained_j += rate * *lasted_s;
    return *lasted_s == seconds;
}

double battery_percent(const struct battery *b)
{
    return b->params.capacity_wh > 0 ? 100 * b->charge_j / (b->params.capacity_wh * 3600) : 0;
}

double battery_hours_left(const struct battery *b, double watts)
{
    return b->params.capacity_wh > 0 ? b->charge_j / drain_w(&b->params, watts) / 3600 : INFINITY;
}

double battery_wall_w(const struct battery_params *p, double watts)
{
    return (watts + p->floor_w) / p->adapter_efficiency;
}
