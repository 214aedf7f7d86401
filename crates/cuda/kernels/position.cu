// The target's batches in an epoch: core's stream mapped through the game's `Positions`.

#define MOST_TARGETS 64

enum PositionLaw { UNIFORM = 0, LISTED = 1, EACH_STEP = 2 };

struct Positions {
    // 2^64 times the distribution function, if the law is not uniform.
    const unsigned long long* thresholds;
    // If the law is uniform: the first possible batch, relative to the first drawn batch, and the number of batches.
    unsigned long long first, count;
    unsigned long long thresholds_length;
    // Steps of an epoch, and epochs of a run.
    unsigned long long steps, epochs;
    unsigned int law;
    // Whether the first epoch's batches are used in all epochs.
    unsigned int kept;
};

// The number of thresholds that are at most `bits`, limited to the last index.
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

// The number of an epoch's batches with the target. If `targets` is not null, writes their indices in increasing order.
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
    // Floyd's method for a uniform subset, with the subset kept sorted.
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
