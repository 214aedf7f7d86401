//! The inner loop, written once for every instruction set: sums of exponentials of the noise of sixteen trials.

use super::lanes::{LANES, Lanes};
use super::segments::{FIRST_NEAR_WORD, FOR_SUMS, Segments};
use misdeal_core::{Purpose, ROUNDS, Stream, World};

/// The number of draws after which the f32 sums are added to f64 sums.
pub const STRIP: usize = 128;

/// Sixteen consecutive trials of one world.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The run's random stream.
    pub stream: &'a Stream,
    /// The world.
    pub world: World,
    /// The first of the sixteen trials, a multiple of sixteen.
    pub first_trial: u64,
}

impl Block<'_> {
    /// The block of sixteen trials that lies `i` blocks later.
    pub fn neighbour(self, i: usize) -> Self {
        Block { first_trial: self.first_trial + (i * LANES) as u64, ..self }
    }

    #[inline(always)]
    fn counters(&self, draw: u32) -> [u128; 4] {
        let group = self.first_trial / 4;
        [0, 1, 2, 3].map(|i| Stream::counter(Purpose::Noise, self.world, group + i, draw))
    }

    /// Applies `read` to each trial's position bits.
    pub fn positions(&self, draw: u32, read: impl Fn(u64) -> u64) -> [u64; LANES] {
        let trials = self.first_trial;
        std::array::from_fn(|lane| {
            read(self.stream.uniform(Purpose::Position, self.world, trials + lane as u64, draw))
        })
    }

    /// The value exp(z / s) for one lane of a draw that is not in a near segment.
    #[inline(always)]
    fn far_value<const N: usize>(&self, segments: &Segments<N>, word: u32, lane: usize, draw: u32) -> f64 {
        let trial = self.first_trial + lane as u64;
        segments.far_value(word, || self.stream.uniform(Purpose::Tail, self.world, trial, draw))
    }
}

/// Sums over draws of exp(z / s) and of its square, for sixteen trials.
#[derive(Debug, Clone, Copy)]
pub struct Sums {
    /// The sums of the exponentials.
    pub first: [f64; LANES],
    /// The sums of their squares, or zero if they are not needed.
    pub second: [f64; LANES],
}

impl Sums {
    /// Empty sums.
    pub const ZERO: Sums = Sums { first: [0.0; LANES], second: [0.0; LANES] };

    /// Adds a value and its square, both times `weight`.
    #[inline(always)]
    pub fn add(&mut self, lane: usize, weight: f64, value: f64) {
        self.first[lane] += weight * value;
        self.second[lane] += weight * (value * value);
    }
}

/// One noise multiplier's tables and one stream's keys in registers, and working memory.
pub struct Workspace<L: Lanes, const N: usize> {
    tables: [L::Table; N],
    keys: [L::Words; ROUNDS + 1],
    waiting: Waiting<L>,
}

/// Draws with lanes in far segments. They are computed after the strip.
struct Waiting<L: Lanes> {
    words: [L::Words; STRIP],
    near: [u16; STRIP],
    draws: [u32; STRIP],
    count: usize,
}

impl<L: Lanes, const N: usize> Workspace<L, N> {
    /// Loads the tables and the keys.
    ///
    /// # Safety
    /// The processor has the instruction set of `L`.
    #[inline(always)]
    pub unsafe fn new(segments: &Segments<N>, stream: &Stream) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let keys = stream.round_keys().map(|key| L::load_key(key));
            let waiting = Waiting { words: [keys[0]; STRIP], near: [0; STRIP], draws: [0; STRIP], count: 0 };
            Workspace {
                tables: segments.tables.near.each_ref().map(|table| L::load_table(table)),
                keys,
                waiting,
            }
        }
    }

    /// The values exp(z / s) of one draw. `segments` must be those of the workspace.
    ///
    /// # Safety
    /// The processor has the instruction set of `L`.
    #[inline(always)]
    pub unsafe fn draw(&self, segments: &Segments<N>, block: Block, draw: u32) -> [f64; LANES] {
        // SAFETY: the caller guarantees the instruction set.
        let (words, near, fitted) = unsafe {
            let words = L::random_words(&self.keys, L::load_counters(block.counters(draw)));
            (
                L::words_to_array(words),
                L::bits(L::is_near(words)),
                L::to_array(L::evaluate(&self.tables, words)),
            )
        };
        let mut values = fitted.map(|value| segments.finish(value));
        if near != u16::MAX {
            for lane in 0..LANES {
                if words[lane] < FIRST_NEAR_WORD {
                    values[lane] = block.far_value(segments, words[lane], lane, draw);
                }
            }
        }
        values
    }
}

