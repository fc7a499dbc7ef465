// __device__ variables: initial values, hipMemcpyTo/FromSymbol, address and size queries, atomics on them.
#include "check.h"

__device__ int counter = 5;
__device__ double values[3] = {1.0, 2.0, 4.0};
__device__ int zeroed[1000];

__global__ void touch() {
    atomicAdd(&counter, 2);
    if (threadIdx.x < 3 && blockIdx.x == 0) values[threadIdx.x] *= 10;
    if (threadIdx.x == 0) zeroed[blockIdx.x] += int(blockIdx.x) + 1;
}

int main() {
    int c = 0;
    HIP(hipMemcpyFromSymbol(&c, HIP_SYMBOL(counter), sizeof c));
    CHECK(c == 5, "%d", c);
    c = 100;
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(counter), &c, sizeof c));
    touch<<<4, 64>>>();
    synchronize();
    HIP(hipMemcpyFromSymbol(&c, HIP_SYMBOL(counter), sizeof c));
    CHECK(c == 100 + 2 * 4 * 64, "%d", c);
    double v[3];
    HIP(hipMemcpyFromSymbol(v, HIP_SYMBOL(values), sizeof v));
    CHECK(v[0] == 10 && v[1] == 20 && v[2] == 40);
    void *address = nullptr;
    size_t size = 0;
    HIP(hipGetSymbolAddress(&address, HIP_SYMBOL(zeroed)));
    HIP(hipGetSymbolSize(&size, HIP_SYMBOL(zeroed)));
    CHECK(size == sizeof(int) * 1000, "%zu", size);
    std::vector<int> z(1000);
    HIP(hipMemcpy(z.data(), address, size, hipMemcpyDeviceToHost));
    for (int i = 0; i < 1000; i++) CHECK(z[i] == (i < 4 ? i + 1 : 0), "at %d: %d", i, z[i]);
    return pass();
}
