// y = a * x + y with one rounding per element (fmaf), grid-stride loop.
#include "check.h"

__global__ void saxpy(float a, const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = fmaf(a, x[i], y[i]);
}

int main() {
    const int n = 65537;
    const float a = 1.7f;
    Random random;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = float(random.real(-10, 10));
        y[i] = float(random.real(-10, 10));
    }
    Device<float> dx(x), dy(y);
    saxpy<<<13, 192>>>(a, dx, dy, n);
    synchronize();
    auto got = dy.download();
    for (int i = 0; i < n; i++) {
        float want = std::fma(a, x[i], y[i]);
        CHECK(got[i] == want, "at %d: %g, want %g", i, got[i], want);
    }
    return pass();
}
