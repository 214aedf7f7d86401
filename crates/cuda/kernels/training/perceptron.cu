// Perceptrons with one hidden layer on records of bits. A block trains one model, step by step, with all its parameters in shared
// memory.
//
// Records are bits. One more bit, always set, multiplies the biases of the hidden layer. A bit is an exact factor, so the two
// large products need two terms instead of three.

// ROWS is the size of the largest batch, rounded up to a multiple of sixteen. TERMS is 3 for f32 and 1 for tf32.
template <int INPUTS_, int HIDDEN_, int CLASSES_, int ROWS_, int ACTIVATION_, int LOSS_, int TERMS_>
struct Perceptron {
    static constexpr int INPUTS = INPUTS_, HIDDEN = HIDDEN_, CLASSES = CLASSES_, ROWS = ROWS_;
    static constexpr int ACTIVATION = ACTIVATION_, LOSS = LOSS_, TERMS = TERMS_, BIT_TERMS = TERMS == 3 ? 2 : 1;
    static constexpr int THREADS = 512, WARPS = THREADS / 32;
    static constexpr int WORDS = (INPUTS + 32) / 32, WORD_STRIDE = (WORDS + 3) / 4 * 4, UNITS = WORDS * 32;
    static constexpr int M_TILES = ROWS / 16, N_TILES = HIDDEN / 8, CLASS_TILES = (CLASSES + 7) / 8;
    // With these strides, a warp's reads use each bank once or at most twice.
    static constexpr int FIRST_STRIDE = HIDDEN + 8, HIDDEN_STRIDE = HIDDEN + 4, CLASS_STRIDE = CLASS_TILES * 8 + 4;
    static constexpr int FIRST_PARAMETERS = (INPUTS + 1) * HIDDEN, SECOND_PARAMETERS = (HIDDEN + 1) * CLASSES;
    // Offsets in shared memory.
    static constexpr int SECOND = UNITS * FIRST_STRIDE, HIDDENS = SECOND + (SECOND_PARAMETERS + 7) / 4 * 4;
    static constexpr int CLASS_DELTAS = HIDDENS + ROWS * HIDDEN_STRIDE, DELTAS = CLASS_DELTAS + ROWS * CLASS_STRIDE;
    static constexpr int LOW_DELTAS = DELTAS + ROWS * FIRST_STRIDE, BITS = LOW_DELTAS + ROWS * FIRST_STRIDE;
    // Space for two batches: one is used for training while the next is fetched.
    static constexpr int LABELS = BITS + 2 * ROWS * WORD_STRIDE, SQUARES = LABELS + 2 * ROWS, NUMBERS = SQUARES + 2 * ROWS;
    // ROUNDS: records per warp where a warp handles them one by one. In the first product, a warp has 32 records and every
    // SLICES-th word of inputs. The sums of slices overwrite the space of all deltas.
    static constexpr int ROUNDS = (ROWS + WARPS - 1) / WARPS, PAIRS = (M_TILES + 1) / 2, MOST_SLICES = (BITS - CLASS_DELTAS) / (ROWS * HIDDEN);
    static constexpr int SLICES = WARPS / PAIRS < MOST_SLICES ? WARPS / PAIRS : MOST_SLICES;
};

// Parameters of the kernel beside `Models`, `Batch` and `Step`, which describe the first step.
struct Run {
    // Records as bits, `WORD_STRIDE` words each.
    const unsigned int* bits;
    // Distance from one step's records to the next step's, and from its noise to the next step's.
    unsigned long long room, noise_stride;
    unsigned int steps;
    float clip_norm;
};

// Returns 2 as a float if the bit is set, else 0. The float 2 has a single bit set; 1 would need several more instructions.
// The sums are halved at the end, which is exact.
__device__ __forceinline__ unsigned int two_if(unsigned int word, int bit) {
    return (word << (30 - bit)) & 0x40000000u;
}

template <int TERMS>
__device__ __forceinline__ void multiply_parts(float (&sum)[4], const unsigned int (&a_high)[4], const unsigned int (&a_low)[4],
                                               const unsigned int (&b_high)[2], const unsigned int (&b_low)[2]) {
    if (TERMS == 3) multiply_add(sum, a_low, b_high);
    if (TERMS > 1) multiply_add(sum, a_high, b_low);
    multiply_add(sum, a_high, b_high);
}

