// A failing device assert prints its text and ends the work with an error (HIP 5.2.3 aborts the process).
#undef NDEBUG
#include "check.h"

#include <cassert>

__global__ void verify(int limit) { assert(int(threadIdx.x) < limit); }

int main() {
    verify<<<1, 64>>>(64);
    synchronize();
    std::printf("all below 64\n");
    std::fflush(stdout);
    verify<<<1, 64>>>(40);
    hipError_t error = hipDeviceSynchronize();
    std::printf("error after the assert: %s\n", hipGetErrorName(error));
    return error == hipSuccess ? 1 : 3;
}
