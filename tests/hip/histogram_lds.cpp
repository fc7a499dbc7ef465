// Histogram with one LDS copy per workgroup, merged by global atomics.
#include "check.h"

__global__ void histogram(const uint32_t *in, int n, unsigned *bins) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (int byte = 0; byte < 4; byte++) atomicAdd(&local[in[i] >> 8 * byte & 255], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (local[b]) atomicAdd(&bins[b], local[b]);
}

int main() {
    const int n = 40000;
    Random random;
    std::vector<uint32_t> in(n);
    std::vector<unsigned> want(256, 0);
    for (auto &v : in) {
        v = random.u32();
        for (int byte = 0; byte < 4; byte++) want[v >> 8 * byte & 255]++;
    }
    Device<uint32_t> din(in);
    Device<unsigned> bins(std::vector<unsigned>(256, 0));
    histogram<<<7, 192>>>(din, n, bins);
    synchronize();
    CHECK(bins.download() == want);
    return pass();
}
