// 32-bit and narrower integer operations: counts, bit reversal, high products, 24-bit products, saturation, bytes.
#include "check.h"

struct Out {
    int clz, ffs, popcount, mulhi, mul24, sad, rot, shift16;
    unsigned brev, umulhi, umul24, perm, bfe;
    int8_t narrow8;
    int16_t narrow16;
    uint8_t byte;
    uint16_t half;
};

__global__ void integers(const unsigned *a, const unsigned *b, Out *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    Out o;
    o.clz = __clz(int(x));
    o.ffs = __ffs(x);
    o.popcount = __popc(x);
    o.brev = __brev(x);
    o.mulhi = __mulhi(int(x), int(y));
    o.umulhi = __umulhi(x, y);
    o.mul24 = __mul24(int(x), int(y));
    o.umul24 = __umul24(x, y);
    o.sad = int(__sad(int(x >> 1), int(y >> 1), 5u));
    o.perm = __byte_perm(x, y, 0x5146);
    o.rot = int(x << (y & 31) | x >> (-y & 31));
    o.bfe = x >> (y & 15) & 0x1ff;
    o.narrow8 = int8_t(x * y);
    o.narrow16 = int16_t(x - y);
    o.byte = uint8_t(uint8_t(x) + uint8_t(y));
    o.half = uint16_t(uint16_t(x) * uint16_t(y) >> 3);
    o.shift16 = int16_t(x) >> (y & 15);
    out[i] = o;
}

int main() {
    const unsigned edges[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffff, 0x800000, 0xffffff,
                              0x7fffffff, 0x80000000, 0xffffffff, 0x12345678};
    std::vector<unsigned> a, b;
    for (unsigned x : edges)
        for (unsigned y : edges) {
            a.push_back(x);
            b.push_back(y);
        }
    Random random;
    for (int i = 0; i < 2000; i++) {
        a.push_back(random.u32());
        b.push_back(random.u32());
    }
    int n = int(a.size());
    Device<unsigned> da(a), db(b);
    Device<Out> dout(n);
    integers<<<(n + 255) / 256, 256>>>(da, db, dout, n);
    synchronize();
    auto out = dout.download();
    auto sext24 = [](unsigned v) { return int64_t(int32_t(v << 8) >> 8); };
    for (int i = 0; i < n; i++) {
        unsigned x = a[i], y = b[i], brev = 0;
        for (int bit = 0; bit < 32; bit++) brev |= (x >> bit & 1) << (31 - bit);
        const Out &o = out[i];
        CHECK(o.clz == (x ? __builtin_clz(x) : 32), "%08x", x);
        CHECK(o.ffs == __builtin_ffs(int(x)), "%08x", x);
        CHECK(o.popcount == __builtin_popcount(x), "%08x", x);
        CHECK(o.brev == brev, "%08x", x);
        CHECK(o.mulhi == int(int64_t(int(x)) * int(y) >> 32), "%08x %08x", x, y);
        CHECK(o.umulhi == unsigned(uint64_t(x) * y >> 32), "%08x %08x", x, y);
        CHECK(o.mul24 == int(sext24(x) * sext24(y)), "%08x %08x: %08x", x, y, o.mul24);
        CHECK(o.umul24 == unsigned(uint64_t(x & 0xffffff) * (y & 0xffffff)), "%08x %08x", x, y);
        int p = int(x >> 1), q = int(y >> 1);
        CHECK(o.sad == (p > q ? p - q : q - p) + 5, "%08x %08x", x, y);
        uint64_t pool = uint64_t(y) << 32 | x;
        unsigned perm = 0, selector = 0x5146;
        for (int k = 0; k < 4; k++) perm |= unsigned(pool >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k;
        CHECK(o.perm == perm, "%08x %08x: %08x, want %08x", x, y, o.perm, perm);
        CHECK(unsigned(o.rot) == (x << (y & 31) | x >> (-y & 31)), "%08x %08x", x, y);
        CHECK(o.bfe == (x >> (y & 15) & 0x1ff), "%08x %08x", x, y);
        CHECK(o.narrow8 == int8_t(x * y) && o.narrow16 == int16_t(x - y), "%08x %08x", x, y);
        CHECK(o.byte == uint8_t(x + y), "%08x %08x", x, y);
        CHECK(o.half == uint16_t(unsigned(uint16_t(x)) * uint16_t(y) >> 3), "%08x %08x", x, y);
        CHECK(o.shift16 == int16_t(x) >> (y & 15), "%08x %08x", x, y);
    }
    return pass();
}
