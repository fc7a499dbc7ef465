// Matrix transpose through a padded LDS tile.
#include "check.h"

constexpr int TILE = 32, ROWS = 8;

__global__ void transpose(const uint32_t *in, uint32_t *out, int width, int height) {
    __shared__ uint32_t tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < height && y + i < width) out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

int main() {
    const int width = 301, height = 199;
    Random random;
    std::vector<uint32_t> in(width * height);
    for (auto &v : in) v = random.u32();
    Device<uint32_t> din(in), dout(in.size());
    transpose<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), dim3(TILE, ROWS)>>>(din, dout, width,
                                                                                               height);
    synchronize();
    auto out = dout.download();
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) CHECK(out[x * height + y] == in[y * width + x], "at %d,%d", x, y);
    return pass();
}
