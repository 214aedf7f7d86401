//! How a layer's matrix products are split into tiles (`product.cu`).

use super::stages::WeightedLayer;

/// Depth of the tiles in shared memory (`DEPTH`).
const DEPTH: usize = 32;

/// Switches that change speed and rounding only; the defaults were the fastest measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Tuning {
    /// Most columns of a tile: 8, 16, 32, 64 or 128.
    pub most_columns: usize,
    /// Tiles in shared memory.
    pub stages: usize,
    /// Whether a warp has 64 rows or columns of a tile where possible, and not 32.
    ///
    /// That takes fewer reads of shared memory and more registers.
    pub large: bool,
    /// Whether convolutions of few channels are computed without matrix cores.
    pub direct: bool,
    /// Whether such convolutions also pool.
    pub pools: bool,
    /// Whether a perceptron on records of bits is trained in one block, where it fits.
    pub fused: bool,
    /// Models side by side; by default as many as fill a device.
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

/// Which product of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    Forward,
    Backward,
    Gradient,
}

/// A product's tiles.
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
    /// The tiles of a product for batches of about `records` records.
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
        // Where the whole depth is one tile, there is nothing to be copied ahead.
        let buffers = tuning.stages.min(depth.div_ceil(DEPTH)).max(1);
        let exchanged = (deep - 1) * rows * columns;
        let shared_floats = (buffers * (left + right) + places).max(exchanged);
        let warps = [down, across, deep];
        Tiling { rows, columns, warps, stages: tuning.stages, buffers, shared_floats, sizes }
    }

    /// Its name in `product.cu`.
    pub fn name(&self, terms: usize) -> String {
        let [down, across, deep] = self.warps;
        let (stages, buffers) = (self.stages, self.buffers);
        format!(
            "Tiling<{}, {}, {down}, {across}, {deep}, {stages}, {buffers}, {terms}>",
            self.rows, self.columns
        )
    }

    /// Threads of a block.
    pub fn threads(&self) -> usize {
        32 * self.warps.iter().product::<usize>()
    }

    /// Bytes of shared memory of a block.
    pub fn shared_bytes(&self) -> usize {
        4 * self.shared_floats
    }

    /// Tiles across the columns.
    pub fn column_tiles(&self) -> usize {
        self.sizes.1.div_ceil(self.columns)
    }

    /// Tiles of the whole product, where its rows are inputs.
    pub fn all_tiles(&self) -> usize {
        self.sizes.0.div_ceil(self.rows) * self.column_tiles()
    }
}

/// The size that wastes least; small tiles count as wasteful. Sizes come largest first.
fn best(length: usize, sizes: &[usize]) -> usize {
    let cost = |size: usize| (length.div_ceil(size) * size) as f64 * (1.0 + 8.0 / size as f64);
    sizes.iter().copied().reduce(|best, size| if cost(size) < cost(best) { size } else { best }).unwrap_or(8)
}
