//! Tables for reading.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use swapmeet_results::{Record, Status, Verified, duration};

/// A plain table: a header, rows, no lines drawn. `numbers` are the columns that align right.
pub fn plain(header: &[&str], numbers: &[usize], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header.to_vec()).add_rows(rows);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if numbers.contains(&i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// The rows of a run: what differs between cases, then the figures; under it, the reasons of cases that gave none.
pub fn results(records: &[Record]) -> String {
    let header = [
        "topology",
        "algorithm",
        "workload",
        "machine",
        "verified",
        "time",
        "x bound",
        "steps",
        "messages",
        "busiest link",
    ];
    let mut reasons: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for r in records {
        let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let verified = match (r.status, r.verified) {
            (Status::Ok, Verified::None) => "no".to_owned(),
            (Status::Ok, verified) => verified.to_string(),
            (status, _) => status.to_string(),
        };
        let ratio = match (r.time_us, r.lower_bound_us) {
            (Some(time), Some(bound)) if bound > 0.0 => format!("{:.2}", time / bound),
            _ => String::new(),
        };
        rows.push(vec![
            r.topology.clone(),
            r.algorithm.clone(),
            r.workload.clone(),
            r.machine.clone(),
            verified,
            r.time_us.map(duration).unwrap_or_default(),
            ratio,
            number(r.steps),
            number(r.messages),
            number(r.max_link_messages),
        ]);
        for remark in [&r.reason, &r.note] {
            let line = format!("{} on {}: {remark}", r.algorithm, r.topology);
            if !remark.is_empty() && !reasons.contains(&line) {
                reasons.push(line);
            }
        }
    }
    let mut text = plain(&header, &[5, 6, 7, 8, 9], rows);
    if !reasons.is_empty() {
        text += "\n\n";
        text += &reasons.join("\n");
    }
    text
}
