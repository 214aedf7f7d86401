//! Which functions of a module call each other, so that rules can decide for a function and not for the whole module.

use crate::flow::{Facts, Origin, Place};
use std::collections::{HashMap, HashSet};

/// The functions that each function reaches through calls, by name. The module's own statements are the function `""`.
#[derive(Debug, Default)]
pub struct CallGraph<'a> {
    reached: HashMap<&'a str, HashSet<&'a str>>,
}

/// Deepest chain of calls that is followed.
const DEEPEST: usize = 6;
/// Largest number of functions whose calls are followed.
const MOST: usize = 400;

impl<'a> CallGraph<'a> {
    /// Reads the calls of a module. A function counts as called if its last name is, whatever it is called on.
    pub fn of(facts: &Facts<'a>) -> Self {
        let names: HashMap<&str, &'a str> =
            facts.functions.iter().map(|function| (function.name.as_str(), function.name.as_str())).collect();
        let classes: HashMap<&str, &'a str> =
            facts.classes.iter().map(|class| (class.name.as_str(), class.name.as_str())).collect();
        let mut called: HashMap<&'a str, HashSet<&'a str>> = HashMap::new();
        if names.len() > MOST {
            return CallGraph::default();
        }
        for call in &facts.calls {
            // A function that is given away (`Estimator(model_fn=model_fn)`) counts as called.
            let given = call.arguments.all().filter_map(|(_, value)| match value.origin() {
                Some(Origin::Variable(name)) => Some(&**name),
                _ => None,
            });
            for name in call.last_name().into_iter().chain(given) {
                let Some(callee) = names.get(name).or_else(|| classes.get(name)) else { continue };
                for caller in owners(&call.place) {
                    called.entry(caller).or_default().insert(callee);
                }
            }
        }
        // A function that is defined in another one is read as a part of it.
        let mut reached = called.clone();
        for _ in 0..DEEPEST {
            let mut grown = false;
            let callers: Vec<&'a str> = reached.keys().copied().collect();
            for caller in callers {
                let next: HashSet<&'a str> = reached[caller]
                    .iter()
                    .filter_map(|callee| called.get(callee))
                    .flatten()
                    .copied()
                    .collect();
                if let Some(known) = reached.get_mut(caller) {
                    let before = known.len();
                    known.extend(next);
                    grown |= known.len() > before;
                }
            }
            if !grown {
                break;
            }
        }
        CallGraph { reached }
    }

    /// The functions of some places, those that they reach, and those that reach them.
    pub fn near<'p>(&self, places: impl Iterator<Item = &'p Place<'a>>) -> HashSet<&'a str>
    where
        'a: 'p,
    {
        let own: HashSet<&'a str> = places.flat_map(owners).collect();
        let mut near = own.clone();
        near.extend(own.iter().filter_map(|name| self.reached.get(name)).flatten());
        let reaches_own = |reached: &HashSet<&'a str>| reached.iter().any(|name| own.contains(name));
        near.extend(self.reached.iter().filter(|(_, reached)| reaches_own(reached)).map(|(name, _)| *name));
        near
    }

    /// The functions around a place, and those that reach them.
    pub fn callers(&self, place: &Place<'a>) -> HashSet<&'a str> {
        let own: HashSet<&'a str> = owners(place).collect();
        let reaches_own = |reached: &HashSet<&'a str>| reached.iter().any(|name| own.contains(name));
        let callers = self.reached.iter().filter(|(_, reached)| reaches_own(reached)).map(|(name, _)| *name);
        callers.chain(own.iter().copied()).collect()
    }

    /// Whether two places can belong to one run: their functions call each other, or one function reaches both.
    pub fn relates(&self, one: &Place<'a>, other: &Place<'a>) -> bool {
        let [ours, theirs]: [Vec<&'a str>; 2] = [owners(one).collect(), owners(other).collect()];
        let reaches = |from: &[&'a str], to: &[&'a str]| {
            let mut reached = from.iter().filter_map(|name| self.reached.get(name));
            reached.any(|reached| to.iter().any(|name| reached.contains(name)))
        };
        ours == [""]
            || theirs == [""]
            || ours.iter().any(|name| theirs.contains(name))
            || reaches(&ours, &theirs)
            || reaches(&theirs, &ours)
            || self.reached.values().any(|reached| {
                [&ours, &theirs].iter().all(|owners| owners.iter().any(|name| reached.contains(name)))
            })
    }
}

/// The functions and the class that contain a place; `""` for the module's own statements.
pub fn owners<'p, 'a: 'p>(place: &'p Place<'a>) -> impl Iterator<Item = &'a str> + 'p {
    let around = &place.around;
    let is_outside = around.functions.is_empty() && around.classes.is_empty();
    around.functions.iter().chain(around.classes.iter()).copied().chain(is_outside.then_some(""))
}
