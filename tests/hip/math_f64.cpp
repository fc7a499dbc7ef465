// f64 math functions against the host's long double libm. Bounds in ulp are OpenCL 2.0's for doubles.
#include "check.h"
#include "ulp.h"

#define UNARY(X)                                                                                                 \
    X(sin, 4, -100, 100) X(cos, 4, -100, 100) X(tan, 5, -100, 100) X(asin, 4, -1, 1) X(acos, 4, -1, 1)             \
    X(atan, 5, -50, 50) X(sinh, 4, -20, 20) X(cosh, 4, -20, 20) X(tanh, 5, -10, 10) X(asinh, 4, -1e4, 1e4)         \
    X(acosh, 4, 1, 1e4) X(atanh, 5, -0.999, 0.999) X(exp, 3, -700, 700) X(exp2, 3, -1000, 1000)                    \
    X(expm1, 3, -20, 500) X(log, 3, 1e-300, 1e300) X(log2, 3, 1e-300, 1e300) X(log10, 3, 1e-300, 1e300)            \
    X(log1p, 2, -0.99, 1e5) X(sqrt, 0.5, 1e-300, 1e300) X(cbrt, 2, -1e30, 1e30) X(erf, 16, -5, 5)                  \
    X(erfc, 16, -5, 20) X(tgamma, 16, 0.1, 150)

#define COUNT(name, bound, lo, hi) +1
constexpr int FUNCTIONS = 0 UNARY(COUNT);

__global__ void unary(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int f = 0;
#define CALL(name, bound, lo, hi)                                                                                \
    y[f * n + i] = name(x[f * n + i]);                                                                           \
    f++;
    UNARY(CALL)
}

__global__ void binary(const double *a, const double *b, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = pow(fabs(a[i]), b[i]);
    y[n + i] = atan2(a[i], b[i]);
    y[2 * n + i] = hypot(a[i], b[i]);
    y[3 * n + i] = fmod(a[i], b[i]);
    y[4 * n + i] = a[i] / b[i];
    y[5 * n + i] = fma(a[i], b[i], a[i]);
    y[6 * n + i] = rsqrt(fabs(a[i]));
    y[7 * n + i] = ldexp(a[i], int(b[i]));
}

static void check(const char *name, double x, double got, long double want, double bound, double *worst) {
    double error = ulps(got, want, 53, DBL_MIN_EXP, DBL_MAX);
    CHECK(error <= bound, "%s(%a) = %a, want %a: %g ulp, bound %g", name, x, got, double(want), error, bound);
    if (error > *worst) *worst = error;
}

int main() {
    const int n = 1500;
    Random random;
    std::vector<double> x(size_t(FUNCTIONS) * n);
    int f = 0;
#define FILL(name, bound, lo, hi)                                                                                \
    for (int i = 0; i < n; i++)                                                                                  \
        x[size_t(f) * n + i] = lo > 0 && hi / lo > 1e6 ? std::exp(random.real(std::log(lo), std::log(hi)))       \
                                                       : random.real(lo, hi);                                    \
    f++;
    UNARY(FILL)
    Device<double> dx(x), dy(x.size());
    unary<<<(n + 255) / 256, 256>>>(dx, dy, n);
    synchronize();
    auto y = dy.download();
    f = 0;
#define COMPARE(name, bound, lo, hi)                                                                             \
    {                                                                                                            \
        double worst = 0;                                                                                        \
        for (int i = 0; i < n; i++) {                                                                            \
            double v = x[size_t(f) * n + i];                                                                     \
            check(#name, v, y[size_t(f) * n + i], std::name(static_cast<long double>(v)), bound + 0.01, &worst);  \
        }                                                                                                        \
        std::printf("%-8s %.3f ulp of %g\n", #name, worst, double(bound));                                       \
        f++;                                                                                                     \
    }
    UNARY(COMPARE)

    std::vector<double> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = random.real(-1, 1) * std::exp2(int(random.u32() % 40) - 20);
        b[i] = random.real(-1, 1) * std::exp2(int(random.u32() % 10) - 5);
        if (b[i] == 0) b[i] = 1;
    }
    Device<double> da(a), db(b), dr(8 * n);
    binary<<<(n + 255) / 256, 256>>>(da, db, dr, n);
    synchronize();
    auto r = dr.download();
    double worst[8] = {};
    for (int i = 0; i < n; i++) {
        long double p = a[i], q = b[i];
        check("pow", a[i], r[i], std::pow(std::fabs(p), q), 16, &worst[0]);
        check("atan2", a[i], r[n + i], std::atan2(p, q), 6, &worst[1]);
        check("hypot", a[i], r[2 * n + i], std::hypot(p, q), 4, &worst[2]);
        check("fmod", a[i], r[3 * n + i], std::fmod(a[i], b[i]), 0, &worst[3]);
        check("divide", a[i], r[4 * n + i], a[i] / b[i], 0, &worst[4]);
        check("fma", a[i], r[5 * n + i], std::fma(a[i], b[i], a[i]), 0, &worst[5]);
        check("rsqrt", a[i], r[6 * n + i], 1 / std::sqrt(std::fabs(p)), 2, &worst[6]);
        check("ldexp", a[i], r[7 * n + i], std::ldexp(a[i], int(b[i])), 0, &worst[7]);
    }
    return pass();
}
