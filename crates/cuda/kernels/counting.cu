// Delivers a score: writes it to an array, or counts it on the grid of stores.

#define BINS (1u << 20)

// The bin of a score: the same bits as core's `score_grid::bin`.
__device__ __forceinline__ unsigned int bin(double score) {
    const unsigned int half = BINS / 2;
    const unsigned long long smallest = (1023ull - 128) << 11;
    const long long bits = __double_as_longlong(score + 0.0);
    const unsigned long long leading = ((unsigned long long)bits & 0x7fffffffffffffffull) >> 41;
    const unsigned long long above = leading > smallest ? leading - smallest : 0;
    const unsigned int magnitude = above < half - 1 ? (unsigned int)above : half - 1;
    return half + (magnitude ^ (unsigned int)(bits >> 63));
}

// The trials to simulate, and where their scores go: to `scores` if it is not null, else to `counts` (the even trials' table
// first).
// A score that is not finite is not counted, and the host notices the missing count.
struct Delivery {
    unsigned long long first, count;
    double* scores;
    unsigned long long* counts;
};

__device__ __forceinline__ void deliver(const Delivery& to, unsigned long long index, double score) {
    if (to.scores) {
        to.scores[index] = score;
    } else if (isfinite(score)) {
        atomicAdd(to.counts + ((to.first + index) & 1) * BINS + bin(score), 1ull);
    }
}

__device__ __forceinline__ Trial trial_at(const Delivery& to, unsigned long long index, Key key, unsigned int world) {
    const unsigned long long trial = to.first + index;
    return Trial{key, (unsigned int)trial, (unsigned int)(trial >> 32), world};
}
