//! Checks random bits and Gaussian numbers against independent answers and against their law.

use super::Found;
use misdeal_core::{Setting, SettingHash, Stream, World, normal};
use serde::Deserialize;

/// Expected blocks and Gaussian numbers, computed from the generators' definitions in another language
/// (`testdata/scripts/stream.py`).
#[derive(Deserialize)]
struct Answers {
    ars5: Vec<(u8, String, String)>,
    philox: Vec<(u8, String, String)>,
    gaussian: Vec<(u64, u32, f64)>,
}

/// Number of draws for the moments and tails.
const DRAWS: u64 = 1 << 21;

/// Largest allowed deviate. Deviates of a correct generator are approximately normal. The probability beyond this value is 3e-8,
/// times 24 comparisons.
const LARGEST_DEVIATE: f64 = 5.6;

pub(super) fn check(seed: u64) -> Found {
    let answers: Answers = toml::from_str(include_str!("../../data/stream.toml")).map_err(super::message)?;
    known_answers(&answers)?;
    let setting = Setting { seed, ..Setting::default() };
    let mut largest: f64 = 0.0;
    for stream in [Stream::new(&setting.hash()), Stream::philox(&setting.hash())] {
        largest = largest.max(moments_and_tails(&stream)?);
    }
    let known = answers.ars5.len() + answers.philox.len() + answers.gaussian.len();
    Ok(format!("{known} known answers; moments and tails of {DRAWS} draws within {largest:.1} deviations"))
}

fn known_answers(answers: &Answers) -> Result<(), String> {
    let hash = |first: u8| SettingHash(std::array::from_fn(|i| first + i as u8));
    let bits = |text: &str| u128::from_str_radix(text, 16).map_err(super::message);
    for (stream, cases) in
        [(Stream::new as fn(&SettingHash) -> Stream, &answers.ars5), (Stream::philox, &answers.philox)]
    {
        for (first, counter, block) in cases {
            let stream = stream(&hash(*first));
            let ours = stream.block(bits(counter)?);
            if ours != bits(block)? {
                let name = stream.name();
                return Err(format!("{name}: the block of counter {counter} is {ours:032x}, not {block}"));
            }
        }
    }
    let stream = Stream::new(&hash(0));
    for &(trial, draw, exact) in &answers.gaussian {
        let ours = stream.gaussian(World::In, trial, draw);
        if (ours - exact).abs() > 1e-14 * exact.abs().max(1.0) {
            return Err(format!("draw {draw} of trial {trial} is {ours}, not {exact}"));
        }
    }
    Ok(())
}

/// Returns the largest deviate of four moments and eight tail counts.
fn moments_and_tails(stream: &Stream) -> Result<f64, String> {
    const LIMITS: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
    let mut powers = [0.0; 4];
    let mut beyond = [[0_u64; 4]; 2];
    for i in 0..DRAWS {
        let z = stream.gaussian(World::In, i / 64, (i % 64) as u32);
        let mut power = 1.0;
        for sum in &mut powers {
            power *= z;
            *sum += power;
        }
        for (k, limit) in LIMITS.into_iter().enumerate() {
            beyond[0][k] += u64::from(z > limit);
            beyond[1][k] += u64::from(z < -limit);
        }
    }
    let draws = DRAWS as f64;
    // Mean and variance of z, z^2, z^3 and z^4.
    let of_moments = powers
        .into_iter()
        .zip([(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)])
        .map(|(sum, (mean, variance))| (sum - mean * draws) / f64::sqrt(variance * draws));
    let of_tails = beyond.iter().flat_map(|side| side.iter().zip(LIMITS)).map(|(&count, limit)| {
        let expected = draws * normal::cdf(-limit);
        (count as f64 - expected) / expected.sqrt()
    });
    let largest = of_moments.chain(of_tails).map(f64::abs).fold(0.0, f64::max);
    if largest > LARGEST_DEVIATE {
        let name = stream.name();
        return Err(format!("{name}: a moment or a tail is {largest:.1} standard deviations from the law's"));
    }
    Ok(largest)
}
