//! The byte format of a store. Equal stores give equal bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `misdeal` and a zero byte |
//! | 4 | the format version, little endian |
//! | 8 | the length of the header, little endian |
//! | | the header as JSON: setting and its hash, lineage, stream, kind, trials, the program's version, tallies if there are any, judgements |
//! | | for counts: the tables `In` even, `In` odd, `Out` even, `Out` odd. Each is a list of pairs (distance to the last bin, count) as variable-length integers, and ends with a distance of 0. The first distance is the bin plus 1 |
//! | | for exact scores: the scores `In` and `Out` of each trial, in ascending order, as little-endian `f64` |
//! | 32 | the BLAKE3 checksum of everything before it |

use super::identity::Identity;
use super::sealed::{SealedReader, SealedWriter};
use super::{
    BinCounts, Counts, ExactScores, Judgements, ScoreStore, Scores, StoreKind, Tally, TrialRanges,
    check_finite,
};
use crate::score_grid::BINS;
use crate::{Error, Setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

/// The format version that this code writes.
///
/// It also reads version 1, which does not say how scores were judged.
pub const FORMAT_VERSION: u32 = 2;

/// The first bytes of every store.
pub const STORE_START: [u8; 8] = *b"misdeal\0";

/// The number of trials read at a time.
const PIECE: u64 = 1 << 16;

/// The reason why a store could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Reading the source failed. This says nothing about the store.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes were read but are not a valid store.
    #[error(transparent)]
    Refused(#[from] Error),
}

impl ReadError {
    pub(super) fn corrupt(problem: impl Into<String>) -> Self {
        // The message may contain text from the file, so control characters are replaced to keep it on one line.
        ReadError::Refused(Error::Corrupt(problem.into().replace(char::is_control, " ")))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    setting: Setting,
    setting_hash: String,
    lineage: String,
    stream: String,
    kind: StoreKind,
    trials: Vec<[u64; 2]>,
    written_by: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tallies: BTreeMap<String, Tally>,
    /// `None` in version 1.
    #[serde(default)]
    judgements: Option<Judgements>,
}

impl ScoreStore {
    /// Writes the store to `sink` without a second copy in memory.
    ///
    /// # Errors
    /// The errors of `sink`.
    pub fn write_to(&self, sink: &mut dyn Write) -> io::Result<()> {
        let header = Header {
            setting: self.identity.setting.clone(),
            setting_hash: self.identity.hash.to_string(),
            lineage: self.identity.lineage.clone(),
            stream: self.identity.stream.clone(),
            kind: self.kind(),
            trials: self.trials().iter().map(|range| [range.start, range.end]).collect(),
            written_by: concat!("misdeal ", env!("CARGO_PKG_VERSION")).into(),
            tallies: self.tallies.clone(),
            judgements: Some(self.judgements.clone()),
        };
        let header = serde_json::to_vec(&header)?;
        let mut writer = SealedWriter::new(sink);
        writer.write(&STORE_START)?;
        writer.write(&FORMAT_VERSION.to_le_bytes())?;
        writer.write(&(header.len() as u64).to_le_bytes())?;
        writer.write(&header)?;
        match &self.scores {
            Scores::Counts(counts) => {
                counts.tables().try_for_each(|table| write_table(&mut writer, table))?;
            }
            Scores::Exact(exact) => {
                for (_, pair) in exact.pairs() {
                    pair.iter().try_for_each(|score| writer.write(&score.to_le_bytes()))?;
                }
            }
        }
        writer.seal()
    }

    /// Reads a store up to the end of `source`, which need not be buffered.
    ///
    /// # Errors
    /// Refuses bytes that are not a store, another format version, and bytes that are cut short, altered or followed by
    /// more bytes. Also refuses content that [`insert`](ScoreStore::insert) would refuse. Lengths in the input are not
    /// trusted: memory grows only with the bytes that are present.
    pub fn read_from(source: &mut dyn Read) -> Result<Self, ReadError> {
        let mut reader = SealedReader::new(source);
        let mut magic = [0; 8];
        match reader.read(&mut magic) {
            Err(ReadError::Io(error)) => return Err(ReadError::Io(error)),
            Ok(()) if magic == STORE_START => {}
            _ => return Err(ReadError::corrupt("not a misdeal store")),
        }
        let (mut version, mut length) = ([0; 4], [0; 8]);
        reader.read(&mut version)?;
        let version = u32::from_le_bytes(version);
        if !(1..=FORMAT_VERSION).contains(&version) {
            return Err(ReadError::corrupt(format!(
                "the store has format version {version}, and this program reads versions 1 to {FORMAT_VERSION}; use the \
                 program that wrote it"
            )));
        }
        reader.read(&mut length)?;
        let header = reader.read_vec(u64::from_le_bytes(length))?;
        let header: Header = serde_json::from_slice(&header)
            .map_err(|error| ReadError::corrupt(format!("the store's header is altered: {error}")))?;
        let identity = Identity::new(header.setting, header.lineage, header.stream)?;
        if identity.hash.to_string() != header.setting_hash {
            return Err(ReadError::corrupt(format!(
                "the store's setting does not have the hash it was written with; it was written by {}",
                header.written_by
            )));
        }
        if !header.tallies.values().all(Tally::is_possible) {
            return Err(ReadError::corrupt("the store is altered: no numbers give one of its tallies"));
        }
        let trials = read_trials(&header.trials)?;
        let scores = match header.kind {
            StoreKind::Counts => Scores::Counts(read_counts(&mut reader, &trials)?),
            StoreKind::Exact => Scores::Exact(read_exact(&mut reader, &trials)?),
        };
        reader.check_seal()?;
        // A store of version 1 may already have been judged when it was finished.
        let judgements = header.judgements.unwrap_or_else(|| Judgements::of_a_finished_run(trials.len()));
        Ok(ScoreStore { identity, trials, scores, tallies: header.tallies, judgements })
    }

    /// The store as bytes.
    ///
    /// # Panics
    /// Never. A vector accepts all bytes, and the header has only numbers and names, which JSON can write.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).expect("a vector takes all bytes");
        bytes
    }

    /// The store that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// The errors of [`read_from`](Self::read_from).
    pub fn from_bytes(mut bytes: &[u8]) -> crate::Result<Self> {
        Self::read_from(&mut bytes).map_err(|error| match error {
            ReadError::Refused(error) => error,
            ReadError::Io(error) => Error::Corrupt(error.to_string()),
        })
    }
}

fn write_table(writer: &mut SealedWriter<'_>, table: &BinCounts) -> io::Result<()> {
    let mut next = 0;
    for (bin, count) in table.iter() {
        writer.write_varint(u64::from(bin + 1 - next))?;
        writer.write_varint(count)?;
        next = bin + 1;
    }
    writer.write_varint(0)
}

fn read_trials(ranges: &[[u64; 2]]) -> Result<TrialRanges, ReadError> {
    if ranges.iter().any(|[start, end]| start >= end) {
        return Err(ReadError::corrupt("the store is altered: a range of trials ends before it begins"));
    }
    Ok(TrialRanges::new(ranges.iter().map(|&[start, end]| start..end))?)
}

fn read_counts(reader: &mut SealedReader<'_>, trials: &TrialRanges) -> Result<Counts, ReadError> {
    let expected = [trials.even(), trials.len() - trials.even()];
    let mut counts = Counts::default();
    for (table, expected) in counts.tables_mut().zip(expected.into_iter().cycle()) {
        let (mut next, mut left) = (0, expected);
        loop {
            let distance = reader.read_varint()?;
            if distance == 0 {
                break;
            }
            let count = reader.read_varint()?;
            if distance > u64::from(BINS) - next || count == 0 || count > left {
                return Err(ReadError::corrupt("the store is altered: its counts do not fit its trials"));
            }
            next += distance;
            left -= count;
            table.add((next - 1) as u32, count);
        }
        if left > 0 {
            return Err(ReadError::corrupt(format!("the store is altered: {left} trials are not counted")));
        }
    }
    Ok(counts)
}

fn read_exact(reader: &mut SealedReader<'_>, trials: &TrialRanges) -> Result<ExactScores, ReadError> {
    let mut exact = ExactScores::default();
    for range in trials.as_slice() {
        let mut first = range.start;
        while first < range.end {
            let length = PIECE.min(range.end - first);
            let bytes = reader.read_vec(16 * length)?;
            let score = |at: usize| f64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
            let [scores_in, scores_out] = [0, 8]
                .map(|offset| (0..bytes.len()).step_by(16).map(|at| score(at + offset)).collect::<Vec<_>>());
            check_finite("scores_in", first, &scores_in)?;
            check_finite("scores_out", first, &scores_out)?;
            exact.insert(first, scores_in, scores_out);
            first += length;
        }
    }
    Ok(exact)
}