// Hidden values from bits. A warp has 32 records and every SLICES-th word of inputs, so weights are read and split for two tiles
// at once.
// If the last pair has no second tile, the first tile is computed twice, because a condition would make the warp wait at every
// product.
template <class P>
__device__ __forceinline__ void hidden_values(float* shared, const unsigned int* bits) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int tile = warp % P::PAIRS * 2, slice = warp / P::PAIRS, more = tile + 1 < P::M_TILES ? 16 : 0;
    float* const exchange = shared + P::CLASS_DELTAS;
    constexpr int OF_TILE = P::N_TILES * 4 * 32, OF_SLICE = P::M_TILES * OF_TILE;
    if (slice < P::SLICES) {
        float sums[2][P::N_TILES][4] = {};
        const unsigned int* const rows_of_bits = bits + (tile * 16 + g) * P::WORD_STRIDE;
        for (int word = slice; word < P::WORDS; word += P::SLICES) {
            unsigned int words[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) words[i] = rows_of_bits[(i / 2 * more + i % 2 * 8) * P::WORD_STRIDE + word] >> t;
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                unsigned int a[2][4];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
#pragma unroll
                    for (int e = 0; e < 4; ++e) a[i][e] = two_if(words[2 * i + e % 2], part * 8 + e / 2 * 4);
                }
                const float* const rows = shared + (word * 32 + part * 8 + t) * P::FIRST_STRIDE + g;
#pragma unroll
                for (int j = 0; j < P::N_TILES; ++j) {
                    unsigned int high[2], low[2];
                    in_parts<P::TERMS>(rows[8 * j], high[0], low[0]);
                    in_parts<P::TERMS>(rows[4 * P::FIRST_STRIDE + 8 * j], high[1], low[1]);
                    multiply_parts<P::BIT_TERMS>(sums[0][j], a[0], a[0], high, low);
                    multiply_parts<P::BIT_TERMS>(sums[1][j], a[1], a[1], high, low);
                }
            }
        }
        float* const mine = exchange + slice * OF_SLICE + tile * OF_TILE + lane;
#pragma unroll
        for (int i = 0; i < P::N_TILES * 4; ++i) {
            mine[i * 32] = sums[0][i / 4][i % 4];
            if (more) mine[OF_TILE + i * 32] = sums[1][i / 4][i % 4];
        }
    }
    __syncthreads();
    for (int at = threadIdx.x; at < OF_SLICE; at += P::THREADS) {
        float sum = exchange[at];
#pragma unroll
        for (int other = 1; other < P::SLICES; ++other) sum += exchange[other * OF_SLICE + at];
        const int i = at / 32 % (P::N_TILES * 4), row = at / OF_TILE * 16 + g + i % 4 / 2 * 8, n = i / 4 * 8 + 2 * t + i % 2;
        shared[P::HIDDENS + row * P::HIDDEN_STRIDE + n] = activated<P::ACTIVATION>(0.5f * sum);
    }
    __syncthreads();
}

// A product of two matrices in shared memory: sixteen rows, starting at `row`, and TILES tiles of eight columns, starting at
// `column`.
template <int TERMS, int TILES, int DEPTH_, class Left, class Right>
__device__ __forceinline__ void small_product(float (&sums)[TILES][4], Left left, Right right) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll 2
    for (int k = 0; k < DEPTH_; k += 8) {
        unsigned int a_high[4], a_low[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) in_parts<TERMS>(left(g + e % 2 * 8, k + t + e / 2 * 4), a_high[e], a_low[e]);
#pragma unroll
        for (int j = 0; j < TILES; ++j) {
            unsigned int b_high[2], b_low[2];
            in_parts<TERMS>(right(k + t, 8 * j + g), b_high[0], b_low[0]);
            in_parts<TERMS>(right(k + t + 4, 8 * j + g), b_high[1], b_low[1]);
            multiply_parts<TERMS>(sums[j], a_high, a_low, b_high, b_low);
        }
    }
}

