#include "reports/scale.h"

#include "reports/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ticks are shown with all their digits. */
static struct format_prefix prefix_of(double size)
{
    return format_prefix(size, 1 - 1e-9);
}

/* The least number that is 1, 2 or 5 times a power of ten and not below x. */
static double nice_step(double x)
{
    const double power = pow(10, floor(log10(x) + 1e-9)), rest = x / power;
    return power * (rest <= 1 + 1e-9 ? 1 : rest <= 2 + 1e-9 ? 2 : rest <= 5 + 1e-9 ? 5 : 10);
}

static void fit_linear(struct scale *s, double low, double high, unsigned wanted)
{
    if (!(high > low)) {
        const double half = low != 0 ? fabs(low) / 2 : 0.5;
        low -= half;
        high += half;
    }
    s->step = nice_step((high - low) / wanted);
    s->low = floor(low / s->step + 1e-9) * s->step;
    s->high = ceil(high / s->step - 1e-9) * s->step;
    const double count = (s->high - s->low) / s->step;
    for (unsigned i = 0; i <= count + 0.5 && s->ticks < SCALE_TICKS_MAX; i++) {
        const double tick = s->low + i * s->step;
        s->tick[s->ticks++] = fabs(tick) < s->step * 1e-6 ? 0 : tick;
    }
}

/* The ends are 1, 2 or 5 times a power of ten. Axes of up to two decades have ticks at all of these, others at powers of ten or
 * at some of them. */
static void fit_log(struct scale *s, double low, double high, unsigned wanted)
{
    static const double within[] = {1, 2, 5};
    if (!(high > low)) {
        low /= 2;
        high *= 2;
    }
    const bool fine = high / low <= 100;
    double first = floor(log10(low) + 1e-9), last = ceil(log10(high) - 1e-9);
    const double stride = fine ? 1 : fmax(1, ceil((last - first) / (wanted > 1 ? wanted : 1)));
    s->low = pow(10, first);
    s->high = pow(10, last);
    for (unsigned i = 0; i < 3; i++)
        s->low = pow(10, first) * within[i] <= low * (1 + 1e-9) ? pow(10, first) * within[i] : s->low;
    for (unsigned i = 3; i-- > 0;)
        s->high = pow(10, last - 1) * within[i] >= high * (1 - 1e-9) ? pow(10, last - 1) * within[i] : s->high;
    for (double d = first; d <= last + 0.5; d += stride)
        for (unsigned i = 0; i < (fine ? 3u : 1u); i++) {
            const double tick = pow(10, d) * within[i];
            if (tick >= s->low * (1 - 1e-9) && tick <= s->high * (1 + 1e-9) && s->ticks < SCALE_TICKS_MAX)
                s->tick[s->ticks++] = tick;
        }
}

void scale_fit(struct scale *s, double low, double high, bool log, bool si, unsigned wanted)
{
    const double from = s->from, to = s->to;
    if (!isfinite(low) || !isfinite(high)) {
        low = log ? 1 : 0;
        high = log ? 10 : 1;
    }
    if (high < low) {
        const double other = low;
        low = high;
        high = other;
    }
    *s = (struct scale){.log = log && low > 0 && high < 1e300, .from = from, .to = to, .factor = 1, .prefix = ""};
    wanted = wanted < 2 ? 2 : wanted > 12 ? 12 : wanted;
    if (s->log)
        fit_log(s, fmax(low, 1e-290), high, wanted);
    else
        fit_linear(s, low, high, wanted);
    s->each = s->log && si;
    if (!s->log && si) {
        const struct format_prefix p = prefix_of(fmax(fabs(s->low), fabs(s->high)));
        s->factor = p.factor;
        s->prefix = p.text;
    }
}

double scale_at(const struct scale *s, double value)
{
    double share;
    if (s->log)
        share = value > 0 ? log(value / s->low) / log(s->high / s->low) : 0;
    else
        share = (value - s->low) / (s->high - s->low);
    share = isnan(share) ? 0 : fmin(fmax(share, 0), 1);
    return s->from + share * (s->to - s->from);
}

char *scale_label(const struct scale *s, double value, char text[SCALE_LABEL])
{
    const char *prefix = "";
    double shown = value / s->factor;
    if (s->each) {
        const struct format_prefix p = prefix_of(fabs(value));
        shown = value / p.factor;
        prefix = p.text;
    }
    if (s->log && fabs(shown) >= 1e5) { /* powers of ten: "1e6" */
        snprintf(text, SCALE_LABEL, "%.0fe%.0f", shown / pow(10, floor(log10(shown) + 1e-9)), floor(log10(shown) + 1e-9));
        return text;
    }
    if (s->log || shown == 0) {
        snprintf(text, SCALE_LABEL, "%.6g%s%s", shown, *prefix ? " " : "", prefix);
        return text;
    }
    const double digits = -floor(log10(s->step / s->factor) + 1e-9);
    if (fabs(shown) >= 1e7 || digits > 7)
        snprintf(text, SCALE_LABEL, "%.4g", shown);
    else
        snprintf(text, SCALE_LABEL, "%.*f", digits > 0 ? (int)digits : 0, shown);
    return text;
}
