//! Data, models and trainings against the reference.

mod agreement;
mod extremes;
mod fixtures;
mod gradients;
mod images;
mod laws;
mod official_files;
mod refusals;
mod same_bits;
mod tables;
