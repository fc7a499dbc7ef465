// Conversions between f16, f32, f64 and integers, with the rounding that each names.
#include "check.h"

#include <cfenv>
#include <hip/hip_fp16.h>

struct Out {
    int rn, rd, ru, rz, trunc;
    unsigned uz;
    long long wide;
    float from_u, from_i, from_wide, from_double;
    double from_long;
    unsigned short half;
    float back;
    float floor, ceil, round, rint;
};

__global__ void convert(const float *f, const double *d, const long long *l, Out *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Out o;
    float x = f[i];
    o.rn = __float2int_rn(x);
    o.rd = __float2int_rd(x);
    o.ru = __float2int_ru(x);
    o.rz = __float2int_rz(x);
    o.trunc = int(x);
    o.uz = unsigned(fabsf(x));
    o.wide = (long long)(d[i]);
    o.from_u = float(unsigned(l[i]));
    o.from_i = float(int(l[i]));
    o.from_wide = float(l[i]);
    o.from_double = float(d[i]);
    o.from_long = double(l[i]);
    __half h = __float2half(x);
    o.half = __half_as_ushort(h);
    o.back = __half2float(h);
    o.floor = floorf(x);
    o.ceil = ceilf(x);
    o.round = roundf(x);
    o.rint = rintf(x);
    out[i] = o;
}

int main() {
    std::vector<float> f = {0.0f, -0.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0.49999997f, 65504, 65519, 1e-7f, 6e-8f, 5.9e-8f,
                            2.9e-8f, 1e-40f, 16777216, 8388609, 1.0009766f, 1.00048828125f};
    Random random;
    for (int i = 0; i < 2000; i++) f.push_back(float(random.real(-1, 1) * std::exp2(int(random.u32() % 40) - 20)));
    int n = int(f.size());
    std::vector<double> d(n);
    std::vector<long long> l(n);
    for (int i = 0; i < n; i++) {
        d[i] = random.real(-1, 1) * std::exp2(int(random.u32() % 62));
        l[i] = (long long)(random.next() >> random.u32() % 63) * (i & 1 ? 1 : -1);
    }
    Device<float> df(f);
    Device<double> dd(d);
    Device<long long> dl(l);
    Device<Out> dout(n);
    convert<<<(n + 63) / 64, 64>>>(df, dd, dl, dout, n);
    synchronize();
    auto out = dout.download();
    for (int i = 0; i < n; i++) {
        const Out &o = out[i];
        double x = f[i];
        CHECK(o.rn == int(std::nearbyint(x)), "rn %g: %d", x, o.rn);
        CHECK(o.rd == int(std::floor(x)) && o.ru == int(std::ceil(x)), "rd, ru %g: %d %d", x, o.rd, o.ru);
        CHECK(o.rz == int(x) && o.trunc == int(x) && o.uz == unsigned(std::fabs(x)), "rz %g", x);
        CHECK(o.wide == (long long)(d[i]), "wide %g: %lld", d[i], o.wide);
        CHECK(o.from_u == float(unsigned(l[i])) && o.from_i == float(int(l[i])), "%lld", l[i]);
        CHECK(o.from_wide == float(l[i]), "%lld: %a", l[i], o.from_wide);
        CHECK(o.from_double == float(d[i]) && o.from_long == double(l[i]), "%g %lld", d[i], l[i]);
        _Float16 h = _Float16(f[i]);
        unsigned short bits;
        std::memcpy(&bits, &h, 2);
        CHECK(o.half == bits, "half of %a: %04x, want %04x", x, o.half, bits);
        CHECK(o.back == float(h), "%a", x);
        CHECK(o.floor == std::floor(f[i]) && o.ceil == std::ceil(f[i]), "%a", x);
        CHECK(o.round == std::round(f[i]) && o.rint == std::rint(f[i]), "%a: %g %g", x, o.round, o.rint);
    }
    return pass();
}
