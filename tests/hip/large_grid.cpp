// Large grids in one to three dimensions with partial workgroups; every work-item runs exactly once.
#include "check.h"

__global__ void visit(unsigned *visits, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) atomicAdd(&visits[(z * ny + y) * nx + x], unsigned(x + 3 * y + 7 * z + 1));
}

static void run(dim3 size, dim3 block) {
    int nx = int(size.x), ny = int(size.y), nz = int(size.z);
    Device<unsigned> visits(std::vector<unsigned>(size_t(nx) * ny * nz, 0));
    dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y, (nz + block.z - 1) / block.z);
    visit<<<grid, block>>>(visits, nx, ny, nz);
    synchronize();
    auto got = visits.download();
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                unsigned v = got[(size_t(z) * ny + y) * nx + x];
                CHECK(v == unsigned(x + 3 * y + 7 * z + 1), "at %d,%d,%d: %u", x, y, z, v);
            }
}

int main() {
    run(dim3(1000003), dim3(1024));
    run(dim3(70001), dim3(37));
    run(dim3(517, 301), dim3(16, 16));
    run(dim3(61, 37, 29), dim3(8, 4, 8));
    run(dim3(5, 7, 201), dim3(3, 5, 9));
    return pass();
}
