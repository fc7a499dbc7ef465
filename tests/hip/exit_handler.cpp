// Work in an exit handler: it runs after the main thread's destructors, and its packets still count.
#include "check.h"

#include <cstdlib>

__global__ void fill(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = 3 * i;
}

static int *data;
static const int n = 1000;

static void run() {
    HIP(hipMemset(data, 0, n * sizeof(int)));
    fill<<<(n + 255) / 256, 256>>>(data, n);
    synchronize();
    std::vector<int> host(n);
    HIP(hipMemcpy(host.data(), data, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(host[i] == 3 * i, "at %d: %d", i, host[i]);
}

static void at_exit() {
    run();
    HIP(hipFree(data));
    pass();
}

int main() {
    // The first call loads the runtime, whose own exit handlers then run after this one.
    HIP(hipMalloc(&data, n * sizeof(int)));
    run();
    CHECK(std::atexit(at_exit) == 0);
    return 0;
}
