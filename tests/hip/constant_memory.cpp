// __constant__ memory, written by hipMemcpyToSymbol and read uniformly and per lane.
#include "check.h"

__constant__ float coefficients[5];
__constant__ int table[64];

__global__ void evaluate(const float *x, float *y, int *t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = coefficients[4];
    for (int c = 3; c >= 0; c--) sum = fmaf(sum, x[i], coefficients[c]);
    y[i] = sum;
    t[i] = table[i * 7 % 64];
}

int main() {
    const int n = 1000;
    const float host[5] = {1.5f, -2.0f, 0.25f, 3.0f, -0.125f};
    int numbers[64];
    for (int i = 0; i < 64; i++) numbers[i] = i * i - 5;
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), host, sizeof host));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(table), numbers, sizeof numbers));
    std::vector<float> x(n);
    for (int i = 0; i < n; i++) x[i] = float(i) / 64 - 7;
    Device<float> dx(x), dy(n);
    Device<int> dt(n);
    evaluate<<<(n + 255) / 256, 256>>>(dx, dy, dt, n);
    synchronize();
    auto y = dy.download();
    auto t = dt.download();
    for (int i = 0; i < n; i++) {
        float sum = host[4];
        for (int c = 3; c >= 0; c--) sum = std::fma(sum, x[i], host[c]);
        CHECK(y[i] == sum, "at %d: %g, want %g", i, y[i], sum);
        CHECK(t[i] == numbers[i * 7 % 64], "at %d", i);
    }
    return pass();
}
