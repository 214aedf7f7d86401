// Pooling over squares that do not overlap: their means, or their largest values. Among equal largest values, the first counts.

template <int H_, int W_, int C_, int SIZE_, bool LARGEST_>
struct Squares {
    static constexpr int H = H_, W = W_, C = C_, SIZE = SIZE_, OH = H / SIZE, OW = W / SIZE;
    static constexpr bool THERE = true, LARGEST = LARGEST_;
    static constexpr int INPUTS = H * W * C, OUTPUTS = OH * OW * C;
};

// No pooling.
struct NoSquares {
    static constexpr bool THERE = false;
    static constexpr int OUTPUTS = 0;
};

__device__ __forceinline__ const float* record_of(const Batch& batch, const Stage& stage, unsigned int slot, const float* model,
                                                  unsigned int record, unsigned int features) {
    return stage.input == NOWHERE ? batch.data + (size_t)batch.list(slot)[record] * features
                                  : model + stage.input + (size_t)record * features;
}

// Pooled value `place` of an image.
template <class S>
__device__ __forceinline__ float pooled(const float* image, unsigned int place) {
    const unsigned int c = place % S::C, x = place / S::C % S::OW, y = place / S::C / S::OW;
    float value = 0.0f;
#pragma unroll
    for (int i = 0; i < S::SIZE * S::SIZE; ++i) {
        const float pixel = image[((y * S::SIZE + i / S::SIZE) * S::W + x * S::SIZE + i % S::SIZE) * S::C + c];
        value = S::LARGEST ? (i == 0 || pixel > value ? pixel : value) : value + pixel;
    }
    return S::LARGEST ? value : value * (1.0f / (S::SIZE * S::SIZE));
}

// The delta of value `place` of an image, before its activation, from the deltas of the pooled values.
template <class S, int ACTIVATION>
__device__ __forceinline__ float unpooled(const float* image, const float* deltas, unsigned int place) {
    const unsigned int c = place % S::C, x = place / S::C % S::W, y = place / S::C / S::W;
    const unsigned int to_y = y / S::SIZE, to_x = x / S::SIZE;
    const float value = image[place];
    float delta = 0.0f;
    if (to_y < S::OH && to_x < S::OW) {
        delta = deltas[(to_y * S::OW + to_x) * S::C + c];
        if (!S::LARGEST) {
            delta *= 1.0f / (S::SIZE * S::SIZE);
        } else {
            const unsigned int mine = y % S::SIZE * S::SIZE + x % S::SIZE;
#pragma unroll
            for (unsigned int i = 0; i < S::SIZE * S::SIZE; ++i) {
                const float pixel = image[((to_y * S::SIZE + i / S::SIZE) * S::W + to_x * S::SIZE + i % S::SIZE) * S::C + c];
                if (i < mine ? pixel >= value : pixel > value) delta = 0.0f;
            }
        }
    }
    return deactivated<ACTIVATION>(delta, value);
}

// One thread for each pooled value.
template <class S, int ACTIVATION>
__device__ __forceinline__ void pool(const Models& models, const Batch& batch, const Stage& stage) {
    const unsigned int slot = models.slot(), at = blockIdx.x * 256 + threadIdx.x, record = at / S::OUTPUTS;
    if (record >= batch.count(slot)) return;
    float* const model = models.model();
    const float* const image = record_of(batch, stage, slot, model, record, S::INPUTS);
    model[stage.output + at] = activated<ACTIVATION>(pooled<S>(image, at % S::OUTPUTS));
}

// One thread for each value that was pooled. ACTIVATION is the activation of the layer before.
template <class S, int ACTIVATION>
__device__ __forceinline__ void unpool(const Models& models, const Batch& batch, const Stage& stage) {
    const unsigned int slot = models.slot(), at = blockIdx.x * 256 + threadIdx.x, record = at / S::INPUTS;
    if (record >= batch.count(slot)) return;
    float* const model = models.model();
    const float* const image = record_of(batch, stage, slot, model, record, S::INPUTS);
    const float* const deltas = model + stage.delta + (size_t)record * S::OUTPUTS;
    model[stage.before + at] = unpooled<S, ACTIVATION>(image, deltas, at % S::INPUTS);
}
