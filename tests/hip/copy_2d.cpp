// hipMemcpy2D in every direction with odd widths and pitches; hipMallocPitch; hipMemcpy3D of a sub-box.
#include "check.h"

static void check_2d(size_t width, size_t height, size_t host_pitch) {
    std::vector<uint8_t> in(host_pitch * height), out(host_pitch * height, 0xee);
    for (size_t i = 0; i < in.size(); i++) in[i] = uint8_t(i * 31 + i / 251);
    uint8_t *a, *b;
    size_t pitch_a, pitch_b;
    HIP(hipMallocPitch(reinterpret_cast<void **>(&a), &pitch_a, width, height));
    HIP(hipMallocPitch(reinterpret_cast<void **>(&b), &pitch_b, width + 100, height));
    HIP(hipMemcpy2D(a, pitch_a, in.data(), host_pitch, width, height, hipMemcpyHostToDevice));
    HIP(hipMemcpy2D(b, pitch_b, a, pitch_a, width, height, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy2D(out.data(), host_pitch, b, pitch_b, width, height, hipMemcpyDeviceToHost));
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < host_pitch; x++) {
            uint8_t want = x < width ? in[y * host_pitch + x] : 0xee;
            CHECK(out[y * host_pitch + x] == want, "%zux%zu at %zu,%zu", width, height, x, y);
        }
    HIP(hipFree(a));
    HIP(hipFree(b));
}

static void check_3d() {
    const size_t w = 24, h = 10, d = 6;
    std::vector<uint8_t> in(w * h * d), out(w * h * d, 0);
    for (size_t i = 0; i < in.size(); i++) in[i] = uint8_t(i * 7 + 3);
    hipPitchedPtr box;
    HIP(hipMalloc3D(&box, make_hipExtent(w, h, d)));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr(in.data(), w, w, h);
    copy.dstPtr = box;
    copy.extent = make_hipExtent(w, h, d);
    copy.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3D(&copy));
    hipMemcpy3DParms back = {};
    back.srcPtr = box;
    back.srcPos = make_hipPos(4, 2, 1);
    back.dstPtr = make_hipPitchedPtr(out.data(), w, w, h);
    back.dstPos = make_hipPos(1, 1, 2);
    back.extent = make_hipExtent(16, 7, 4);
    back.kind = hipMemcpyDeviceToHost;
    HIP(hipMemcpy3D(&back));
    for (size_t z = 0; z < 4; z++)
        for (size_t y = 0; y < 7; y++)
            for (size_t x = 0; x < 16; x++) {
                uint8_t got = out[((z + 2) * h + y + 1) * w + x + 1], want = in[((z + 1) * h + y + 2) * w + x + 4];
                CHECK(got == want, "box at %zu,%zu,%zu: %u, want %u", x, y, z, got, want);
            }
    HIP(hipFree(box.ptr));
}

int main() {
    check_2d(1, 1, 1);
    check_2d(13, 77, 17);
    check_2d(256, 33, 256);
    check_2d(1023, 129, 1100);
    check_2d(5, 1500, 9);
    check_3d();
    return pass();
}
