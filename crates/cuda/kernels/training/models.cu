// The memory layout of models that are trained in parallel. Images are stored pixel by pixel, with all channels of a pixel
// together.

#define NOWHERE 0xffffffffffffffffull

enum Activation { IDENTITY = 0, TANH = 1, RELU = 2 };

// Each model has `stride` floats, starting at `workspace`. Offsets count from a model's first float.
struct Models {
    float* workspace;
    unsigned long long stride;
    // The models of a launch, one for each blockIdx.z.
    const unsigned int* slots;
    // Offsets: parameters; the sum of linear layers' clipped gradients; each record's gradient of the convolutions; the parts of
    // its squared norm; its clipping factor.
    unsigned long long parameters, sum, gradients, squares, factors;
    unsigned int parameter_count, convolution_parameters;
    // Distance between two records' gradients, and the number of parts in a record's squared norm.
    unsigned int gradient_stride, parts;

    __device__ __forceinline__ unsigned int slot() const { return slots[blockIdx.z]; }
    __device__ __forceinline__ float* model() const { return workspace + slot() * stride; }
};

// The records of each model's batch: model m has `counts[m count_stride]` records, starting at `records[m record_stride]`.
struct Batch {
    const float* data;
    const unsigned short* labels;
    // Squared norms of the records themselves.
    const float* data_squares;
    const unsigned int* records;
    const unsigned int* counts;
    unsigned long long record_stride, count_stride;

    __device__ __forceinline__ unsigned int count(unsigned int slot) const { return counts[slot * count_stride]; }
    __device__ __forceinline__ const unsigned int* list(unsigned int slot) const { return records + slot * record_stride; }
};

// A layer with the activation after it.
// `input` (NOWHERE: records), `output`, `delta` (deltas of the outputs before the activation) and `before` (deltas of the inputs)
// are offsets.
// `pooled` and `pooled_delta` are the next layer's outputs and deltas, for kernels that also pool.
// `start` is the layer's first parameter, and `first_part` its first part of squared norms.
struct Stage {
    unsigned long long input, output, delta, before, pooled, pooled_delta;
    unsigned int start, first_part;
};

template <int ACTIVATION>
__device__ __forceinline__ float activated(float x) {
    return ACTIVATION == TANH ? tanhf(x) : ACTIVATION == RELU ? (x > 0.0f ? x : 0.0f) : x;
}

// The delta before the activation, whose value is y.
template <int ACTIVATION>
__device__ __forceinline__ float deactivated(float delta, float y) {
    return ACTIVATION == TANH ? delta * fmaf(-y, y, 1.0f) : ACTIVATION == RELU ? (y > 0.0f ? delta : 0.0f) : delta;
}

__device__ __forceinline__ float sum_of_warp(float x) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

__device__ __forceinline__ double sum_of_warp(double x) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}
