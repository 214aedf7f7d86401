//! Makes charts from results. The page shows all charts of a result; a figure shows the most informative ones.
//!
//! Results and drawing do not depend on each other. A new kind of result only needs a function here that returns [`Chart`]s.

pub mod deals;
pub mod epsilons;
pub mod histogram;
pub mod judged;
pub mod positions;
pub mod reproduced;
pub mod sweep;
pub mod trade_off;

use crate::Figure;
use crate::chart::Chart;
use misdeal_results::numbers::{count, significant};
use misdeal_results::{Audit, CheckedCard, Document, Reproduced, Reproduction, Unreadable};

/// The most audits whose curves are drawn side by side.
const MOST_BESIDE: usize = 4;

/// The figure of a result. A new result and a stored one give the same figure.
///
/// - An audit or an estimate shows its scores and trade-off curves. Without stored curves, it shows epsilons beside the claim.
/// - A diagnosis shows the places of records.
/// - A reproduction shows what the paper draws.
/// - An account shows the curves of its schemes. Without curves, it shows bounds.
///
/// # Errors
/// The result has nothing to draw.
pub fn figure(name: &str, document: &Document) -> Result<Figure, Unreadable> {
    let undrawable = |problem: &str, hint| {
        let problem = format!("its {} {problem}", document.command());
        Err(Unreadable { name: name.into(), problem, hint })
    };
    let one = |title: String, chart: Chart| Ok(Figure::new(title, vec![chart], 1));
    let several = |title: String, charts: Vec<Chart>| {
        let columns = charts.len();
        Ok(Figure::new(title, charts, columns))
    };
    match document {
        Document::AuditMechanism(audit) | Document::AuditTraining(audit) if audit.trade_off.is_some() => {
            several(title(audit), judged::scores_of_audit(audit))
        }
        Document::AuditMechanism(audit) | Document::AuditTraining(audit) => {
            one(title(audit), judged::audit(audit))
        }
        Document::JudgeOutputs(outputs) => {
            one(format!("Outputs of training with {}", outputs.setting.scheme), judged::outputs(outputs))
        }
        Document::Estimate(found) if found.trade_off.is_some() => {
            several(found.title(), judged::scores_of_estimation(found))
        }
        Document::Estimate(found) => one(found.title(), judged::estimation(found)),
        Document::Account(account) => {
            let title = format!(
                "{} steps, noise multiplier {}",
                account.steps,
                significant(account.noise_multiplier)
            );
            if account.trade_offs.is_empty() {
                one(title, judged::account(account))
            } else {
                several(title, trade_off::known(&account.trade_offs).into())
            }
        }
        Document::Check(checked) => match checked.cards.as_slice() {
            [card] => one(card_title(card), judged::card(card)),
            cards => one(format!("{} model cards", cards.len()), judged::cards(cards)),
        },
        Document::Sweep(found) => several("Claimed and proven epsilon".into(), sweep::charts(found)),
        Document::Diagnose(found) => {
            let Some(positions) = &found.positions else {
                let problem = "does not say where records were dealt, so that there is nothing to draw";
                return undrawable(problem, "diagnose the log again with this version");
            };
            let name = found.file_name();
            let buffer = found
                .diagnosis
                .parameters
                .buffer_size
                .map_or(String::new(), |size| format!(" (buffer of {size})"));
            let doubt = if found.diagnosis.certain { "" } else { ", not certain" };
            several(
                format!("{name}: {}{buffer}{doubt}", found.diagnosis.scheme),
                positions::charts(positions),
            )
        }
        Document::Reproduce(found) => Ok(reproduction(found)),
        Document::Calibrate(_) | Document::CalibrateAll(_) => {
            undrawable("found one number, which has no figure", "give a name that ends in .html for its page")
        }
        _ => undrawable(
            "has no figure",
            "give a result of an audit, an estimate, an account, a diagnosis or a reproduction",
        ),
    }
}

/// The name on a card. A card without a name gets a description of its training.
fn card_title(card: &CheckedCard) -> String {
    if card.name == "this card" { card.training() } else { card.name.clone() }
}

/// The audited setting, on one line.
fn title(Audit { setting, .. }: &Audit) -> String {
    let epochs = if setting.epochs == 1 { String::new() } else { format!(", {} epochs", setting.epochs) };
    format!(
        "{}, {}, {} steps an epoch{epochs}, noise multiplier {}",
        setting.scheme,
        setting.threat_model,
        setting.steps_per_epoch,
        significant(setting.noise_multiplier)
    )
}

/// The figure of a reproduction.
///
/// It shows trade-off curves if there are any. Otherwise it shows lines if settings were run with growing numbers of observations, records
/// if no setting was run, and else marks.
fn reproduction(found: &Reproduction) -> Figure {
    let title = match &found.artefacts[..] {
        [one] => format!("{}: {}", one.place, one.title),
        _ => "The paper beside misdeal".into(),
    };
    let rows: Vec<&Reproduced> = found.rows.iter().collect();
    let curves = if found.artefacts.len() == 1 { reproduced::curves(&shown(&rows)) } else { Vec::new() };
    if let [one] = &curves[..] {
        return Figure::new(title, one.to_vec(), 2);
    }
    if !curves.is_empty() {
        let columns = curves.len();
        let charts = (0..2).flat_map(|view| curves.iter().map(move |both| both[view].clone()));
        return Figure::new(title, charts.collect(), columns);
    }
    if rows.is_empty() {
        return Figure::new(title, found.deals.iter().flat_map(deals::charts).collect(), 3);
    }
    let [runs, all] = effort(&rows);
    let sweeps = reproduced::sweeps(&rows);
    if !sweeps.is_empty() {
        let columns = sweeps.len().min(3);
        return Figure { remark: runs, ..Figure::new(title, sweeps, columns) };
    }
    let name = |row: &Reproduced| match &found.artefacts[..] {
        [_] => row.name.clone(),
        _ => format!("{}, {}", row.artefact, row.name),
    };
    Figure { remark: all, ..Figure::new(title, vec![reproduced::rows("", &rows, name)], 1) }
}

/// The rows whose curves are drawn. If there are too many, trainings go before mechanisms.
fn shown<'a>(rows: &[&'a Reproduced]) -> Vec<&'a Reproduced> {
    let mut shown: Vec<_> = rows.iter().copied().filter(|row| row.trade_off.is_some()).collect();
    if shown.len() > MOST_BESIDE {
        shown.sort_by_key(|row| row.dataset.is_none());
        shown.truncate(MOST_BESIDE);
    }
    shown
}

/// The effort in words: first the runs, then observations and runs. Both are empty if nothing was run.
fn effort(rows: &[&Reproduced]) -> [String; 2] {
    let range = |number: fn(&Reproduced) -> u64, one: &str, many: &str| {
        let played = || rows.iter().filter(|row| row.ours.is_some()).map(|row| number(row));
        let (Some(least), Some(most)) = (played().min(), played().max()) else { return String::new() };
        let words = if most == 1 { one } else { many };
        if least == most {
            format!("{} {words}", count(most))
        } else {
            format!("{} to {} {words}", count(least), count(most))
        }
    };
    let runs = range(|row| row.runs, "run", "runs");
    if runs.is_empty() {
        return [runs.clone(), runs];
    }
    let observations = range(|row| row.observations, "observation", "observations");
    [format!("{runs} each"), format!("{observations}, {runs} each")]
}
