// Convolutions of few channels with few filters, where matrix cores would mostly multiply zeros: images and weights in shared memory, sums in
// registers, in f32.

// From an image of H x W x C with PADDING around it to one of OH x OW x F. A thread has WIDE neighbours in a row and FILTERS filters. A row in shared
// memory takes ROW numbers; a block has RECORDS records.
template <int H_, int W_, int C_, int PADDING_, int F_, int SIZE_, int WIDE_, int FILTERS_, int ROW_, int RECORDS_>
struct Window {
    static constexpr int H = H_, W = W_, C = C_, PADDING = PADDING_, F = F_, SIZE = SIZE_, WIDE = WIDE_, FILTERS = FILTERS_;
    static constexpr int ROW = ROW_, RECORDS = RECORDS_, TAPS = SIZE * SIZE;
    static constexpr int OH = H + 2 * PADDING - SIZE + 1, OW = W + 2 * PADDING - SIZE + 1;
    static constexpr int ACROSS = (OW + WIDE - 1) / WIDE, GROUPS = (F + FILTERS - 1) / FILTERS, EACH = OH * ACROSS * GROUPS;
    static constexpr int THREADS = (RECORDS * EACH + 31) / 32 * 32;
    static constexpr int PLANE = (H + 2 * PADDING) * ROW, IMAGE = (C * PLANE + 3) / 4 * 4;
    // Filters in shared memory, filled up with zeros.
    static constexpr int COLUMNS = (GROUPS * FILTERS + 3) / 4 * 4, WEIGHTS = C * TAPS * COLUMNS;
};

// N numbers that lie side by side, at a multiple of N from an aligned place.
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

// Copies an image into shared memory, channel by channel, with zeros around it; `image` holds zeros already.
template <class D, int THREADS>
__device__ __forceinline__ void load_image(float* image, const float* from) {
    for (int i = threadIdx.x; i < D::H * D::W * D::C; i += THREADS) {
        const int c = i % D::C, x = i / D::C % D::W, y = i / D::C / D::W;
        image[c * D::PLANE + (y + D::PADDING) * D::ROW + x + D::PADDING] = from[i];
    }
}

