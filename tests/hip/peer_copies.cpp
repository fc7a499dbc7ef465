// Two GPUs: peer access, peer copies of several sizes, a kernel on one that reads the other's memory.
#include "check.h"

__global__ void gather(const uint32_t *remote, uint32_t *local, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) local[i] = remote[n - 1 - i] ^ 0x5a5a5a5au;
}

int main() {
    int count = 0, can = 0;
    HIP(hipGetDeviceCount(&count));
    CHECK(count == 2, "%d devices, two are needed", count);
    HIP(hipDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    HIP(hipSetDevice(0));
    HIP(hipDeviceEnablePeerAccess(1, 0));
    HIP(hipSetDevice(1));
    HIP(hipDeviceEnablePeerAccess(0, 0));
    for (int n : {1, 1000, 262144, 3000001}) {
        std::vector<uint32_t> host(n), back(n);
        for (int i = 0; i < n; i++) host[i] = uint32_t(i) * 2654435761u;
        uint32_t *a, *b;
        HIP(hipSetDevice(0));
        HIP(hipMalloc(&a, n * sizeof(uint32_t)));
        HIP(hipMemcpy(a, host.data(), n * sizeof(uint32_t), hipMemcpyHostToDevice));
        HIP(hipSetDevice(1));
        HIP(hipMalloc(&b, n * sizeof(uint32_t)));
        HIP(hipMemset(b, 0, n * sizeof(uint32_t)));
        HIP(hipMemcpyPeer(b, 1, a, 0, n * sizeof(uint32_t)));
        HIP(hipDeviceSynchronize());
        HIP(hipMemcpy(back.data(), b, n * sizeof(uint32_t), hipMemcpyDeviceToHost));
        CHECK(back == host, "peer copy of %d", n);
        gather<<<(n + 255) / 256, 256>>>(a, b, n);
        synchronize();
        HIP(hipMemcpy(back.data(), b, n * sizeof(uint32_t), hipMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) CHECK(back[i] == (host[n - 1 - i] ^ 0x5a5a5a5au), "n=%d at %d", n, i);
        HIP(hipFree(b));
        HIP(hipSetDevice(0));
        HIP(hipFree(a));
    }
    return pass();
}
