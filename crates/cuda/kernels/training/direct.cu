// Convolutions of few channels with few filters, where matrix cores would mostly multiply zeros.
// They run in f32, with images and weights in shared memory and sums in registers.

// A convolution from an image of H x W x C, with PADDING around it, to one of OH x OW x F.
// A thread computes WIDE neighbours in a row for FILTERS filters.
// In shared memory, a row takes ROW numbers and an image takes IMAGE numbers. Rows of padding are not stored, and CHUNK channels
// are loaded at a time.
// A block has RECORDS records. Neighbouring threads have different records, so the threads of a warp use the same few rows and
// skip padding together.
template <int H_, int W_, int C_, int CHUNK_, int PADDING_, int F_, int SIZE_, int WIDE_, int FILTERS_, int ROW_, int IMAGE_, int RECORDS_>
struct Window {
    static constexpr int H = H_, W = W_, C = C_, CHUNK = CHUNK_, PADDING = PADDING_, F = F_, SIZE = SIZE_, WIDE = WIDE_, FILTERS = FILTERS_;
    static constexpr int ROW = ROW_, RECORDS = RECORDS_, TAPS = SIZE * SIZE;
    static constexpr int OH = H + 2 * PADDING - SIZE + 1, OW = W + 2 * PADDING - SIZE + 1;
    static constexpr int ACROSS = (OW + WIDE - 1) / WIDE, GROUPS = (F + FILTERS - 1) / FILTERS, EACH = OH * ACROSS * GROUPS;
    static constexpr int THREADS = (RECORDS * EACH + 31) / 32 * 32;
    static constexpr int TOP = 0, PLANE = H * ROW, IMAGE = IMAGE_;
    // The output image overwrites the input images once they are no longer needed.
    static constexpr int INPUTS = H * W * C, OUTPUTS = OH * OW * F, STAGED = OUTPUTS | 1;
    // Filters in shared memory, padded with zeros.
    static constexpr int COLUMNS = (GROUPS * FILTERS + 3) / 4 * 4, WEIGHTS = C * TAPS * COLUMNS;
};

// Loads N consecutive numbers; their offset from an aligned address is a multiple of N.
template <int N>
__device__ __forceinline__ void load_row(const float* from, float (&to)[N]) {
    if constexpr (N % 4 == 0) {
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            const float4 four = *(const float4*)(from + i);
            to[i] = four.x;
            to[i + 1] = four.y;
            to[i + 2] = four.z;
            to[i + 3] = four.w;
        }
    } else if constexpr (N % 2 == 0) {
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            const float2 two = *(const float2*)(from + i);
            to[i] = two.x;
            to[i + 1] = two.y;
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; ++i) to[i] = from[i];
    }
}

// Loads CHUNK channels of an image, starting at channel `first`, into shared memory, channel by channel.
// Number i of the image is value(i). `image` already contains the zeros around it.
template <class D, class Value>
__device__ __forceinline__ void load_image(float* image, int first, Value value) {
#pragma unroll 4
    for (int i = threadIdx.x; i < D::H * D::W * D::CHUNK; i += D::THREADS) {
        const int c = i % D::CHUNK, x = i / D::CHUNK % D::W, y = i / D::CHUNK / D::W;
        image[c * D::PLANE + (y + D::TOP) * D::ROW + x + D::PADDING] = value(i / D::CHUNK * D::C + first + c);
    }
}

// Delta i of a record's outputs: read from memory, or computed from the deltas of the squares S into which the outputs were
// pooled.
// ACTIVATION is the function that gave the outputs.
template <class S, int ACTIVATION, int OUTPUTS>
__device__ __forceinline__ float delta_of_output(const float* model, const Stage& stage, unsigned int record, int i) {
    if constexpr (S::THERE) {
        const float* const deltas = model + stage.pooled_delta + (size_t)record * S::OUTPUTS;
        return unpooled<S, ACTIVATION>(model + stage.output + (size_t)record * OUTPUTS, deltas, i);
    } else {
        return model[stage.delta + (size_t)record * OUTPUTS + i];
    }
}