// Computes the outputs. Two warps share the same records, and each computes half of the classes.
template <class P>
__device__ __forceinline__ void outputs_of_hidden(float* shared) {
    constexpr int HALF = (P::CLASS_TILES + 1) / 2;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    for (int work = warp; work < 2 * P::M_TILES; work += P::WARPS) {
        const int row = work / 2 * 16, column = work % 2 * HALF * 8;
        const float* const values = shared + P::HIDDENS + row * P::HIDDEN_STRIDE;
        const float* const weights = shared + P::SECOND;
        float sums[HALF][4] = {};
        // Columns beyond the last class read values of other columns; their results are not stored.
        small_product<P::TERMS, HALF, P::HIDDEN>(
            sums, [&](int m, int k) { return values[m * P::HIDDEN_STRIDE + k]; },
            [&](int k, int n) {
                const int column_of = column + n;
                return weights[k * P::CLASSES + (column_of < P::CLASSES ? column_of : 0)];
            });
#pragma unroll
        for (int i = 0; i < HALF * 4; ++i) {
            const int n = column + i / 4 * 8 + 2 * t + i % 2, m = row + g + i % 4 / 2 * 8;
            if (n < P::CLASSES)
                shared[P::CLASS_DELTAS + m * P::CLASS_STRIDE + n] = sums[i / 4][i % 4] + weights[P::HIDDEN * P::CLASSES + n];
        }
    }
    __syncthreads();
}

// Sums N values separately over the warp.
template <int N>
__device__ __forceinline__ void sums_of_warp(float (&x)[N]) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
#pragma unroll
        for (int i = 0; i < N; ++i) x[i] += __shfl_xor_sync(0xffffffffu, x[i], distance);
    }
}

// Deltas of the outputs; zeros beyond the last class and record. A warp handles AT_ONCE records at a time.
template <class P>
__device__ __forceinline__ void deltas_of_outputs(float* shared, const unsigned int* labels, unsigned int count) {
    constexpr int EACH = (P::CLASS_STRIDE + 31) / 32, AT_ONCE = EACH <= 4 ? P::ROUNDS : 1;
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* const deltas = shared + P::CLASS_DELTAS;
    const float nothing = __uint_as_float(0xff800000u);  // minus infinity
    for (unsigned int first = warp; first < P::ROWS; first += AT_ONCE * P::WARPS) {
        float values[AT_ONCE][EACH], largest[AT_ONCE], sums[AT_ONCE] = {};
#pragma unroll
        for (int r = 0; r < AT_ONCE; ++r) {
            const unsigned int row = first + r * P::WARPS;
            largest[r] = nothing;
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const unsigned int n = lane + 32 * i;
                values[r][i] = row < count && n < P::CLASSES ? deltas[row * P::CLASS_STRIDE + n] : nothing;
                largest[r] = fmaxf(largest[r], values[r][i]);
            }
        }
        if (P::LOSS == SOFTMAX_CROSS_ENTROPY) {
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2) {
#pragma unroll
                for (int r = 0; r < AT_ONCE; ++r)
                    largest[r] = fmaxf(largest[r], __shfl_xor_sync(0xffffffffu, largest[r], distance));
            }
#pragma unroll
            for (int r = 0; r < AT_ONCE; ++r) {
#pragma unroll
                for (int i = 0; i < EACH; ++i) {
                    values[r][i] = expf(values[r][i] - largest[r]);
                    sums[r] += values[r][i];
                }
            }
            sums_of_warp(sums);
        }
#pragma unroll
        for (int r = 0; r < AT_ONCE; ++r) {
            const unsigned int row = first + r * P::WARPS;
            if (row >= P::ROWS) continue;
            const float share = P::LOSS == SOFTMAX_CROSS_ENTROPY ? 1.0f / sums[r] : 1.0f;
            const unsigned int label = labels[row];
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const unsigned int n = lane + 32 * i;
                const float delta = values[r][i] * share - (n == label ? 1.0f : 0.0f);
                if (n < P::CLASS_STRIDE) deltas[row * P::CLASS_STRIDE + n] = row < count && n < P::CLASSES ? delta : 0.0f;
            }
        }
    }
    __syncthreads();
}

