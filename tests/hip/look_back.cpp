// Forward progress between workgroups: a decoupled look-back scan and a spin lock in device memory.
#include "check.h"

struct Tile {
    unsigned value;
    unsigned ready;
};

__global__ void scan(const unsigned *in, unsigned *out, Tile *tiles, unsigned *ticket) {
    __shared__ unsigned tile, before;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        if (tile > 0) {
            while (__hip_atomic_load(&tiles[tile - 1].ready, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {}
            sum = __hip_atomic_load(&tiles[tile - 1].value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        }
        before = sum;
        for (unsigned i = 0; i < blockDim.x; i++) sum += in[tile * blockDim.x + i];
        __hip_atomic_store(&tiles[tile].value, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __hip_atomic_store(&tiles[tile].ready, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
    __syncthreads();
    unsigned sum = before;
    for (unsigned i = 0; i <= threadIdx.x; i++) sum += in[tile * blockDim.x + i];
    out[tile * blockDim.x + threadIdx.x] = sum;
}

__global__ void locked(int *lock, int *value) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *static_cast<volatile int *>(value) = *static_cast<volatile int *>(value) + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

int main() {
    const int tiles = 200, block = 64, n = tiles * block;
    Random random;
    std::vector<unsigned> in(n);
    for (auto &v : in) v = random.u32();
    Device<unsigned> din(in), dout(n), ticket(std::vector<unsigned>{0});
    Device<Tile> dtiles{std::vector<Tile>(tiles)};
    scan<<<tiles, block>>>(din, dout, dtiles, ticket);
    synchronize();
    auto out = dout.download();
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        CHECK(out[i] == sum, "at %d", i);
    }
    Device<int> lock(std::vector<int>{0}), value(std::vector<int>{0});
    locked<<<300, 64>>>(lock, value);
    synchronize();
    CHECK(value.download()[0] == 300, "%d", value.download()[0]);
    return pass();
}
