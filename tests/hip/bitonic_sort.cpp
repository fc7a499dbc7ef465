// Bitonic sort: large strides through global memory, small ones in LDS.
#include "check.h"

#include <algorithm>

constexpr int BLOCK = 256;

__device__ void order(int &a, int &b, bool up) {
    if ((a > b) == up) {
        int t = a;
        a = b;
        b = t;
    }
}

__global__ void step_global(int *data, int stage, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 2 * i - (i & (stride - 1));
    order(data[low], data[low + stride], (low & stage) == 0);
}

__global__ void steps_lds(int *data, int stage, int stride) {
    __shared__ int tile[2 * BLOCK];
    int base = blockIdx.x * 2 * BLOCK;
    tile[threadIdx.x] = data[base + threadIdx.x];
    tile[threadIdx.x + BLOCK] = data[base + threadIdx.x + BLOCK];
    for (; stride > 0; stride /= 2) {
        __syncthreads();
        int low = 2 * int(threadIdx.x) - (threadIdx.x & (stride - 1));
        order(tile[low], tile[low + stride], ((base + low) & stage) == 0);
    }
    __syncthreads();
    data[base + threadIdx.x] = tile[threadIdx.x];
    data[base + threadIdx.x + BLOCK] = tile[threadIdx.x + BLOCK];
}

int main() {
    const int n = 1 << 13;
    Random random;
    std::vector<int> in(n);
    for (auto &v : in) v = int(random.u32());
    Device<int> data(in);
    for (int stage = 2; stage <= n; stage *= 2)
        for (int stride = stage / 2; stride > 0; stride /= 2) {
            if (stride <= BLOCK) {
                steps_lds<<<n / (2 * BLOCK), BLOCK>>>(data, stage, stride);
                break;
            }
            step_global<<<n / (2 * BLOCK), BLOCK>>>(data, stage, stride);
        }
    synchronize();
    std::sort(in.begin(), in.end());
    CHECK(data.download() == in);
    return pass();
}
