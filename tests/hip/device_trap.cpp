// A device trap is reported as an error (HIP 5.2.3 aborts the process); nothing hangs.
#include "check.h"

__global__ void trap_at(int lane) {
    if (int(threadIdx.x) == lane) __builtin_trap();
}

int main() {
    trap_at<<<1, 64>>>(-1);
    synchronize();
    std::printf("no trap yet\n");
    std::fflush(stdout);
    trap_at<<<1, 64>>>(17);
    hipError_t error = hipDeviceSynchronize();
    std::printf("error after the trap: %s\n", hipGetErrorName(error));
    return error == hipSuccess ? 1 : 3;
}
