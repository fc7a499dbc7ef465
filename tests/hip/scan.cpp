// Inclusive prefix sum: shuffles in the wave, LDS in the workgroup, a second pass over workgroups.
#include "check.h"

constexpr int BLOCK = 256;

__device__ unsigned wave_scan(unsigned v) {
    int lane = threadIdx.x % warpSize;
    for (int d = 1; d < warpSize; d *= 2) {
        unsigned left = __shfl_up(v, d);
        if (lane >= d) v += left;
    }
    return v;
}

__global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *totals, int n) {
    __shared__ unsigned waves[BLOCK / 32];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned v = wave_scan(i < n ? in[i] : 0);
    int wave = threadIdx.x / warpSize;
    if (threadIdx.x % warpSize == warpSize - 1) waves[wave] = v;
    __syncthreads();
    for (int w = 0; w < wave; w++) v += waves[w];
    if (i < n) out[i] = v;
    if (threadIdx.x == BLOCK - 1) totals[blockIdx.x] = v;
}

__global__ void add_totals(unsigned *out, const unsigned *totals, int n) {
    unsigned before = 0;
    for (unsigned b = 0; b < blockIdx.x; b++) before += totals[b];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) out[i] += before;
}

int main() {
    const int n = 10007, blocks = (n + BLOCK - 1) / BLOCK;
    Random random;
    std::vector<unsigned> in(n);
    for (auto &v : in) v = random.u32();
    Device<unsigned> din(in), dout(n), totals(blocks);
    scan_blocks<<<blocks, BLOCK>>>(din, dout, totals, n);
    add_totals<<<blocks, BLOCK>>>(dout, totals, n);
    synchronize();
    auto out = dout.download();
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        CHECK(out[i] == sum, "at %d: %u, want %u", i, out[i], sum);
    }
    return pass();
}
