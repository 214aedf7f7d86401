// The batches of the target in an epoch: core's stream through game's `Positions`.

#define MOST_TARGETS 64

enum PositionLaw { UNIFORM = 0, LISTED = 1, EACH_STEP = 2 };

struct Positions {
    // 2^64 times the distribution function, where the law is not uniform.
    const unsigned long long* thresholds;
    // Where the law is uniform, the first batch, counted from the first that is drawn, and the number of batches.
    unsigned long long first, count;
    unsigned long long thresholds_length;
    // Steps of an epoch, epochs of a run.
    unsigned long long steps, epochs;
    unsigned int law;
    // Whether the first epoch decides for all.
    unsigned int kept;
};

// How many thresholds `bits` reaches, at most the last index.
__device__ unsigned long long rank(const Positions& positions, unsigned long long bits) {
    unsigned long long low = 0, high = positions.thresholds_length;
    while (low < high) {
        const unsigned long long middle = (low + high) / 2;
        if (positions.thresholds[middle] <= bits) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < positions.thresholds_length ? low : positions.thresholds_length - 1;
}

// How many batches of an epoch hold the target; which ones, in increasing order, if `targets` is there.
__device__ unsigned int targets_of(const Positions& positions, const Trial& trial, unsigned long long epoch,
                                   unsigned long long* targets) {
    const unsigned long long decided_by = positions.kept ? 0 : epoch;
    if (positions.law != EACH_STEP && !targets) return 1;
    const unsigned long long bits = uniform(trial, POSITION, (unsigned int)decided_by);
    if (positions.law != EACH_STEP) {
        targets[0] = positions.first +
                     (positions.law == UNIFORM ? __umul64hi(bits, positions.count) : rank(positions, bits));
        return 1;
    }
    const unsigned int count = (unsigned int)rank(positions, bits);
    if (!targets) return count;
    // Floyd's method for a uniform subset, kept in order.
    for (unsigned int i = 0; i < count; ++i) {
        const unsigned long long last = positions.steps - count + i;
        const unsigned long long draw = positions.epochs + decided_by * positions.steps + i;
        unsigned long long chosen = __umul64hi(uniform(trial, POSITION, (unsigned int)draw), last + 1);
        for (unsigned int j = 0; j < i; ++j) {
            if (targets[j] == chosen) {
                chosen = last;
                break;
            }
        }
        unsigned int place = i;
        for (; place > 0 && targets[place - 1] > chosen; --place) targets[place] = targets[place - 1];
        targets[place] = chosen;
    }
    return count;
}
