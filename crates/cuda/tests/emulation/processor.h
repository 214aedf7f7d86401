// Enough of CUDA for the kernels of a training to run on a processor of the x86-64 family: the threads of a block are fibers that take turns,
// blocks run one after the other.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static

struct uint3 { unsigned int x, y, z; };
struct uint4 { unsigned int x, y, z, w; };
struct int2 { int x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct double2 { double x, y; };
static inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline unsigned int max(unsigned int a, unsigned int b) { return a > b ? a : b; }
static inline unsigned int min(unsigned int a, unsigned int b) { return a < b ? a : b; }
static inline float __uint_as_float(unsigned int bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline unsigned int __float_as_uint(float x) { unsigned int bits; memcpy(&bits, &x, 4); return bits; }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __uint2float_rn(unsigned int x) { return (float)x; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline void sincospi(double x, double* sine, double* cosine) { *sine = sin(M_PI * x); *cosine = cos(M_PI * x); }
static inline unsigned int atomicAdd(unsigned int* to, unsigned int x) { const unsigned int old = *to; *to += x; return old; }

static uint3 threadIdx, blockIdx, blockDim, gridDim;

#define MOST_THREADS 1024
#define STACK (64 * 1024)
struct Fiber { void* stack_pointer; bool done; unsigned int block_barriers, warp_exchanges; };
static Fiber fibers[MOST_THREADS];
static char* stacks;
static void* scheduler;
static unsigned int current, threads, alive;
// Arrivals at the barrier of the block, and at the exchanges of each warp.
static unsigned int arrived, barriers_passed;
static unsigned int warp_arrived[MOST_THREADS / 32], warp_passed[MOST_THREADS / 32], warp_alive[MOST_THREADS / 32];
static unsigned char exchanged[MOST_THREADS / 32][2][32][32];
static void (*body)(void*);
static void* body_arguments;

// Saves the registers that a call keeps, and goes on where `to` was saved.
extern "C" void switch_fiber(void** from, void* to);
asm(".text\n.type switch_fiber, @function\nswitch_fiber:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

static void pause_fiber() { switch_fiber(&fibers[current].stack_pointer, scheduler); }

static void release_barrier() {
    if (alive > 0 && arrived == alive) { arrived = 0; ++barriers_passed; }
}

static void release_warp(unsigned int warp) {
    if (warp_alive[warp] > 0 && warp_arrived[warp] == warp_alive[warp]) { warp_arrived[warp] = 0; ++warp_passed[warp]; }
}

static void fiber_main() {
    body(body_arguments);
    fibers[current].done = true;
    --alive;
    --warp_alive[current / 32];
    release_barrier();
    release_warp(current / 32);
    pause_fiber();
    abort();
}

static void __syncthreads() {
    const unsigned int mine = fibers[current].block_barriers++;
    ++arrived;
    release_barrier();
    while (barriers_passed <= mine) pause_fiber();
}

// Gives every lane of a warp the bytes of all lanes; they stay until the exchange after the next.
static unsigned char (*exchange(const void* bytes, size_t size))[32] {
    const unsigned int warp = current / 32, mine = fibers[current].warp_exchanges++;
    memcpy(exchanged[warp][mine % 2][current % 32], bytes, size);
    ++warp_arrived[warp];
    release_warp(warp);
    while (warp_passed[warp] <= mine) pause_fiber();
    return exchanged[warp][mine % 2];
}

static void __syncwarp() { const int nothing = 0; exchange(&nothing, sizeof nothing); }

template <class T>
static T __shfl_xor_sync(unsigned int, T value, int distance) {
    T other;
    memcpy(&other, exchange(&value, sizeof(T))[(current % 32) ^ distance], sizeof(T));
    return other;
}

static void run_block(unsigned int count) {
    threads = alive = count;
    arrived = barriers_passed = 0;
    for (unsigned int warp = 0; warp * 32 < count; ++warp) { warp_arrived[warp] = warp_passed[warp] = 0; warp_alive[warp] = 32; }
    if (!stacks) stacks = (char*)malloc((size_t)MOST_THREADS * STACK);
    for (unsigned int i = 0; i < count; ++i) {
        void** top = (void**)(stacks + (size_t)(i + 1) * STACK - 64);
        *--top = nullptr;
        *--top = (void*)fiber_main;
        for (int j = 0; j < 6; ++j) *--top = nullptr;
        fibers[i] = Fiber{top, false, 0, 0};
    }
    // Every second block goes backwards: what one thread leaves for another without a barrier between them shows in one of the two.
    static bool backwards;
    backwards = !backwards;
    while (alive > 0) {
        for (unsigned int turn = 0; turn < count; ++turn) {
            const unsigned int i = backwards ? count - 1 - turn : turn;
            if (fibers[i].done) continue;
            current = i;
            threadIdx = {i, 0, 0};
            switch_fiber(&scheduler, fibers[i].stack_pointer);
        }
    }
}

template <class... Arguments, size_t... I>
static void run_kernel(void (*kernel)(Arguments...), void** arguments, unsigned int x, unsigned int y, unsigned int z, unsigned int count,
                       std::index_sequence<I...>) {
    std::tuple<void (*)(Arguments...), void**> call{kernel, arguments};
    body = [](void* call) {
        auto& [kernel, arguments] = *(std::tuple<void (*)(Arguments...), void**>*)call;
        kernel(*(Arguments*)arguments[I]...);
    };
    body_arguments = &call;
    blockDim = {count, 1, 1};
    gridDim = {x, y, z};
    for (unsigned int k = 0; k < z; ++k)
        for (unsigned int j = 0; j < y; ++j)
            for (unsigned int i = 0; i < x; ++i) {
                blockIdx = {i, j, k};
                run_block(count);
            }
}

template <class... Arguments>
static void run_kernel(void (*kernel)(Arguments...), void** arguments, unsigned int x, unsigned int y, unsigned int z, unsigned int count) {
    run_kernel(kernel, arguments, x, y, z, count, std::index_sequence_for<Arguments...>{});
}

// In place of matrix_cores.cu.
struct Fragments { unsigned int a[4], b[2]; };

static void multiply_add(float (&sum)[4], const unsigned int (&a)[4], const unsigned int (&b)[2]) {
    Fragments mine;
    for (int i = 0; i < 4; ++i) mine.a[i] = a[i] & 0xffffe000u;
    for (int i = 0; i < 2; ++i) mine.b[i] = b[i] & 0xffffe000u;
    unsigned char (*all)[32] = exchange(&mine, sizeof mine);
    auto left = [&](int m, int k) { return __uint_as_float(((Fragments*)all[m % 8 * 4 + k % 4])->a[m / 8 + k / 4 * 2]); };
    auto right = [&](int k, int n) { return __uint_as_float(((Fragments*)all[n * 4 + k % 4])->b[k / 4]); };
    const int g = current % 32 / 4, t = current % 4;
    for (int i = 0; i < 4; ++i) {
        double total = sum[i];
        for (int k = 0; k < 8; ++k) total += (double)left(g + i / 2 * 8, k) * (double)right(k, 2 * t + i % 2);
        sum[i] = (float)total;
    }
}

template <int WIDTH>
static inline void copy_later(float* to, const float* from, bool there) {
    for (int i = 0; i < WIDTH; ++i) to[i] = there ? from[i] : 0.0f;
}
static inline void end_of_copies() {}
template <int PENDING>
static inline void wait_for_copies() {}
