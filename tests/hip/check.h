// Shared by every HIP test program: error checks, a verdict line and a fixed random generator.
#pragma once
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Ends the program when a HIP call does not return what is expected of it.
#define HIP_EXPECT(expected, call)                                                            \
    do {                                                                                      \
        hipError_t got_ = (call);                                                             \
        if (got_ != (expected)) {                                                             \
            std::printf("FAIL %s:%d: %s gave %s\n", __FILE__, __LINE__, #call,                \
                        hipGetErrorName(got_));                                               \
            std::exit(1);                                                                     \
        }                                                                                     \
    } while (0)
#define HIP(call) HIP_EXPECT(hipSuccess, call)

// Ends the program when a condition on the results does not hold.
#define CHECK(condition, ...)                                                                 \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            std::printf("FAIL %s:%d: %s: ", __FILE__, __LINE__, #condition);                  \
            std::printf("" __VA_ARGS__);                                                      \
            std::printf("\n");                                                                \
            std::exit(1);                                                                     \
        }                                                                                     \
    } while (0)

inline int pass() {
    std::printf("PASS\n");
    return 0;
}

// xorshift64*: the same numbers on every host.
struct Random {
    uint64_t state = 0x9e3779b97f4a7c15ull;
    uint64_t next() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545f4914f6cdd1dull;
    }
    uint32_t u32() { return uint32_t(next() >> 32); }
    // Uniform in [lo, hi).
    double real(double lo, double hi) { return lo + (hi - lo) * (double(next() >> 11) / 9007199254740992.0); }
};

// Device memory that is freed with its scope.
template <class T> struct Device {
    T *data = nullptr;
    size_t count;
    explicit Device(size_t n) : count(n) { HIP(hipMalloc(&data, n * sizeof(T))); }
    explicit Device(const std::vector<T> &host) : Device(host.size()) { upload(host); }
    Device(const Device &) = delete;
    ~Device() { (void)hipFree(data); }
    void upload(const std::vector<T> &host) {
        HIP(hipMemcpy(data, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
    }
    std::vector<T> download() const {
        std::vector<T> host(count);
        HIP(hipMemcpy(host.data(), data, count * sizeof(T), hipMemcpyDeviceToHost));
        return host;
    }
    operator T *() const { return data; }
};

inline void synchronize() {
    HIP(hipGetLastError());
    HIP(hipDeviceSynchronize());
}
