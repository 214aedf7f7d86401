//! What is fuzzed: bytes in memory to a parser, which must answer and not panic, hang or take memory that the bytes do not justify.

mod data;
mod deep;
mod logs;
mod programs;
mod results;
mod scores;
mod stores;
mod toml;

/// Bytes to a parser.
pub type Parser = fn(&[u8]);

/// All parsers by name; a corpus has the same name.
pub const TARGETS: [(&str, Parser); 19] = [
    ("scores_npy", scores::npy),
    ("scores_csv", scores::csv),
    ("scores_parquet", scores::parquet),
    ("log_json_lines", logs::json_lines),
    ("log_npy", logs::npy),
    ("log_parquet", logs::parquet),
    ("store", stores::store),
    ("store_sealed", stores::sealed),
    ("model_toml", toml::model),
    ("scan_settings_toml", toml::scan_settings),
    ("python_source", programs::python),
    ("notebook", programs::notebook),
    ("result_json", results::json),
    ("idx", data::idx),
    ("cifar_binary", data::cifar_binary),
    ("cifar_pickle", data::cifar_pickle),
    ("labelled_bits", data::labelled_bits),
    ("npz", data::npz),
    ("tar", data::tar),
];

/// A refusal is one line, and not longer than anybody reads.
fn check_refusal(message: &str) {
    assert!(!message.contains('\n'), "a refusal of several lines: {message:?}");
    assert!(message.len() < 12_000, "a refusal of {} bytes", message.len());
}
