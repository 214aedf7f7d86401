//! Reads the privacy statement that TensorFlow Privacy prints.
//!
//! # Which of its numbers is the claim?
//! The number that assumes Poisson sampling. The statement itself calls this number closer to the truth for shuffled data.
//!
//! # Why is noise halved with microbatches?
//! With microbatches, a record moves the clipped mean of its microbatch by up to twice the clipping norm. The statement accounts
//! for this too.

use misdeal_results::numbers::significant;
use misdeal_results::request::Card;

const PERFORMED: &str = "DP-SGD performed over ";
const ONCE_AN_EPOCH: &str = "Epsilon with each example occurring once per epoch:";
const POISSON: &str = "Epsilon assuming Poisson sampling (*):";

/// Returns whether the text contains a privacy statement.
pub fn is_one(text: &str) -> bool {
    text.contains(PERFORMED)
}

/// Reads the statement about examples. The statement about users, which follows it, is ignored.
///
/// # Errors
/// A number is missing. The message names it.
pub fn read(text: &str) -> Result<(Card, Vec<String>), String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let after = |words: &str| -> Result<&str, String> {
        let rest = text.split_once(words).ok_or_else(|| format!("it does not say \"{words}\""))?.1;
        Ok(rest.trim_start().split(' ').next().unwrap_or_default().trim_end_matches([',', ':', '.']))
    };
    let number = |words: &str| -> Result<f64, String> {
        let found = after(words)?;
        found.parse().map_err(|_| format!("\"{words}\" is followed by {found}, which is no number"))
    };
    let whole = |words: &str| -> Result<u64, String> {
        let value = number(words)?;
        let is_whole = value.fract() == 0.0 && (1.0..9e15).contains(&value);
        if is_whole {
            Ok(value as u64)
        } else {
            Err(format!("\"{words}\" is followed by {value}, which is no count"))
        }
    };
    let dataset_size = whole(PERFORMED)?;
    let batch_size = whole("examples with")?;
    let noise_multiplier = number("noise multiplier")?;
    let epochs = number("noise multiplier")
        .and_then(|_| number(&format!("noise multiplier {} for", after("noise multiplier")?)))?;
    let delta = number("at delta =")?;
    let claimed_epsilon = number(POISSON)?;
    let steps = (epochs * dataset_size as f64 / batch_size as f64).ceil();
    let is_whole = epochs.fract() == 0.0 && epochs >= 1.0;
    if !(1.0..9e15).contains(&steps) {
        return Err(format!("{epochs} epochs are no number of steps"));
    }
    let mut remarks = Vec::new();
    let has_microbatches = text.contains("with microbatching");
    if has_microbatches {
        remarks.push(format!(
            "With microbatches a record moves a step by up to twice the clipping norm, so that noise {noise_multiplier} counts as {}.",
            noise_multiplier / 2.0
        ));
    }
    let once = number(ONCE_AN_EPOCH).map_or(String::new(), |epsilon| {
        format!(" and {} if each record is used once an epoch", significant(epsilon))
    });
    remarks.push(format!(
        "TensorFlow Privacy printed {} for Poisson sampling{once}; the first is taken as the claim.",
        significant(claimed_epsilon)
    ));
    let card = Card {
        dataset_size: Some(dataset_size),
        batch_size: Some(batch_size),
        epochs: is_whole.then_some(epochs as u64),
        steps: (!is_whole).then_some(steps as u64),
        noise_multiplier: Some(if has_microbatches { noise_multiplier / 2.0 } else { noise_multiplier }),
        delta: Some(delta),
        claimed_epsilon: Some(claimed_epsilon),
        ..Card::default()
    };
    Ok((card, remarks))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: &str = "DP-SGD performed over 10000 examples with 64 examples per iteration, noise\nmultiplier 2.0 for 5.0 \
        epochs without microbatching, and at most 3 examples per\nuser.\n\nExample-level DP with add-or-remove-one adjacency at \
        delta = 1e-06 computed with\nRDP accounting:\n    Epsilon with each example occurring once per epoch:        13.376\n    \
        Epsilon assuming Poisson sampling (*):                      1.616\n\nUser-level DP with add-or-remove-one adjacency at \
        delta = 1e-06 computed using\nRDP accounting and group privacy:\n    Epsilon with each example occurring once per epoch: \
               85.940\n";

    #[test]
    fn the_statement_about_examples_is_read() {
        let (card, remarks) = read(STATEMENT).unwrap();
        assert!(is_one(STATEMENT));
        assert_eq!((card.dataset_size, card.batch_size, card.epochs), (Some(10_000), Some(64), Some(5)));
        assert_eq!(
            (card.noise_multiplier, card.delta, card.claimed_epsilon),
            (Some(2.0), Some(1e-6), Some(1.616))
        );
        assert!(remarks[0].contains("1.616") && remarks[0].contains("13.38"), "{remarks:?}");
    }

    #[test]
    fn microbatches_halve_the_noise_and_parts_of_epochs_are_steps() {
        let text = STATEMENT.replace("without microbatching", "with microbatching").replace("5.0", "0.5");
        let (card, remarks) = read(&text).unwrap();
        assert_eq!((card.noise_multiplier, card.epochs, card.steps), (Some(1.0), None, Some(79)));
        assert_eq!(remarks.len(), 2);
    }

    #[test]
    fn statements_that_lack_a_number_are_refused() {
        for (from, to) in [("64 examples", "no examples"), ("1.616", "inf."), ("1e-06", ""), ("5.0", "nan")] {
            let changed = STATEMENT.replacen(from, to, 1);
            let found = read(&changed);
            let is_refused =
                found.is_err() || found.is_ok_and(|(card, _)| card.claimed_epsilon == Some(f64::INFINITY));
            assert!(is_refused, "{changed}");
        }
    }
}
