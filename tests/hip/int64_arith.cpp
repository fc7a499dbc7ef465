// 64-bit integer arithmetic: add, subtract, multiply, high products, divide, remainder, shifts, compares.
#include "check.h"

struct Out {
    uint64_t add, sub, mul, high, div, rem, shl, shr, compare, counts;
    int64_t sdiv, srem, sar, shigh, smin;
};

__host__ __device__ inline Out evaluate(uint64_t a, uint64_t b, uint64_t high, int64_t shigh) {
    Out o;
    int64_t sa = int64_t(a), sb = int64_t(b);
    unsigned s = unsigned(b) & 63;
    o.add = a + b;
    o.sub = a - b;
    o.mul = a * b;
    o.high = high;
    o.shigh = shigh;
    o.div = a / b;
    o.rem = a % b;
    o.sdiv = sb == -1 ? 0 : sa / sb;
    o.srem = sb == -1 ? 0 : sa % sb;
    o.shl = a << s;
    o.shr = a >> s;
    o.sar = sa >> s;
    o.compare = uint64_t(a < b) | uint64_t(sa < sb) << 1 | uint64_t(a == b) << 2 | uint64_t(sa >= sb) << 3;
    o.smin = sa < sb ? sa : sb;
    o.counts = uint64_t(__builtin_popcountll(a)) | uint64_t(a ? __builtin_clzll(a) : 64) << 8 |
               uint64_t(a ? __builtin_ctzll(a) : 64) << 16;
    return o;
}

__global__ void arithmetic(const uint64_t *a, const uint64_t *b, Out *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = evaluate(a[i], b[i], __umul64hi(a[i], b[i]), __mul64hi(int64_t(a[i]), int64_t(b[i])));
}

int main() {
    const uint64_t edges[] = {1, 2, 3, 10, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
                              0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff, 0x123456789abcdef0};
    std::vector<uint64_t> a, b;
    for (uint64_t x : edges)
        for (uint64_t y : edges) {
            a.push_back(x);
            b.push_back(y);
        }
    a.push_back(0);
    b.push_back(7);
    Random random;
    for (int i = 0; i < 3000; i++) {
        a.push_back(random.next() >> random.u32() % 64);
        b.push_back((random.next() >> random.u32() % 64) | 1);
    }
    int n = int(a.size());
    Device<uint64_t> da(a), db(b);
    Device<Out> dout(n);
    arithmetic<<<(n + 63) / 64, 64>>>(da, db, dout, n);
    synchronize();
    auto out = dout.download();
    for (int i = 0; i < n; i++) {
        uint64_t high = uint64_t(static_cast<unsigned __int128>(a[i]) * b[i] >> 64);
        int64_t shigh = int64_t(static_cast<__int128>(int64_t(a[i])) * int64_t(b[i]) >> 64);
        Out want = evaluate(a[i], b[i], high, shigh);
        CHECK(std::memcmp(&out[i], &want, sizeof want) == 0, "a=%llx b=%llx", (unsigned long long)a[i],
              (unsigned long long)b[i]);
    }
    return pass();
}
