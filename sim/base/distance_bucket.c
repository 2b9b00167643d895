#include "sim/base/distance_bucket.h"

#include <math.h>

enum { FARTHEST = 128 };

int64_t distance_bucket(int64_t distance, int64_t buckets, bool both)
{
    int64_t first = 0;
    if (both) {
        buckets /= 2;
        first = distance > 0 ? buckets : 0;
        distance = distance < 0 ? -distance : distance;
    } else
        distance = distance < 0 ? -distance : 0;
    const int64_t exact = buckets / 2;
    if (distance < exact)
        return first + distance;
    const double share = log((double)distance / (double)exact) / log((double)FARTHEST / (double)exact);
    const int64_t far = exact + (int64_t)(share * (double)(buckets - exact));
    return first + (far < buckets ? far : buckets - 1);
}
