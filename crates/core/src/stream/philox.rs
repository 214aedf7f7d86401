//! Philox4x32-10, the generator of graphics processors.
//!
//! It applies ten rounds of 32-bit multiplications to a counter.
//!
//! Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). It passes the same
//! tests as ARS-5 and needs no AES instructions, which graphics processors lack.

/// The number of rounds.
const ROUNDS: u32 = 10;
/// The multipliers of the first and the third word.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// The constants added to the key's words after every round: the golden ratio, and the square root of three minus one.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The 128 random bits of a counter. Words are in order, least significant first.
pub fn philox(key: [u32; 2], counter: u128) -> u128 {
    philox_side_by_side(key, [counter])[0]
}

/// The random bits of several counters.
///
/// A round's multiplications wait for those of the round before. So several counters at once cost little more than one.
pub fn philox_side_by_side<const N: usize>(key: [u32; 2], counters: [u128; N]) -> [u128; N] {
    let mut states: [[u32; N]; 4] =
        std::array::from_fn(|word| counters.map(|counter| (counter >> (32 * word)) as u32));
    let mut key = key;
    for _ in 0..ROUNDS {
        let [zeroth, first, second, third] = states;
        for i in 0..N {
            let one = u64::from(MULTIPLIERS[0]) * u64::from(zeroth[i]);
            let other = u64::from(MULTIPLIERS[1]) * u64::from(second[i]);
            states[0][i] = (other >> 32) as u32 ^ first[i] ^ key[0];
            states[1][i] = other as u32;
            states[2][i] = (one >> 32) as u32 ^ third[i] ^ key[1];
            states[3][i] = one as u32;
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    std::array::from_fn(|i| (0..4).rev().fold(0, |bits, word| bits << 32 | u128::from(states[word][i])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: [u32; 4]) -> u128 {
        words.iter().rev().fold(0, |bits, &word| bits << 32 | u128::from(word))
    }

    /// The known-answer vectors of the authors' Random123 library: zeros, ones, and the digits of pi.
    #[test]
    fn gives_the_known_answers() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, answer) in cases {
            assert_eq!(philox(key, words(counter)), words(answer), "{counter:x?}");
            let several = philox_side_by_side(key, [words(counter), 7, words(counter)]);
            assert_eq!(several, [words(answer), philox(key, 7), words(answer)], "{counter:x?}");
        }
    }
}
