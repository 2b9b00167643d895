/* Lowered library functions of floating point are off by no more units in the last place than OpenCL C 3.0 (table 38) allows; the
 * interpreter computes them in double precision before lowering. */
#include "tests/isa/ir_lower_case.h"

static void test_library_floats(void)
{
    static const struct example examples[] = {
        {"fdiv", "float", "float", "  %r = fdiv float %a, %b", NULL, ANY_FLOAT, ANY_FLOAT, 2.5},
        {"fdiv by 3", "float", "float", "  %r = fdiv float %a, 3.0", NULL, ANY_FLOAT, ANY_FLOAT, 2.5},
        {"fdiv by 8", "float", "float", "  %r = fdiv float %a, 8.0", NULL, ANY_FLOAT, ANY_FLOAT, 0},
        CALL1("exp", "_Z3expf", "float", SMALL_FLOAT, 3),
        CALL1("exp any", "_Z3expf", "float", ANY_FLOAT, 3),
        CALL1("exp10", "_Z5exp10f", "float", SMALL_FLOAT, 3),
        CALL1("exp2", "_Z4exp2f", "float", SMALL_FLOAT, 3),
        CALL1("expm1", "_Z5expm1f", "float", SMALL_FLOAT, 3),
        CALL1("expm1 unit", "_Z5expm1f", "float", UNIT_FLOAT, 3),
        CALL1("log", "_Z3logf", "float", ANY_FLOAT, 3),
        CALL1("log2", "_Z4log2f", "float", ANY_FLOAT, 3),
        CALL1("log10", "_Z5log10f", "float", ANY_FLOAT, 3),
        CALL1("log1p", "_Z5log1pf", "float", UNIT_FLOAT, 2),
        CALL2("pow", "_Z3powff", "float", ANY_FLOAT, ANY_FLOAT, 16),
        CALL2("pow small", "_Z3powff", "float", POSITIVE_FLOAT, UNIT_FLOAT, 16),
        CALL1("sin", "_Z3sinf", "float", SMALL_FLOAT, 4),
        CALL1("cos", "_Z3cosf", "float", SMALL_FLOAT, 4),
        CALL1("sin unit", "_Z3sinf", "float", UNIT_FLOAT, 4),
        CALL1("tan", "_Z3tanf", "float", SMALL_FLOAT, 5),
        CALL1("sinpi", "_Z5sinpif", "float", SMALL_FLOAT, 4),
        CALL1("cospi", "_Z5cospif", "float", SMALL_FLOAT, 4),
        CALL1("atan", "_Z4atanf", "float", ANY_FLOAT, 5),
        CALL2("atan2", "_Z5atan2ff", "float", ANY_FLOAT, ANY_FLOAT, 6),
        CALL1("asin", "_Z4asinf", "float", UNIT_FLOAT, 4),
        CALL1("acos", "_Z4acosf", "float", UNIT_FLOAT, 4),
        CALL1("sinh", "_Z4sinhf", "float", SMALL_FLOAT, 4),
        CALL1("cosh", "_Z4coshf", "float", SMALL_FLOAT, 4),
        CALL1("tanh", "_Z4tanhf", "float", ANY_FLOAT, 5),
        CALL1("cbrt", "_Z4cbrtf", "float", ANY_FLOAT, 2),
        CALL2("hypot", "_Z5hypotff", "float", ANY_FLOAT, ANY_FLOAT, 4),
        CALL1("sqrt", "_Z4sqrtf", "float", ANY_FLOAT, 3),
        CALL1("rsqrt", "_Z5rsqrtf", "float", ANY_FLOAT, 2),
        CALL1("round", "_Z5roundf", "float", ANY_FLOAT, 0),
        CALL1("sign", "_Z4signf", "float", ANY_FLOAT, 0),
        CALL2("copysign", "_Z8copysignff", "float", ANY_FLOAT, ANY_FLOAT, 0),
        CALL2("step", "_Z4stepff", "float", ANY_FLOAT, ANY_FLOAT, 0),
        CALL2("fdim", "_Z4fdimff", "float", ANY_FLOAT, ANY_FLOAT, 0),
        CALL2("nextafter", "_Z9nextafterff", "float", ANY_FLOAT, ANY_FLOAT, 1),
        CALL2("maxmag", "_Z6maxmagff", "float", ANY_FLOAT, ANY_FLOAT, 0),
    };
    check_all(examples, ARRAY_COUNT(examples));
}

static const struct suite_test tests[] = {{"keeps library functions within OpenCL's bounds", test_library_floats}};

SUITE_MAIN("ir_lower_math", tests)
