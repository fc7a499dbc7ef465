// A thousand small kernels in one stream, then a thousand with a synchronisation each.
#include "check.h"

__global__ void advance(unsigned *value) { *value = *value * 3 + 1; }

int main() {
    Device<unsigned> value(std::vector<unsigned>{1});
    unsigned want = 1;
    for (int i = 0; i < 1000; i++) {
        advance<<<1, 1>>>(value);
        want = want * 3 + 1;
    }
    synchronize();
    CHECK(value.download()[0] == want);
    for (int i = 0; i < 1000; i++) {
        advance<<<1, 1>>>(value);
        synchronize();
        want = want * 3 + 1;
    }
    CHECK(value.download()[0] == want);
    return pass();
}
