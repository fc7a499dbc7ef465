// Pinned host memory: hipHostMalloc, hipHostRegister with its device pointer, kernels on host memory.
#include "check.h"

__global__ void scale(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * 3 + 1;
}

static void run(const int *in, int *out, int *din, int *dout, int n) {
    scale<<<(n + 63) / 64, 64>>>(din, dout, n);
    synchronize();
    for (int i = 0; i < n; i++) CHECK(out[i] == in[i] * 3 + 1, "at %d: %d", i, out[i]);
}

int main() {
    const int n = 20000;
    int *in, *out, *din, *dout;
    HIP(hipHostMalloc(&in, n * sizeof(int), hipHostMallocMapped));
    HIP(hipHostMalloc(&out, n * sizeof(int), hipHostMallocNonCoherent));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&din), in, 0));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&dout), out, 0));
    for (int i = 0; i < n; i++) in[i] = i - 777;
    run(in, out, din, dout, n);
    HIP(hipHostFree(in));
    HIP(hipHostFree(out));

    // Ordinary memory that is registered afterwards, not aligned to a page.
    std::vector<int> a(n + 5), b(n + 5);
    for (int i = 0; i < n + 5; i++) a[i] = 5 * i;
    HIP(hipHostRegister(&a[3], n * sizeof(int), hipHostRegisterMapped));
    HIP(hipHostRegister(&b[2], n * sizeof(int), hipHostRegisterDefault));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&din), &a[3], 0));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&dout), &b[2], 0));
    run(&a[3], &b[2], din, dout, n);
    CHECK(b[0] == 0 && b[1] == 0 && b[n + 2] == 0, "written outside the registered part");
    HIP(hipHostUnregister(&a[3]));
    HIP(hipHostUnregister(&b[2]));
    return pass();
}
