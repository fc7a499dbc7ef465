// Histogram with global atomics.
#include "check.h"

__global__ void histogram(const uint8_t *in, int n, unsigned *bins) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
}

int main() {
    const int n = 50000;
    Random random;
    std::vector<uint8_t> in(n);
    std::vector<unsigned> want(256, 0);
    for (auto &v : in) {
        v = uint8_t(random.u32() & random.u32());
        want[v]++;
    }
    Device<uint8_t> din(in);
    Device<unsigned> bins(std::vector<unsigned>(256, 0));
    histogram<<<10, 256>>>(din, n, bins);
    synchronize();
    CHECK(bins.download() == want);
    return pass();
}
