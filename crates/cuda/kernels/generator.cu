// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011) and the counters of a trial, as in core's `Stream::philox`.

struct Key {
    unsigned int low, high;
};

// A trial in a world, in the form of its counter words.
struct Trial {
    Key key;
    unsigned int low, high;
    unsigned int world;
};

enum Purpose { NOISE = 0, TAIL = 1, POSITION = 2 };

__device__ __forceinline__ uint4 philox(Key key, uint4 counter) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned long long first = 0xD2511F53ull * counter.x;
        const unsigned long long second = 0xCD9E8D57ull * counter.z;
        counter = make_uint4((unsigned int)(second >> 32) ^ counter.y ^ key.low, (unsigned int)second,
                             (unsigned int)(first >> 32) ^ counter.w ^ key.high, (unsigned int)first);
        key.low += 0x9E3779B9u;
        key.high += 0xBB67AE85u;
    }
    return counter;
}

// 128 random bits for index `index` of a purpose.
__device__ __forceinline__ uint4 block(const Trial& trial, Purpose purpose, unsigned int index) {
    return philox(trial.key, make_uint4(trial.low, trial.high, index, purpose | trial.world << 8));
}

// 64 random bits for index `index` of a purpose.
__device__ __forceinline__ unsigned long long uniform(const Trial& trial, Purpose purpose, unsigned int index) {
    const uint4 words = block(trial, purpose, index);
    return words.x | (unsigned long long)words.y << 32;
}
