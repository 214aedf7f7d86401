//! How a layer's matrix products are split into tiles (`product.cu`).

use super::stages::WeightedLayer;

/// Depth of the tiles in shared memory (`DEPTH`).
const DEPTH: usize = 32;

/// Switches that change only speed and rounding; the defaults were the fastest measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Tuning {
    /// Largest number of columns of a tile: 8, 16, 32, 64 or 128.
    pub most_columns: usize,
    /// Number of tiles in shared memory.
    pub stages: usize,
    /// Whether a warp has 64 rows or columns of a tile where possible, instead of 32.
    ///
    /// 64 needs fewer reads of shared memory but more registers.
    pub large: bool,
    /// Whether convolutions with few channels are computed without matrix cores.
    pub direct: bool,
    /// Whether these convolutions also pool.
    pub pools: bool,
    /// Whether a perceptron on records of zeros and ones is trained in one block, if it fits.
    pub fused: bool,
    /// Number of models in parallel; by default, as many as fill a device.
    pub models: Option<usize>,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            most_columns: 128,
            stages: 2,
            large: true,
            direct: true,
            pools: true,
            fused: true,
            models: None,
        }
    }
}

/// The three matrix products of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    Forward,
    Backward,
    Gradient,
}

/// The tiles of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiling {
    pub rows: usize,
    pub columns: usize,
    warps: [usize; 3],
    stages: usize,
    buffers: usize,
    shared_floats: usize,
    /// Rows and columns of the whole product.
    sizes: (usize, usize),
}

impl Tiling {
    /// Chooses the tiles of a product for batches of about `records` records.
    pub fn new(product: Product, layer: &WeightedLayer, records: usize, tuning: Tuning) -> Self {
        let taps = layer.size * layer.size;
        let (sizes, depth) = match product {
            Product::Forward => ((records * layer.places(), layer.filters), layer.inputs()),
            Product::Backward => ((records * layer.pixels(), layer.channels), taps * layer.filters),
            Product::Gradient if layer.is_linear => ((layer.inputs(), layer.filters), usize::MAX),
            Product::Gradient => ((layer.inputs(), layer.filters), layer.places()),
        };
        let rows = best(sizes.0, &[128, 96, 64, 32]);
        let columns: Vec<usize> =
            [128, 64, 32, 16, 8].into_iter().filter(|&columns| columns <= tuning.most_columns).collect();
        let columns = best(sizes.1, &columns);
        let (down, across) = match product {
            Product::Gradient if tuning.large && columns >= 64 => (rows / 32, columns / 64),
            Product::Forward | Product::Backward if tuning.large && rows.is_multiple_of(64) => {
                (rows / 64, columns.div_ceil(32))
            }
            _ => (rows / 32, columns.div_ceil(32)),
        };
        let deep = [1, 4, 2][if down * across <= 2 { down * across } else { 0 }];
        let left = if product == Product::Gradient { DEPTH * (rows + 8) } else { rows * (DEPTH + 4) };
        let right = match product {
            Product::Backward => columns * (DEPTH + 4),
            _ => DEPTH * if columns == 8 { 8 } else { columns + 8 },
        };
        let places = if product == Product::Gradient { 0 } else { 2 * rows };
        // If the whole depth is one tile, nothing is copied ahead.
        let buffers = tuning.stages.min(depth.div_ceil(DEPTH)).max(1);
        let exchanged = (deep - 1) * rows * columns;
        let shared_floats = (buffers * (left + right) + places).max(exchanged);
        let warps = [down, across, deep];
        Tiling { rows, columns, warps, stages: tuning.stages, buffers, shared_floats, sizes }
    }

    /// The type's name in `product.cu`.
    pub fn name(&self, terms: usize) -> String {
        let [down, across, deep] = self.warps;
        let (stages, buffers) = (self.stages, self.buffers);
        format!(
            "Tiling<{}, {}, {down}, {across}, {deep}, {stages}, {buffers}, {terms}>",
            self.rows, self.columns
        )
    }

    /// Number of threads in a block.
    pub fn threads(&self) -> usize {
        32 * self.warps.iter().product::<usize>()
    }

    /// Bytes of shared memory in a block.
    pub fn shared_bytes(&self) -> usize {
        4 * self.shared_floats
    }

    /// Number of tiles across the columns.
    pub fn column_tiles(&self) -> usize {
        self.sizes.1.div_ceil(self.columns)
    }

    /// Number of tiles of the whole product, if its rows are inputs.
    pub fn all_tiles(&self) -> usize {
        self.sizes.0.div_ceil(self.rows) * self.column_tiles()
    }
}

/// The size that wastes the least work; small tiles count as wasteful. `sizes` must be in descending order.
fn best(length: usize, sizes: &[usize]) -> usize {
    let cost = |size: usize| (length.div_ceil(size) * size) as f64 * (1.0 + 8.0 / size as f64);
    sizes.iter().copied().reduce(|best, size| if cost(size) < cost(best) { size } else { best }).unwrap_or(8)
}
