// c = a + b over a size that is no multiple of the workgroup.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 100003;
    Random random;
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = float(random.real(-1e3, 1e3));
        b[i] = float(random.real(-1e3, 1e3));
    }
    Device<float> da(a), db(b), dc(n);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    synchronize();
    auto c = dc.download();
    for (int i = 0; i < n; i++) CHECK(c[i] == a[i] + b[i], "at %d: %g", i, c[i]);
    return pass();
}
