// f16 arithmetic and math functions: arithmetic is exact to the last bit, functions within OpenCL's half bounds.
#include "check.h"
#include "ulp.h"

#include <hip/hip_fp16.h>

// hsin and hcos are left out: Debian's device library (5.2.3) selects NaN for every finite argument.
constexpr int BINARY = 5, UNARY = 6;

// Debian's device library lacks the half reciprocal behind __hdiv and hrcp; _Float16 divides by instructions.
__device__ __half divide(__half a, __half b) {
    _Float16 x, y;
    __builtin_memcpy(&x, &a, 2);
    __builtin_memcpy(&y, &b, 2);
    _Float16 q = x / y;
    __half out;
    __builtin_memcpy(&out, &q, 2);
    return out;
}

__global__ void half_math(const __half *a, const __half *b, const __half *c, __half *binary, __half *unary, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    binary[i] = __hadd(a[i], b[i]);
    binary[n + i] = __hsub(a[i], b[i]);
    binary[2 * n + i] = __hmul(a[i], b[i]);
    binary[3 * n + i] = __hfma(a[i], b[i], c[i]);
    binary[4 * n + i] = divide(a[i], b[i]);
    __half x = __habs(a[i]);
    unary[i] = hsqrt(x);
    unary[n + i] = divide(__float2half(1.0f), a[i]);
    unary[2 * n + i] = hexp(b[i]);
    unary[3 * n + i] = hlog(x);
    unary[4 * n + i] = hexp2(b[i]);
    unary[5 * n + i] = hrint(a[i]);
}

__global__ void packed(const __half2 *a, const __half2 *b, __half2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __hfma2(a[i], b[i], __hmul2(b[i], b[i]));
}

static float value(__half h) {
    unsigned short bits = *reinterpret_cast<unsigned short *>(&h);
    _Float16 f;
    std::memcpy(&f, &bits, 2);
    return float(f);
}

static __half to_half(float f) {
    _Float16 h = _Float16(f);
    __half out;
    std::memcpy(&out, &h, 2);
    return out;
}

// Rounds a double to f16 once; f64 holds every product of two f16 plus a third exactly enough for that.
static float round16(double v) { return float(_Float16(v)); }

int main() {
    const int n = 6000;
    Random random;
    std::vector<__half> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = to_half(float(random.real(-1, 1) * std::exp2(int(random.u32() % 28) - 20)));
        b[i] = to_half(float(random.real(-8, 8)));
        c[i] = to_half(float(random.real(-1, 1) * std::exp2(int(random.u32() % 20) - 12)));
        if (value(a[i]) == 0) a[i] = to_half(1);
        if (value(b[i]) == 0) b[i] = to_half(2);
    }
    Device<__half> da(a), db(b), dc(c), dbinary(BINARY * n), dunary(UNARY * n), dpacked(n);
    half_math<<<(n + 127) / 128, 128>>>(da, db, dc, dbinary, dunary, n);
    packed<<<(n / 2 + 127) / 128, 128>>>(reinterpret_cast<__half2 *>(da.data), reinterpret_cast<__half2 *>(db.data),
                                         reinterpret_cast<__half2 *>(dpacked.data), n / 2);
    synchronize();
    auto binary = dbinary.download(), unary = dunary.download(), pk = dpacked.download();
    const char *names[UNARY] = {"sqrt", "rcp", "exp", "log", "exp2", "rint"};
    const double bounds[UNARY] = {1, 1, 2, 2, 2, 0};
    for (int i = 0; i < n; i++) {
        double x = value(a[i]), y = value(b[i]), z = value(c[i]);
        const double exact[4] = {x + y, x - y, x * y, std::fma(x, y, z)};
        for (int k = 0; k < 4; k++)
            CHECK(value(binary[k * n + i]) == round16(exact[k]), "operation %d on %a %a %a: %a", k, x, y, z,
                  value(binary[k * n + i]));
        double quotient = ulps(value(binary[4 * n + i]), static_cast<long double>(x) / y, 11, -13, 65504);
        CHECK(quotient <= 1, "%a / %a: %g ulp", x, y, quotient);
        double ax = std::fabs(x);
        const long double want[UNARY] = {std::sqrt(ax), 1 / x, std::exp(y), std::log(ax), std::exp2(y),
                                         std::rint(x)};
        for (int k = 0; k < UNARY; k++) {
            double error = ulps(value(unary[k * n + i]), want[k], 11, -13, 65519.99);
            CHECK(error <= bounds[k], "%s of %a %a = %a, want %a: %g ulp", names[k], x, y,
                  value(unary[k * n + i]), double(want[k]), error);
        }
        float square = round16(y * y);
        CHECK(value(pk[i]) == round16(std::fma(x, y, double(square))), "packed at %d", i);
    }
    return pass();
}
