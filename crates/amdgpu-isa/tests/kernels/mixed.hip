// Code of many kinds for the disassembly test; it is compiled, never run.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

extern "C" __global__ void functions(float *a, double *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    a[i] = sinf(a[i]) + powf(a[i], 3.0f) + expf(a[i]) + tgammaf(a[i]);
    b[i] = sin(b[i]) + pow(b[i], 2.5) + log(b[i]) / b[i] + fma(b[i], b[i], 1.0);
}

extern "C" __global__ void reduction(int *a, unsigned long long *b, int n)
{
    __shared__ int sums[256];
    int t = threadIdx.x;
    sums[t] = a[t];
    __syncthreads();
    for (int step = 128; step; step >>= 1) {
        if (t < step)
            sums[t] += sums[t + step];
        __syncthreads();
    }
    if (!t)
        atomicAdd(&a[0], sums[0]);
    b[t] = b[t] / b[n] % 7;
    a[t] = a[t] / n;
    atomicMax(&b[0], b[t]);
    atomicCAS(&a[1], 2, 3);
    printf("%d %f\n", t, 1.0);
}

extern "C" __global__ void small_types(__half *h, __half2 *g, char *c, short *s, unsigned char *u)
{
    int t = threadIdx.x;
    h[t] = __hadd(h[t], h[t + 1]) * h[t];
    g[t] = __hfma2(g[t], g[t + 1], g[t + 2]);
    c[t] = c[t] * c[t + 1] + s[t];
    u[t] = (u[t] >> 3) + u[t + 2];
    s[t] = __shfl_xor(s[t], 3) + __ballot(t > 5);
    s[t] += __shfl_down(c[t], 1) + __popc(u[t]) + __clz(c[t]);
}

__device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void calls(int *a, int (*f)(int))
{
    a[threadIdx.x] = fibonacci(a[threadIdx.x]) + f(3);
    int x[40];
    for (int i = 0; i < 40; i++)
        x[i] = a[i];
    a[1] = x[a[2]];
    void *p = malloc(16);
    a[3] = (long)p;
    assert(a[5]);
}

extern "C" __global__ void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[y][x] = a[(blockIdx.y * 16 + y) * n + k + x];
        bs[y][x] = b[(k + y) * n + blockIdx.x * 16 + x];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}

extern "C" __global__ void wide(double2 *a, float4 *b, long long *c, float *sums)
{
    int t = threadIdx.x;
    a[t].x = a[t].x * a[t + 1].y + a[t].y;
    b[t] = make_float4(b[t].x + b[t + 1].x, b[t].y * 2.0f, fminf(b[t].z, 1.0f), -fabsf(b[t].w));
    c[t] = (c[t] << (t & 63)) * c[t + 1] - (c[t] >> 5);
    c[t] ^= __brevll(c[t + 2]) + clock64() + wall_clock64();
    unsafeAtomicAdd(sums, b[t].x);
}
