//! Data sets.

use misdeal_train::data::fuzzing;

pub fn idx(bytes: &[u8]) {
    fuzzing::idx(bytes);
}

pub fn cifar_binary(bytes: &[u8]) {
    fuzzing::cifar_binary(bytes);
}

pub fn cifar_pickle(bytes: &[u8]) {
    fuzzing::cifar_pickle(bytes);
}

pub fn labelled_bits(bytes: &[u8]) {
    fuzzing::labelled_bits(bytes);
}

/// An archive, and the bytes as one array of it.
pub fn npz(bytes: &[u8]) {
    fuzzing::npz(bytes);
    fuzzing::array(bytes);
}

pub fn tar(bytes: &[u8]) {
    fuzzing::tar(bytes);
}