// From inputs to outputs, and to their pooled squares S if there are any. ACTIVATION is the layer's own activation, POOLED that of
// the pooling.
//
// If BACKWARD, the image holds the deltas of the outputs, the filters are the channels, and the weights are flipped.
// BEFORE is the activation of the layer before.
template <class D, bool BACKWARD, int ACTIVATION, int BEFORE, bool FROM_RECORDS, class S, int POOLED>
__device__ __forceinline__ void direct(const Models& models, const Batch& batch, const Stage& stage) {
    const unsigned int slot = models.slot(), count = batch.count(slot), first = blockIdx.x * D::RECORDS;
    if (first >= count) return;
    float* const model = models.model();
    float* const weights = (float*)dynamic_shared;
    float* const images = weights + D::WEIGHTS;
    const float* const parameters = model + models.parameters + stage.start;
    for (int i = threadIdx.x; i < D::RECORDS * D::IMAGE; i += D::THREADS) images[i] = 0.0f;
    for (int i = threadIdx.x; i < D::WEIGHTS; i += D::THREADS) {
        const int f = i % D::COLUMNS, row = i / D::COLUMNS, tap = row % D::TAPS, c = row / D::TAPS;
        const int from = BACKWARD ? (f * D::TAPS + D::TAPS - 1 - tap) * D::C + c : row * D::F + f;
        weights[i] = f < D::F ? parameters[from] : 0.0f;
    }
    __syncthreads();
    const int r = threadIdx.x % D::RECORDS, mine = threadIdx.x / D::RECORDS;
    const bool works = mine < D::EACH && first + r < count;
    const int group = mine % D::GROUPS, x = mine / D::GROUPS % D::ACROSS * D::WIDE, y = mine / D::GROUPS / D::ACROSS;
    float sums[D::WIDE][D::FILTERS] = {};
    for (int channel = 0; channel < D::C; channel += D::CHUNK) {
        if (channel > 0) __syncthreads();
        for (int each = 0; each < D::RECORDS; ++each) {
            const unsigned int record = first + each;
            if (record >= count) break;
            float* const image = images + each * D::IMAGE;
            if constexpr (BACKWARD) {
                load_image<D>(image, channel, [&](int i) { return delta_of_output<S, ACTIVATION, D::INPUTS>(model, stage, record, i); });
            } else {
                const float* const from = FROM_RECORDS ? batch.data + (size_t)batch.list(slot)[record] * D::INPUTS
                                                       : model + stage.input + (size_t)record * D::INPUTS;
                load_image<D>(image, channel, [&](int i) { return from[i]; });
            }
        }
        __syncthreads();
        if (!works) continue;
        const float* const pixels = images + r * D::IMAGE + x;
        const float* const taps = weights + channel * D::TAPS * D::COLUMNS + group * D::FILTERS;
        for (int dy = 0; dy < D::SIZE; ++dy) {
            const int line = y + dy - D::PADDING;
            if ((unsigned int)line >= D::H) continue;
            for (int c = 0; c < D::CHUNK; ++c) {
                float row[D::WIDE + D::SIZE - 1];
#pragma unroll
                for (int i = 0; i < D::WIDE + D::SIZE - 1; ++i) row[i] = pixels[c * D::PLANE + line * D::ROW + i];
#pragma unroll
                for (int dx = 0; dx < D::SIZE; ++dx) {
                    float weight[D::FILTERS];
                    load_row<D::FILTERS>(taps + ((c * D::SIZE + dy) * D::SIZE + dx) * D::COLUMNS, weight);
#pragma unroll
                    for (int i = 0; i < D::WIDE; ++i) {
#pragma unroll
                        for (int f = 0; f < D::FILTERS; ++f) sums[i][f] = fmaf(row[i + dx], weight[f], sums[i][f]);
                    }
                }
            }
        }
    }
    // The copy goes through shared memory, so that neighbours in a warp are neighbours in the device's memory.
    __syncthreads();
    if (works) {
        float* const staged = images + r * D::STAGED + (y * D::OW + x) * D::F + group * D::FILTERS;
#pragma unroll
        for (int f = 0; f < D::FILTERS; ++f) {
            if (group * D::FILTERS + f >= D::F) continue;
            const float bias = BACKWARD ? 0.0f : parameters[D::C * D::TAPS * D::F + group * D::FILTERS + f];
#pragma unroll
            for (int i = 0; i < D::WIDE; ++i) {
                if (x + i >= D::OW) continue;
                staged[i * D::F + f] = BACKWARD ? sums[i][f] : activated<ACTIVATION>(sums[i][f] + bias);
            }
        }
    }
    __syncthreads();
    for (int r = 0; r < D::RECORDS; ++r) {
        const unsigned int record = first + r;
        if (record >= count) break;
        const float* const staged = images + r * D::STAGED;
        const size_t at = (size_t)record * D::OUTPUTS;
#pragma unroll 4
        for (int i = threadIdx.x; i < D::OUTPUTS; i += D::THREADS) {
            if (BACKWARD) {
                const float value = BEFORE == IDENTITY ? 0.0f : model[stage.input + at + i];
                model[stage.before + at + i] = deactivated<BEFORE>(staged[i], value);
            } else {
                model[stage.output + at + i] = staged[i];
            }
        }
        if constexpr (!BACKWARD && S::THERE) {
            for (int i = threadIdx.x; i < S::OUTPUTS; i += D::THREADS)
                model[stage.pooled + (size_t)record * S::OUTPUTS + i] = activated<POOLED>(pooled<S>(staged, i));
        }
    }
}

