// Matrix products by tiles, for the forward pass, the backward pass and the gradients of layers.
// A problem defines where its two factors come from and where the sums go. Each sum is computed in a fixed order, so a model does
// not depend on the other models.

// Depth of the tiles that are in shared memory at a time.
#define DEPTH 32

extern __shared__ float4 dynamic_shared[];

// ROWS x COLUMNS sums by WARPS_M x WARPS_N warps; WARPS_K warps share the depth.
// Copies run STAGES - 1 tiles ahead, into BUFFERS buffers. BUFFERS is STAGES, or less if the whole depth has fewer tiles.
// TERMS says how factors are rounded for the matrix cores. 1: to eleven bits. 3: both in two parts, which leaves f32's own errors.
// 2: the same if the left factor has at most eleven bits.
template <int ROWS_, int COLUMNS_, int WARPS_M_, int WARPS_N_, int WARPS_K_, int STAGES_, int BUFFERS_, int TERMS_>
struct Tiling {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, WARPS_M = WARPS_M_, WARPS_N = WARPS_N_, WARPS_K = WARPS_K_;
    static constexpr int STAGES = STAGES_, BUFFERS = BUFFERS_, TERMS = TERMS_, THREADS = 32 * WARPS_M * WARPS_N * WARPS_K;
    static constexpr int M_TILES = ROWS / WARPS_M / 16, N_TILES = COLUMNS / WARPS_N / 8;
    // With these strides in shared memory, a warp's reads of a tile use each bank once.
    static constexpr int BY_DEPTH = DEPTH + 4, BY_ROWS = ROWS + 8, BY_COLUMNS = COLUMNS == 8 ? 8 : COLUMNS + 8;
};

// Splits x into factors for the matrix cores: x rounded to eleven bits, and the rest rounded likewise.
// Matrix cores ignore the low bits, so adding half a unit is enough to round. The device's own conversion takes several more
// instructions.
template <int TERMS>
__device__ __forceinline__ void in_parts(float x, unsigned int& high, unsigned int& low) {
    high = __float_as_uint(x) + 0x1000u;
    if (TERMS > 1) {
        high &= 0xffffe000u;
        low = __float_as_uint(x - __uint_as_float(high)) + 0x1000u;
    }
}

