//! Tests whether choices that should be uniform are uniform.

use crate::choices::Choices;
use crate::logged_epochs::LoggedEpoch;
use crate::p_values::{Tests, normal};
use rayon::prelude::*;

/// Standardised ranks of the chosen records among the possible ones.
///
/// Under the scheme they are independent, each with mean 0 and variance 1.
struct Ranks {
    /// One score for each position; 0 if there is only one possible record.
    scores: Vec<f32>,
    sums: Sums,
}

/// The sums over one epoch that the tests need.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    choices: f64,
    mean: f64,
    spread: f64,
    spread_variance: f64,
    serial: f64,
    serial_variance: f64,
    trend: f64,
    trend_variance: f64,
}

/// Tests orders against a scheme with these choices; the orders must be possible.
///
/// Let z_j be the standardised rank at position j. The tests use six asymptotically normal sums: of z_j; of z_j^2 - 1; of z_j
/// z_(j+1); of z_j times the distance of j from the middle; of z_j times the z_j of the next epoch; and of z_j times the z_j of every
/// other epoch.
pub fn test(choices: Choices, epochs: &[LoggedEpoch], dataset_size: usize) -> Tests {
    let ranks: Vec<Ranks> =
        epochs.par_iter().map(|epoch| standardised(choices, &epoch.records, dataset_size)).collect();
    let total = |part: fn(&Sums) -> f64| ranks.iter().map(|ranks| part(&ranks.sums)).sum::<f64>();
    let mut tests = Tests::default();
    let ratio = |sum: f64, variance: f64| if variance > 0.0 { normal(sum / variance.sqrt()) } else { 1.0 };
    tests.insert("records dealt too early or too late", ratio(total(|s| s.mean), total(|s| s.choices)));
    tests
        .insert("choices too alike or too extreme", ratio(total(|s| s.spread), total(|s| s.spread_variance)));
    tests.insert(
        "neighbouring choices that depend on each other",
        ratio(total(|s| s.serial), total(|s| s.serial_variance)),
    );
    tests.insert("a drift within epochs", ratio(total(|s| s.trend), total(|s| s.trend_variance)));
    if ranks.len() > 1 {
        let (sum, variance) = ranks
            .par_windows(2)
            .map(|pair| {
                let products = pair[0].scores.iter().zip(&pair[1].scores);
                products.fold((0.0, 0.0), |(sum, variance), (&one, &other)| {
                    let both = one != 0.0 && other != 0.0;
                    (sum + f64::from(one) * f64::from(other), variance + f64::from(u8::from(both)))
                })
            })
            .reduce(|| (0.0, 0.0), |one, other| (one.0 + other.0, one.1 + other.1));
        tests.insert("epochs that depend on the one before", ratio(sum, variance));
    }
    if ranks.len() > 2 {
        // All pairs of epochs at once: for each position, the squared sum minus the sum of squares.
        let longest = ranks.iter().map(|ranks| ranks.scores.len()).max().unwrap_or(0);
        let mut sums = vec![[0.0_f64; 3]; longest];
        for ranks in &ranks {
            for (sum, &score) in sums.iter_mut().zip(&ranks.scores) {
                let score = f64::from(score);
                sum[0] += score;
                sum[1] += score * score;
                sum[2] += f64::from(u8::from(score != 0.0));
            }
        }
        let (sum, variance) = sums.iter().fold((0.0, 0.0), |(sum, variance), [score, square, count]| {
            (sum + 0.5 * (score * score - square), variance + 0.5 * count * (count - 1.0))
        });
        tests.insert("epochs that depend on each other", ratio(sum, variance));
    }
    tests
}

fn standardised(choices: Choices, records: &[u32], dataset_size: usize) -> Ranks {
    let mut dealt = Dealt::new(records, dataset_size);
    let middle = records.len() as f64 / 2.0;
    let mut ranks = Ranks { scores: Vec::with_capacity(records.len()), sums: Sums::default() };
    let mut before = 0.0;
    for (place, &record) in records.iter().enumerate() {
        let bound = choices.bound(place, dataset_size);
        let possible = (bound - place) as f64;
        // All records below the chosen one are possible, except those already used.
        let rank = f64::from(record - dealt.insert(record));
        let sums = &mut ranks.sums;
        let mut score = 0.0;
        if possible > 1.0 {
            let square = possible * possible;
            score = (rank - 0.5 * (possible - 1.0)) / ((square - 1.0) / 12.0).sqrt();
            sums.choices += 1.0;
            sums.mean += score;
            sums.spread += score * score - 1.0;
            // The fourth moment of a standardised uniform law on c points, minus 1.
            sums.spread_variance += 0.6 * (3.0 * square - 7.0) / (square - 1.0) - 1.0;
            let distance = place as f64 - middle;
            sums.trend += score * distance;
            sums.trend_variance += distance * distance;
            sums.serial += score * before;
            sums.serial_variance += f64::from(u8::from(before != 0.0));
        }
        before = score;
        ranks.scores.push(score as f32);
    }
    ranks
}

/// The records used so far, with fast counts of those below a given record (Fenwick's tree).
struct Dealt {
    counts: Vec<u32>,
    /// The epoch's records in file order, if they are few. A tree over all records would then cost more.
    few: Option<Vec<u32>>,
}

impl Dealt {
    fn new(records: &[u32], dataset_size: usize) -> Self {
        let few = (records.len() < dataset_size / 8).then(|| {
            let mut sorted = records.to_vec();
            sorted.sort_unstable();
            sorted
        });
        let size = few.as_ref().map_or(dataset_size, Vec::len);
        Dealt { counts: vec![0; size + 1], few }
    }

    /// Adds a record, and returns how many records below it were added before.
    fn insert(&mut self, record: u32) -> u32 {
        let number = match &self.few {
            Some(sorted) => sorted.partition_point(|&other| other < record),
            None => record as usize,
        };
        let mut below = 0;
        let mut place = number;
        while place > 0 {
            below += self.counts[place];
            place &= place - 1;
        }
        place = number + 1;
        while place < self.counts.len() {
            self.counts[place] += 1;
            place += place & place.wrapping_neg();
        }
        below
    }
}