// A record's gradient of such a convolution. A thread has one channel, one row of taps, FILTERS filters, and every SPLIT-th row of
// the image.
// In shared memory, a row of the image takes ROW numbers and a row of deltas takes DELTA_ROW.
template <int H_, int W_, int C_, int PADDING_, int F_, int SIZE_, int FILTERS_, int SPLIT_, int ROW_, int DELTA_ROW_>
struct Correlation {
    static constexpr int H = H_, W = W_, C = C_, CHUNK = C_, PADDING = PADDING_, F = F_, SIZE = SIZE_, FILTERS = FILTERS_, SPLIT = SPLIT_;
    static constexpr int ROW = ROW_, DELTA_ROW = DELTA_ROW_, TAPS = SIZE * SIZE;
    static constexpr int OH = H + 2 * PADDING - SIZE + 1, OW = W + 2 * PADDING - SIZE + 1;
    static constexpr int GROUPS = F / FILTERS, EACH = C * SIZE * GROUPS, THREADS = (EACH * SPLIT + 31) / 32 * 32;
    static constexpr int TOP = PADDING, PLANE = (H + 2 * PADDING) * ROW, IMAGE = (C * PLANE + 3) / 4 * 4;
    static constexpr int PARAMETERS = (C * TAPS + 1) * F;
};

// A thread's part of a record's sums. If COUNTS, it also sums the deltas themselves, for the biases.
template <class D, bool COUNTS>
__device__ __forceinline__ void correlate_rows(const float* image, const float* deltas, int split, int dy, float (&sums)[D::SIZE][D::FILTERS],
                                               float (&biases)[D::FILTERS]) {
    for (int y = split; y < D::OH; y += D::SPLIT) {
        const float* const pixels = image + (y + dy) * D::ROW;
        const float* const row = deltas + y * D::DELTA_ROW;
        float window[D::SIZE];
#pragma unroll
        for (int i = 0; i < D::SIZE - 1; ++i) window[i + 1] = pixels[i];
#pragma unroll D::SIZE
        for (int x = 0; x < D::OW; ++x) {
#pragma unroll
            for (int i = 0; i < D::SIZE - 1; ++i) window[i] = window[i + 1];
            window[D::SIZE - 1] = pixels[x + D::SIZE - 1];
            float d[D::FILTERS];
            load_row<D::FILTERS>(row + x * D::F, d);
#pragma unroll
            for (int f = 0; f < D::FILTERS; ++f) {
                if (COUNTS) biases[f] += d[f];
#pragma unroll
                for (int dx = 0; dx < D::SIZE; ++dx) sums[dx][f] = fmaf(window[dx], d[f], sums[dx][f]);
            }
        }
    }
}

