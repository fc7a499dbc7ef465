// Asynchronous copies and kernels in several streams, with pinned and pageable host memory, odd sizes.
#include "check.h"

__global__ void add_one(uint32_t *data, int n, uint32_t k) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] += k;
}

int main() {
    const int streams = 6, n = 150001;
    hipStream_t stream[streams];
    uint32_t *host[streams], *device[streams];
    std::vector<uint32_t> back[streams];
    Random random;
    std::vector<uint32_t> seed(streams);
    for (int s = 0; s < streams; s++) {
        HIP(hipStreamCreate(&stream[s]));
        HIP(hipHostMalloc(&host[s], n * sizeof(uint32_t)));
        HIP(hipMalloc(&device[s], n * sizeof(uint32_t)));
        back[s].resize(n);
        seed[s] = random.u32();
        for (int i = 0; i < n; i++) host[s][i] = seed[s] + uint32_t(i) * 13;
    }
    for (int s = 0; s < streams; s++) {
        HIP(hipMemcpyAsync(device[s], host[s], n * sizeof(uint32_t), hipMemcpyHostToDevice, stream[s]));
        for (int k = 1; k <= 5; k++) add_one<<<16, 256, 0, stream[s]>>>(device[s], n, uint32_t(k));
        if (s % 2)
            HIP(hipMemcpyAsync(back[s].data(), device[s], n * sizeof(uint32_t), hipMemcpyDeviceToHost, stream[s]));
        else
            HIP(hipMemcpyAsync(host[s], device[s], n * sizeof(uint32_t), hipMemcpyDeviceToHost, stream[s]));
    }
    for (int s = 0; s < streams; s++) {
        HIP(hipStreamSynchronize(stream[s]));
        const uint32_t *result = s % 2 ? back[s].data() : host[s];
        for (int i = 0; i < n; i++)
            CHECK(result[i] == seed[s] + uint32_t(i) * 13 + 15, "stream %d at %d: %u", s, i, result[i]);
        HIP(hipStreamDestroy(stream[s]));
        HIP(hipHostFree(host[s]));
        HIP(hipFree(device[s]));
    }
    return pass();
}
