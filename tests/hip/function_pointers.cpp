// Calls through function pointers that differ per lane, from a table in device memory, and virtual functions.
#include "check.h"

__host__ __device__ int twice(int x) { return 2 * x; }
__host__ __device__ int negate(int x) { return -x; }
__host__ __device__ int square(int x) { return x * x; }
__host__ __device__ int ones(int x) { return __builtin_popcount(unsigned(x)); }

using Function = int (*)(int);
__device__ Function functions[4] = {twice, negate, square, ones};

struct Shape {
    __device__ virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Box : Shape {
    int a, b;
    __device__ Box(int x, int y) : a(x), b(y) {}
    __device__ int area() const override { return a * b; }
};

__global__ void call(const int *which, int *out, int *areas) {
    int i = threadIdx.x;
    out[i] = functions[which[i]](i - 30);
    Square s(i);
    Box b(i, 3);
    const Shape *shape = which[i] & 1 ? static_cast<const Shape *>(&b) : &s;
    areas[i] = shape->area();
}

int main() {
    const int n = 256;
    Function host[4] = {twice, negate, square, ones};
    Random random;
    std::vector<int> which(n);
    for (auto &w : which) w = int(random.u32() % 4);
    Device<int> dwhich(which), dout(n), dareas(n);
    call<<<1, n>>>(dwhich, dout, dareas);
    synchronize();
    auto out = dout.download(), areas = dareas.download();
    for (int i = 0; i < n; i++) {
        CHECK(out[i] == host[which[i]](i - 30), "at %d: %d", i, out[i]);
        CHECK(areas[i] == (which[i] & 1 ? 3 * i : i * i), "area at %d: %d", i, areas[i]);
    }
    return pass();
}
