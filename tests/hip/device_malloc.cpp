// malloc and free in kernels: blocks of many lanes are disjoint, survive the kernel, and can be freed later.
#include "check.h"

__global__ void allocate(int **blocks, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *block = static_cast<int *>(malloc((i % 7 + 1) * sizeof(int)));
    if (block)
        for (int k = 0; k < i % 7 + 1; k++) block[k] = i * 10 + k;
    blocks[i] = block;
}

__global__ void collect(int **blocks, int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    if (!blocks[i]) sum = -1;
    else
        for (int k = 0; k < i % 7 + 1; k++) sum += blocks[i][k];
    sums[i] = sum;
    free(blocks[i]);
}

int main() {
    const int n = 256;
    Device<int *> blocks(n);
    Device<int> sums(n);
    for (int round = 0; round < 3; round++) {
        allocate<<<2, n / 2>>>(blocks, n);
        collect<<<2, n / 2>>>(blocks, sums);
        synchronize();
        auto got = sums.download();
        for (int i = 0; i < n; i++) {
            int count = i % 7 + 1, want = count * i * 10 + count * (count - 1) / 2;
            CHECK(got[i] == want, "at %d: %d, want %d", i, got[i], want);
        }
    }
    return pass();
}