template <class P>
__device__ __forceinline__ void deltas_of_hidden(float* shared) {
    constexpr int HALF = (P::N_TILES + 1) / 2;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    for (int work = warp; work < 2 * P::M_TILES; work += P::WARPS) {
        const int row = work / 2 * 16, column = work % 2 * HALF * 8;
        const float* const deltas = shared + P::CLASS_DELTAS + row * P::CLASS_STRIDE;
        const float* const weights = shared + P::SECOND + column * P::CLASSES;
        float sums[HALF][4] = {};
        // Weights beyond the last class are multiplied by deltas of zero.
        small_product<P::TERMS, HALF, P::CLASS_TILES * 8>(
            sums, [&](int m, int k) { return deltas[m * P::CLASS_STRIDE + k]; },
            [&](int k, int n) { return weights[n * P::CLASSES + k]; });
#pragma unroll
        for (int i = 0; i < HALF * 4; ++i) {
            const int n = column + i / 4 * 8 + 2 * t + i % 2, m = row + g + i % 4 / 2 * 8;
            if (n >= P::HIDDEN) continue;
            const float value = shared[P::HIDDENS + m * P::HIDDEN_STRIDE + n];
            shared[P::DELTAS + m * P::FIRST_STRIDE + n] = deactivated<P::ACTIVATION>(sums[i / 4][i % 4], value);
        }
    }
    __syncthreads();
}

// A lane's part of the squared norm of `count` numbers.
__device__ __forceinline__ float part_of_square(const float* values, unsigned int count, unsigned int lane) {
    float sum = 0.0f;
    for (unsigned int i = lane; i < count; i += 32) sum = fmaf(values[i], values[i], sum);
    return sum;
}

// Clips the deltas of both layers, and splits those of the hidden layer for the matrix cores. A warp handles every WARPS-th
// record.
template <class P>
__device__ __forceinline__ void clip_deltas(float* shared, const float* squares, float clip_norm) {
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float hidden[P::ROUNDS] = {}, of_first[P::ROUNDS] = {}, of_second[P::ROUNDS] = {};
#pragma unroll
    for (int r = 0; r < P::ROUNDS; ++r) {
        const unsigned int row = warp + r * P::WARPS;
        if (row >= P::ROWS) continue;
        hidden[r] = part_of_square(shared + P::HIDDENS + row * P::HIDDEN_STRIDE, P::HIDDEN, lane);
        of_first[r] = part_of_square(shared + P::DELTAS + row * P::FIRST_STRIDE, P::HIDDEN, lane);
        of_second[r] = part_of_square(shared + P::CLASS_DELTAS + row * P::CLASS_STRIDE, P::CLASSES, lane);
    }
    sums_of_warp(hidden);
    sums_of_warp(of_first);
    sums_of_warp(of_second);
#pragma unroll
    for (int r = 0; r < P::ROUNDS; ++r) {
        const unsigned int row = warp + r * P::WARPS;
        if (row >= P::ROWS) continue;
        const float square = (squares[row] + 1.0f) * of_first[r] + (hidden[r] + 1.0f) * of_second[r];
        const float factor = 1.0f / fmaxf(1.0f, sqrtf(square) / clip_norm);
        float* const of_classes = shared + P::CLASS_DELTAS + row * P::CLASS_STRIDE;
        float* const of_hidden = shared + P::DELTAS + row * P::FIRST_STRIDE;
        for (unsigned int n = lane; n < P::CLASSES; n += 32) of_classes[n] *= factor;
        for (unsigned int n = lane; n < P::HIDDEN; n += 32) {
            unsigned int high, low = 0;
            in_parts<P::TERMS>(of_hidden[n] * factor, high, low);
            of_hidden[n] = __uint_as_float(high);
            shared[P::LOW_DELTAS + row * P::FIRST_STRIDE + n] = __uint_as_float(low);
        }
    }
    __syncthreads();
}

