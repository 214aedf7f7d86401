//! The engine: one model at a time on each core, f32, every vector of the arithmetic units full.
//!
//! A model's layers up to the first linear one are its image part ([`image`]), where a vector holds one value of sixteen
//! records. The linear layers ([`linear`]) hold one record a row and are matrix products. [`gradients`] joins the two for the
//! records of a batch, [`trial`] is the training itself. Each core has one [`trial::Workspace`] that all its trials use.

mod convolution_stage;
mod gradients;
mod image;
mod linear;
mod trial;

pub use trial::{Trained, Workspace};
