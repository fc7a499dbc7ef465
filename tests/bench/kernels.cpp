// Device code of the benchmarks; compiled to a bare code object.
#include <hip/hip_runtime.h>

extern "C" __global__ void empty() {}

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void fma_chain(float *x, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = x[i], b = 1.0f, c = 0.5f, d = -0.25f;
    for (int r = 0; r < rounds; r++) {
        a = fmaf(a, 0.999f, b);
        b = fmaf(b, 0.998f, c);
        c = fmaf(c, 0.997f, d);
        d = fmaf(d, 0.996f, 0.125f);
    }
    x[i] = a + b + c + d;
}

extern "C" __global__ void hash(unsigned *x, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = x[i];
    for (int r = 0; r < rounds; r++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h << 5;
    }
    x[i] = h;
}
