#include "sim/machine/power/profile.h"

double power_profile_seconds(const struct power_profile *profile, double mhz)
{
    return profile->fixed_s + (profile->seconds - profile->fixed_s) * profile->mhz / mhz;
}
