//! How bounds were computed: closed sets, shown and stored as words.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// How the two sides of a bound were computed.
///
/// JSON holds its words. Read back, they are [`SideMethod::Other`]: programs match only on what they computed themselves.
///
/// ```
/// use misdeal_core::{BoundMethod, SideMethod};
/// let method = BoundMethod::sides(SideMethod::ExactPair, SideMethod::FixedOrder);
/// assert_eq!(method.to_string(), "lower: exact pair (FFT); upper: fixed order");
/// assert_eq!(method.upper(), &SideMethod::FixedOrder);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum BoundMethod {
    /// Both sides in one way.
    Both(SideMethod),
    /// Each side in its own way.
    Sides {
        /// How the lower side was computed.
        lower: SideMethod,
        /// How the upper side was computed.
        upper: SideMethod,
    },
    /// A method whose bounds allow for something more.
    Allowing(Box<BoundMethod>, Allowance),
    /// Bounds that hold whichever of two schemes ran, each with its method.
    Either(Box<BoundMethod>, Box<BoundMethod>),
}

/// How one side of a bound was computed, or both at once, or why it is unknown.
#[derive(Debug, Clone, PartialEq, strum::Display)]
pub enum SideMethod {
    /// A formula.
    #[strum(to_string = "closed form")]
    ClosedForm,
    /// The privacy-loss distribution of Poisson sampling.
    #[strum(to_string = "privacy-loss distribution (FFT)")]
    PrivacyLoss,
    /// A pair that is proven to dominate.
    #[strum(to_string = "dominating pair (FFT)")]
    DominatingPair,
    /// A pair that some neighbours attain; others may leak more.
    #[strum(to_string = "exact pair (FFT)")]
    ExactPair,
    /// A profile that no step of fixed-size subsets exceeds.
    #[strum(to_string = "dominating profile (FFT)")]
    DominatingProfile,
    /// The bound of Chua et al.
    #[strum(to_string = "largest output (Chua et al.)")]
    LargestOutput,
    /// The bound of Chua et al. for a record that epochs may leave out.
    #[strum(to_string = "largest output (Chua et al.), records that an epoch leaves out taken into account")]
    LargestOutputIfPresent,
    /// The Gaussian of batches in fixed order.
    #[strum(to_string = "fixed order")]
    FixedOrder,
    /// What Poisson sampling leaks.
    #[strum(to_string = "poisson's")]
    Poissons,
    /// An adversary who learns which steps use the record.
    #[strum(to_string = "told the steps that use the record")]
    ToldUses,
    /// A record that every step uses.
    #[strum(to_string = "the record in every step")]
    EveryStep,
    /// Renyi divergences.
    #[strum(to_string = "Renyi divergences")]
    Renyi,
    /// A simulation with the scheme's likelihood ratio.
    #[strum(to_string = "audit with {observations} observations, 95 % confidence")]
    Audit {
        /// Observations in both worlds together.
        observations: u64,
    },
    /// A simulation with a law that was estimated from a log.
    #[strum(
        to_string = "an estimate, audited on half of the records with the law of the other half, assuming that the law of a record's step only shifts with its place in the file"
    )]
    EstimatedLaw,
    /// A whole curve below which no test is, by the fixed order.
    #[strum(to_string = "no test better than at fixed order")]
    NoTestBetter,
    /// The same, and tests that the exact pair allows.
    #[strum(to_string = "no test better than at fixed order; some as good as the exact pair's (FFT)")]
    SomeTestsAsGood,
    /// The same, where the exact pair takes too much work.
    #[strum(
        to_string = "no test better than at fixed order; how good some are is out of reach (it takes more than 1 GB or 10 s)"
    )]
    HowGoodIsOutOfReach,
    /// A curve whose upper side is Poisson sampling's, and which has no lower one.
    #[strum(to_string = "upper: poisson's; lower: none is built in")]
    PoissonsAboveAlone,
    /// Unknown: nobody asked for this side.
    #[strum(to_string = "not asked for")]
    NotAskedFor,
    /// Unknown: no method gives this side.
    #[strum(to_string = "none")]
    NoneKnown,
    /// Unknown: the answer takes too much work.
    #[strum(to_string = "out of reach (it takes more than 1 GB or 10 s)")]
    OutOfReach,
    /// Unknown: the delta is too small for a grid.
    #[strum(to_string = "out of reach at this delta")]
    OutOfReachAtThisDelta,
    /// Unknown: the noise is too little for a grid.
    #[strum(to_string = "out of reach at this noise")]
    OutOfReachAtThisNoise,
    /// Unknown: epsilon under another adjacency.
    #[strum(to_string = "only zero-out adjacency (and add-remove for poisson) is accounted for")]
    OtherAdjacency,
    /// Unknown: a curve under an adjacency other than zero-out.
    #[strum(to_string = "only zero-out adjacency is accounted for")]
    OtherAdjacencyOfCurve,
    /// Unknown: the scheme needs a buffer.
    #[strum(to_string = "give a buffer size")]
    NoBufferSize,
    /// Unknown: a log's batches follow no known law.
    #[strum(to_string = "records are dealt several times in an epoch, by a law that is not known")]
    UnknownLaw,
    /// Unknown: several schemes fit a log, or it is too short.
    #[strum(to_string = "none, because the scheme is not certain")]
    NotCertain,
    /// Unknown: ranks draw from one seed, so that records are always sampled together.
    #[strum(to_string = "none, because ranks share a seed and sample the same records together")]
    RecordsTogether,
    /// Unknown: a log of one epoch does not show whether further epochs are independent.
    #[strum(to_string = "none, because one epoch does not show whether further ones are independent")]
    OneEpoch,
    /// Unknown: the law is known, and its leakage is not.
    #[strum(to_string = "none is built in for this law")]
    NoAccount,
    /// Other words: those of a stored document, or of an error.
    #[strum(to_string = "{0}")]
    Other(String),
}

