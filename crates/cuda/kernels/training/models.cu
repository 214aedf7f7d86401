// Where the models that are trained side by side have their numbers. Images lie channel by channel within a pixel.

#define NOWHERE 0xffffffffffffffffull

enum Activation { IDENTITY = 0, TANH = 1, RELU = 2 };

// Every model has `stride` floats from `workspace` on. Places are counted from its first.
struct Models {
    float* workspace;
    unsigned long long stride;
    // The models that a launch is about, one for each blockIdx.z.
    const unsigned int* slots;
    // Places: parameters, the sum of clipped gradients of linear layers, each record's gradient of the convolutions, the squared norms of
    // its parts, its clipping factor.
    unsigned long long parameters, sum, gradients, squares, factors;
    unsigned int parameter_count, convolution_parameters;
    // From one record's gradient to the next one's; parts of a record's squared norm.
    unsigned int gradient_stride, parts;

    __device__ __forceinline__ unsigned int slot() const { return slots[blockIdx.z]; }
    __device__ __forceinline__ float* model() const { return workspace + slot() * stride; }
};

// The records that each model looks at: model m has `counts[m count_stride]` of them, from `records[m record_stride]` on.
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

// A layer with the activation that follows it. Places of what goes in (NOWHERE: records), of what comes out, of the deltas of what comes
// out, before the activation, and of the deltas of what goes in; of the next layer's outputs and their deltas, for kernels that pool, too; the
// layer's first parameter and its first part of squared norms.
struct Stage {
    unsigned long long input, output, delta, before, pooled, pooled_delta;
    unsigned int start, first_part;
};

template <int ACTIVATION>
__device__ __forceinline__ float activated(float x) {
    return ACTIVATION == TANH ? tanhf(x) : ACTIVATION == RELU ? (x > 0.0f ? x : 0.0f) : x;
}

// A delta before the activation that gave y.
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
