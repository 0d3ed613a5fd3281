use crate::output;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use swapmeet_results::{Record, Status, Verified, duration};

/// Returns a table without lines between cells. The columns in `numbers` are right-aligned.
pub(crate) fn plain(header: &[&str], numbers: &[usize], rows: Vec<Vec<String>>) -> String {
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

pub(crate) const UNCHARGED: &str = "† is not charged for rearrangement, because it declares none; rearrangement=packed charges all algorithms equally";

/// Returns the algorithm of each row. If a machine charges some algorithms for rearrangement, a
/// dagger marks those that it does not charge.
pub(crate) fn marked(records: &[Record]) -> Vec<String> {
    let is_charged =
        |other: &Record, machine: &str| other.machine == machine && !other.is_uncharged();
    let mark = |row: &Record| {
        let is_marked =
            row.is_uncharged() && records.iter().any(|other| is_charged(other, &row.machine));
        format!("{}{}", row.algorithm, if is_marked { " †" } else { "" })
    };
    records.iter().map(mark).collect()
}

pub(crate) fn terminal_width() -> Option<usize> {
    let size = output::is_terminal().then(crossterm::terminal::size)?;
    size.ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0)
}

/// Returns the table of a run, and below it the reasons of cases without results. If the table is
/// wider than `width`, columns whose values are all equal are written above it instead.
pub(crate) fn results(records: &[Record], width: Option<usize>) -> String {
    let mut header = vec![
        "topology",
        "algorithm",
        "workload",
        "machine",
        "verified",
        "time",
        "time/bound",
        "steps",
        "messages",
        "link load",
    ];
    let has_optimum = records.iter().any(|r| r.optimum_us.is_some());
    header.extend(has_optimum.then_some("time/optimum"));
    let has_alone = records.iter().any(|r| r.alone_us.is_some());
    header.extend(has_alone.then_some("time/alone"));
    let has_barriers = records.iter().any(|r| r.barrier_us.is_some_and(|us| us > 0.0));
    header.extend(has_barriers.then_some("barriers"));
    let mut reasons: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    let algorithms = marked(records);
    if algorithms.iter().any(|name| name.ends_with('†')) {
        reasons.push(UNCHARGED.to_owned());
    }
    // If a case has no result, the column `verified` shows the status of the case instead.
    for (r, algorithm) in records.iter().zip(algorithms) {
        let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let verified = match (r.status, r.verified) {
            (Status::Ok, Verified::None) => "no".to_owned(),
            (Status::Ok, _) => r.verification(),
            (status, _) => status.to_string(),
        };
        let ratio = |bound: Option<f64>| match (r.time_us, bound) {
            (Some(time), Some(bound)) if bound > 0.0 => format!("{:.2}", time / bound),
            _ => String::new(),
        };
        let share = match (r.barrier_us, r.time_us) {
            (Some(barriers), Some(time)) if time > 0.0 => {
                format!("{:.0} %", 100.0 * barriers / time)
            }
            _ => String::new(),
        };
        let mut row = vec![
            r.topology.clone(),
            algorithm,
            r.workload.clone(),
            r.machine.clone(),
            verified,
            r.time_us.map(duration).unwrap_or_default(),
            ratio(r.lower_bound_us),
            steps(r),
            number(r.messages),
            number(r.max_link_messages),
        ];
        row.extend(has_optimum.then(|| ratio(r.optimum_us)));
        row.extend(has_alone.then(|| ratio(r.alone_us)));
        row.extend(has_barriers.then_some(share));
        rows.push(row);
        // Repetitions of a case have the same remarks, so equal remarks are printed once.
        for remark in [&r.reason, &r.note] {
            let line = format!("{} on {}: {remark}", r.algorithm, r.topology);
            if !remark.is_empty() && !reasons.contains(&line) {
                reasons.push(line);
            }
        }
    }
    let numbers: Vec<usize> = (5..header.len()).collect();
    let mut text = plain(&header, &numbers, rows.clone());
    if width.is_some_and(|width| text.lines().any(|line| line.chars().count() > width)) {
        let common = take_common(&mut header, &mut rows, 5);
        let numbers: Vec<usize> = (header.len() - numbers.len()..header.len()).collect();
        let above = if common.is_empty() {
            String::new()
        } else {
            format!("All cases: {}\n\n", common.join(", "))
        };
        text = above + &plain(&header, &numbers, rows);
    }
    if !reasons.is_empty() {
        text += "\n\n";
        text += &reasons.join("\n");
    }
    text
}

