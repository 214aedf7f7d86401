// A step: clipped gradients, planted gradients and noise update the parameters. The adversary sees the projections of the noisy
// sum on its canaries.

enum TrainingPurpose { TRAINING_NOISE = 5, TRAINING_TAIL = 6, INITIAL_PARAMETERS = 7 };

// A gradient of the adversary: `length` numbers, for the parameters from `start` on. `at` is the index of its first number among
// all values.
struct Canary {
    unsigned int start, length, at, unused;
};

// Marks a parameter that belongs to no canary.
#define NOBODY 0xffffffffu

struct Step {
    const Canary* canaries;
    const float* values;
    // The canaries that reach into a block's parameters: block b has `listed[starts[b]]` to `listed[starts[b + 1] - 1]`.
    const unsigned int *starts, *listed;
    // For several canaries that share no parameter: the canary of each parameter, and its number there. Null for all others.
    const unsigned int* owners;
    const float* owned;
    // Multiple of each canary in the sum: model m starts at index m planted_stride. Several canaries have small multiples.
    const int* planted;
    const signed char* small;
    // Parts of <natural sum, canary> and <noisy sum, canary>: [model][canary][2][gridDim.x]. Only canaries in several blocks have
    // parts.
    double* parts;
    // Both projections divided by C^2: model m starts at index m output_stride for this step, in the order [canary][2].
    double* outputs;
    const unsigned long long* trials;
    const unsigned int* worlds;
    unsigned long long planted_stride, output_stride;
    // Index of the step's first Gaussian number.
    unsigned long long first_draw;
    double inverse_square;
    Key key;
    unsigned int canary_count, blocks;
    // Factor of the noise in the sum, and of the sum in the parameters' update.
    float noise_scale, rate;
};

__device__ __forceinline__ uint4 long_block(const Trial& trial, unsigned int purpose, unsigned long long index) {
    return philox(trial.key, make_uint4(trial.low, trial.high, (unsigned int)index,
                                        purpose | trial.world << 8 | (unsigned int)(index >> 32) << 9));
}

__device__ __forceinline__ Trial trial_of(const Step& step, unsigned int slot) {
    const unsigned long long trial = step.trials[slot];
    return Trial{step.key, (unsigned int)trial, (unsigned int)(trial >> 32), step.worlds[slot]};
}

// Core's `gaussian_pair` in f32, within 1e-6. The rare radii in the tail use f64.
__device__ __forceinline__ float2 training_pair(const Trial& trial, unsigned long long pair, unsigned int radius,
                                                unsigned int angle) {
    // -2 ln p from the smaller of p and q = 1 - p. If p is smaller, the device's logarithm is used. Otherwise 4 atanh(q / (2 - q))
    // is used; its series is within 1e-8 there. The radius therefore has seven digits even if it is small.
    const bool is_lower = radius < 0x80000000u;
    const float share = fmaf(__uint2float_rn(is_lower ? radius : ~radius), 0x1p-32f, 0x1p-33f);
    const float s = __fdividef(share, 2.0f - share), w = s * s;
    float series = fmaf(w, 4.0f / 13.0f, 4.0f / 11.0f);
    series = fmaf(w, series, 4.0f / 9.0f);
    series = fmaf(w, series, 4.0f / 7.0f);
    series = fmaf(w, series, 4.0f / 5.0f);
    series = fmaf(w, series, 4.0f / 3.0f);
    series = fmaf(w, series, 4.0f);
    float square = is_lower ? -1.38629436f * log2_approximately(share) : s * series;
    if (radius < FIRST_BODY_RADIUS) {
        const uint4 more = long_block(trial, TRAINING_TAIL, pair);
        const double fraction = ((double)(more.x | (unsigned long long)more.y << 32) + 0.5) * 0x1p-64;
        square = (float)(-2.0 * log(((double)radius + fraction) * 0x1p-32));
    }
    const float length = root_approximately(square);
    const float t = __uint_as_float((angle & 0x7ffffeu) | 0x3f800001u) - 1.5f;
    const float x = t * t;
    float cosine = fmaf(x, 9.06741899e-4f, -2.08615291e-2f);
    cosine = fmaf(x, cosine, 2.53669410e-1f);
    cosine = fmaf(x, cosine, -1.23370055f);
    cosine = fmaf(x, cosine, 1.0f);
    float sine = fmaf(x, -4.60216310e-3f, 7.96802229e-2f);
    sine = fmaf(x, sine, -6.45963478e-1f);
    sine = fmaf(x, sine, 1.57079632f);
    const float along = angle >> 31 ? -length * cosine : length * cosine;
    const float across = length * (t * sine);
    return angle >> 30 & 1 ? make_float2(across, along) : make_float2(along, across);
}