// A problem's factors are in shared memory as LEFT_BY_DEPTH ? [row][depth] : [depth][row] and RIGHT_BY_DEPTH ? [column][depth] :
// [depth][column].
template <class Problem>
__device__ __forceinline__ void product(const Models& models, const Batch& batch, const Stage& stage) {
    typedef typename Problem::Tiles T;
    constexpr int LEFT_STRIDE = Problem::LEFT_BY_DEPTH ? T::BY_DEPTH : T::BY_ROWS;
    constexpr int RIGHT_STRIDE = Problem::RIGHT_BY_DEPTH ? T::BY_DEPTH : T::BY_COLUMNS;
    constexpr int LEFT_SIZE = LEFT_STRIDE * (Problem::LEFT_BY_DEPTH ? T::ROWS : DEPTH);
    constexpr int RIGHT_SIZE = RIGHT_STRIDE * (Problem::RIGHT_BY_DEPTH ? T::COLUMNS : DEPTH);
    constexpr int SIZE = LEFT_SIZE + RIGHT_SIZE;
    float* const tiles = (float*)dynamic_shared;

    Problem problem;
    if (!problem.begin(models, batch, stage, (int2*)(tiles + T::BUFFERS * SIZE))) return;
    const int rounds = (problem.depth() + DEPTH - 1) / DEPTH;
#pragma unroll
    for (int ahead = 0; ahead < T::STAGES - 1; ++ahead) {
        if (ahead < rounds) {
            problem.load_left(tiles + ahead * SIZE, ahead * DEPTH);
            problem.load_right(tiles + ahead * SIZE + LEFT_SIZE, ahead * DEPTH);
        }
        end_of_copies();
    }

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int warp_m = warp % T::WARPS_M, warp_n = warp / T::WARPS_M % T::WARPS_N, warp_k = warp / (T::WARPS_M * T::WARPS_N);
    const int row = warp_m * T::M_TILES * 16 + g, column = warp_n * T::N_TILES * 8 + g;
    float sums[T::M_TILES][T::N_TILES][4] = {};
    for (int round = 0; round < rounds; ++round) {
        wait_for_copies<T::STAGES - 2>();
        __syncthreads();
        const int next = round + T::STAGES - 1;
        if (next < rounds) {
            float* const to = tiles + next % T::STAGES * SIZE;
            problem.load_left(to, next * DEPTH);
            problem.load_right(to + LEFT_SIZE, next * DEPTH);
        }
        end_of_copies();
        const float* const left = tiles + round % T::STAGES * SIZE;
        const float* const right = left + LEFT_SIZE;
        problem.look_at_right(right, RIGHT_STRIDE);
#pragma unroll
        for (int part = 0; part < DEPTH / 8; part += T::WARPS_K) {
            const int k = (part + warp_k) * 8 + t;
            unsigned int right_high[T::N_TILES][2], right_low[T::N_TILES][2];
#pragma unroll
            for (int j = 0; j < T::N_TILES; ++j) {
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const int n = column + 8 * j, depth = k + 4 * i;
                    const float x =
                        right[Problem::RIGHT_BY_DEPTH ? n * RIGHT_STRIDE + depth : depth * RIGHT_STRIDE + n];
                    in_parts<T::TERMS>(x, right_high[j][i], right_low[j][i]);
                }
            }
#pragma unroll
            for (int i = 0; i < T::M_TILES; ++i) {
                unsigned int left_high[4], left_low[4];
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    const int m = row + 16 * i + 8 * (e % 2), depth = k + 4 * (e / 2);
                    const float x =
                        left[Problem::LEFT_BY_DEPTH ? m * LEFT_STRIDE + depth : depth * LEFT_STRIDE + m];
                    in_parts<T::TERMS == 3 ? 3 : 1>(x, left_high[e], left_low[e]);
                }
#pragma unroll
                for (int j = 0; j < T::N_TILES; ++j) {
                    if (T::TERMS == 3) multiply_add(sums[i][j], left_low, right_high[j]);
                    if (T::TERMS > 1) multiply_add(sums[i][j], left_high, right_low[j]);
                    multiply_add(sums[i][j], left_high, right_high[j]);
                }
            }
        }
    }

    constexpr int EACH = T::M_TILES * T::N_TILES * 4;
    if (T::WARPS_K > 1) {
        __syncthreads();
        float* const mine = tiles + (warp % (T::WARPS_M * T::WARPS_N)) * EACH * 32 + lane;
        constexpr int APART = T::WARPS_M * T::WARPS_N * EACH * 32;
        if (warp_k > 0) {
#pragma unroll
            for (int i = 0; i < EACH; ++i)
                mine[(warp_k - 1) * APART + i * 32] = sums[i / 4 / T::N_TILES][i / 4 % T::N_TILES][i % 4];
        }
        __syncthreads();
        if (warp_k == 0) {
#pragma unroll
            for (int other = 0; other < T::WARPS_K - 1; ++other) {
#pragma unroll
                for (int i = 0; i < EACH; ++i)
                    sums[i / 4 / T::N_TILES][i / 4 % T::N_TILES][i % 4] += mine[other * APART + i * 32];
            }
        }
    }
    if (warp_k == 0) {
#pragma unroll
        for (int i = 0; i < T::M_TILES; ++i) {
#pragma unroll
            for (int j = 0; j < T::N_TILES; ++j) {
                const int n = warp_n * T::N_TILES * 8 + 8 * j + 2 * t;
                problem.store(row + 16 * i, n, sums[i][j][0], sums[i][j][1]);
                problem.store(row + 16 * i + 8, n, sums[i][j][2], sums[i][j][3]);
            }
        }
    }
    problem.end();
}
