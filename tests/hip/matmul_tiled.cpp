// Tiled matrix product through LDS; integers make the expected sums exact in f32.
#include "check.h"

constexpr int TILE = 16;

__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float ta[TILE][TILE];
    __shared__ float tb[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
        int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
        tb[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

int main() {
    const int m = 93, n = 71, k = 130;
    Random random;
    std::vector<float> a(m * k), b(k * n);
    for (auto &v : a) v = float(int(random.u32() % 17) - 8);
    for (auto &v : b) v = float(int(random.u32() % 17) - 8);
    Device<float> da(a), db(b), dc(m * n);
    matmul<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(da, db, dc, m, n, k);
    synchronize();
    auto c = dc.download();
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int want = 0;
            for (int l = 0; l < k; l++) want += int(a[i * k + l]) * int(b[l * n + j]);
            CHECK(c[i * n + j] == float(want), "at %d,%d: %g, want %d", i, j, c[i * n + j], want);
        }
    return pass();
}
