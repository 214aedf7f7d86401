//! How convolutions with few channels are split (`direct.cu`).
//!
//! # Why without matrix cores?
//! With six filters, most of a tile would be zeros. Here, images and weights are in shared memory, and sums are in registers.
//! Outputs pass through shared memory, because neighbours in an image are not neighbours in a warp.
//!
//! # Why do the same kernels pool?
//! Images before pooling are the largest. If the same kernel pools, they are written only once.

use super::stages::WeightedLayer;

/// Largest number of channels and of filters; above it, matrix cores are faster.
const MOST_CHANNELS: usize = 16;
/// Largest number of sums in a thread's registers.
const MOST_SUMS: usize = 48;
/// Limit for the shared memory of a block, in bytes: three blocks fit into a multiprocessor of 228 KB.
const MOST_BYTES: usize = 74 * 1024;
/// Approximate number of threads in a block.
const THREADS: usize = 224;

/// The template arguments of a kernel of `direct.cu`, and the size of its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectConvolution {
    /// The kernel's type in `direct.cu`.
    pub name: String,
    pub threads: usize,
    pub shared_bytes: usize,
    /// Number of records in a block.
    pub records: usize,
}

impl DirectConvolution {
    /// The kernel from inputs to outputs; `None` if matrix cores are faster or a block is too small.
    pub fn forward(layer: &WeightedLayer) -> Option<Self> {
        window(layer.height, layer.width, layer.channels, layer.padding, layer.filters, layer.size)
            .filter(|_| is_small(layer))
    }

    /// The kernel from deltas of the outputs to deltas of the inputs.
    pub fn backward(layer: &WeightedLayer) -> Option<Self> {
        let across = |length: usize| length + 2 * layer.padding + 1 - layer.size;
        let (height, width) = (across(layer.height), across(layer.width));
        let padding = layer.size - 1 - layer.padding;
        window(height, width, layer.filters, padding, layer.channels, layer.size).filter(|_| is_small(layer))
    }

    /// The kernel for each record's gradient of the weights.
    pub fn gradient(layer: &WeightedLayer) -> Option<Self> {
        let WeightedLayer { height, width, channels, padding, filters, size, .. } = *layer;
        let across = |length: usize| length + 2 * padding + 1 - size;
        let (high, wide) = (across(height), across(width));
        let each =
            (1..=filters.min(MOST_SUMS / size).max(1)).rev().find(|each| filters.is_multiple_of(*each))?;
        let groups = channels * size * (filters / each);
        // As few idle threads as possible; among equals, the most threads.
        let split = (1..=(THREADS / groups).clamp(1, high))
            .rev()
            .min_by_key(|&split| high.div_ceil(split) * (groups * split).next_multiple_of(32))?;
        let row = (width + 2 * padding) | 1;
        // Rows of deltas begin in different banks. Where possible, deltas are read two or four at a time.
        let step = if each.is_multiple_of(4) { 4 } else { 1 + usize::from(each.is_multiple_of(2)) };
        let delta_row = (wide * filters..wide * filters + 64)
            .find(|length| split == 1 && length % 4 == 0 || length % 32 == step)?;
        let image = (channels * (height + 2 * padding) * row).next_multiple_of(4);
        let parts = (channels * size * size + 1) * filters * (split | 1);
        let direct = DirectConvolution {
            name: format!(
                "Correlation<{height}, {width}, {channels}, {padding}, {filters}, {size}, {each}, {split}, {row}, {delta_row}>"
            ),
            threads: (groups * split).next_multiple_of(32),
            shared_bytes: 4 * (image + high * delta_row).max(parts).max(32),
            records: 1,
        };
        (is_small(layer) && direct.threads <= 1024 && direct.shared_bytes <= MOST_BYTES).then_some(direct)
    }
}

fn is_small(layer: &WeightedLayer) -> bool {
    !layer.is_linear && layer.channels <= MOST_CHANNELS && layer.filters <= MOST_CHANNELS && layer.size > 1
}

fn window(
    height: usize,
    width: usize,
    channels: usize,
    padding: usize,
    filters: usize,
    size: usize,
) -> Option<DirectConvolution> {
    let across = |length: usize| length + 2 * padding + 1 - size;
    let (high, out) = (across(height), across(width));
    // An odd number of neighbours, so that threads of one row read different banks.
    let wide = [7, 5, 3].into_iter().min_by_key(|wide| (out.div_ceil(*wide) * wide, 8 - wide))?;
    let groups = (1..=filters).find(|groups| wide * filters.div_ceil(*groups) <= MOST_SUMS)?;
    let each = filters.div_ceil(groups);
    let columns = out.div_ceil(wide);
    let per_record = high * columns * groups;
    let needed = (width + 2 * padding).max(columns * wide + size - 1);
    let weights = channels * size * size * (groups * each).next_multiple_of(4);
    let staged = (high * out * filters) | 1;
    let room = (MOST_BYTES / 4).checked_sub(weights)?;
    let wanted = (THREADS / per_record).max(1);
    let fitting = |chunk: usize| wanted.min(room / staged.max(chunk * height * (needed + 3) + 31));
    // The number of channels that fits the most records; among equals, the most channels.
    let chunk = (1..=channels)
        .filter(|chunk| channels.is_multiple_of(*chunk))
        .max_by_key(|&chunk| (fitting(chunk), chunk))?;
    let records = fitting(chunk);
    let image_of = |row: usize| chunk * height * row;
    // The shape with the fewest threads of a warp in the same bank; among equals, the smallest image.
    let meetings = |row: usize, image: usize| {
        let mut places: Vec<usize> = (0..(records * per_record).min(32))
            .map(|thread| {
                let (record, mine) = (thread % records, thread / records / groups);
                record * image + mine / columns * row + mine % columns * wide
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        let mut banks = [0_usize; 32];
        for place in places {
            banks[place % 32] += 1;
        }
        banks.into_iter().max().unwrap_or(0)
    };
    if records == 0 {
        return None;
    }
    let shapes = (needed..needed + 4)
        .flat_map(|row| (0..32).map(move |more| (row, more)))
        .map(|(row, more)| (row, image_of(row) + more));
    let (row, image) = shapes.min_by_key(|&(row, image)| (meetings(row, image), image))?;
    let threads = (records * per_record).next_multiple_of(32);
    (threads <= 1024).then(|| DirectConvolution {
        name: format!(
            "Window<{height}, {width}, {channels}, {chunk}, {padding}, {filters}, {size}, {wide}, {each}, {row}, {image}, {records}>"
        ),
        threads,
        shared_bytes: 4 * (weights + records * image.max(staged)),
        records,
    })
}
