// The score if every batch has the same weight, summed over epochs: ln(sum u^2 / sum u) or ln(sum u), with u = exp(y / s^2).
//
// The compiler defines two constants. SQUARES: the adversary compares shifts (2, 1), not (1, 0). REFINED: the block with the
// largest term is computed again in f64.

struct Equal {
    // 1 / s.
    double inverse_noise;
    // The exponent of the target's term without its noise, and the constant subtracted from all exponents.
    double target_exponent, lowered_by;
    // Constant added to the score for every epoch.
    double constant;
    Key key;
    unsigned int world;
    unsigned int epochs, batches;
    // 2 ln(2) f^2 with f = log2(e) / s, and `lowered_by` as a power of two.
    float scale, offset;
};

// Number of blocks of four draws between two additions in f64.
#define STRIP 16

struct Sums {
    double first, second;

    __device__ __forceinline__ void add(double value) {
        first += value;
        if (SQUARES) second += value * value;
    }

    __device__ __forceinline__ void remove(double value) {
        first -= value;
        if (SQUARES) second -= value * value;
    }
};

// An epoch's sums over all batches. The block with the target's noise, the tails, and the last incomplete block are computed in
// f64. All other blocks are computed in f32 and summed in strips.
// If REFINED, the block with the largest term is computed again in f64. If one term dominates the sums, its error would be the
// score's error.
__device__ __forceinline__ Sums epoch_sums(const Equal& game, const Trial& trial, unsigned int first_block) {
    Sums sums = {0.0, 0.0};
    const auto exponential = [&](double z) { return exp(z * game.inverse_noise - game.lowered_by); };
    const auto add_pair = [&](unsigned int at, unsigned int radius, unsigned int angle) {
        const double2 z = exact_pair(trial, at, radius, angle);
        sums.add(exponential(z.x));
        sums.add(exponential(z.y));
    };
    {
        const uint4 words = block(trial, NOISE, first_block);
        const double2 z = exact_pair(trial, 2 * first_block, words.x, words.y);
        sums.add(exp(z.x * game.inverse_noise + game.target_exponent));
        sums.add(exponential(z.y));
        add_pair(2 * first_block + 1, words.z, words.w);
    }
    float largest = -1.0f;
    unsigned int largest_at = 0;
    const unsigned int end = first_block + game.batches / 4;
    for (unsigned int at = first_block + 1; at < end;) {
        const unsigned int strip_end = min(at + STRIP, end);
        float first = 0.0f, second = 0.0f;
        for (; at < strip_end; ++at) {
            const uint4 words = block(trial, NOISE, at);
            if (min(words.x, words.z) < FIRST_BODY_RADIUS) {
                add_pair(2 * at, words.x, words.y);
                add_pair(2 * at + 1, words.z, words.w);
                continue;
            }
            const float2 u = fast_exponentials(words.x, words.y, game.scale, game.offset);
            const float2 v = fast_exponentials(words.z, words.w, game.scale, game.offset);
            if (REFINED) {
                const float most = fmaxf(fmaxf(u.x, u.y), fmaxf(v.x, v.y));
                largest_at = most > largest ? at : largest_at;
                largest = fmaxf(most, largest);
            }
            first += (u.x + u.y) + (v.x + v.y);
            if (SQUARES) second += fmaf(u.x, u.x, u.y * u.y) + fmaf(v.x, v.x, v.y * v.y);
        }
        sums.first += first;
        if (SQUARES) sums.second += second;
    }
    if (REFINED && largest >= 0.0f) {
        const uint4 words = block(trial, NOISE, largest_at);
        const float2 u = fast_exponentials(words.x, words.y, game.scale, game.offset);
        const float2 v = fast_exponentials(words.z, words.w, game.scale, game.offset);
        sums.remove(u.x);
        sums.remove(u.y);
        sums.remove(v.x);
        sums.remove(v.y);
        add_pair(2 * largest_at, words.x, words.y);
        add_pair(2 * largest_at + 1, words.z, words.w);
    }
    const unsigned int rest = game.batches % 4;
    if (rest > 0) {
        const uint4 words = block(trial, NOISE, end);
        const double2 z = exact_pair(trial, 2 * end, words.x, words.y);
        sums.add(exponential(z.x));
        if (rest > 1) sums.add(exponential(z.y));
        if (rest > 2) sums.add(exponential(exact_pair(trial, 2 * end + 1, words.z, words.w).x));
    }
    return sums;
}

extern "C" __global__ void __launch_bounds__(256, 4) play_equal(Equal game, Delivery to) {
    const unsigned long long index = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (index >= to.count) return;
    const Trial trial = trial_at(to, index, game.key, game.world);
    const unsigned int blocks = (game.batches + 3) / 4;
    double score = 0.0;
    for (unsigned int epoch = 0; epoch < game.epochs; ++epoch) {
        const Sums sums = epoch_sums(game, trial, epoch * blocks);
        score += log(SQUARES ? sums.second / sums.first : sums.first) + game.constant;
    }
    deliver(to, index, score);
}
