//! Vectors of sixteen floats on the processor's instruction sets.
//!
//! A [`Kernel`] is written once over [`Vectors`] and compiled for AVX-512, AVX2 and plain Rust. Every operation is one IEEE
//! operation a lane, multiply-add rounded once, and kernels sum in an order that does not depend on the instruction set: all
//! three give the same bits.
#![allow(unsafe_code, reason = "instruction sets are reached through intrinsics")]
#![allow(
    clippy::inline_always,
    reason = "a kernel must be compiled inside the function that enables its instructions"
)]
#![allow(clippy::wildcard_imports, reason = "an instruction set is imported whole")]

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

pub use aligned::{AlignedFloats, LaneVector, floats, floats_mut};

/// Floats in a vector.
pub const LANES: usize = 16;

/// Sixteen f32 on one instruction set.
///
/// # Safety
/// The methods may only be called where the processor has the instruction set that the implementation names.
pub unsafe trait Vectors: Copy {
    /// Sixteen f32.
    type Floats: Copy;
    /// Whether there are registers for 24 vectors and more; else for six.
    const MANY_REGISTERS: bool;

    /// Sixteen copies of `value`.
    unsafe fn splat(value: f32) -> Self::Floats;
    /// Sixteen floats from memory.
    unsafe fn load(from: *const f32) -> Self::Floats;
    /// The first `count` floats from memory, 1 to 16, and zeros; nothing beyond them is read.
    unsafe fn load_first(from: *const f32, count: usize) -> Self::Floats;
    /// Sixteen floats to memory.
    unsafe fn store(values: Self::Floats, to: *mut f32);
    /// The first `count` floats to memory, 1 to 16; nothing beyond them is written.
    unsafe fn store_first(values: Self::Floats, to: *mut f32, count: usize);
    /// a * b + c, rounded once.
    unsafe fn mul_add(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// a + b.
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats;
}

/// Arithmetic that is compiled for every instruction set.
pub trait Kernel {
    /// Computes.
    ///
    /// # Safety
    /// The processor has the instruction set of `S`, and this is inlined into a function compiled for it.
    unsafe fn run<S: Vectors>(self);
}

/// An instruction set that this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionSet(Name);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl InstructionSet {
    /// All instruction sets of this processor, the fastest first; plain Rust is always included.
    pub fn available() -> impl Iterator<Item = Self> {
        let all = [
            #[cfg(target_arch = "x86_64")]
            (Name::Avx512, avx512::is_available()),
            #[cfg(target_arch = "x86_64")]
            (Name::Avx2, avx2::is_available()),
            (Name::Portable, true),
        ];
        all.into_iter().filter(|(_, available)| *available).map(|(name, _)| InstructionSet(name))
    }

    /// The fastest instruction set of this processor.
    pub fn fastest() -> Self {
        Self::available().next().unwrap_or(InstructionSet(Name::Portable))
    }

    /// Runs a kernel on these instructions.
    pub fn run<K: Kernel>(self, kernel: K) {
        // SAFETY: `available` names only what the processor has, and nothing else makes an `InstructionSet`.
        unsafe {
            match self.0 {
                #[cfg(target_arch = "x86_64")]
                Name::Avx512 => avx512::run(kernel),
                #[cfg(target_arch = "x86_64")]
                Name::Avx2 => avx2::run(kernel),
                Name::Portable => kernel.run::<portable::Portable>(),
            }
        }
    }
}
