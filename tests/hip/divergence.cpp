// Divergent control flow: nested branches, data-dependent loops, break, continue, early return, switch.
#include "check.h"

__host__ __device__ inline uint32_t walk(uint32_t x) {
    uint32_t steps = 0, mix = 17;
    if (x % 11 == 3) return 0xdead0000u | x;
    while (x > 1) {
        if (steps > 150) break;
        steps++;
        if (x & 1) {
            x = 3 * x + 1;
            if (x % 5 == 0) continue;
            mix ^= x;
        } else {
            x /= 2;
        }
        switch (x % 6) {
        case 0: mix += 3; break;
        case 1: mix *= 5; // falls through
        case 2: mix -= x; break;
        case 4:
            for (uint32_t i = 0; i < x % 7; i++) mix = mix << 1 | mix >> 31;
            break;
        default: mix ^= steps;
        }
    }
    return mix + steps * 1000003u;
}

__global__ void diverge(uint32_t *out, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = walk(i * 2654435761u >> 12);
}

int main() {
    const uint32_t n = 5000;
    Device<uint32_t> dout(n);
    diverge<<<(n + 127) / 128, 128>>>(dout, n);
    synchronize();
    auto out = dout.download();
    for (uint32_t i = 0; i < n; i++) CHECK(out[i] == walk(i * 2654435761u >> 12), "at %u: %08x", i, out[i]);
    return pass();
}