__device__ __forceinline__ void training_noise(const Trial& trial, unsigned long long draw, float (&noise)[4]) {
    const uint4 words = long_block(trial, TRAINING_NOISE, draw / 4);
    const float2 first = training_pair(trial, draw / 2, words.x, words.y);
    const float2 second = training_pair(trial, draw / 2 + 1, words.z, words.w);
    noise[0] = first.x;
    noise[1] = first.y;
    noise[2] = second.x;
    noise[3] = second.y;
}

// The block's sums of two numbers, in a fixed order; every thread gets them.
__device__ __forceinline__ double2 sums_of_block(double first, double second) {
    __shared__ double room[2][8];
    first = sum_of_warp(first);
    second = sum_of_warp(second);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        room[0][threadIdx.x / 32] = first;
        room[1][threadIdx.x / 32] = second;
    }
    __syncthreads();
    double2 sums = make_double2(0.0, 0.0);
    for (int warp = 0; warp < 8; ++warp) {
        sums.x += room[0][warp];
        sums.y += room[1][warp];
    }
    return sums;
}

// Parameters p to p + 3 of the sum of clipped gradients.
__device__ __forceinline__ void natural_sum(const Models& models, const float* model, unsigned int count, unsigned int p,
                                            float (&sum)[4]) {
    const float* const factors = model + models.factors;
    const float* const gradients = model + models.gradients + p;
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[i] = 0.0f;
    if (p + 3 < models.convolution_parameters) {
#pragma unroll 4
        for (unsigned int record = 0; record < count; ++record) {
            const float factor = factors[record];
            const float4 gradient = *(const float4*)(gradients + (size_t)record * models.gradient_stride);
            sum[0] = fmaf(factor, gradient.x, sum[0]);
            sum[1] = fmaf(factor, gradient.y, sum[1]);
            sum[2] = fmaf(factor, gradient.z, sum[2]);
            sum[3] = fmaf(factor, gradient.w, sum[3]);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (p + i < models.convolution_parameters) {
            for (unsigned int record = 0; record < count; ++record)
                sum[i] = fmaf(factors[record], gradients[(size_t)record * models.gradient_stride + i], sum[i]);
        } else if (p + i < models.parameter_count && count > 0) {
            sum[i] = model[models.sum + p + i];
        }
    }
}

// Writes a block's part of <natural sum, canary> (which = 0) or <noisy sum, canary> (which = 1). If the block has all of the
// canary, it is the output.
__device__ __forceinline__ void write_projection(const Step& step, unsigned int slot, unsigned int k, const Canary& canary,
                                                 unsigned int which, double sum) {
    if (canary.start / 1024 == (canary.start + canary.length - 1) / 1024)
        step.outputs[slot * step.output_stride + 2 * k + which] = sum * step.inverse_square;
    else
        step.parts[((size_t)slot * step.canary_count + k) * 2 * step.blocks + which * step.blocks + blockIdx.x] = sum;
}

// Projects the block's parameters on canaries that share no parameter: a thread for each short one, else a warp.
__device__ __forceinline__ void project_apart(const Step& step, unsigned int slot, unsigned int first, const float (&natural)[4],
                                              const float (&noisy)[4]) {
    __shared__ float staged[2][1024];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        staged[0][threadIdx.x * 4 + i] = natural[i];
        staged[1][threadIdx.x * 4 + i] = noisy[i];
    }
    __syncthreads();
    const unsigned int width = step.canaries[0].length <= 4 ? 1 : 32, lane = threadIdx.x % width;
    for (unsigned int j = step.starts[blockIdx.x] + threadIdx.x / width; j < step.starts[blockIdx.x + 1]; j += 256 / width) {
        const unsigned int k = step.listed[j];
        const Canary canary = step.canaries[k];
        double of_natural = 0.0, of_noisy = 0.0;
        for (unsigned int i = lane; i < canary.length; i += width) {
            const unsigned int at = canary.start + i - first;
            if (at < 1024) {
                const double value = step.values[canary.at + i];
                of_natural += value * staged[0][at];
                of_noisy += value * staged[1][at];
            }
        }
        if (width == 32) {
            of_natural = sum_of_warp(of_natural);
            of_noisy = sum_of_warp(of_noisy);
        }
        if (lane == 0) {
            write_projection(step, slot, k, canary, 0, of_natural);
            write_projection(step, slot, k, canary, 1, of_noisy);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) make_step(Models models, Batch batch, Step step) {
    const unsigned int slot = models.slot(), first = blockIdx.x * 1024, p = first + threadIdx.x * 4;
    float* const model = models.model();
    float natural[4], noisy[4], noise[4];
    natural_sum(models, model, batch.count(slot), p, natural);
    training_noise(trial_of(step, slot), step.first_draw + p, noise);
    const size_t first_planted = slot * step.planted_stride;
    const auto times_of = [&](unsigned int k) {
        return (float)(step.small == nullptr ? step.planted[first_planted + k] : step.small[first_planted + k]);
    };
#pragma unroll
    for (int i = 0; i < 4; ++i) noisy[i] = natural[i];
    const unsigned int begin = step.starts[blockIdx.x], end = step.starts[blockIdx.x + 1];
    const bool are_apart = step.owners != nullptr;
    if (are_apart && begin < end) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const unsigned int owner = step.owners[p + i];
            if (owner != NOBODY) noisy[i] += times_of(owner) * step.owned[p + i];
        }
    }
    for (unsigned int j = begin; j < end && !are_apart; ++j) {
        const unsigned int k = step.listed[j];
        const Canary canary = step.canaries[k];
        const float times = times_of(k);
        if (times == 0.0f) continue;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const unsigned int at = p + i - canary.start;
            if (at < canary.length) noisy[i] += times * step.values[canary.at + at];
        }
    }
    float* const parameters = model + models.parameters;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        noisy[i] = fmaf(noise[i], step.noise_scale, noisy[i]);
        if (p + i < models.parameter_count) parameters[p + i] = fmaf(-step.rate, noisy[i], parameters[p + i]);
    }
    if (are_apart) {
        if (begin < end) project_apart(step, slot, first, natural, noisy);
        return;
    }
    for (unsigned int j = begin; j < end; ++j) {
        const unsigned int k = step.listed[j];
        const Canary canary = step.canaries[k];
        // Four products are summed in f32, all further sums in f64.
        float of_natural = 0.0f, of_noisy = 0.0f;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const unsigned int at = p + i - canary.start;
            const float value = at < canary.length ? step.values[canary.at + at] : 0.0f;
            of_natural = fmaf(value, natural[i], of_natural);
            of_noisy = fmaf(value, noisy[i], of_noisy);
        }
        const double2 sums = sums_of_block(of_natural, of_noisy);
        if (threadIdx.x < 2) write_projection(step, slot, k, canary, threadIdx.x, threadIdx.x == 0 ? sums.x : sums.y);
    }
}

