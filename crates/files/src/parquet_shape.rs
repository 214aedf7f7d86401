//! The types of the fields in Parquet's footer and page headers (parquet.thrift).
//!
//! The Parquet reader ignores the declared types of fields that it knows. After a wrong declaration, it would continue at another
//! byte than our check does. Declared types are therefore compared first. All fields that the reader knows must be listed here; a
//! newer version may know more.

use crate::thrift_walk::{FieldKinds, Kind};

const NUMBER_8: Kind = Kind::Plain(3);
const NUMBER_16: Kind = Kind::Plain(4);
const NUMBER_32: Kind = Kind::Plain(5);
const NUMBER_64: Kind = Kind::Plain(6);
const DOUBLE: Kind = Kind::Plain(7);
const BINARY: Kind = Kind::Plain(8);
const EMPTY: Kind = Kind::Struct(&[]);

/// The footer, `FileMetaData`.
pub(crate) const FOOTER: &FieldKinds = &[
    (1, NUMBER_32),
    (2, Kind::List(&Kind::Struct(SCHEMA_ELEMENT))),
    (3, NUMBER_64),
    (4, Kind::List(&Kind::Struct(ROW_GROUP))),
    (5, KEY_VALUES),
    (6, BINARY),
    (7, Kind::List(&Kind::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))),
    (8, Kind::Struct(&[(1, ENCRYPTION), (2, ENCRYPTION)])),
    (9, BINARY),
];

/// A page's header, `PageHeader`.
pub(crate) const PAGE_HEADER: &FieldKinds = &[
    (1, NUMBER_32),
    (2, NUMBER_32),
    (3, NUMBER_32),
    (4, NUMBER_32),
    (5, Kind::Struct(&[(1, NUMBER_32), (2, NUMBER_32), (3, NUMBER_32), (4, NUMBER_32), (5, STATISTICS)])),
    (6, EMPTY),
    (7, Kind::Struct(&[(1, NUMBER_32), (2, NUMBER_32), (3, Kind::Boolean)])),
    (8, Kind::Struct(DATA_PAGE_2)),
];

const DATA_PAGE_2: &FieldKinds = &[
    (1, NUMBER_32),
    (2, NUMBER_32),
    (3, NUMBER_32),
    (4, NUMBER_32),
    (5, NUMBER_32),
    (6, NUMBER_32),
    (7, Kind::Boolean),
    (8, STATISTICS),
];

const SCHEMA_ELEMENT: &FieldKinds = &[
    (1, NUMBER_32),
    (2, NUMBER_32),
    (3, NUMBER_32),
    (4, BINARY),
    (5, NUMBER_32),
    (6, NUMBER_32),
    (7, NUMBER_32),
    (8, NUMBER_32),
    (9, NUMBER_32),
    (10, Kind::Struct(LOGICAL_TYPE)),
];

const LOGICAL_TYPE: &FieldKinds = &[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Kind::Struct(&[(1, NUMBER_32), (2, NUMBER_32)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Kind::Struct(&[(1, NUMBER_8), (2, Kind::Boolean)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Kind::Struct(&[(1, NUMBER_8)])),
    (17, Kind::Struct(&[(1, BINARY)])),
    (18, Kind::Struct(&[(1, BINARY), (2, NUMBER_32)])),
    (19, EMPTY),
];

const TIME: Kind =
    Kind::Struct(&[(1, Kind::Boolean), (2, Kind::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))]);

const ROW_GROUP: &FieldKinds = &[
    (1, Kind::List(&Kind::Struct(COLUMN_CHUNK))),
    (2, NUMBER_64),
    (3, NUMBER_64),
    (4, Kind::List(&Kind::Struct(&[(1, NUMBER_32), (2, Kind::Boolean), (3, Kind::Boolean)]))),
    (5, NUMBER_64),
    (6, NUMBER_64),
    (7, NUMBER_16),
];

const COLUMN_CHUNK: &FieldKinds = &[
    (1, BINARY),
    (2, NUMBER_64),
    (3, Kind::Struct(COLUMN_META_DATA)),
    (4, NUMBER_64),
    (5, NUMBER_32),
    (6, NUMBER_64),
    (7, NUMBER_32),
    (8, Kind::Struct(&[(1, EMPTY), (2, Kind::Struct(&[(1, Kind::List(&BINARY)), (2, BINARY)]))])),
    (9, BINARY),
];

const COLUMN_META_DATA: &FieldKinds = &[
    (1, NUMBER_32),
    (2, Kind::List(&NUMBER_32)),
    (3, Kind::List(&BINARY)),
    (4, NUMBER_32),
    (5, NUMBER_64),
    (6, NUMBER_64),
    (7, NUMBER_64),
    (8, KEY_VALUES),
    (9, NUMBER_64),
    (10, NUMBER_64),
    (11, NUMBER_64),
    (12, STATISTICS),
    (13, Kind::List(&Kind::Struct(&[(1, NUMBER_32), (2, NUMBER_32), (3, NUMBER_32)]))),
    (14, NUMBER_64),
    (15, NUMBER_32),
    (16, Kind::Struct(&[(1, NUMBER_64), (2, Kind::List(&NUMBER_64)), (3, Kind::List(&NUMBER_64))])),
    (17, Kind::Struct(&[(1, Kind::Struct(BOUNDING_BOX)), (2, Kind::List(&NUMBER_32))])),
];

const BOUNDING_BOX: &FieldKinds =
    &[(1, DOUBLE), (2, DOUBLE), (3, DOUBLE), (4, DOUBLE), (5, DOUBLE), (6, DOUBLE), (7, DOUBLE), (8, DOUBLE)];

const STATISTICS: Kind = Kind::Struct(&[
    (1, BINARY),
    (2, BINARY),
    (3, NUMBER_64),
    (4, NUMBER_64),
    (5, BINARY),
    (6, BINARY),
    (7, Kind::Boolean),
    (8, Kind::Boolean),
    (9, NUMBER_64),
]);

const KEY_VALUES: Kind = Kind::List(&Kind::Struct(&[(1, BINARY), (2, BINARY)]));
const ENCRYPTION: Kind = Kind::Struct(&[(1, BINARY), (2, BINARY), (3, Kind::Boolean)]);
