//! Vectors of sixteen floats, for several instruction sets.
//!
//! A [`Kernel`] is written once over [`Vectors`] and compiled for AVX-512, AVX2 and plain Rust. Every operation is one IEEE
//! operation per lane, and a multiply-add rounds once. Kernels sum in an order that does not depend on the instruction set. All
//! three therefore give the same bits.
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

/// Number of floats in a vector.
pub const LANES: usize = 16;

/// Operations on sixteen f32, for one instruction set.
///
/// # Safety
/// The methods may be called only if the processor has the instruction set that the implementation names.
pub unsafe trait Vectors: Copy {
    /// Sixteen f32.
    type Floats: Copy;
    /// Whether kernels may keep 24 or more vectors in registers; if not, they keep six.
    const MANY_REGISTERS: bool;

    /// Sixteen copies of `value`.
    unsafe fn splat(value: f32) -> Self::Floats;
    /// Loads sixteen floats from memory.
    unsafe fn load(from: *const f32) -> Self::Floats;
    /// Loads the first `count` floats (1 to 16) and fills with zeros; reads nothing beyond them.
    unsafe fn load_first(from: *const f32, count: usize) -> Self::Floats;
    /// Stores sixteen floats to memory.
    unsafe fn store(values: Self::Floats, to: *mut f32);
    /// Stores the first `count` floats (1 to 16); writes nothing beyond them.
    unsafe fn store_first(values: Self::Floats, to: *mut f32, count: usize);
    /// a * b + c, rounded once.
    unsafe fn mul_add(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// a + b.
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats;
}

/// Arithmetic that is compiled for every instruction set.
pub trait Kernel {
    /// Runs the computation.
    ///
    /// # Safety
    /// The processor has the instruction set of `S`, and the call is inlined into a function compiled for it.
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
    /// All instruction sets of this processor, fastest first. Plain Rust is always included.
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

    /// Runs a kernel with this instruction set.
    pub fn run<K: Kernel>(self, kernel: K) {
        // SAFETY: `available` lists only what the processor has, and nothing else creates an `InstructionSet`.
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
