// Global and LDS atomics of every kind that HIP offers, returned values included.
#include "check.h"

#include <algorithm>

struct Totals {
    int add, sub, smin, smax, exch_sum;
    unsigned umin, umax, bit_and, bit_or, bit_xor, inc, dec, cas;
    unsigned long long add64, min64, max64, and64, or64, xor64, cas64;
    float addf;
    double addd;
};

__global__ void atomics(Totals *t, unsigned *tickets, unsigned long long *tickets64, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = unsigned(i) * 2654435761u;
    atomicAdd(&t->add, i);
    atomicSub(&t->sub, 2 * i);
    atomicMin(&t->smin, int(u));
    atomicMax(&t->smax, int(u));
    atomicMin(&t->umin, u);
    atomicMax(&t->umax, u);
    atomicAnd(&t->bit_and, ~(1u << (i % 7)));
    atomicOr(&t->bit_or, 1u << (i % 29));
    atomicXor(&t->bit_xor, u);
    atomicInc(&t->inc, 99);
    atomicDec(&t->dec, 77);
    tickets[i] = unsigned(atomicAdd(&t->exch_sum, 1));
    unsigned old = t->cas, seen;
    do {
        seen = old;
        old = atomicCAS(&t->cas, seen, seen + 3);
    } while (old != seen);
    tickets64[i] = atomicAdd(&t->add64, 0x100000001ull);
    atomicMin(&t->min64, (unsigned long long)(u) << 17);
    atomicMax(&t->max64, (unsigned long long)(u) << 17);
    atomicAnd(&t->and64, ~(1ull << (i % 61)));
    atomicOr(&t->or64, 1ull << (i % 53));
    atomicXor(&t->xor64, (unsigned long long)(u) << 20);
    atomicCAS(&t->cas64, 5ull, 6ull);
    atomicAdd(&t->addf, 0.5f);
    atomicAdd(&t->addd, 0.25);
}

__global__ void lds_atomics(int *out) {
    __shared__ int sum, low, high;
    __shared__ unsigned long long wide;
    __shared__ float real;
    if (threadIdx.x == 0) {
        sum = 0;
        low = 1000000;
        high = -1000000;
        wide = 0;
        real = 0;
    }
    __syncthreads();
    int v = int(threadIdx.x * 7919 % 1009) - 500;
    atomicAdd(&sum, v);
    atomicMin(&low, v);
    atomicMax(&high, v);
    atomicAdd(&wide, 1ull << 33);
    atomicAdd(&real, 1.0f);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = low;
        out[2] = high;
        out[3] = int(wide >> 33);
        out[4] = int(real);
    }
}

int main() {
    const int n = 3000;
    Totals start = {};
    start.umin = UINT32_MAX;
    start.smin = INT32_MAX;
    start.smax = INT32_MIN;
    start.bit_and = UINT32_MAX;
    start.min64 = start.and64 = UINT64_MAX;
    start.cas64 = 5;
    Device<Totals> dt(std::vector<Totals>{start});
    Device<unsigned> dtickets(n);
    Device<unsigned long long> dtickets64(n);
    atomics<<<(n + 127) / 128, 128>>>(dt, dtickets, dtickets64, n);
    synchronize();
    Totals t = dt.download()[0], w = start;
    for (int i = 0; i < n; i++) {
        unsigned u = unsigned(i) * 2654435761u;
        w.add += i;
        w.sub -= 2 * i;
        w.smin = std::min(w.smin, int(u));
        w.smax = std::max(w.smax, int(u));
        w.umin = std::min(w.umin, u);
        w.umax = std::max(w.umax, u);
        w.bit_and &= ~(1u << (i % 7));
        w.bit_or |= 1u << (i % 29);
        w.bit_xor ^= u;
        w.inc = w.inc >= 99 ? 0 : w.inc + 1;
        w.dec = w.dec == 0 || w.dec > 77 ? 77 : w.dec - 1;
        w.min64 = std::min(w.min64, (unsigned long long)(u) << 17);
        w.max64 = std::max(w.max64, (unsigned long long)(u) << 17);
        w.and64 &= ~(1ull << (i % 61));
        w.or64 |= 1ull << (i % 53);
        w.xor64 ^= (unsigned long long)(u) << 20;
    }
    CHECK(t.add == w.add && t.sub == w.sub, "%d %d", t.add, t.sub);
    CHECK(t.smin == w.smin && t.smax == w.smax && t.umin == w.umin && t.umax == w.umax);
    CHECK(t.bit_and == w.bit_and && t.bit_or == w.bit_or && t.bit_xor == w.bit_xor);
    CHECK(t.inc == w.inc && t.dec == w.dec, "%u %u", t.inc, t.dec);
    CHECK(t.cas == 3u * n, "%u", t.cas);
    CHECK(t.add64 == 0x100000001ull * n);
    CHECK(t.min64 == w.min64 && t.max64 == w.max64 && t.and64 == w.and64 && t.or64 == w.or64 && t.xor64 == w.xor64);
    CHECK(t.cas64 == 6);
    CHECK(t.addf == 0.5f * n && t.addd == 0.25 * n, "%g %g", t.addf, t.addd);
    auto tickets = dtickets.download();
    auto tickets64 = dtickets64.download();
    std::sort(tickets.begin(), tickets.end());
    std::sort(tickets64.begin(), tickets64.end());
    for (int i = 0; i < n; i++) {
        CHECK(tickets[i] == unsigned(i), "ticket %d is %u", i, tickets[i]);
        CHECK(tickets64[i] == 0x100000001ull * unsigned(i), "wide ticket %d", i);
    }
    Device<int> dout(5);
    lds_atomics<<<1, 512>>>(dout);
    synchronize();
    auto out = dout.download();
    int sum = 0, low = 1000000, high = -1000000;
    for (int i = 0; i < 512; i++) {
        int v = i * 7919 % 1009 - 500;
        sum += v;
        low = std::min(low, v);
        high = std::max(high, v);
    }
    CHECK(out[0] == sum && out[1] == low && out[2] == high && out[3] == 512 && out[4] == 512, "%d %d %d %d %d", out[0],
          out[1], out[2], out[3], out[4]);
    return pass();
}
