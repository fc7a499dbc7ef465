// hipMallocManaged and __managed__: one pointer for host and device, both directions.
#include "check.h"

__managed__ int total = 3;

__global__ void square(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] *= data[i];
        atomicAdd(&total, 1);
    }
}

int main() {
    const int n = 3000;
    int *data = nullptr;
    HIP(hipMallocManaged(&data, n * sizeof(int)));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++) data[i] = i + round;
        square<<<(n + 255) / 256, 256>>>(data, n);
        synchronize();
        for (int i = 0; i < n; i++) CHECK(data[i] == (i + round) * (i + round), "at %d: %d", i, data[i]);
    }
    CHECK(total == 3 + 3 * n, "%d", total);
    HIP(hipFree(data));
    return pass();
}
