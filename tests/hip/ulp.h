// Distance of a result from a more precise reference in units of the last place of the result's type.
#pragma once
#include <cfloat>
#include <cmath>

// Weight of the last place at `want` in a format with `digits` significant bits and the given least exponent.
inline double last_place(double want, int digits, int min_exponent) {
    int exponent;
    std::frexp(want, &exponent);
    return std::ldexp(1.0, (exponent < min_exponent ? min_exponent : exponent) - digits);
}

inline double ulps(double got, long double want, int digits, int min_exponent, double largest) {
    if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
    if (std::fabs(double(want)) > largest) return std::isinf(got) && (got > 0) == (want > 0) ? 0 : INFINITY;
    if (std::isnan(got) || std::isinf(got)) return INFINITY;
    return double(std::fabs(static_cast<long double>(got) - want)) / last_place(double(want), digits, min_exponent);
}
