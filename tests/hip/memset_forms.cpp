// hipMemset, hipMemsetD8/D16/D32, 2D and asynchronous forms, odd offsets and sizes.
#include "check.h"

int main() {
    const size_t n = 70001;
    uint8_t *data;
    HIP(hipMalloc(&data, n));
    std::vector<uint8_t> host(n), want(n, 0x11);
    HIP(hipMemset(data, 0x11, n));
    HIP(hipMemset(data + 3, 0xab, 1001));
    std::fill(want.begin() + 3, want.begin() + 1004, 0xab);
    HIP(hipMemsetD8(reinterpret_cast<hipDeviceptr_t>(data + 2001), 0x5c, 77));
    std::fill(want.begin() + 2001, want.begin() + 2078, 0x5c);
    HIP(hipMemsetD16(reinterpret_cast<hipDeviceptr_t>(data + 4000), 0x1234, 333));
    for (size_t i = 0; i < 333; i++) {
        want[4000 + 2 * i] = 0x34;
        want[4001 + 2 * i] = 0x12;
    }
    HIP(hipMemsetD32(reinterpret_cast<hipDeviceptr_t>(data + 8000), int(0xdeadbeef), 1000));
    const uint8_t word[] = {0xef, 0xbe, 0xad, 0xde};
    for (size_t i = 0; i < 4000; i++) want[8000 + i] = word[i % 4];
    HIP(hipMemset2D(data + 20000, 100, 0x77, 60, 50));
    for (size_t y = 0; y < 50; y++) std::fill_n(want.begin() + 20000 + long(y) * 100, 60, 0x77);
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    HIP(hipMemsetAsync(data + 60000, 0, 9999, stream));
    HIP(hipStreamSynchronize(stream));
    std::fill(want.begin() + 60000, want.begin() + 69999, 0);
    HIP(hipMemcpy(host.data(), data, n, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) CHECK(host[i] == want[i], "at %zu: %02x, want %02x", i, host[i], want[i]);
    HIP(hipStreamDestroy(stream));
    HIP(hipFree(data));
    return pass();
}
