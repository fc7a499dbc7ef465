// One lane of a kernel reads memory that is mapped nowhere: the process ends as with AMD's runtime.
#include "check.h"

__global__ void read_wild(const int *wild, const int *index, int *out) {
    int i = index[threadIdx.x];
    if (i >= 0) out[threadIdx.x] = wild[i];
}

int main() {
    std::vector<int> index(64, -1);
    index[21] = 21;
    Device<int> dindex(index), out(std::vector<int>(64, 0));
    std::printf("before the fault\n");
    std::fflush(stdout);
    read_wild<<<1, 64>>>(reinterpret_cast<const int *>(0x10000000000ull), dindex, out);
    hipError_t error = hipDeviceSynchronize();
    std::printf("error after the fault: %s\n", hipGetErrorName(error));
    return error == hipSuccess ? 1 : 3;
}
