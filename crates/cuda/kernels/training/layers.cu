// Convolutions and linear layers as matrix products. A linear layer is a convolution on one pixel, whose channels are its inputs.

// Input H x W x C, output OH x OW x F, filters of SIZE x SIZE with PADDING.
// Input q = tap C + channel has its weights in row (q % ROW_CHANNELS) ROW_STEP + q / ROW_CHANNELS of the layer's parameters. The
// last row holds the biases.
template <int H_, int W_, int C_, int F_, int SIZE_, int PADDING_, int ROW_CHANNELS, int ROW_STEP>
struct Shape {
    static constexpr int H = H_, W = W_, C = C_, F = F_, SIZE = SIZE_, PADDING = PADDING_;
    static constexpr int OH = H + 2 * PADDING - SIZE + 1, OW = W + 2 * PADDING - SIZE + 1;
    static constexpr int TAPS = SIZE * SIZE, INPUTS = TAPS * C, PLACES = OH * OW;
    __device__ static __forceinline__ int row(int q) { return q % ROW_CHANNELS * ROW_STEP + q / ROW_CHANNELS; }
};

// The position of a tile's row: the offset of its pixel's first number, and the pixel (far outside the image if there is no such
// row).
__device__ __forceinline__ int2 place_of_row(unsigned int offset, int y, int x, bool there) {
    return make_int2((int)offset, there ? y << 16 | x : 0x40000000);
}

// Calls visit(line, chunk) for all LINES x CHUNKS pieces of a tile, distributed over THREADS threads.
// If CHUNKS divides THREADS, a thread keeps the same chunk, and values that depend only on the chunk are computed once.
template <int LINES, int CHUNKS, int THREADS, class Visit>
__device__ __forceinline__ void for_pieces(Visit visit) {
    if constexpr (THREADS % CHUNKS == 0) {
        constexpr int APART = THREADS / CHUNKS;
        const int chunk = threadIdx.x % CHUNKS, first = threadIdx.x / CHUNKS;
#pragma unroll
        for (int step = 0; step < (LINES + APART - 1) / APART; ++step) {
            const int line = first + step * APART;
            if (LINES % APART == 0 || line < LINES) visit(line, chunk);
        }
    } else {
#pragma unroll
        for (int step = 0; step < (LINES * CHUNKS + THREADS - 1) / THREADS; ++step) {
            const int piece = threadIdx.x + step * THREADS;
            if (LINES * CHUNKS % THREADS == 0 || piece < LINES * CHUNKS) visit(piece / CHUNKS, piece % CHUNKS);
        }
    }
}

// Stores two neighbours of a row, or fewer at the end of the row.
__device__ __forceinline__ void store_pair(float* row, int n, int columns, float first, float second) {
    if (columns % 2 == 0) {
        if (n < columns) *(float2*)(row + n) = make_float2(first, second);
        return;
    }
    if (n < columns) row[n] = first;
    if (n + 1 < columns) row[n + 1] = second;
}

// Outputs from inputs. Rows are pixels of all records, columns are filters, and the depth runs over taps and channels.
template <class S, class T, int LEFT_WIDTH, int RIGHT_WIDTH, int ACTIVATION, bool FROM_RECORDS>
struct Forward {
    typedef T Tiles;
    static constexpr bool LEFT_BY_DEPTH = true, RIGHT_BY_DEPTH = false;
    const float* input;
    const float* weights;
    float* output;
    int2* places;
    int first_row, first_column, rows;

    __device__ __forceinline__ bool begin(const Models& models, const Batch& batch, const Stage& stage, int2* room) {
        const unsigned int slot = models.slot();
        float* const model = models.model();
        first_row = blockIdx.x * T::ROWS;
        first_column = blockIdx.y * T::COLUMNS;
        rows = batch.count(slot) * S::PLACES;
        if (first_row >= rows) return false;
        input = FROM_RECORDS ? batch.data : model + stage.input;
        weights = model + models.parameters + stage.start;
        output = model + stage.output;
        places = room;
        const unsigned int* const list = batch.list(slot);
        for (int r = threadIdx.x; r < T::ROWS; r += T::THREADS) {
            const int at = first_row + r, record = at / S::PLACES, place = at % S::PLACES;
            const bool there = at < rows;
            const unsigned int number = FROM_RECORDS ? (there ? list[record] : 0) : record;
            const int y = place / S::OW, x = place % S::OW;
            places[r] = place_of_row(number * (unsigned int)(S::H * S::W * S::C) + (y * S::W + x) * S::C, y, x, there);
        }
        __syncthreads();
        return true;
    }

    __device__ __forceinline__ int depth() const { return S::INPUTS; }

    __device__ __forceinline__ void load_left(float* tile, int from) const {
        for_pieces<T::ROWS, DEPTH / LEFT_WIDTH, T::THREADS>([&](int r, int chunk) {
            const int at = chunk * LEFT_WIDTH, q = from + at, tap = q / S::C;
            const int dy = tap / S::SIZE - S::PADDING, dx = tap % S::SIZE - S::PADDING;
            const int2 place = places[r];
            const int y = (place.y >> 16) + dy, x = (place.y & 0xffff) + dx;
            const bool there = q < S::INPUTS && (unsigned int)y < S::H && (unsigned int)x < S::W;
            const unsigned int offset = (unsigned int)place.x + ((dy * S::W + dx) * S::C + q % S::C);
            copy_later<LEFT_WIDTH>(tile + r * T::BY_DEPTH + at, input + (there ? offset : 0u), there);
        });
    }

