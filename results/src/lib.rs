//! Result rows: reading and writing CSV, statistics, and analysis of many rows.

pub mod analysis;
pub mod atomic_file;
mod bandwidth;
mod case_id;
mod changed_defaults;
mod command;
mod compare;
mod field;
mod grouped;
mod input;
mod merge;
mod names;
mod output;
mod parameter;
pub mod parts;
mod plausibility;
mod record;
mod render;
mod rerun;
mod specs;
pub mod stats;
mod styles;
pub mod units;

pub use bandwidth::Bandwidths;
pub use case_id::{CaseId, Difference, Implementation, Setting, inputs, inputs_column};
pub use changed_defaults::{
    CHANGED_DEFAULTS, ChangedDefault, Of, changed_between, remark_on_versions,
};
pub use command::{command, quoted};
pub use compare::residual::{MEASURED, Residual, is_measured};
pub use compare::{
    By, CHARGED_LESS, CHARGED_LESS_REMARK, CompareError, CompareOptions, ComparedRows, Comparison,
    ComparisonLine, Correction, Group, LineOptimum, RowLocation, RunTime, StatusCounts, Tests,
    compare, compare_by, compare_rows, rearrangement_remark,
};
pub use field::{NotFinite, csv_table};
pub use grouped::grouped;
pub use input::{
    FileRows, ReadError, ResultFiles, TornRow, for_each_row, read_file, read_files, read_records,
    read_rows,
};
pub use merge::{InconsistentRows, MergeError, MergedOrder, MissingCases, Shards};
pub use names::{defined_name, without_common_parts};
pub use output::{CsvSink, Sink};
pub use parameter::{Parameter, Parameters, SpecKind, UnknownParameter};
pub use record::{
    ColumnInfo, MOST_US, Record, Status, Verified, column_infos, columns, outcome_columns,
};
pub use render::{
    View, escaped, html_table, latex_escaped, single_line, write_csv, write_html, write_json,
    write_latex, write_markdown, write_table,
};
pub use styles::{AlgorithmStyles, STYLES, has_fixed_style, mark};
pub use swapmeet_core::cost::kind::{Kind, Parts};
pub use units::duration;
