// Ballots, votes and shuffles within a wave, under full and partial EXEC.
#include "check.h"

struct Row {
    unsigned long long ballot, odd;
    int any, all, first, up, xor5, indexed, lane;
};

__global__ void waves(Row *out) {
    int i = threadIdx.x, lane = i % warpSize;
    Row r;
    r.ballot = __ballot(i % 3 == 0);
    r.any = __any(i == 70);
    r.all = __all(i < 128);
    r.first = __shfl(i * 11, 0);
    r.up = __shfl_up(i * 5, 3);
    r.xor5 = __shfl_xor(i * 9, 5);
    r.indexed = __shfl(i * 13, (lane * 7 + 3) % warpSize);
    r.lane = __lane_id();
    r.odd = 0;
    if (i & 1) r.odd = __ballot(i % 5 == 0);
    out[i] = r;
}

int main() {
    hipDeviceProp_t p;
    HIP(hipGetDeviceProperties(&p, 0));
    const int n = 256, w = p.warpSize;
    Device<Row> dout(n);
    waves<<<1, n>>>(dout);
    synchronize();
    auto out = dout.download();
    for (int i = 0; i < n; i++) {
        int base = i / w * w, lane = i % w;
        unsigned long long ballot = 0, odd = 0;
        bool any = false, all = true;
        for (int l = 0; l < w; l++) {
            int j = base + l;
            if (j % 3 == 0) ballot |= 1ull << l;
            if ((j & 1) && j % 5 == 0) odd |= 1ull << l;
            any |= j == 70;
            all &= j < 128;
        }
        CHECK(out[i].ballot == ballot, "at %d: %llx", i, out[i].ballot);
        CHECK(out[i].odd == (i & 1 ? odd : 0), "at %d: %llx", i, out[i].odd);
        CHECK(!!out[i].any == any && !!out[i].all == all, "at %d", i);
        CHECK(out[i].first == base * 11 && out[i].lane == lane, "at %d", i);
        CHECK(out[i].up == (lane < 3 ? i : i - 3) * 5, "at %d: %d", i, out[i].up);
        CHECK(out[i].xor5 == (base + (lane ^ 5)) * 9, "at %d: %d", i, out[i].xor5);
        CHECK(out[i].indexed == (base + (lane * 7 + 3) % w) * 13, "at %d: %d", i, out[i].indexed);
    }
    return pass();
}