/// What bounds allow for beyond their method, as far as a log of batches leaves it open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowance {
    /// Any sampling probability in its confidence interval.
    SamplingProbability,
    /// Any buffer up to the largest in its confidence interval.
    LargestBuffer(u64),
    /// Bins that are the same in every epoch.
    RepeatedBins,
    /// Records that are used more often than the scheme means to.
    Uses {
        /// Whether ranks have copies.
        by_ranks: bool,
        /// Whether workers have copies.
        by_workers: bool,
        /// Most uses in one epoch.
        repeats: u64,
    },
}

impl BoundMethod {
    /// Sides that were computed in different ways.
    pub fn sides(lower: SideMethod, upper: SideMethod) -> Self {
        Self::Sides { lower, upper }
    }

    /// How the lower side was computed, before allowances.
    pub fn lower(&self) -> &SideMethod {
        match self {
            Self::Both(method) | Self::Sides { lower: method, .. } => method,
            Self::Allowing(method, _) | Self::Either(method, _) => method.lower(),
        }
    }

    /// How the upper side was computed, before allowances.
    pub fn upper(&self) -> &SideMethod {
        match self {
            Self::Both(method) | Self::Sides { upper: method, .. } => method,
            Self::Allowing(method, _) | Self::Either(method, _) => method.upper(),
        }
    }

    /// Whether a side takes too much work.
    pub fn is_out_of_reach(&self) -> bool {
        [self.lower(), self.upper()].contains(&&SideMethod::OutOfReach)
    }

    /// The same method with an allowance.
    #[must_use]
    pub fn allowing(self, allowance: Allowance) -> Self {
        Self::Allowing(Box::new(self), allowance)
    }

    /// This method or another, once if they are the same.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Either(Box::new(self), Box::new(other)) }
    }
}

impl From<SideMethod> for BoundMethod {
    fn from(method: SideMethod) -> Self {
        Self::Both(method)
    }
}

impl From<String> for SideMethod {
    fn from(words: String) -> Self {
        Self::Other(words)
    }
}

impl fmt::Display for BoundMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Both(method) => method.fmt(f),
            Self::Sides { lower, upper } => write!(f, "lower: {lower}; upper: {upper}"),
            Self::Allowing(method, allowance) => write!(f, "{method}{allowance}"),
            Self::Either(one, two) => write!(f, "{one}; or {two}"),
        }
    }
}

/// Words that follow those of a method.
impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::SamplingProbability => {
                f.write_str(", at both ends of the sampling probability's 95 % interval")
            }
            Self::LargestBuffer(size) => {
                write!(f, "; lower: at a buffer of {size}, the end of its 95 % interval")
            }
            Self::RepeatedBins => {
                f.write_str("; upper: bins that all epochs repeat, which one epoch does not rule out")
            }
            Self::Uses { by_ranks, by_workers, repeats } => {
                let repeated = format!("a record that an epoch deals {repeats} times, in one step");
                let why = [
                    by_ranks.then_some("all ranks' copies of a record in one step"),
                    by_workers.then_some("all workers' copies of a record"),
                    (repeats > 1).then_some(repeated.as_str()),
                ];
                let why: Vec<&str> = why.into_iter().flatten().collect();
                write!(f, "; upper: {}, in fixed order", why.join(" and "))
            }
        }
    }
}

impl Serialize for BoundMethod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BoundMethod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::Both(SideMethod::Other(String::deserialize(deserializer)?)))
    }
}

impl JsonSchema for BoundMethod {
    fn schema_name() -> Cow<'static, str> {
        "bound_method".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_words_are_read_and_written_back() {
        let methods = [
            BoundMethod::sides(SideMethod::Audit { observations: 6666 }, SideMethod::NoneKnown),
            BoundMethod::from(SideMethod::PrivacyLoss).allowing(Allowance::SamplingProbability),
            SideMethod::Other("an accountant of 2031 {0}".into()).into(),
        ];
        for method in methods {
            let text = serde_json::to_string(&method).unwrap();
            let back: BoundMethod = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&back).unwrap(), text);
            assert_eq!(back.to_string(), method.to_string());
        }
    }

    #[test]
    fn allowances_follow_the_sides() {
        let both = BoundMethod::from(SideMethod::DominatingPair);
        let uses = Allowance::Uses { by_ranks: true, by_workers: false, repeats: 3 };
        assert_eq!(
            both.clone().or(both.clone()).allowing(uses).to_string(),
            "dominating pair (FFT); upper: all ranks' copies of a record in one step and a record that an epoch deals 3 times, \
             in one step, in fixed order"
        );
        let sides = BoundMethod::sides(SideMethod::OutOfReach, SideMethod::FixedOrder);
        assert!(sides.is_out_of_reach() && !both.is_out_of_reach());
        assert_eq!(
            both.or(sides).to_string(),
            "dominating pair (FFT); or lower: out of reach (it takes more than 1 GB or 10 s); upper: fixed order"
        );
    }
}
