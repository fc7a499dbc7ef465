// Events: order of completion, elapsed time that is not negative and grows with work, query states.
#include "check.h"

__global__ void spin(unsigned *out, int rounds) {
    unsigned x = threadIdx.x;
    for (int i = 0; i < rounds; i++) x = x * 1664525u + 1013904223u;
    out[threadIdx.x] = x;
}

int main() {
    Device<unsigned> out(256);
    hipEvent_t start, middle, stop;
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&middle));
    HIP(hipEventCreate(&stop));
    HIP(hipEventRecord(start));
    spin<<<1, 256>>>(out, 10);
    HIP(hipEventRecord(middle));
    spin<<<1, 256>>>(out, 200000);
    HIP(hipEventRecord(stop));
    HIP(hipEventSynchronize(stop));
    HIP(hipEventQuery(start));
    HIP(hipEventQuery(middle));
    HIP(hipEventQuery(stop));
    float little = -1, much = -1, whole = -1;
    HIP(hipEventElapsedTime(&little, start, middle));
    HIP(hipEventElapsedTime(&much, middle, stop));
    HIP(hipEventElapsedTime(&whole, start, stop));
    CHECK(little >= 0 && much > 0, "%g %g", little, much);
    CHECK(std::fabs(little + much - whole) <= 0.01f + whole * 1e-3f, "%g + %g is not %g", little, much, whole);
    unsigned x = 7;
    for (int i = 0; i < 200000; i++) x = x * 1664525u + 1013904223u;
    CHECK(out.download()[7] == x);
    HIP(hipEventDestroy(start));
    HIP(hipEventDestroy(middle));
    HIP(hipEventDestroy(stop));
    return pass();
}
