// From outputs to deltas, and from deltas to clipping factors, with one warp for each record.

enum Loss { SOFTMAX_CROSS_ENTROPY = 0, SQUARED_ERROR = 1 };

// A linear layer: offsets of its inputs (NOWHERE: records) and deltas, and the position of its weights among the parameters.
struct Linear {
    unsigned long long input, delta;
    unsigned int inputs, outputs, start, row_channels, row_step, unused;
};

struct Clipping {
    const Linear* linears;
    // Offsets of the last layer's outputs and deltas.
    unsigned long long outputs, delta;
    unsigned int linear_count, classes, loss;
    float clip_norm;
};

__device__ __forceinline__ unsigned int warp_s_record() {
    return blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
}

extern "C" __global__ void __launch_bounds__(256) loss(Models models, Batch batch, Clipping clipping) {
    const unsigned int slot = models.slot(), record = warp_s_record(), lane = threadIdx.x % 32, classes = clipping.classes;
    if (record >= batch.count(slot)) return;
    float* const model = models.model();
    const float* const outputs = model + clipping.outputs + (size_t)record * classes;
    float* const delta = model + clipping.delta + (size_t)record * classes;
    const unsigned int label = batch.labels[batch.list(slot)[record]];
    if (clipping.loss == SQUARED_ERROR) {
        for (unsigned int i = lane; i < classes; i += 32) delta[i] = outputs[i] - (i == label ? 1.0f : 0.0f);
        return;
    }
    float largest = outputs[0];
    for (unsigned int i = lane; i < classes; i += 32) largest = fmaxf(largest, outputs[i]);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    float sum = 0.0f;
    for (unsigned int i = lane; i < classes; i += 32) sum += expf(outputs[i] - largest);
    const float share = 1.0f / sum_of_warp(sum);
    for (unsigned int i = lane; i < classes; i += 32)
        delta[i] = expf(outputs[i] - largest) * share - (i == label ? 1.0f : 0.0f);
}

__device__ __forceinline__ float squared_norm(const float* values, unsigned int count, unsigned int lane) {
    float sum = 0.0f;
    for (unsigned int i = lane; i < count; i += 32) sum = fmaf(values[i], values[i], sum);
    return sum_of_warp(sum);
}

// Computes each record's clipping factor from its squared gradient norm, and clips the deltas of linear layers.
// The squared norm adds parts of convolutions and (|inputs|^2 + 1) |deltas|^2 of linear layers.
extern "C" __global__ void __launch_bounds__(256) clip(Models models, Batch batch, Clipping clipping) {
    const unsigned int slot = models.slot(), record = warp_s_record(), lane = threadIdx.x % 32;
    if (record >= batch.count(slot)) return;
    float* const model = models.model();
    float square = 0.0f;
    for (unsigned int i = 0; i < clipping.linear_count; ++i) {
        const Linear linear = clipping.linears[i];
        const float of_delta = squared_norm(model + linear.delta + (size_t)record * linear.outputs, linear.outputs, lane);
        const float of_input = linear.input == NOWHERE
                                   ? batch.data_squares[batch.list(slot)[record]]
                                   : squared_norm(model + linear.input + (size_t)record * linear.inputs, linear.inputs, lane);
        square += (of_input + 1.0f) * of_delta;
    }
    float parts = 0.0f;
    for (unsigned int i = lane; i < models.parts; i += 32) parts += model[models.squares + (size_t)record * models.parts + i];
    square += sum_of_warp(parts);
    const float factor = 1.0f / fmaxf(1.0f, sqrtf(square) / clipping.clip_norm);
    if (lane == 0) model[models.factors + record] = factor;
    for (unsigned int i = 0; i < clipping.linear_count; ++i) {
        const Linear linear = clipping.linears[i];
        float* const delta = model + linear.delta + (size_t)record * linear.outputs;
        for (unsigned int n = lane; n < linear.outputs; n += 32) delta[n] *= factor;
    }
}

// Counts the records whose label is the first of the largest outputs.
extern "C" __global__ void __launch_bounds__(256) count_hits(Models models, Batch batch, Clipping clipping, unsigned int* hits) {
    const unsigned int slot = models.slot(), record = warp_s_record(), lane = threadIdx.x % 32, classes = clipping.classes;
    if (record >= batch.count(slot)) return;
    const float* const outputs = models.model() + clipping.outputs + (size_t)record * classes;
    float largest = __uint_as_float(0xff800000u);  // minus infinity
    unsigned int guess = classes;
    for (unsigned int i = lane; i < classes; i += 32) {
        if (outputs[i] > largest) {
            largest = outputs[i];
            guess = i;
        }
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, largest, distance);
        const unsigned int its_guess = __shfl_xor_sync(0xffffffffu, guess, distance);
        if (other > largest || (other == largest && its_guess < guess)) {
            largest = other;
            guess = its_guess;
        }
    }
    if (lane == 0 && guess == batch.labels[batch.list(slot)[record]]) atomicAdd(hits + slot, 1u);
}