/// Formats the steps and, if the machine needs several rounds for a step, the rounds.
fn steps(row: &Record) -> String {
    match (row.steps, row.rounds) {
        (Some(steps), Some(rounds)) if rounds > steps => format!("{steps} ({rounds} rounds)"),
        (steps, _) => steps.map(|steps| steps.to_string()).unwrap_or_default(),
    }
}

/// Removes and returns those of the first `most` columns whose texts are equal in all rows.
fn take_common(header: &mut Vec<&str>, rows: &mut [Vec<String>], most: usize) -> Vec<String> {
    let mut common = Vec::new();
    for column in (0..most).rev() {
        if let Some(first) = rows.first().map(|row| row[column].clone())
            && rows.iter().all(|row| row[column] == first)
        {
            let title = header.remove(column);
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
            // In the column `verified`, failed cases have their status, which is listed without a
            // title.
            let failed = Status::ALL.iter().any(|status| status.word() == first);
            let verified = title == "verified" && !failed;
            common.push(if verified { format!("verified: {first}") } else { first });
        }
    }
    common.reverse();
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_core::cost::model::UNDECLARED;

    #[test]
    fn a_narrow_terminal_shows_common_values_once() {
        let row = |algorithm: &str| Record {
            topology: "ring:8".to_owned(),
            algorithm: algorithm.to_owned(),
            workload: "uniform:1".to_owned(),
            machine: "paragon".to_owned(),
            status: Status::Ok,
            verified: Verified::Blocks,
            steps: Some(7),
            ..Record::default()
        };
        let rows = [row("ring"), row("bruck")];
        let wide = results(&rows, None);
        assert_eq!(wide, results(&rows, Some(120)));
        assert!(
            wide.lines().all(|line| line.starts_with("topology") || line.starts_with("ring:8")),
            "{wide}"
        );
        assert_eq!(
            results(&rows, Some(60)),
            "All cases: ring:8, uniform:1, paragon, verified: blocks\n\n\
             algorithm  time  time/bound  steps  messages  link load\n\
             ring                             7\n\
             bruck                            7"
        );
        let in_rounds = Record { rounds: Some(28), ..rows[0].clone() };
        let shown = results(&[Record { rounds: Some(7), ..rows[1].clone() }, in_rounds], None);
        let shown: Vec<&str> =
            shown.lines().map(|line| line.rsplit("  ").next().unwrap()).collect();
        assert_eq!(shown[1..], ["7", "7 (28 rounds)"], "more rounds than steps are shown");
        let uncharged = Record { note: UNDECLARED.to_owned(), ..rows[1].clone() };
        let both = results(&[rows[0].clone(), uncharged.clone()], None);
        assert!(both.contains("  bruck †  ") && both.contains(UNCHARGED), "{both}");
        assert!(!results(&[uncharged], None).contains('†'), "nothing else is charged");
        let with_barriers =
            rows.map(|row| Record { time_us: Some(200.0), barrier_us: Some(184.0), ..row });
        let last = |line: &str| line.split_whitespace().rev().take(2).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = results(&with_barriers, None).lines().map(last).collect();
        assert_eq!(lines, ["barriers load", "% 92", "% 92"]);
        let with_optimum = Record {
            lower_bound_us: Some(80.0),
            optimum_us: Some(100.0),
            ..with_barriers[0].clone()
        };
        let text = results(&[with_optimum], None);
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().rev().take(5).collect()).collect();
        assert_eq!(lines[0][..3], ["barriers", "time/optimum", "load"]);
        assert_eq!(lines[1], ["%", "92", "2.00", "7", "2.50"]);
        let in_communicators =
            Record { alone_us: Some(50.0), barrier_us: None, ..with_barriers[0].clone() };
        let text = results(&[in_communicators], None);
        let lines: Vec<&str> =
            text.lines().filter_map(|line| line.split_whitespace().next_back()).collect();
        assert_eq!(lines, ["time/alone", "4.00"]);
        assert!(
            results(&with_barriers[..1], Some(20))
                .starts_with("All cases: ring:8, ring, uniform:1, paragon"),
            "one case"
        );
    }
}