// Adds up the parts of canaries in several blocks, with one warp for each canary and kind.
extern "C" __global__ void __launch_bounds__(256) collect(Models models, Step step) {
    const unsigned int slot = models.slot(), which = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (which >= 2 * step.canary_count) return;
    const Canary canary = step.canaries[which / 2];
    const unsigned int from = canary.start / 1024, to = (canary.start + canary.length - 1) / 1024;
    if (from == to) return;
    const double* const parts = step.parts + ((size_t)slot * step.canary_count * 2 + which) * step.blocks;
    double sum = 0.0;
    for (unsigned int i = lane; i <= to; i += 32)
        if (i >= from) sum += parts[i];
    sum = sum_of_warp(sum);
    if (lane == 0) step.outputs[slot * step.output_stride + which] = sum * step.inverse_square;
}

// Parameters before the first step: the same bits as `initial_parameters` in `train`. `ends` holds where layers end, `bounds` the
// layers' bounds.
extern "C" __global__ void __launch_bounds__(256) initialise(Models models, Step step, const unsigned int* ends, const float* bounds) {
    const unsigned int slot = models.slot(), p = (blockIdx.x * 256 + threadIdx.x) * 4;
    if (p >= models.parameter_count) return;
    const uint4 words = long_block(trial_of(step, slot), INITIAL_PARAMETERS, p / 4);
    const unsigned int bits[4] = {words.x, words.y, words.z, words.w};
    float* const parameters = models.model() + models.parameters;
    unsigned int layer = 0;
    for (int i = 0; i < 4 && p + i < models.parameter_count; ++i) {
        while (p + i >= ends[layer]) ++layer;
        const float unit = __fadd_rn(__fmul_rn(__fadd_rn((float)(bits[i] >> 8), 0.5f), 0x1p-23f), -1.0f);
        parameters[p + i] = __fmul_rn(unit, bounds[layer]);
    }
}
