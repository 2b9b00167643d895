/* A C library at work: formatted output and input, sorting, strings, libm, the environment, an exit code. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_length(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    const size_t n = strlen(*x), m = strlen(*y);
    return n != m ? (n > m) - (n < m) : strcmp(*x, *y);
}

static void say_bye(void)
{
    printf("bye\n");
}

int main(int argc, char **argv)
{
    atexit(say_bye);
    printf("argc %d", argc);
    for (int i = 1; i < argc; i++)
        printf(" [%s]", argv[i]);
    printf("\n%5d|%-7s|%08.3f|%+.4e|%g|%a|%c|%%|%#x|%lld\n", 42, "left", 3.14159, -12345.678, 1e-7, 0.1, 'z', 0xbeefu,
           -9000000000000LL);
    for (double x = 0.5; x < 50; x *= 1.7)
        printf("%.17g %.17g %.17g %.9g %.17g\n", sin(x), exp(x / 10), log(x), (double)expf((float)-x), pow(x, 0.333));
    printf("%.3f %.3f %.3f %.1f\n", floor(-2.5), ceil(2.1), round(2.5), fmod(10.5, 4));

    const char *words[] = {"pear", "fig", "apple", "quince", "kiwi", "damson", "banana"};
    qsort(words, sizeof words / sizeof *words, sizeof *words, by_length);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        printf("%s%s", i ? "," : "", words[i]);
    int n = 0;
    double d = 0;
    char text[64];
    printf(" %d", sscanf("17 2.5e3 hello", "%d %lf %63s", &n, &d, text));
    printf(" %d %g %s %ld %.4f\n", n, d, text, strtol("-0x7f", NULL, 0), strtod("6.02214076e23", NULL) / 1e23);
    for (char *p = text; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    char joined[200] = "";
    for (int i = 0; i < 12; i++)
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%d", text, i * i);
    printf("%s %zu %s\n", joined, strlen(joined), strstr(joined, "O81"));
    printf("HOME_OF_TESTS=%s\n", getenv("HOME_OF_TESTS") ? getenv("HOME_OF_TESTS") : "(none)");
    FILE *none = fopen("/no/such/file", "r");
    printf("fopen %s %s\n", none ? "worked" : "failed", strerror(errno));
    fprintf(stderr, "to stderr\n");
    return 17;
}
