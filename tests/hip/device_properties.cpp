// Device properties and occupancy agree with the chip that the profile names.
#include "check.h"

__global__ void small(int *out) { out[threadIdx.x] = 1; }
__global__ __launch_bounds__(256) void big_lds(int *out) {
    __shared__ int lds[8192];
    lds[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = lds[(threadIdx.x * 7) % 256];
}

int main() {
    int count = 0, driver = 0;
    HIP(hipGetDeviceCount(&count));
    CHECK(count >= 1);
    HIP(hipDriverGetVersion(&driver));
    hipDeviceProp_t p;
    HIP(hipGetDeviceProperties(&p, 0));
    std::printf("%s %s: %d CUs, %d MHz, %zu MiB\n", p.name, p.gcnArchName, p.multiProcessorCount, p.clockRate / 1000,
                p.totalGlobalMem >> 20);
    bool gfx90a = std::strncmp(p.gcnArchName, "gfx90a", 6) == 0, gfx1030 = std::strcmp(p.gcnArchName, "gfx1030") == 0;
    CHECK(gfx90a || gfx1030, "%s", p.gcnArchName);
    CHECK(p.warpSize == (gfx90a ? 64 : 32), "%d", p.warpSize);
    CHECK(p.multiProcessorCount == (gfx90a ? 104 : 40), "%d", p.multiProcessorCount);
    CHECK(p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 65536);
    CHECK(p.clockRate == (gfx90a ? 1700000 : 2575000), "%d", p.clockRate);
    CHECK(p.memoryBusWidth == (gfx90a ? 4096 : 256), "%d", p.memoryBusWidth);
    CHECK(p.memoryClockRate == (gfx90a ? 1600000 : 1000000), "%d", p.memoryClockRate);
    CHECK(p.l2CacheSize == (gfx90a ? 8192 : 4096) * 1024, "%d", p.l2CacheSize);
    CHECK(p.totalGlobalMem == (gfx90a ? 68702699520ull : 17163091968ull), "%zu", p.totalGlobalMem);
    CHECK(p.canMapHostMemory && p.concurrentKernels);
    size_t free_bytes = 0, total = 0;
    HIP(hipMemGetInfo(&free_bytes, &total));
    CHECK(total == p.totalGlobalMem && free_bytes <= total && free_bytes > total / 2, "%zu of %zu", free_bytes, total);
    void *block;
    HIP(hipMalloc(&block, size_t(1) << 30));
    size_t later = 0;
    HIP(hipMemGetInfo(&later, &total));
    CHECK(later + (size_t(1) << 30) <= free_bytes, "%zu free, then %zu", free_bytes, later);
    HIP(hipFree(block));
    HIP_EXPECT(hipErrorOutOfMemory, hipMalloc(&block, p.totalGlobalMem * 2));
    (void)hipGetLastError();
    int blocks = 0, grid = 0, threads = 0;
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 64, 0));
    CHECK(blocks > 0, "%d", blocks);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big_lds, 256, 0));
    CHECK(blocks >= 1 && blocks <= 4, "%d blocks with 32 KiB of LDS each", blocks);
    HIP(hipOccupancyMaxPotentialBlockSize(&grid, &threads, small, 0, 0));
    CHECK(grid > 0 && threads >= 64 && threads <= 1024, "%d %d", grid, threads);
    Device<int> out(std::vector<int>(256, 1));
    big_lds<<<1, 256>>>(out);
    synchronize();
    CHECK(out.download() == std::vector<int>(256, 1));
    return pass();
}
