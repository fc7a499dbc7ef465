// Host callbacks run between the stream's operations, in order, and block what follows.
#include "check.h"

#include <atomic>
#include <chrono>
#include <thread>

static std::atomic<int> step{0};
static int *shared_value;

static void first(hipStream_t, hipError_t status, void *data) {
    CHECK(status == hipSuccess);
    CHECK(*shared_value == 1, "the first kernel has not run: %d", *shared_value);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *shared_value = 10;
    CHECK(step.fetch_add(1) == 0 && data == &step);
}

static void second(hipStream_t, hipError_t, void *) {
    CHECK(*shared_value == 20, "the second kernel has not run: %d", *shared_value);
    CHECK(step.fetch_add(1) == 1);
}

__global__ void replace(int *value, int from, int to) {
    if (*value == from) *value = to;
}

int main() {
    HIP(hipHostMalloc(&shared_value, sizeof(int), hipHostMallocCoherent));
    *shared_value = 0;
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    replace<<<1, 1, 0, stream>>>(shared_value, 0, 1);
    HIP(hipStreamAddCallback(stream, first, &step, 0));
    replace<<<1, 1, 0, stream>>>(shared_value, 10, 20);
    HIP(hipStreamAddCallback(stream, second, nullptr, 0));
    replace<<<1, 1, 0, stream>>>(shared_value, 20, 30);
    HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < 1000 && step != 2; i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(step == 2, "%d callbacks ran", step.load());
    CHECK(*shared_value == 30, "%d", *shared_value);
    HIP(hipStreamDestroy(stream));
    HIP(hipHostFree(shared_value));
    return pass();
}
