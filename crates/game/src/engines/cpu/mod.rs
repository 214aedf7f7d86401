//! cpu
#![allow(unsafe_code)]
pub mod avx512; pub mod kernel; pub mod lanes; pub mod segments;
