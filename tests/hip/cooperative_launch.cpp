// Cooperative launch: grid-wide synchronisation makes every workgroup see all others' writes.
#include "check.h"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rotate(int *a, int *b, int n, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        b[i] = a[(i + 97) % n] + 1;
        grid.sync();
        a[i] = b[(i + 31) % n] * 2;
        grid.sync();
    }
}

int main() {
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    if (!properties.cooperativeLaunch) {
        // The device says so itself; then the launch must be refused.
        std::printf("no cooperative launch on %s\n", properties.gcnArchName);
    }
    const int blocks = 12, threads = 128, n = blocks * threads;
    int rounds = 5;
    std::vector<int> a(n), b(n);
    for (int i = 0; i < n; i++) a[i] = i % 100;
    Device<int> da(a), db(n);
    int *pa = da, *pb = db, count = n;
    void *arguments[] = {&pa, &pb, &count, &rounds};
    hipError_t error = hipLaunchCooperativeKernel(reinterpret_cast<const void *>(rotate), dim3(blocks), dim3(threads),
                                                  arguments, 0, nullptr);
    if (!properties.cooperativeLaunch) {
        CHECK(error != hipSuccess, "launched on a device that says it cannot");
        return pass();
    }
    HIP(error);
    synchronize();
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++) b[i] = a[(i + 97) % n] + 1;
        for (int i = 0; i < n; i++) a[i] = b[(i + 31) % n] * 2;
    }
    CHECK(da.download() == a);
    return pass();
}
