// Scores of many canaries in the worst case, from the outputs in device memory: a thread for each canary of a model.

struct Scoring {
    // [model][canary]
    double* scores;
    // Means of the target's batch with the target present and zeroed out, and what makes all other batches' means zero.
    double present, zeroed, recentring;
    // One divided by the square of the noise multiplier.
    double precision;
    unsigned int steps_per_epoch, epochs;
};

// The logarithm of the likelihood ratio if each batch of an epoch is equally likely: the sum over epochs of
// LSE(present y - present^2 / 2) - LSE(zeroed y - zeroed^2 / 2), each times the precision. The largest output is taken out of both.
extern "C" __global__ void __launch_bounds__(256) score_canaries(Models models, Step step, Scoring scoring) {
    const unsigned int slot = models.slot(), k = blockIdx.x * 256 + threadIdx.x;
    if (k >= step.canary_count) return;
    const size_t stride = 2 * (size_t)step.canary_count;
    const double* outputs = step.outputs + slot * step.output_stride + 2 * k + 1;
    const double a = scoring.present * scoring.precision, b = scoring.zeroed * scoring.precision;
    const double constant = (scoring.zeroed * scoring.zeroed - scoring.present * scoring.present) * scoring.precision / 2.0;
    double score = 0.0;
    for (unsigned int epoch = 0; epoch < scoring.epochs; ++epoch) {
        double largest = outputs[0];
        for (unsigned int t = 1; t < scoring.steps_per_epoch; ++t) largest = fmax(largest, outputs[t * stride]);
        double of_present = 0.0, of_zeroed = 0.0;
        for (unsigned int t = 0; t < scoring.steps_per_epoch; ++t) {
            const double below = outputs[t * stride] - largest;
            of_present += exp(a * below);
            of_zeroed += exp(b * below);
        }
        score += (a - b) * (largest + scoring.recentring) + log(of_present) - log(of_zeroed) + constant;
        outputs += scoring.steps_per_epoch * stride;
    }
    scoring.scores[(size_t)slot * step.canary_count + k] = score;
}
