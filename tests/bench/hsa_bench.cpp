// Benchmarks of an HSA runtime through its C interface. Prints one line per figure: name, value, unit.
// Usage: hsa_bench CODE_OBJECT. Every figure is a median over its repetitions.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#define HSA(call)                                                                             \
    do {                                                                                      \
        hsa_status_t status_ = (call);                                                        \
        if (status_ != HSA_STATUS_SUCCESS) {                                                  \
            const char *text_ = "?";                                                          \
            hsa_status_string(status_, &text_);                                               \
            std::fprintf(stderr, "%s: 0x%x %s\n", #call, status_, text_);                     \
            std::exit(1);                                                                     \
        }                                                                                     \
    } while (0)

using Clock = std::chrono::steady_clock;

static double seconds_of(const std::function<void()> &body) {
    auto start = Clock::now();
    body();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

static double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + long(v.size() / 2), v.end());
    return v[v.size() / 2];
}

static double median_of(int rounds, const std::function<void()> &body) {
    std::vector<double> all;
    for (int i = 0; i < rounds; i++) all.push_back(seconds_of(body));
    return median(all);
}

static void report(const char *name, double value, const char *unit) {
    std::printf("%s %.6g %s\n", name, value, unit);
    std::fflush(stdout);
}

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t host_pool, kernarg_pool, device_pool;
static hsa_queue_t *queue;

static hsa_status_t find_agent(hsa_agent_t agent, void *) {
    hsa_device_type_t type;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU && !cpu.handle) cpu = agent;
    if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle) gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data) {
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (data) {
        if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) device_pool = pool;
        return HSA_STATUS_SUCCESS;
    }
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) kernarg_pool = pool;
    else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) host_pool = pool;
    return HSA_STATUS_SUCCESS;
}

static void *allocate(hsa_amd_memory_pool_t pool, size_t bytes) {
    void *p = nullptr;
    HSA(hsa_amd_memory_pool_allocate(pool, bytes, 0, &p));
    HSA(hsa_amd_agents_allow_access(1, &gpu, nullptr, p));
    return p;
}

static void open() {
    HSA(hsa_init());
    cpu = gpu = {};
    HSA(hsa_iterate_agents(find_agent, nullptr));
    if (!gpu.handle) {
        std::fprintf(stderr, "no GPU agent\n");
        std::exit(1);
    }
    HSA(hsa_amd_agent_iterate_memory_pools(cpu, find_pool, nullptr));
    HSA(hsa_amd_agent_iterate_memory_pools(gpu, find_pool, &gpu));
    HSA(hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue));
}

struct Kernel {
    uint64_t object = 0;
    uint32_t group = 0, scratch = 0;
};

static std::vector<char> code;
static hsa_executable_t executable;

static void load(const char *path) {
    std::ifstream file(path, std::ios::binary);
    code.assign(std::istreambuf_iterator<char>(file), {});
    hsa_code_object_reader_t reader;
    HSA(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
    HSA(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
    HSA(hsa_executable_freeze(executable, nullptr));
}

static Kernel kernel(const char *name) {
    hsa_executable_symbol_t symbol;
    Kernel k;
    HSA(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &k.group));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k.scratch));
    return k;
}

static void submit(const Kernel &k, void *arguments, uint32_t grid, uint16_t group, hsa_signal_t done) {
    uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {}
    auto *packet = static_cast<hsa_kernel_dispatch_packet_t *>(queue->base_address) + (index & (queue->size - 1));
    std::memset(reinterpret_cast<char *>(packet) + 4, 0, sizeof *packet - 4);
    packet->workgroup_size_x = group;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = grid;
    packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernel_object = k.object;
    packet->kernarg_address = arguments;
    packet->group_segment_size = k.group;
    packet->private_segment_size = k.scratch;
    packet->completion_signal = done;
    uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    uint32_t setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    __atomic_store_n(reinterpret_cast<uint32_t *>(packet), header | setup << 16, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, hsa_signal_value_t(index));
}

static void wait(hsa_signal_t signal) {
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) != 0) {}
}

static void run(const Kernel &k, void *arguments, uint32_t grid, uint16_t group, hsa_signal_t signal) {
    hsa_signal_store_relaxed(signal, 1);
    submit(k, arguments, grid, group, signal);
    wait(signal);
}

static void dispatches(hsa_signal_t signal) {
    Kernel empty = kernel("empty.kd");
    void *none = allocate(kernarg_pool, 4096);
    for (int i = 0; i < 200; i++) run(empty, none, 64, 64, signal);
    report("dispatch_round_trip", 1e6 * median_of(3000, [&] { run(empty, none, 64, 64, signal); }), "us");
    const int batch = 1000;
    double seconds = median_of(15, [&] {
        hsa_signal_store_relaxed(signal, 1);
        for (int i = 0; i < batch; i++) submit(empty, none, 64, 64, i == batch - 1 ? signal : hsa_signal_t{0});
        wait(signal);
    });
    report("dispatch_batched", 1e6 * seconds / batch, "us");
    HSA(hsa_amd_memory_pool_free(none));
}