// ACTIVATION is the function that gave the outputs. S are the squares into which they were pooled, if any.
template <class D, bool FROM_RECORDS, int ACTIVATION, class S>
__device__ __forceinline__ void correlate(const Models& models, const Batch& batch, const Stage& stage) {
    const unsigned int slot = models.slot(), record = blockIdx.y;
    if (record >= batch.count(slot)) return;
    float* const model = models.model();
    float* const image = (float*)dynamic_shared;
    float* const deltas = image + D::IMAGE;
    constexpr int INPUTS = D::H * D::W * D::C, OUTPUTS = D::OH * D::OW * D::F;
    for (int i = threadIdx.x; i < D::IMAGE; i += D::THREADS) image[i] = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < OUTPUTS; i += D::THREADS)
        deltas[i / (D::OW * D::F) * D::DELTA_ROW + i % (D::OW * D::F)] =
            delta_of_output<S, ACTIVATION, OUTPUTS>(model, stage, record, i);
    __syncthreads();
    const float* const input = FROM_RECORDS ? batch.data + (size_t)batch.list(slot)[record] * INPUTS
                                            : model + stage.input + (size_t)record * INPUTS;
    load_image<D>(image, 0, [&](int i) { return input[i]; });
    __syncthreads();
    const int split = threadIdx.x % D::SPLIT, mine = threadIdx.x / D::SPLIT, group = mine % D::GROUPS;
    const int dy = mine / D::GROUPS % D::SIZE, c = mine / D::GROUPS / D::SIZE;
    const bool works = mine < D::EACH;
    float sums[D::SIZE][D::FILTERS] = {}, biases[D::FILTERS] = {};
    if (works) {
        const float* const pixels = image + c * D::PLANE;
        const float* const of_group = deltas + group * D::FILTERS;
        if (c == 0 && dy == 0) {
            correlate_rows<D, true>(pixels, of_group, split, dy, sums, biases);
        } else {
            correlate_rows<D, false>(pixels, of_group, split, dy, sums, biases);
        }
    }
    // The parts of one sum are neighbours. Sums are an odd number of places apart, so no two threads use the same bank.
    float* const parts = (float*)dynamic_shared;
    constexpr int APART = D::SPLIT + 1 - D::SPLIT % 2;
    __syncthreads();
    if (works) {
#pragma unroll
        for (int f = 0; f < D::FILTERS; ++f) {
            const int filter = group * D::FILTERS + f;
#pragma unroll
            for (int dx = 0; dx < D::SIZE; ++dx)
                parts[((c * D::TAPS + dy * D::SIZE + dx) * D::F + filter) * APART + split] = sums[dx][f];
            if (c == 0 && dy == 0) parts[(D::C * D::TAPS * D::F + filter) * APART + split] = biases[f];
        }
    }
    __syncthreads();
    float* const gradient = model + models.gradients + (size_t)record * models.gradient_stride + stage.start;
    float square = 0.0f;
    for (int i = threadIdx.x; i < D::PARAMETERS; i += D::THREADS) {
        float sum = 0.0f;
        for (int part = 0; part < D::SPLIT; ++part) sum += parts[i * APART + part];
        gradient[i] = sum;
        square = fmaf(sum, sum, square);
    }
    square = sum_of_warp(square);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = square;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int warp = 0; warp < D::THREADS / 32; ++warp) sum += parts[warp];
        model[models.squares + (size_t)record * models.parts + stage.first_part] = sum;
    }
}
