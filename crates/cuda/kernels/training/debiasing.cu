// Debiasing: projects each record's clipped gradient on each canary, with one block for each record.

struct Debiasing {
    const Linear* linears;
    // <clipped gradient, canary> / C^2. Model m starts at index m projection_stride, in the order [record][canary].
    float* projections;
    unsigned long long projection_stride;
    unsigned int linear_count, unused;
};

extern "C" __global__ void __launch_bounds__(256) project_records(Models models, Batch batch, Step step, Debiasing debiasing) {
    const unsigned int slot = models.slot(), record = blockIdx.x;
    if (record >= batch.count(slot)) return;
    const float* const model = models.model();
    const float* const gradient = model + models.gradients + (size_t)record * models.gradient_stride;
    const float factor = model[models.factors + record];
    for (unsigned int k = 0; k < step.canary_count; ++k) {
        const Canary canary = step.canaries[k];
        const unsigned int end = canary.start + canary.length;
        const float* const values = step.values + canary.at;
        double sum = 0.0;
        for (unsigned int p = canary.start + threadIdx.x; p < end && p < models.convolution_parameters; p += 256)
            sum += (double)values[p - canary.start] * (double)(gradient[p] * factor);
        for (unsigned int i = 0; i < debiasing.linear_count; ++i) {
            const Linear linear = debiasing.linears[i];
            const unsigned int from = max(canary.start, linear.start);
            const unsigned int to = min(end, linear.start + (linear.inputs + 1) * linear.outputs);
            const float* const inputs = linear.input == NOWHERE
                                            ? batch.data + (size_t)batch.list(slot)[record] * linear.inputs
                                            : model + linear.input + (size_t)record * linear.inputs;
            const float* const delta = model + linear.delta + (size_t)record * linear.outputs;
            for (unsigned int p = from + threadIdx.x; p < to; p += 256) {
                const unsigned int row = (p - linear.start) / linear.outputs, n = (p - linear.start) % linear.outputs;
                const unsigned int q = row % linear.row_step * linear.row_channels + row / linear.row_step;
                const float input = row == linear.inputs ? 1.0f : inputs[q];
                sum += (double)values[p - canary.start] * (double)(input * delta[n]);
            }
        }
        const double whole = sums_of_block(sum, 0.0).x;
        if (threadIdx.x == 0)
            debiasing.projections[slot * debiasing.projection_stride + record * step.canary_count + k] =
                (float)(whole * step.inverse_square);
    }
}