// Computes the second layer's sum of clipped gradients. It overwrites the hidden values, which are no longer needed.
template <class P>
__device__ __forceinline__ void second_sum(float* shared) {
    static_assert((P::HIDDEN + 1) * P::CLASSES <= P::ROWS * P::HIDDEN_STRIDE, "the sum fits where the hidden values were");
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    constexpr int UNITS = (P::HIDDEN + 15) / 16, ROUNDS = (P::CLASS_TILES + P::WARPS - 1) / P::WARPS;
    float sums[ROUNDS][UNITS][1][4] = {};
    float bias = 0.0f;
    const float* const values = shared + P::HIDDENS;
    const float* const deltas = shared + P::CLASS_DELTAS;
#pragma unroll
    for (int round = 0; round < ROUNDS; ++round) {
        const int column = (round * P::WARPS + warp) * 8;
        if (column >= P::CLASSES) continue;
#pragma unroll
        for (int unit = 0; unit < UNITS; ++unit)
            small_product<P::TERMS, 1, P::ROWS>(
                sums[round][unit],
                [&](int m, int k) {
                    const int at = unit * 16 + m;
                    return at < P::HIDDEN ? values[k * P::HIDDEN_STRIDE + at] : 0.0f;
                },
                [&](int k, int n) { return deltas[k * P::CLASS_STRIDE + column + n]; });
    }
    // The last warps have the least work above.
    const int n = P::THREADS - 1 - (int)threadIdx.x;
    if (n < P::CLASSES) {
#pragma unroll 8
        for (int row = 0; row < P::ROWS; ++row) bias += deltas[row * P::CLASS_STRIDE + n];
    }
    __syncthreads();
    float* const sum = shared + P::HIDDENS;
#pragma unroll
    for (int round = 0; round < ROUNDS; ++round) {
        const int column = (round * P::WARPS + warp) * 8;
#pragma unroll
        for (int i = 0; i < UNITS * 4; ++i) {
            const int at = column + 2 * t + i % 2, m = i / 4 * 16 + g + i % 4 / 2 * 8;
            if (at < P::CLASSES && m < P::HIDDEN) sum[m * P::CLASSES + at] = sums[round][i / 4][0][i % 4];
        }
    }
    if (n < P::CLASSES) sum[P::HIDDEN * P::CLASSES + n] = bias;
    __syncthreads();
}

// Computes sixteen inputs' rows of the first layer's sum of clipped gradients. `sum` is the warp's own space.
template <class P>
__device__ __forceinline__ void first_sum(const float* shared, const unsigned int* all_bits, int input, float* sum) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const unsigned int* const bits = all_bits + input / 32;
    const int bit = input % 32 + g;
    float sums[P::N_TILES][4] = {};
#pragma unroll 2
    for (int row = 0; row < P::ROWS; row += 8) {
        const unsigned int first = bits[(row + t) * P::WORD_STRIDE] >> bit, second = bits[(row + t + 4) * P::WORD_STRIDE] >> bit;
        const unsigned int a[4] = {two_if(first, 0), two_if(first, 8), two_if(second, 0), two_if(second, 8)};
        const unsigned int* const high = (const unsigned int*)(shared + P::DELTAS) + (row + t) * P::FIRST_STRIDE + g;
        const unsigned int* const low = (const unsigned int*)(shared + P::LOW_DELTAS) + (row + t) * P::FIRST_STRIDE + g;
#pragma unroll
        for (int j = 0; j < P::N_TILES; ++j) {
            const unsigned int b_high[2] = {high[8 * j], high[4 * P::FIRST_STRIDE + 8 * j]};
            const unsigned int b_low[2] = {low[8 * j], low[4 * P::FIRST_STRIDE + 8 * j]};
            multiply_parts<P::BIT_TERMS>(sums[j], a, a, b_high, b_low);
        }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P::N_TILES * 4; ++i)
        sum[(g + i % 4 / 2 * 8) * P::HIDDEN + i / 4 * 8 + 2 * t + i % 2] = 0.5f * sums[i / 4][i % 4];
    __syncwarp();
}

// Fetches a batch into one of two rooms, in three parts with other work between them: first the record numbers; then their bits,
// labels and squared norms; then storing them.
// Rows beyond the batch hold zeros.
template <class P>
struct Fetch {
    static constexpr int CHUNKS = P::WORD_STRIDE / 4, EACH = (P::ROWS * CHUNKS + P::THREADS - 1) / P::THREADS;
    unsigned int count, records[EACH], record, label;
    float square;

