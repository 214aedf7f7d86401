//! Accountants against simulations and closed forms.

mod pairs;
mod simulated_pairs;
