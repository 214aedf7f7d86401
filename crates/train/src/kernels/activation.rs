//! Activations in place, and their derivatives.

use super::exponential::tanh;
use crate::simd::{Kernel, Vectors};

/// An activation function; its derivative can be computed from its value y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// tanh x, with derivative 1 - y^2.
    Tanh,
    /// max(0, x), with derivative 1 if y > 0, else 0.
    Relu,
}

/// Replaces every x by its activation y.
#[derive(Debug)]
pub struct Activate<'a>(pub Activation, pub &'a mut [f32]);

impl Kernel for Activate<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        match self.0 {
            Activation::Tanh => {
                for x in self.1 {
                    *x = tanh(*x);
                }
            }
            Activation::Relu => {
                for x in self.1 {
                    *x = if *x > 0.0 { *x } else { 0.0 };
                }
            }
        }
    }
}

/// Multiplies deltas by the derivative of the activation, given its values y.
#[derive(Debug)]
pub struct ActivationGradient<'a> {
    /// The activation function.
    pub activation: Activation,
    /// Its values y.
    pub values: &'a [f32],
    /// The deltas that are multiplied.
    pub deltas: &'a mut [f32],
}

impl Kernel for ActivationGradient<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let pairs = self.deltas.iter_mut().zip(self.values);
        match self.activation {
            Activation::Tanh => {
                for (delta, y) in pairs {
                    *delta *= (-y).mul_add(*y, 1.0);
                }
            }
            Activation::Relu => {
                for (delta, y) in pairs {
                    *delta = if *y > 0.0 { *delta } else { 0.0 };
                }
            }
        }
    }
}