    __device__ __forceinline__ void begin(const unsigned int* list, unsigned int size) {
        count = size;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const unsigned int row = (threadIdx.x + i * P::THREADS) / CHUNKS;
            records[i] = row < count ? list[row] : 0u;
        }
        record = threadIdx.x < count ? list[threadIdx.x] : 0u;
    }

    __device__ __forceinline__ void go_on(float* shared, int room, const Batch& batch, const Run& run) {
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const unsigned int at = threadIdx.x + i * P::THREADS;
            if (at < P::ROWS * CHUNKS)
                copy_later<4>(shared + P::BITS + room * (P::ROWS * P::WORD_STRIDE) + at * 4,
                              (const float*)run.bits + (size_t)records[i] * P::WORD_STRIDE + at % CHUNKS * 4, at / CHUNKS < count);
        }
        end_of_copies();
        label = 0;
        square = 0.0f;
        if (threadIdx.x < count) {
            label = batch.labels[record];
            square = batch.data_squares[record];
        }
    }

    // All threads see the new batch after the next barrier.
    __device__ __forceinline__ void end(float* shared, int room) const {
        if (threadIdx.x < P::ROWS) {
            ((unsigned int*)(shared + P::LABELS))[room * P::ROWS + threadIdx.x] = label;
            shared[P::SQUARES + room * P::ROWS + threadIdx.x] = square;
        }
        wait_for_copies<0>();
    }
};