static void allocations() {
    for (auto [name, bytes, rounds] : {std::tuple{"allocate_free_4KiB", size_t(4096), 2000},
                                       std::tuple{"allocate_free_64MiB", size_t(64) << 20, 200}}) {
        double seconds = median_of(rounds, [&] {
            void *p = nullptr;
            HSA(hsa_amd_memory_pool_allocate(device_pool, bytes, 0, &p));
            HSA(hsa_amd_memory_pool_free(p));
        });
        report(name, 1e6 * seconds, "us");
    }
}

static void copies(hsa_signal_t signal) {
    const size_t bytes = size_t(64) << 20;
    void *host = allocate(host_pool, bytes), *device = allocate(device_pool, bytes);
    std::memset(host, 1, bytes);
    auto copy = [&](void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent) {
        hsa_signal_store_relaxed(signal, 1);
        HSA(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0, nullptr, signal));
        wait(signal);
    };
    copy(device, gpu, host, cpu);
    double up = median_of(15, [&] { copy(device, gpu, host, cpu); });
    double down = median_of(15, [&] { copy(host, cpu, device, gpu); });
    std::vector<char> a(bytes, 1), b(bytes, 2);
    double plain = median_of(15, [&] { std::memcpy(b.data(), a.data(), bytes); });
    report("copy_64MiB_host_to_device", double(bytes) / up / 1e9, "GB/s");
    report("copy_64MiB_device_to_host", double(bytes) / down / 1e9, "GB/s");
    report("memcpy_64MiB_reference", double(bytes) / plain / 1e9, "GB/s");
    HSA(hsa_amd_memory_pool_free(host));
    HSA(hsa_amd_memory_pool_free(device));
}

static void kernels(hsa_signal_t signal) {
    const int n = 1 << 20;
    auto *x = static_cast<float *>(allocate(device_pool, 3 * n * sizeof(float)));
    struct {
        float *a, *b, *c;
        int n;
    } add = {x, x + n, x + 2 * n, n};
    struct {
        void *x;
        int rounds;
    } loop = {x, 1000};
    void *arguments = allocate(kernarg_pool, 4096);
    std::memcpy(arguments, &add, sizeof add);
    Kernel vector_add = kernel("vector_add.kd"), fma = kernel("fma_chain.kd"), hash = kernel("hash.kd");
    run(vector_add, arguments, n, 256, signal);
    report("vector_add_1Mi", 1e3 * median_of(15, [&] { run(vector_add, arguments, n, 256, signal); }), "ms");
    std::memcpy(arguments, &loop, sizeof loop);
    const int items = 16384;
    double f = median_of(7, [&] { run(fma, arguments, items, 256, signal); });
    report("fma_chain", 2.0 * 4 * 1000 * items / f / 1e9, "GFLOP/s");
    double h = median_of(7, [&] { run(hash, arguments, items, 256, signal); });
    report("hash", 1000.0 * items / h / 1e6, "Mhash/s");
    HSA(hsa_amd_memory_pool_free(x));
    HSA(hsa_amd_memory_pool_free(arguments));
}

static void signals() {
    double seconds = median_of(2000, [] {
        hsa_signal_t s;
        HSA(hsa_signal_create(1, 0, nullptr, &s));
        HSA(hsa_signal_destroy(s));
    });
    report("signal_create_destroy", 1e6 * seconds, "us");
}

static double cpu_seconds() {
    rusage u;
    getrusage(RUSAGE_SELF, &u);
    auto s = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
    return s(u.ru_utime) + s(u.ru_stime);
}

// The queue is open and was used; nothing is submitted for five seconds.
static void idle() {
    double before = cpu_seconds();
    sleep(5);
    report("idle_cpu", 100 * (cpu_seconds() - before) / 5, "%");
}

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s CODE_OBJECT\n", argv[0]);
        return 2;
    }
    double first = seconds_of([] { HSA(hsa_init()); });
    HSA(hsa_shut_down());
    report("init_first", 1e3 * first, "ms");
    report("init_shutdown", 1e3 * median_of(20, [] {
               HSA(hsa_init());
               HSA(hsa_shut_down());
           }), "ms");
    open();
    load(argv[1]);
    hsa_signal_t signal;
    HSA(hsa_signal_create(1, 0, nullptr, &signal));
    dispatches(signal);
    signals();
    allocations();
    copies(signal);
    kernels(signal);
    idle();
    HSA(hsa_signal_destroy(signal));
    HSA(hsa_queue_destroy(queue));
    HSA(hsa_shut_down());
    return 0;
}
