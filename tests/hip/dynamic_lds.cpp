// Dynamic LDS beside static LDS, up to the device's limit.
#include "check.h"

__global__ void reverse(const int *in, int *out, int n) {
    extern __shared__ int dynamic[];
    __shared__ int offset;
    if (threadIdx.x == 0) offset = blockIdx.x * n;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic[i] = in[offset + i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[offset + i] = dynamic[n - 1 - i];
}

int main() {
    for (int n : {1, 63, 1000, 16000}) {
        const int blocks = 3;
        std::vector<int> in(n * blocks);
        for (size_t i = 0; i < in.size(); i++) in[i] = int(i * 7 + 1);
        Device<int> din(in), dout(in.size());
        reverse<<<blocks, 128, n * sizeof(int)>>>(din, dout, n);
        synchronize();
        auto out = dout.download();
        for (int b = 0; b < blocks; b++)
            for (int i = 0; i < n; i++) CHECK(out[b * n + i] == in[b * n + n - 1 - i], "n=%d block %d item %d", n, b, i);
    }
    return pass();
}