    __device__ __forceinline__ void load_right(float* tile, int from) const {
        for_pieces<DEPTH, T::COLUMNS / RIGHT_WIDTH, T::THREADS>([&](int k, int chunk) {
            const int at = chunk * RIGHT_WIDTH, q = from + k, n = first_column + at;
            const bool there = q < S::INPUTS && n < S::F;
            copy_later<RIGHT_WIDTH>(tile + k * T::BY_COLUMNS + at, weights + (there ? S::row(q) * S::F + n : 0), there);
        });
    }

    __device__ __forceinline__ void look_at_right(const float*, int) {}

    __device__ __forceinline__ void store(int m, int n, float first, float second) const {
        m += first_row;
        n += first_column;
        if (m >= rows || n >= S::F) return;
        const float* const biases = weights + S::INPUTS * S::F;
        const float last = n + 1 < S::F ? second + biases[n + 1] : 0.0f;
        store_pair(output + (size_t)m * S::F, n, S::F, activated<ACTIVATION>(first + biases[n]), activated<ACTIVATION>(last));
    }

    __device__ __forceinline__ void end() {}
};

// Deltas of the inputs from deltas of the outputs. Rows are pixels of all records, columns are channels, and the depth runs over
// taps and filters.
// ACTIVATION is the activation of the layer before.
template <class S, class T, int LEFT_WIDTH, int RIGHT_WIDTH, int ACTIVATION>
struct Backward {
    typedef T Tiles;
    static constexpr bool LEFT_BY_DEPTH = true, RIGHT_BY_DEPTH = true;
    const float* delta;
    const float* weights;
    const float* values;
    float* before;
    int2* places;
    int first_row, first_column, rows;

    __device__ __forceinline__ bool begin(const Models& models, const Batch& batch, const Stage& stage, int2* room) {
        float* const model = models.model();
        first_row = blockIdx.x * T::ROWS;
        first_column = blockIdx.y * T::COLUMNS;
        rows = batch.count(models.slot()) * (S::H * S::W);
        if (first_row >= rows) return false;
        delta = model + stage.delta;
        weights = model + models.parameters + stage.start;
        values = model + stage.input;
        before = model + stage.before;
        places = room;
        for (int r = threadIdx.x; r < T::ROWS; r += T::THREADS) {
            const int at = first_row + r, record = at / (S::H * S::W), place = at % (S::H * S::W);
            const int y = place / S::W, x = place % S::W;
            places[r] = place_of_row(record * (unsigned int)(S::PLACES * S::F) + (y * S::OW + x) * S::F, y, x, at < rows);
        }
        __syncthreads();
        return true;
    }

    __device__ __forceinline__ int depth() const { return S::TAPS * S::F; }

    __device__ __forceinline__ void load_left(float* tile, int from) const {
        for_pieces<T::ROWS, DEPTH / LEFT_WIDTH, T::THREADS>([&](int r, int chunk) {
            const int at = chunk * LEFT_WIDTH, k = from + at, tap = k / S::F;
            const int dy = S::PADDING - tap / S::SIZE, dx = S::PADDING - tap % S::SIZE;
            const int2 place = places[r];
            const int y = (place.y >> 16) + dy, x = (place.y & 0xffff) + dx;
            const bool there = k < S::TAPS * S::F && (unsigned int)y < S::OH && (unsigned int)x < S::OW;
            const unsigned int offset = (unsigned int)place.x + ((dy * S::OW + dx) * S::F + k % S::F);
            copy_later<LEFT_WIDTH>(tile + r * T::BY_DEPTH + at, delta + (there ? offset : 0u), there);
        });
    }

    __device__ __forceinline__ void load_right(float* tile, int from) const {
        for_pieces<T::COLUMNS, DEPTH / RIGHT_WIDTH, T::THREADS>([&](int c, int chunk) {
            const int at = chunk * RIGHT_WIDTH, k = from + at, n = first_column + c;
            const bool there = k < S::TAPS * S::F && n < S::C;
            const int row = S::row(k / S::F * S::C + n);
            copy_later<RIGHT_WIDTH>(tile + c * T::BY_DEPTH + at, weights + (there ? row * S::F + k % S::F : 0), there);
        });
    }

    __device__ __forceinline__ void look_at_right(const float*, int) {}

    __device__ __forceinline__ void store(int m, int n, float first, float second) const {
        m += first_row;
        n += first_column;
        if (m >= rows || n >= S::C) return;
        const size_t row = (size_t)m * S::C;
        if (ACTIVATION != IDENTITY) {
            first = deactivated<ACTIVATION>(first, values[row + n]);
            if (n + 1 < S::C) second = deactivated<ACTIVATION>(second, values[row + n + 1]);
        }
        store_pair(before + row, n, S::C, first, second);
    }

