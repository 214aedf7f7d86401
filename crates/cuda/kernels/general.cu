// All other games, in f64 and log space, term by term as in the reference.

enum AdversaryLaw { ONCE_AN_EPOCH = 0, KEPT_FOR_ALL_EPOCHS = 1, IN_EACH_STEP = 2 };

struct General {
    // Logarithm of the adversary's weight of each drawn batch.
    const double* log_weights;
    Positions positions;
    double noise, shift;
    // The adversary's shifts a and b, 1 / s^2, and its probability of a step.
    double present, zeroed, precision, probability;
    Key key;
    unsigned int world;
    unsigned int epochs, batches;
    unsigned int adversary;
};

#define MINUS_INFINITY __longlong_as_double(0xfff0000000000000ll)

// Logarithm of a sum of exponentials, updated term by term. Terms of minus infinity add nothing.
struct LogSum {
    double largest, sum;

    __device__ void add(double term) {
        if (term > largest) {
            sum = sum * exp(largest - term) + 1.0;
            largest = term;
        } else if (term > MINUS_INFINITY) {
            sum += exp(term - largest);
        }
    }

    __device__ double value() const { return largest + log(sum); }
};

__device__ __forceinline__ LogSum no_terms() { return LogSum{MINUS_INFINITY, 0.0}; }

// The standard Gaussian numbers of an epoch, in sequence.
struct Draws {
    unsigned int first_block, next;
    uint4 words;
    double2 pair;

    __device__ double draw(const Trial& trial) {
        const unsigned int at = first_block + next / 4;
        switch (next++ % 4) {
            case 0:
                words = block(trial, NOISE, at);
                pair = exact_pair(trial, 2 * at, words.x, words.y);
                return pair.x;
            case 2:
                pair = exact_pair(trial, 2 * at + 1, words.z, words.w);
                return pair.x;
            default:
                return pair.y;
        }
    }
};

// One standard Gaussian number of an epoch.
__device__ double single_draw(const Trial& trial, unsigned int first_block, unsigned int draw) {
    const unsigned int at = first_block + draw / 4;
    const uint4 words = block(trial, NOISE, at);
    const bool second = draw % 4 >= 2;
    const double2 pair =
        exact_pair(trial, 2 * at + second, second ? words.z : words.x, second ? words.w : words.y);
    return draw % 2 ? pair.y : pair.x;
}

__device__ __forceinline__ double evidence(const General& game, double shift, double output, double epochs) {
    return (shift * output - 0.5 * epochs * shift * shift) * game.precision;
}

// ln(1 - q + q e^evidence).
__device__ double step_term(double probability, double evidence) {
    if (evidence == 0.0 || probability == 1.0) return evidence;
    if (evidence > 30.0) return evidence + log(probability + (1.0 - probability) * exp(-evidence));
    if (probability > 0.5 && evidence < -0.5) return log((1.0 - probability) + probability * exp(evidence));
    return log1p(probability * expm1(evidence));
}

// The target's batches are drawn first, then the others in order.
__device__ double once_an_epoch(const General& game, const Trial& trial, unsigned int epoch, unsigned int blocks) {
    unsigned long long targets[MOST_TARGETS];
    const unsigned int count = targets_of(game.positions, trial, epoch, targets);
    Draws draws = {epoch * blocks, 0};
    LogSum present = no_terms(), zeroed = no_terms();
    unsigned int passed = 0;
    unsigned long long next = 0;
    for (unsigned int draw = 0; draw < game.batches; ++draw) {
        const double noise = game.noise * draws.draw(trial);
        unsigned long long batch;
        if (draw < count) {
            batch = targets[draw];
        } else {
            for (; passed < count && targets[passed] == next; ++passed) ++next;
            batch = next++;
        }
        const double output = noise + (draw < count ? game.shift : 0.0);
        const double log_weight = game.log_weights[batch];
        present.add(log_weight + evidence(game, game.present, output, 1.0));
        zeroed.add(log_weight + evidence(game, game.zeroed, output, 1.0));
    }
    return present.value() - zeroed.value();
}

__device__ double in_each_step(const General& game, const Trial& trial, unsigned int epoch, unsigned int blocks) {
    const unsigned int count = targets_of(game.positions, trial, epoch, nullptr);
    Draws draws = {epoch * blocks, 0};
    double score = 0.0;
    for (unsigned int draw = 0; draw < game.batches; ++draw) {
        const double output = game.noise * draws.draw(trial) + (draw < count ? game.shift : 0.0);
        score += step_term(game.probability, evidence(game, game.present, output, 1.0)) -
                 step_term(game.probability, evidence(game, game.zeroed, output, 1.0));
    }
    return score;
}

// The score of an adversary that sums a batch's outputs over the epochs.
// No draws are stored from one batch to the next; each draw is computed from its counter.
__device__ double kept_for_all_epochs(const General& game, const Trial& trial, unsigned int blocks) {
    unsigned long long targets[MOST_TARGETS];
    LogSum present = no_terms(), zeroed = no_terms();
    for (unsigned int batch = 0; batch < game.batches; ++batch) {
        double output = 0.0;
        for (unsigned int epoch = 0; epoch < game.epochs; ++epoch) {
            const unsigned int count = targets_of(game.positions, trial, epoch, targets);
            unsigned int before = 0;
            while (before < count && targets[before] < batch) ++before;
            const bool here = before < count && targets[before] == batch;
            const unsigned int draw = here ? before : count + batch - before;
            output += (here ? game.shift : 0.0) + game.noise * single_draw(trial, epoch * blocks, draw);
        }
        present.add(game.log_weights[batch] + evidence(game, game.present, output, game.epochs));
        zeroed.add(game.log_weights[batch] + evidence(game, game.zeroed, output, game.epochs));
    }
    return present.value() - zeroed.value();
}

extern "C" __global__ void __launch_bounds__(256) play_general(General game, Delivery to) {
    const unsigned long long index = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (index >= to.count) return;
    const Trial trial = trial_at(to, index, game.key, game.world);
    const unsigned int blocks = (game.batches + 3) / 4;
    double score = 0.0;
    if (game.adversary == KEPT_FOR_ALL_EPOCHS) {
        score = kept_for_all_epochs(game, trial, blocks);
    } else {
        for (unsigned int epoch = 0; epoch < game.epochs; ++epoch) {
            score += game.adversary == IN_EACH_STEP ? in_each_step(game, trial, epoch, blocks)
                                                    : once_an_epoch(game, trial, epoch, blocks);
        }
    }
    deliver(to, index, score);
}
