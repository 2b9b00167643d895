// The name that sources include; the types are in orchard_simd.
#pragma once
#include <orchard_simd>