template <class P>
__device__ __forceinline__ void train_perceptron(const Models& models, const Batch& batch, const Step& first, const Run& run) {
    static_assert(P::HIDDEN % 8 == 0 && P::CLASSES % 4 == 0 && P::CLASSES <= P::THREADS, "four parameters at a time");
    static_assert(P::WARPS * 16 * P::HIDDEN <= P::ROWS * P::CLASS_STRIDE, "warps' rooms fit where the outputs' deltas were");
    float* const shared = (float*)dynamic_shared;
    const unsigned int slot = models.slot(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* const parameters = models.model() + models.parameters;
    for (int i = threadIdx.x; i < P::UNITS * P::HIDDEN; i += P::THREADS)
        shared[i / P::HIDDEN * P::FIRST_STRIDE + i % P::HIDDEN] = i < P::FIRST_PARAMETERS ? parameters[i] : 0.0f;
    for (int i = threadIdx.x; i < P::SECOND_PARAMETERS; i += P::THREADS)
        shared[P::SECOND + i] = parameters[P::FIRST_PARAMETERS + i];
    for (int i = threadIdx.x; i < P::HIDDENS - P::SECOND - P::SECOND_PARAMETERS; i += P::THREADS)
        shared[P::SECOND + P::SECOND_PARAMETERS + i] = 0.0f;
    const Trial trial = trial_of(first, slot);
    const Canary canary = first.canaries[0];
    const float* const canary_values = first.values + canary.at;
    const bool is_aligned = (canary.start | canary.at) % 4 == 0;
    const unsigned int* const counts = batch.counts + slot * batch.count_stride;
    const unsigned int* const lists = batch.records + slot * batch.record_stride;
    Fetch<P> fetch;
    fetch.begin(lists, counts[0]);
    fetch.go_on(shared, 0, batch, run);
    fetch.end(shared, 0);
    __syncthreads();

    for (unsigned int number = 0; number < run.steps; ++number) {
        const int room = number % 2;
        const unsigned int count = fetch.count, next = number + 1 < run.steps ? number + 1 : number;
        const unsigned int* const bits = (const unsigned int*)(shared + P::BITS) + room * (P::ROWS * P::WORD_STRIDE);
        fetch.begin(lists + next * run.room, counts[next]);
        if (count > 0) hidden_values<P>(shared, bits);
        fetch.go_on(shared, 1 - room, batch, run);
        if (count > 0) {
            outputs_of_hidden<P>(shared);
            deltas_of_outputs<P>(shared, (const unsigned int*)(shared + P::LABELS) + room * P::ROWS, count);
            deltas_of_hidden<P>(shared);
            clip_deltas<P>(shared, shared + P::SQUARES + room * P::ROWS, run.clip_norm);
            second_sum<P>(shared);
        }
        fetch.end(shared, 1 - room);
        const float times = (float)first.planted[slot * first.planted_stride + number];
        const unsigned long long first_draw = first.first_draw + number * run.noise_stride;
        double of_natural = 0.0, of_noisy = 0.0;
        // Updates four parameters, starting at p and stored at `place`. `natural` holds the natural records' part of their sum.
        auto move_four = [&](unsigned int p, float* place, const float* natural) {
            float noise[4], moved[4], sums[4] = {}, values[4] = {}, in_natural = 0.0f, in_noisy = 0.0f;
            // The canary is loaded first: it comes from device memory while the noise is computed.
            const unsigned int at = p - canary.start;
            if (is_aligned && at < canary.length && at + 3 < canary.length) {
                load_row<4>(canary_values + at, values);
            } else {
#pragma unroll
                for (int i = 0; i < 4; ++i) values[i] = at + i < canary.length ? canary_values[at + i] : 0.0f;
            }
            training_noise(trial, first_draw + p, noise);
            load_row<4>(place, moved);
            if (count > 0) load_row<4>(natural, sums);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float noisy = fmaf(noise[i], first.noise_scale, times == 0.0f ? sums[i] : sums[i] + times * values[i]);
                moved[i] = fmaf(-first.rate, noisy, moved[i]);
                in_natural = fmaf(values[i], sums[i], in_natural);
                in_noisy = fmaf(values[i], noisy, in_noisy);
            }
            *(float4*)place = make_float4(moved[0], moved[1], moved[2], moved[3]);
            of_natural += in_natural;
            of_noisy += in_noisy;
        };
        // The first warps have one more group of inputs than the others. The others also update the second layer.
        constexpr int MORE = (P::INPUTS / 16 + 1) % P::WARPS * 32, BUSY = MORE <= P::THREADS / 2 ? MORE : 0;
        for (int i = ((int)threadIdx.x - BUSY) * 4; i >= 0 && i < P::SECOND_PARAMETERS; i += (P::THREADS - BUSY) * 4)
            move_four(P::FIRST_PARAMETERS + i, shared + P::SECOND + i, shared + P::HIDDENS + i);
        float* const sum = shared + P::CLASS_DELTAS + warp * 16 * P::HIDDEN;
        for (int input = warp * 16; input <= P::INPUTS; input += P::WARPS * 16) {
            if (count > 0) first_sum<P>(shared, bits, input, sum);
#pragma unroll
            for (int i = 0; i < 16 * P::HIDDEN; i += 128) {
                const int at = i + lane * 4, row = input + at / P::HIDDEN, n = at % P::HIDDEN;
                if (row <= P::INPUTS) move_four(row * P::HIDDEN + n, shared + row * P::FIRST_STRIDE + n, sum + at);
            }
        }
        of_natural = sum_of_warp(of_natural);
        of_noisy = sum_of_warp(of_noisy);
        // Even and odd steps use separate space, so the next step may begin before this step's sums are read.
        double* const parts = (double*)(shared + P::NUMBERS) + number % 2 * 2 * P::WARPS;
        if (lane == 0) {
            parts[warp] = of_natural;
            parts[P::WARPS + warp] = of_noisy;
        }
        __syncthreads();
        if (threadIdx.x < 2) {
            double total = 0.0;
            for (int i = 0; i < P::WARPS; ++i) total += parts[threadIdx.x * P::WARPS + i];
            first.outputs[slot * first.output_stride + number * 2 + threadIdx.x] = total * first.inverse_square;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < P::FIRST_PARAMETERS; i += P::THREADS)
        parameters[i] = shared[i / P::HIDDEN * P::FIRST_STRIDE + i % P::HIDDEN];
    for (int i = threadIdx.x; i < P::SECOND_PARAMETERS; i += P::THREADS)
        parameters[P::FIRST_PARAMETERS + i] = shared[P::SECOND + i];
}