impl<L: Lanes> Workspace<L, FOR_SUMS> {
    /// Sums over the draws `first_draw .. first_draw + count`, also of squares if `SQUARES`.
    ///
    /// `segments` must be those of the workspace and need `SQUARINGS` squarings.
    ///
    /// # Safety
    /// The processor has the instruction set of `L`.
    #[inline(always)]
    pub unsafe fn sum<const SQUARINGS: u32, const SQUARES: bool>(
        &mut self,
        segments: &Segments<FOR_SUMS>,
        block: Block,
        first_draw: u32,
        count: u32,
    ) -> Sums {
        debug_assert_eq!(segments.squarings, SQUARINGS);
        let offset = f64::from(segments.offset);
        let mut sums = Sums::ZERO;
        let mut start = 0;
        while start < count {
            let draws = first_draw + start..first_draw + count.min(start + STRIP as u32);
            start += STRIP as u32;
            // SAFETY: the caller guarantees the instruction set.
            let (first, second) = unsafe {
                let counters = L::load_counters(block.counters(draws.start));
                let (first, second) = L::sum_strip::<SQUARINGS, SQUARES>(self, counters, draws);
                (L::to_array(first), L::to_array(second))
            };
            for lane in 0..LANES {
                sums.first[lane] += f64::from(first[lane]);
                sums.second[lane] += f64::from(second[lane]);
            }
            for i in 0..self.waiting.count {
                // SAFETY: the caller guarantees the instruction set.
                let words = unsafe { L::words_to_array(self.waiting.words[i]) };
                let mut far = !self.waiting.near[i];
                while far != 0 {
                    let lane = far.trailing_zeros() as usize;
                    far &= far - 1;
                    let value = block.far_value(segments, words[lane], lane, self.waiting.draws[i]) - offset;
                    sums.add(lane, 1.0, value);
                }
            }
        }
        // With offset c: sum u = sum (u - c) + c n, and sum u^2 = sum (u - c)^2 + 2 c sum (u - c) + c^2 n.
        let shift = offset * f64::from(count);
        for lane in 0..LANES {
            sums.second[lane] += 2.0 * offset * sums.first[lane] + offset * shift;
            sums.first[lane] += shift;
        }
        sums
    }
}

/// The inner loop over at most [`STRIP`] draws.
///
/// It has only arithmetic, and no call that would move registers to memory.
///
/// Lanes in far segments count as zero here. They are kept in the workspace for later.
///
/// # Safety
/// The processor has the instruction set of `L`, and this is inlined into a function compiled for it.
#[inline(always)]
pub unsafe fn sum_strip<L: Lanes, const SQUARINGS: u32, const SQUARES: bool>(
    workspace: &mut Workspace<L, FOR_SUMS>,
    mut counters: L::Words,
    draws: std::ops::Range<u32>,
) -> (L::Floats, L::Floats) {
    let (tables, keys) = (workspace.tables, workspace.keys);
    let waiting = &mut workspace.waiting;
    // SAFETY: the caller guarantees the instruction set.
    unsafe {
        let (mut first, mut second) = (L::splat(0.0), L::splat(0.0));
        let mut waiters = 0;
        // The loop is one draw ahead: while a polynomial is evaluated, the next words are already computed.
        let mut next = L::random_words(&keys, counters);
        for draw in draws {
            let words = next;
            counters = L::next_draw(counters);
            next = L::random_words(&keys, counters);
            let near = L::is_near(words);
            // The draw is written every time but kept only if a lane is far. So there is no branch to mispredict.
            waiting.words[waiters % STRIP] = words;
            waiting.near[waiters % STRIP] = L::bits(near);
            waiting.draws[waiters % STRIP] = draw;
            waiters += usize::from(L::bits(near) != u16::MAX);
            let mut value = L::keep(L::evaluate(&tables, words), near);
            for _ in 0..SQUARINGS {
                value = L::mul(value, value);
            }
            first = L::add(first, value);
            if SQUARES {
                second = L::mul_add(value, value, second);
            }
        }
        waiting.count = waiters;
        (first, second)
    }
}
