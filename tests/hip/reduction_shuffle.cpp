// Sum, minimum and maximum with wave shuffles, then LDS, then one atomic per workgroup.
#include "check.h"

__global__ void reduce(const int *in, int n, long long *sum, int *low, int *high) {
    __shared__ long long sums[32];
    __shared__ int lows[32], highs[32];
    long long s = 0;
    int lo = INT32_MAX, hi = INT32_MIN;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        s += in[i];
        lo = min(lo, in[i]);
        hi = max(hi, in[i]);
    }
    for (int d = warpSize / 2; d > 0; d /= 2) {
        s += __shfl_down(s, d);
        lo = min(lo, __shfl_xor(lo, d));
        hi = max(hi, __shfl_xor(hi, d));
    }
    int wave = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
    if (lane == 0) {
        sums[wave] = s;
        lows[wave] = lo;
        highs[wave] = hi;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < int(blockDim.x / warpSize); w++) {
            s += sums[w];
            lo = min(lo, lows[w]);
            hi = max(hi, highs[w]);
        }
        atomicAdd(reinterpret_cast<unsigned long long *>(sum), static_cast<unsigned long long>(s));
        atomicMin(low, lo);
        atomicMax(high, hi);
    }
}

int main() {
    const int n = 200001;
    Random random;
    std::vector<int> in(n);
    long long sum = 0;
    int low = INT32_MAX, high = INT32_MIN;
    for (auto &v : in) {
        v = int(random.u32());
        sum += v;
        low = std::min(low, v);
        high = std::max(high, v);
    }
    Device<int> din(in), dlow(std::vector<int>{INT32_MAX}), dhigh(std::vector<int>{INT32_MIN});
    Device<long long> dsum(std::vector<long long>{0});
    reduce<<<24, 256>>>(din, n, dsum, dlow, dhigh);
    synchronize();
    CHECK(dsum.download()[0] == sum, "%lld, want %lld", dsum.download()[0], sum);
    CHECK(dlow.download()[0] == low);
    CHECK(dhigh.download()[0] == high);
    return pass();
}
