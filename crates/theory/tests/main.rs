//! Accountants against simulations and closed forms.

mod gaussian_domain;
mod pairs;
mod simulated_pairs;
