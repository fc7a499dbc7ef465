// A kernel reads memory that is mapped nowhere: the process ends as with AMD's runtime.
#include "check.h"

__global__ void read_wild(const int *wild, int *out) {
    if (threadIdx.x == 21) out[0] = *wild;
}

int main() {
    Device<int> out(1);
    HIP(hipMemset(out, 0, sizeof(int)));
    std::printf("before the fault\n");
    std::fflush(stdout);
    read_wild<<<1, 64>>>(reinterpret_cast<const int *>(0x10000000000ull), out);
    hipError_t error = hipDeviceSynchronize();
    std::printf("error after the fault: %s\n", hipGetErrorName(error));
    return error == hipSuccess ? 1 : 3;
}
