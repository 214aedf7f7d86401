// Pooling of squares that do not overlap: their means, or their largest values, of which the first counts where several are equal.

template <int H_, int W_, int C_, int SIZE_, bool LARGEST_>
struct Squares {
    static constexpr int H = H_, W = W_, C = C_, SIZE = SIZE_, OH = H / SIZE, OW = W / SIZE;
    static constexpr bool LARGEST = LARGEST_;
};

__device__ __forceinline__ const float* record_of(const Batch& batch, const Stage& stage, unsigned int slot, const float* model,
                                                  unsigned int record, unsigned int features) {
    return stage.input == NOWHERE ? batch.data + (size_t)batch.list(slot)[record] * features
                                  : model + stage.input + (size_t)record * features;
}

// One thread for each pooled value.
template <class S, int ACTIVATION>
__device__ __forceinline__ void pool(const Models& models, const Batch& batch, const Stage& stage) {
    constexpr unsigned int OUTPUTS = S::OH * S::OW * S::C;
    const unsigned int slot = models.slot(), at = blockIdx.x * 256 + threadIdx.x, record = at / OUTPUTS;
    if (record >= batch.count(slot)) return;
    float* const model = models.model();
    const unsigned int place = at % OUTPUTS, c = place % S::C, x = place / S::C % S::OW, y = place / S::C / S::OW;
    const float* const input = record_of(batch, stage, slot, model, record, S::H * S::W * S::C);
    float value = 0.0f;
#pragma unroll
    for (int i = 0; i < S::SIZE * S::SIZE; ++i) {
        const float pixel = input[((y * S::SIZE + i / S::SIZE) * S::W + x * S::SIZE + i % S::SIZE) * S::C + c];
        value = S::LARGEST ? (i == 0 || pixel > value ? pixel : value) : value + pixel;
    }
    if (!S::LARGEST) value *= 1.0f / (S::SIZE * S::SIZE);
    model[stage.output + at] = activated<ACTIVATION>(value);
}

// One thread for each value that was pooled. ACTIVATION is that of the layer before.
template <class S, int ACTIVATION>
__device__ __forceinline__ void unpool(const Models& models, const Batch& batch, const Stage& stage) {
    constexpr unsigned int INPUTS = S::H * S::W * S::C;
    const unsigned int slot = models.slot(), at = blockIdx.x * 256 + threadIdx.x, record = at / INPUTS;
    if (record >= batch.count(slot)) return;
    float* const model = models.model();
    const unsigned int place = at % INPUTS, c = place % S::C, x = place / S::C % S::W, y = place / S::C / S::W;
    const unsigned int to_y = y / S::SIZE, to_x = x / S::SIZE;
    const float* const input = record_of(batch, stage, slot, model, record, INPUTS);
    const float value = input[place];
    float delta = 0.0f;
    if (to_y < S::OH && to_x < S::OW) {
        delta = model[stage.delta + ((size_t)(record * S::OH + to_y) * S::OW + to_x) * S::C + c];
        if (!S::LARGEST) {
            delta *= 1.0f / (S::SIZE * S::SIZE);
        } else {
            const unsigned int mine = y % S::SIZE * S::SIZE + x % S::SIZE;
#pragma unroll
            for (unsigned int i = 0; i < S::SIZE * S::SIZE; ++i) {
                const float pixel = input[((to_y * S::SIZE + i / S::SIZE) * S::W + to_x * S::SIZE + i % S::SIZE) * S::C + c];
                if (i < mine ? pixel >= value : pixel > value) delta = 0.0f;
            }
        }
    }
    model[stage.before + at] = deactivated<ACTIVATION>(delta, value);
}
