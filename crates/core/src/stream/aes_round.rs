//! One round of AES in plain Rust, with the same bits as the processor's AES instructions.

/// One inner AES round, as the instruction `AESENC`: `SubBytes`, `ShiftRows`, `MixColumns`, then xor with `key`.
pub fn aes_round(state: u128, key: u128) -> u128 {
    shifted_columns(state, |[a, b, c, d]| {
        MIXED[a as usize]
            ^ MIXED[b as usize].rotate_left(8)
            ^ MIXED[c as usize].rotate_left(16)
            ^ MIXED[d as usize].rotate_left(24)
    }) ^ key
}

/// The last AES round, as the instruction `AESENCLAST`: [`aes_round`] without `MixColumns`.
pub fn aes_last_round(state: u128, key: u128) -> u128 {
    shifted_columns(state, |column| u32::from_le_bytes(column.map(|byte| SUBSTITUTION[byte as usize]))) ^ key
}

/// Applies `map` to each column of the state after `ShiftRows`. Row `r` of column `c` comes from column `c + r`.
fn shifted_columns(state: u128, map: impl Fn([u8; 4]) -> u32) -> u128 {
    let bytes = state.to_le_bytes();
    let mut result = 0;
    for column in 0..4 {
        let shifted = std::array::from_fn(|row| bytes[(4 * column + 5 * row) % 16]);
        result |= u128::from(map(shifted)) << (32 * column);
    }
    result
}

/// `a` times `x` in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
const fn times_x(a: u8) -> u8 {
    (a << 1) ^ if a & 0x80 != 0 { 0x1b } else { 0 }
}

/// The AES S-box, from its definition: the inverse in GF(2^8), then an affine map.
///
/// 3 generates the field. So the powers of 3 and of its inverse 0xf6 run through all pairs (a, 1/a).
const SUBSTITUTION: [u8; 256] = {
    let mut table = [0; 256];
    let (mut a, mut inverse) = (1_u8, 1_u8);
    loop {
        a ^= times_x(a);
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        if inverse & 0x80 != 0 {
            inverse ^= 0x09;
        }
        let b = inverse;
        table[a as usize] =
            b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        if a == 1 {
            break;
        }
    }
    table[0] = 0x63;
    table
};

/// What a byte in row 0 adds to its column after `MixColumns`. The other rows use rotations of it.
const MIXED: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let s = SUBSTITUTION[i];
        table[i] = u32::from_le_bytes([times_x(s), s, s, times_x(s) ^ s]);
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, appendix B: the round keys, the plain text and the cipher text.
    #[test]
    fn encrypts_the_example_of_the_standard() {
        let keys: [u128; 11] = [
            0x2b7e151628aed2a6abf7158809cf4f3c,
            0xa0fafe1788542cb123a339392a6c7605,
            0xf2c295f27a96b9435935807a7359f67f,
            0x3d80477d4716fe3e1e237e446d7a883b,
            0xef44a541a8525b7fb671253bdb0bad00,
            0xd4d1c6f87c839d87caf2b8bc11f915bc,
            0x6d88a37a110b3efddbf98641ca0093fd,
            0x4e54f70e5f5fc9f384a64fb24ea6dc4f,
            0xead27321b58dbad2312bf5607f8d292f,
            0xac7766f319fadc2128d12941575c006e,
            0xd014f9a8c9ee2589e13f0cc8b6630ca6,
        ];
        let mut state = (0x3243f6a8885a308d313198a2e0370734 ^ keys[0]).swap_bytes();
        for key in &keys[1..10] {
            state = aes_round(state, key.swap_bytes());
        }
        state = aes_last_round(state, keys[10].swap_bytes());
        assert_eq!(state.swap_bytes(), 0x3925841d02dc09fbdc118597196a0b32);
    }
}
