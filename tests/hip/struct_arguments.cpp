// Large structures by value, many arguments of mixed sizes, and references into nested structures.
#include "check.h"

struct Inner {
    char tag;
    double weight;
    short steps[3];
};
struct Outer {
    Inner inner[4];
    uint64_t mask;
    float scale;
    uint8_t bytes[37];
};

__host__ __device__ inline double evaluate(const Outer &o, int i, char c, short s, float f, uint64_t u, bool flag) {
    const Inner &inner = o.inner[i & 3];
    double v = inner.weight * inner.steps[i % 3] + inner.tag + o.bytes[i % 37];
    v += double(o.mask >> (i & 31) & 0xff) * double(o.scale);
    v += c + s * 2 + double(f) + double(u & 0xffff);
    return flag ? v : -v;
}

__global__ void by_value(char c, Outer o, short s, double *out, bool flag, float f, uint64_t u, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = evaluate(o, i, c, s, f, u, flag != (i % 5 == 0));
}

int main() {
    const int n = 500;
    Outer o = {};
    for (int i = 0; i < 4; i++) o.inner[i] = Inner{char('a' + i), i * 0.5 + 1, {short(i), short(-3 * i), 7}};
    o.mask = 0x123456789abcdef0;
    o.scale = 0.25f;
    for (int i = 0; i < 37; i++) o.bytes[i] = uint8_t(i * i);
    Device<double> dout(n);
    by_value<<<(n + 63) / 64, 64>>>('x', o, -5, dout, true, 1.5f, 0xfedcba9876543210, n);
    synchronize();
    auto out = dout.download();
    for (int i = 0; i < n; i++) {
        double want = evaluate(o, i, 'x', -5, 1.5f, 0xfedcba9876543210, true != (i % 5 == 0));
        CHECK(out[i] == want, "at %d: %g, want %g", i, out[i], want);
    }
    return pass();
}
