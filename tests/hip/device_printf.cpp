// Device printf: conversions, strings, 64-bit values and many lanes; the host reads its own stdout back.
#include "check.h"

#include <set>
#include <string>
#include <unistd.h>

__global__ void speak() {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        printf("int %d hex %08x long %lld float %.3f exp %e char %c text %s percent %%\n", -42, 0xbeefu,
               -1234567890123456789ll, 3.14159, 1e-10, 'Z', "hello from the device");
        printf("no arguments\n");
    }
    if (threadIdx.x % 16 == 5) printf("item %u %u\n", unsigned(blockIdx.x), unsigned(threadIdx.x));
}

int main() {
    std::fflush(stdout);
    char name[] = "/tmp/device_printf.XXXXXX";
    int file = mkstemp(name), saved = dup(1);
    CHECK(file >= 0 && saved >= 0, "no temporary file");
    dup2(file, 1);
    speak<<<3, 128>>>();
    hipError_t error = hipDeviceSynchronize();
    std::fflush(stdout);
    dup2(saved, 1);
    HIP(error);
    std::multiset<std::string> lines;
    FILE *in = std::fopen(name, "r");
    char line[512];
    while (std::fgets(line, sizeof line, in)) lines.insert(line);
    std::fclose(in);
    unlink(name);
    char want[512];
    std::snprintf(want, sizeof want, "int %d hex %08x long %lld float %.3f exp %e char %c text %s percent %%\n", -42,
                  0xbeefu, -1234567890123456789ll, 3.14159, 1e-10, 'Z', "hello from the device");
    CHECK(lines.count(want) == 1, "the formatted line is missing among %zu lines", lines.size());
    CHECK(lines.count("no arguments\n") == 1);
    for (int b = 0; b < 3; b++)
        for (int t = 5; t < 128; t += 16) {
            std::snprintf(want, sizeof want, "item %d %d\n", b, t);
            CHECK(lines.count(want) == 1, "%s", want);
        }
    CHECK(lines.size() == 2 + 3 * 8, "%zu lines", lines.size());
    return pass();
}
