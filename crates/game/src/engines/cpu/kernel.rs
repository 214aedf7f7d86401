//! The hot loop, written once for every instruction set: sixteen trials, one epoch's sums of exponentials.

use super::lanes::{LANES, Lanes};
use super::segments::{DEGREE, Segments};
use misdeal_core::{Purpose, ROUNDS, Stream, World};

/// Draws between two foldings of the f32 sums into f64.
const STRIP: usize = 128;

/// Sums over one epoch's other batches, for sixteen trials, of exp(z / s) and of its square.
#[derive(Debug, Clone, Copy)]
pub struct Sums {
    /// Sum of (weight times) the exponentials.
    pub first: [f64; LANES],
    /// Sum of (weight times) their squares.
    pub second: [f64; LANES],
}

/// The random words of sixteen trials, and the words that wait for the slow path.
pub struct Draws<'a> {
    stream: &'a Stream,
    world: World,
    first_trial: u64,
}

impl<'a> Draws<'a> {
    /// The draws of trials `first_trial .. first_trial + 16`; the first is a multiple of sixteen.
    pub fn new(stream: &'a Stream, world: World, first_trial: u64) -> Self {
        debug_assert_eq!(first_trial % LANES as u64, 0);
        Draws { stream, world, first_trial }
    }

    /// The counters of the four blocks of `draw`.
    #[inline(always)]
    fn counters(&self, draw: u32) -> [u128; 4] {
        let group = self.first_trial / 4;
        [0, 1, 2, 3].map(|i| Stream::counter(Purpose::Noise, self.world, group + i, draw))
    }

    /// exp(z / s) for one lane of a draw that no near segment covers.
    fn far_value(&self, segments: &Segments, word: u32, lane: u32, draw: u32) -> f64 {
        segments.far_value(word, || self.stream.uniform(Purpose::Tail, self.world, self.first_trial + u64::from(lane), draw))
    }
}

#[inline(always)]
unsafe fn load_keys<L: Lanes>(stream: &Stream) -> [L::Words; ROUNDS + 1] {
    // SAFETY: the caller has the instruction set.
    stream.round_keys().map(|key| unsafe { L::load_key(key) })
}

/// exp(z / s) of one draw for sixteen trials, to full relative precision.
///
/// # Safety
/// The processor has the instruction set of `L`.
#[inline(always)]
pub unsafe fn single_draw<L: Lanes>(segments: &Segments, draws: &Draws, draw: u32) -> [f64; LANES] {
    // SAFETY: the caller has the instruction set.
    let (words, fitted) = unsafe {
        let tables = segments.near.each_ref().map(|coefficients| L::load_table(coefficients));
        let words = L::random_words(&load_keys::<L>(draws.stream), L::load_counters(draws.counters(draw)));
        (L::words_to_array(words), L::to_array(L::evaluate(&tables, words)))
    };
    let mut values = fitted.map(|value| segments.finish(value));
    for (lane, &word) in words.iter().enumerate() {
        if word < super::segments::FIRST_NEAR_WORD {
            values[lane] = draws.far_value(segments, word, lane as u32, draw);
        }
    }
    values
}

/// Draws whose far lanes wait for the slow path.
pub struct Waiting<L: Lanes> {
    words: [L::Words; STRIP],
    near: [u16; STRIP],
    draw: [u32; STRIP],
    count: usize,
}

/// Tables and keys as the hot loop wants them.
pub struct Prepared<L: Lanes> {
    tables: [L::Table; DEGREE + 1],
    keys: [L::Words; ROUNDS + 1],
}

/// The hot loop.
#[inline(always)]
pub unsafe fn sum_strip<L: Lanes, const SQUARINGS: u32, const SQUARES: bool>(
    prepared: &Prepared<L>,
    mut counters: L::Words,
    first_draw: u32,
    count: u32,
    waiting: &mut Waiting<L>,
) -> (L::Words, L::Floats, L::Floats) {
    unsafe {
        let tables = prepared.tables;
        let keys = prepared.keys;
        let (mut first, mut second) = (L::splat(0.0), L::splat(0.0));
        let mut waiters = 0;
        for step in 0..count {
            let words = L::random_words(&keys, counters);
            counters = L::next_draw(counters);
            let near = L::is_near(words);
            // Written every time, kept only if a lane is far: no branch to mispredict.
            waiting.words[waiters % STRIP] = words;
            waiting.near[waiters % STRIP] = L::bits(near);
            waiting.draw[waiters % STRIP] = first_draw + step;
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
        (counters, first, second)
    }
}

/// Sums of exp(z / s), and of its square if `SQUARES`, over draws `first_draw .. first_draw + count`.
///
/// # Safety
/// The processor has the instruction set of `L`.
#[inline(always)]
pub unsafe fn sum_draws<L: Lanes, const SQUARINGS: u32, const SQUARES: bool>(
    segments: &Segments,
    draws: &Draws,
    first_draw: u32,
    count: u32,
) -> Sums {
    debug_assert_eq!(segments.squarings, SQUARINGS);
    let offset = f64::from(segments.offset);
    let mut sums = Sums { first: [0.0; LANES], second: [0.0; LANES] };
    // SAFETY: the caller has the instruction set.
    unsafe {
        let tables: [L::Table; DEGREE + 1] = segments.near.each_ref().map(|coefficients| L::load_table(coefficients));
        let keys = load_keys::<L>(draws.stream);
        let prepared = Prepared { tables, keys };
        let mut counters = L::load_counters(draws.counters(first_draw));
        let mut waiting = Waiting { words: [counters; STRIP], near: [0; STRIP], draw: [0; STRIP], count: 0 };
        let mut start = 0;
        while start < count {
            let strip = (count - start).min(STRIP as u32);
            let (next, first, second) = L::sum_strip::<SQUARINGS, SQUARES>(&prepared, counters, first_draw + start, strip, &mut waiting);
            counters = next;
            let (first, second) = (L::to_array(first), L::to_array(second));
            for lane in 0..LANES {
                sums.first[lane] += f64::from(first[lane]);
                sums.second[lane] += f64::from(second[lane]);
            }
            for i in 0..waiting.count {
                let words = L::words_to_array(waiting.words[i]);
                let mut far = !waiting.near[i];
                while far != 0 {
                    let lane = far.trailing_zeros();
                    far &= far - 1;
                    let value = draws.far_value(segments, words[lane as usize], lane, waiting.draw[i]) - offset;
                    sums.first[lane as usize] += value;
                    sums.second[lane as usize] += value * value;
                }
            }
            start += strip;
        }
    }
    // sum u = sum (u - c) + c n, and sum u^2 = sum (u - c)^2 + 2 c sum (u - c) + c^2 n.
    let shift = offset * f64::from(count);
    for lane in 0..LANES {
        sums.second[lane] += 2.0 * offset * sums.first[lane] + offset * shift;
        sums.first[lane] += shift;
    }
    sums
}