// BACKWARD: the image are the deltas of the outputs, the filters are the channels, and the weights are turned around. ACTIVATION is then that of the
// layer before.
template <class D, bool BACKWARD, int ACTIVATION, bool FROM_RECORDS>
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
    constexpr int INPUTS = D::H * D::W * D::C, OUTPUTS = D::OH * D::OW * D::F;
    for (int r = 0; r < D::RECORDS; ++r) {
        const unsigned int record = first + r;
        if (record >= count) break;
        const float* const from = FROM_RECORDS ? batch.data + (size_t)batch.list(slot)[record] * INPUTS
                                               : model + (BACKWARD ? stage.delta : stage.input) + (size_t)record * INPUTS;
        load_image<D, D::THREADS>(images + r * D::IMAGE, from);
    }
    __syncthreads();
    const int r = threadIdx.x / D::EACH, mine = threadIdx.x % D::EACH;
    const unsigned int record = first + r;
    if (r >= D::RECORDS || record >= count) return;
    const int group = mine % D::GROUPS, x = mine / D::GROUPS % D::ACROSS * D::WIDE, y = mine / D::GROUPS / D::ACROSS;
    float sums[D::WIDE][D::FILTERS] = {};
    const float* pixels = images + r * D::IMAGE + y * D::ROW + x;
    const float* taps = weights + group * D::FILTERS;
    for (int c = 0; c < D::C; ++c) {
        for (int dy = 0; dy < D::SIZE; ++dy) {
            float row[D::WIDE + D::SIZE - 1];
#pragma unroll
            for (int i = 0; i < D::WIDE + D::SIZE - 1; ++i) row[i] = pixels[c * D::PLANE + dy * D::ROW + i];
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
    const size_t at = (size_t)record * OUTPUTS + (y * D::OW + x) * D::F + group * D::FILTERS;
#pragma unroll
    for (int i = 0; i < D::WIDE; ++i) {
#pragma unroll
        for (int f = 0; f < D::FILTERS; ++f) {
            if (x + i >= D::OW || group * D::FILTERS + f >= D::F) continue;
            const size_t place = at + i * D::F + f;
            if (BACKWARD) {
                const float value = ACTIVATION == IDENTITY ? 0.0f : model[stage.input + place];
                model[stage.before + place] = deactivated<ACTIVATION>(sums[i][f], value);
            } else {
                const float bias = parameters[D::C * D::TAPS * D::F + group * D::FILTERS + f];
                model[stage.output + place] = activated<ACTIVATION>(sums[i][f] + bias);
            }
        }
    }
}

// A record's gradient of such a convolution. A thread has a channel, a row of taps and FILTERS filters, and every SPLIT-th row of the image, which takes
// ROW numbers in shared memory; a row of deltas takes DELTA_ROW.
template <int H_, int W_, int C_, int PADDING_, int F_, int SIZE_, int FILTERS_, int SPLIT_, int ROW_, int DELTA_ROW_>
struct Correlation {
    static constexpr int H = H_, W = W_, C = C_, PADDING = PADDING_, F = F_, SIZE = SIZE_, FILTERS = FILTERS_, SPLIT = SPLIT_;
    static constexpr int ROW = ROW_, DELTA_ROW = DELTA_ROW_, TAPS = SIZE * SIZE;
    static constexpr int OH = H + 2 * PADDING - SIZE + 1, OW = W + 2 * PADDING - SIZE + 1;
    static constexpr int GROUPS = F / FILTERS, EACH = C * SIZE * GROUPS, THREADS = (EACH * SPLIT + 31) / 32 * 32;
    static constexpr int PLANE = (H + 2 * PADDING) * ROW, IMAGE = (C * PLANE + 3) / 4 * 4;
    static constexpr int PARAMETERS = (C * TAPS + 1) * F;
};

template <class D, bool FROM_RECORDS>
__device__ __forceinline__ void correlate(const Models& models, const Batch& batch, const Stage& stage) {
    const unsigned int slot = models.slot(), record = blockIdx.y;
    if (record >= batch.count(slot)) return;
    float* const model = models.model();
    float* const image = (float*)dynamic_shared;
    float* const deltas = image + D::IMAGE;
    constexpr int INPUTS = D::H * D::W * D::C, OUTPUTS = D::OH * D::OW * D::F;
    for (int i = threadIdx.x; i < D::IMAGE; i += D::THREADS) image[i] = 0.0f;
    const float* const delta = model + stage.delta + (size_t)record * OUTPUTS;
    for (int i = threadIdx.x; i < OUTPUTS; i += D::THREADS)
        deltas[i / (D::OW * D::F) * D::DELTA_ROW + i % (D::OW * D::F)] = delta[i];
    __syncthreads();
    const float* const input = FROM_RECORDS ? batch.data + (size_t)batch.list(slot)[record] * INPUTS
                                            : model + stage.input + (size_t)record * INPUTS;
    load_image<D, D::THREADS>(image, input);
    __syncthreads();
    const int split = threadIdx.x % D::SPLIT, mine = threadIdx.x / D::SPLIT, group = mine % D::GROUPS;
    const int dy = mine / D::GROUPS % D::SIZE, c = mine / D::GROUPS / D::SIZE;
    const bool works = mine < D::EACH;
    float sums[D::SIZE][D::FILTERS] = {}, biases[D::FILTERS] = {};
    if (works) {
        for (int y = split; y < D::OH; y += D::SPLIT) {
            const float* const pixels = image + c * D::PLANE + (y + dy) * D::ROW;
            const float* const row = deltas + y * D::DELTA_ROW + group * D::FILTERS;
            float window[D::SIZE];
#pragma unroll
            for (int i = 0; i < D::SIZE - 1; ++i) window[i + 1] = pixels[i];
#pragma unroll 2
            for (int x = 0; x < D::OW; ++x) {
#pragma unroll
                for (int i = 0; i < D::SIZE - 1; ++i) window[i] = window[i + 1];
                window[D::SIZE - 1] = pixels[x + D::SIZE - 1];
                float d[D::FILTERS];
                load_row<D::FILTERS>(row + x * D::F, d);
#pragma unroll
                for (int f = 0; f < D::FILTERS; ++f) {
                    biases[f] += d[f];
#pragma unroll
                    for (int dx = 0; dx < D::SIZE; ++dx) sums[dx][f] = fmaf(window[dx], d[f], sums[dx][f]);
                }
            }
        }
    }
    // Parts of one sum lie side by side, the parts' number apart by one more: no two threads meet in a bank.
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
