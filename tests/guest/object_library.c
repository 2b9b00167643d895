/* Objects for linking: GUEST_PART says which. They use one another, the runtime, common symbols and equal inline functions. */
#if GUEST_PART == 1
#include <math.h>
#include <stddef.h>
#include <string.h>

int helper(int x);
int not_there(int x);
int shared_count;

int library_sum(int x)
{
    char a[200], b[200];
    memset(a, x, sizeof a);
    memcpy(b, a, sizeof b);
    return b[199] + (int)strlen("abcdef") + helper(x) + shared_count;
}

double library_math(int which, double x, double y)
{
    switch (which) {
    case 0: return exp(x);
    case 1: return log(x);
    case 2: return pow(x, y);
    case 3: return sin(x);
    case 4: return cos(x);
    case 5: return atan2(x, y);
    case 6: return tanh(x);
    case 7: return erf(x);
    case 8: return fmod(x, y);
    default: return (double)expf((float)x);
    }
}

int library_broken(int x)
{
    return x > 0 ? not_there(x) + 1 : x;
}

#elif GUEST_PART == 2
int other(int x);
int shared_count;

int helper(int x)
{
    shared_count += x;
    return other(x) * 2;
}
#elif GUEST_PART == 3
static int calls = 100;

int other(int x)
{
    return x + calls++;
}

int third(void)
{
    return 3;
}
#else
int missing(void);

int never_wanted(void)
{
    return missing();
}
#endif
