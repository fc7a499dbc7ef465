// Recursion with a real call stack in scratch: Ackermann, Fibonacci and mutual recursion.
#include "check.h"

__host__ __device__ __attribute__((noinline)) unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__host__ __device__ __attribute__((noinline)) unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__host__ __device__ __attribute__((noinline)) bool is_odd(unsigned n);
__host__ __device__ __attribute__((noinline)) bool is_even(unsigned n) { return n == 0 || is_odd(n - 1); }
__host__ __device__ __attribute__((noinline)) bool is_odd(unsigned n) { return n != 0 && is_even(n - 1); }

__global__ void recurse(unsigned *out) {
    unsigned i = threadIdx.x;
    out[i] = ackermann(2, i % 5) * 1000003 + fibonacci(i % 12) * 1009 + is_even(i % 23);
}

int main() {
    Device<unsigned> dout(96);
    recurse<<<1, 96>>>(dout);
    synchronize();
    auto out = dout.download();
    for (unsigned i = 0; i < 96; i++) {
        unsigned want = ackermann(2, i % 5) * 1000003 + fibonacci(i % 12) * 1009 + is_even(i % 23);
        CHECK(out[i] == want, "at %u: %u, want %u", i, out[i], want);
    }
    return pass();
}
