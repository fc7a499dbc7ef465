// hipStreamWaitEvent orders work across streams: a chain that hops between two of them.
#include "check.h"

__global__ void step(unsigned *value, unsigned k, int delay) {
    unsigned x = *value;
    for (int i = 0; i < delay; i++) x = x * 1664525u + 1013904223u;
    *value = x ^ k;
}

int main() {
    const int rounds = 50;
    hipStream_t stream[2];
    HIP(hipStreamCreateWithFlags(&stream[0], hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&stream[1], hipStreamNonBlocking));
    std::vector<hipEvent_t> done(rounds);
    Device<unsigned> value(std::vector<unsigned>{1});
    unsigned want = 1;
    for (int r = 0; r < rounds; r++) {
        hipStream_t now = stream[r % 2];
        HIP(hipEventCreateWithFlags(&done[r], hipEventDisableTiming));
        if (r) HIP(hipStreamWaitEvent(now, done[r - 1], 0));
        int delay = r % 3 ? 10 : 5000;
        step<<<1, 1, 0, now>>>(value, unsigned(r), delay);
        HIP(hipEventRecord(done[r], now));
        for (int i = 0; i < delay; i++) want = want * 1664525u + 1013904223u;
        want ^= unsigned(r);
    }
    HIP(hipStreamSynchronize(stream[(rounds - 1) % 2]));
    CHECK(value.download()[0] == want);
    for (auto event : done) HIP(hipEventDestroy(event));
    HIP(hipStreamDestroy(stream[0]));
    HIP(hipStreamDestroy(stream[1]));
    return pass();
}