    __device__ __forceinline__ void end() {}
};

// Gradients of the weights. Rows are inputs and columns are filters.
// For a convolution, the depth runs over the pixels of one record, blockIdx.y. The record's gradient and the parts of its squared
// norm are stored.
// For a linear layer (SUMMED), the depth runs over all records, whose deltas are already clipped.
template <class S, class T, int LEFT_WIDTH, int RIGHT_WIDTH, bool SUMMED, bool FROM_RECORDS>
struct Gradient {
    typedef T Tiles;
    static constexpr bool LEFT_BY_DEPTH = false, RIGHT_BY_DEPTH = false;
    static constexpr int COLUMN_TILES = (S::F + T::COLUMNS - 1) / T::COLUMNS;
    const float* input;
    const float* delta;
    const unsigned int* list;
    float* gradient;
    float* part;
    int first_row, first_column, length;
    float square, column;

    __device__ __forceinline__ bool begin(const Models& models, const Batch& batch, const Stage& stage, int2*) {
        const unsigned int slot = models.slot(), count = batch.count(slot), record = SUMMED ? 0 : blockIdx.y;
        float* const model = models.model();
        if (!SUMMED && record >= count) return false;
        first_row = blockIdx.x / COLUMN_TILES * T::ROWS;
        first_column = blockIdx.x % COLUMN_TILES * T::COLUMNS;
        length = SUMMED ? count : S::PLACES;
        list = batch.list(slot);
        const size_t number = FROM_RECORDS && !SUMMED ? list[record] : record;
        input = (FROM_RECORDS ? batch.data : model + stage.input) + number * (S::H * S::W * S::C);
        delta = model + stage.delta + (size_t)record * (S::PLACES * S::F);
        gradient = model + (SUMMED ? models.sum : models.gradients + (size_t)record * models.gradient_stride) + stage.start;
        part = model + models.squares + (size_t)record * models.parts + stage.first_part + blockIdx.x;
        square = 0.0f;
        column = 0.0f;
        return true;
    }

    __device__ __forceinline__ int depth() const { return length; }

    __device__ __forceinline__ void load_left(float* tile, int from) const {
        for_pieces<DEPTH, T::ROWS / LEFT_WIDTH, T::THREADS>([&](int k, int chunk) {
            const int at = chunk * LEFT_WIDTH, q = first_row + at, p = from + k;
            bool there = q < S::INPUTS && p < length;
            unsigned int offset;
            if (SUMMED) {
                offset = there ? (FROM_RECORDS ? list[p] : p) * (unsigned int)S::INPUTS + q : 0;
            } else {
                const int tap = q / S::C, dy = tap / S::SIZE - S::PADDING, dx = tap % S::SIZE - S::PADDING;
                const int y = p / S::OW + dy, x = p % S::OW + dx;
                there = there && (unsigned int)y < S::H && (unsigned int)x < S::W;
                offset = there ? (y * S::W + x) * S::C + q % S::C : 0;
            }
            copy_later<LEFT_WIDTH>(tile + k * T::BY_ROWS + at, input + offset, there);
        });
    }

    __device__ __forceinline__ void load_right(float* tile, int from) const {
        for_pieces<DEPTH, T::COLUMNS / RIGHT_WIDTH, T::THREADS>([&](int k, int chunk) {
            const int at = chunk * RIGHT_WIDTH, p = from + k, n = first_column + at;
            const bool there = p < length && n < S::F;
            copy_later<RIGHT_WIDTH>(tile + k * T::BY_COLUMNS + at, delta + (there ? p * S::F + n : 0), there);
        });
    }

    // The gradients of the biases are the sums of the columns. The tiles with the first rows compute them.
    __device__ __forceinline__ void look_at_right(const float* tile, int stride) {
        if (first_row > 0 || threadIdx.x >= T::COLUMNS) return;
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) column += tile[k * stride + threadIdx.x];
    }

    __device__ __forceinline__ void store(int m, int n, float first, float second) {
        m += first_row;
        n += first_column;
        if (m >= S::INPUTS || n >= S::F) return;
        store_pair(gradient + (size_t)S::row(m) * S::F, n, S::F, first, second);
        square = fmaf(first, first, square);
        if (n + 1 < S::F) square = fmaf(second, second, square);
    }

    __device__ __forceinline__ void end() {
        const int n = first_column + threadIdx.x;
        if (first_row == 0 && threadIdx.x < T::COLUMNS && n < S::F) {
            gradient[(size_t)S::INPUTS * S::F + n] = column;
            square = fmaf(column, column, square);
        }
        if (SUMMED) return;
        float* const squares = (float*)dynamic_shared;
        const float of_warp = sum_of_warp(square);
        __syncthreads();
        if (threadIdx.x % 32 == 0) squares[threadIdx.x / 32] = of_warp;
        __syncthreads();
        if (threadIdx.x == 0) {
            float sum = 0.0f;
            for (int warp = 0; warp < T::THREADS / 32; ++warp) sum += squares[warp];
            *part = sum;
        }
    }
};
