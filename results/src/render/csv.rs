//! Writes a comparison as CSV or JSON, for other programs.

use super::View;
use super::pivot::pivots;
use crate::compare::{By, CHARGED_LESS_REMARK, Comparison, ComparisonLine, Group};
use crate::field::write_csv_table;
use crate::record::Status;
use crate::stats::Interval;
use std::io::{self, Write};

/// Writes a comparison as JSON, in which unknown values are `null`.
pub fn write_json(comparison: &Comparison, view: View, out: &mut dyn Write) -> io::Result<()> {
    match view {
        View::Summary | View::Details => serde_json::to_writer_pretty(out, comparison),
        View::Pivot(axis) => serde_json::to_writer_pretty(out, &pivots(comparison, axis)),
    }
    .map_err(io::Error::from)
}

/// Writes a row for each line of a group or pivot table, with all digits. Unknown values are empty.
pub fn write_csv(comparison: &Comparison, view: View, out: &mut dyn Write) -> io::Result<()> {
    if let View::Pivot(axis) = view {
        let tables = pivots(comparison, axis);
        return write_csv_table(out, super::pivot::csv(axis, &tables)).map_err(io::Error::from);
    }
    // The column `together` is written only if jobs ran at the same time as others.
    let has_companions = comparison.groups.iter().any(|g| !g.setting.together.is_empty());
    let has_remarks = comparison
        .groups
        .iter()
        .any(|group| group.lines.iter().any(|line| group.is_charged_less(line)));
    let lines = || {
        let groups = comparison.groups.iter();
        let lines = groups.flat_map(|group| group.lines.iter().map(move |line| (group, line)));
        lines.map(move |(group, line)| {
            let together = ("together".to_owned(), group.setting.together.clone());
            let text = if group.is_charged_less(line) { CHARGED_LESS_REMARK } else { "" };
            let remark = has_remarks.then(|| ("remark".to_owned(), text.to_owned()));
            let columns = columns(group, line, comparison.by);
            let more = has_companions.then_some(together).into_iter().chain(remark);
            columns.into_iter().chain(more).unzip()
        })
    };
    let header = lines().next().map(|(names, _): (Vec<String>, Vec<String>)| names);
    let rows = lines().map(|(_, texts): (Vec<String>, Vec<String>)| texts);
    write_csv_table(out, header.into_iter().chain(rows)).map_err(io::Error::from)
}

fn columns(group: &Group, line: &ComparisonLine, by: By) -> Vec<(String, String)> {
    let time = line.time.as_ref();
    let ratio = line.ratio.as_ref();
    let number = |f: Option<f64>| f.map(|f| f.to_string()).unwrap_or_default();
    let low = |i: Option<Interval>| number(i.map(|i| i.low));
    let high = |i: Option<Interval>| number(i.map(|i| i.high));
    // If `own` is the compared property, returns the line's value, otherwise the group's.
    let of = |own: By, group: &str| {
        if by == own { line.algorithm.clone() } else { group.to_owned() }
    };
    let mut columns: Vec<(String, String)> = [
        ("topology", of(By::Topology, &group.setting.topology)),
        ("collective", group.setting.collective.clone()),
        ("workload", group.setting.workload.clone()),
        ("inputs", group.setting.inputs.clone()),
        ("machine", of(By::Machine, &group.setting.machine)),
        ("machine_definition", group.setting.machine_definition.clone()),
        ("model", of(By::Model, &group.setting.model)),
        ("baseline", group.baseline.clone().unwrap_or_default()),
        ("algorithm", of(By::Algorithm, group.of_algorithm.as_deref().unwrap_or_default())),
        ("status", line.status.to_string()),
        ("reason", line.reason.clone()),
        ("verified", line.verified.to_string()),
        ("n", time.map(|t| t.n.to_string()).unwrap_or_default()),
        ("mean_us", number(time.map(|t| t.mean))),
        ("median_us", number(time.map(|t| t.median))),
        ("sd_us", number(time.and_then(|t| t.sd))),
        ("mean_low_us", low(time.and_then(|t| t.interval))),
        ("mean_high_us", high(time.and_then(|t| t.interval))),
        ("ratio", number(ratio.map(|r| r.value))),
        ("ratio_low", low(ratio.and_then(|r| r.interval))),
        ("ratio_high", high(ratio.and_then(|r| r.interval))),
        ("paired", line.tests.as_ref().map(|t| t.paired.to_string()).unwrap_or_default()),
        ("t_p", number(line.tests.as_ref().and_then(|t| t.t_p))),
        ("rank_p", number(line.tests.as_ref().and_then(|t| t.rank_p))),
        ("t_p_holm", number(line.tests.as_ref().and_then(|t| t.t_p_holm))),
        ("rank_p_holm", number(line.tests.as_ref().and_then(|t| t.rank_p_holm))),
        ("effect", number(line.tests.as_ref().and_then(|t| t.effect))),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .into();
    // The following columns are written for every comparison.
    let count = |status: &Status| line.rows.get(*status).to_string();
    columns.extend(Status::ALL.iter().map(|status| (format!("rows_{status}"), count(status))));
    columns.extend([
        ("algbw_gb_s".to_owned(), number(line.bandwidths.map(|b| b.algorithm))),
        ("busbw_gb_s".to_owned(), number(line.bandwidths.map(|b| b.bus))),
    ]);
    if matches!(by, By::Placement | By::Parameter(_)) {
        columns.push((by.label().to_owned(), line.algorithm.clone()));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{files, row};
    use crate::compare::{CompareOptions, compare_by};
    use crate::record::Record;
    use crate::render::tests::{comparison, details_of, partly_failed, repeated};

    #[test]
    fn values_have_all_digits() {
        insta::assert_snapshot!(details_of(write_csv, &repeated()), @r"
        topology,collective,workload,inputs,machine,machine_definition,model,baseline,algorithm,status,reason,verified,n,mean_us,median_us,sd_us,mean_low_us,mean_high_us,ratio,ratio_low,ratio_high,paired,t_p,rank_p,t_p_holm,rank_p_holm,effect,rows_ok,rows_unsupported,rows_invalid,rows_crashed,rows_timeout,rows_error,algbw_gb_s,busbw_gb_s
        torus:4x4,alltoall,uniform:64,,paragon,,wormhole,fast,fast,ok,,blocks,3,10.066666666666666,10,0.3055050463303892,9.307750059947313,10.82558327338602,1,,,,,,,,,3,0,0,0,0,0,,
        torus:4x4,alltoall,uniform:64,,paragon,,wormhole,fast,alike,ok,,blocks,3,10.1,10.1,0.20000000000000018,9.603172457649933,10.596827542350066,1.0033112582781456,0.9749883293539778,1.032456954284433,true,0.6666666666666657,1,0.6666666666666657,1,0.28867513459481287,3,0,0,0,0,0,,
        torus:4x4,alltoall,uniform:64,,paragon,,wormhole,fast,slow,ok,,blocks,3,20.5,20.5,0.5,19.257931144124832,21.742068855875168,2.0364238410596025,1.9969236997069957,2.076705314802177,true,0.00013266863006584418,0.25,0.00026533726013168836,0.5,50.12011214099221,3,0,0,0,0,0,,
        ");
    }

    /// The value of the compared property is written to the column that it also has in rows.
    #[test]
    fn the_compared_property_has_its_own_column() {
        let of = |by: By, rows: Vec<Record>| {
            let options = CompareOptions { by, ..CompareOptions::default() };
            let text = details_of(write_csv, &compare_by(&files(rows), &options).unwrap());
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let column = |name: &str| {
                let headers = reader.headers().unwrap();
                headers.iter().position(|header| header == name).unwrap()
            };
            let mut column = column;
            let [subject, algorithm] = [by.label(), "algorithm"].map(&mut column);
            let rows = reader.into_records().map(Result::unwrap);
            rows.map(|row| format!("{} {}", &row[subject], &row[algorithm])).collect::<Vec<_>>()
        };
        let on =
            |topology: &str, time| Record { topology: topology.to_owned(), ..row("pex", 0, time) };
        let rows = vec![on("torus:4x4", 3.0), on("ring:16", 4.0)];
        assert_eq!(of(By::Topology, rows), ["torus:4x4 pex", "ring:16 pex"]);
        let placed = vec![on("torus:4x4,place=cyclic", 3.0), on("torus:4x4", 4.0)];
        assert_eq!(of(By::Placement, placed), ["cyclic pex", "block pex"]);
        let on = |ranks: u32, time| on(&format!("torus:4x4,ranks={ranks}"), time);
        let rows = vec![on(2, 3.0), on(4, 4.0)];
        let by =
            By::find("ranks", &crate::compare::ComparedRows::of(&files(rows.clone()))).unwrap();
        assert_eq!(of(by, rows), ["2 pex", "4 pex"]);
    }

    #[test]
    fn lines_that_are_charged_less_have_a_remark() {
        let note = swapmeet_core::cost::model::UNDECLARED.to_owned();
        let rows =
            || vec![row("slow", 0, 3.0), Record { note: note.clone(), ..row("fast", 0, 1.0) }];
        let last = |text: &str| {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let name = reader.headers().unwrap().iter().next_back().unwrap().to_owned();
            let rows = reader
                .into_records()
                .map(|row| row.unwrap().iter().next_back().unwrap().to_owned());
            [vec![name], rows.collect()].concat()
        };
        let expected = ["remark", CHARGED_LESS_REMARK, ""];
        assert_eq!(last(&details_of(write_csv, &comparison(rows()))), expected);
        let pivot = View::Pivot(crate::analysis::Axis::Block);
        let text = crate::render::tests::text_of(
            |all, out| write_csv(all, pivot, out),
            &comparison(rows()),
        );
        assert_eq!(last(&text), expected);
        let equal = comparison(vec![row("slow", 0, 3.0), row("fast", 0, 1.0)]);
        assert_ne!(last(&details_of(write_csv, &equal))[0], "remark");
    }

    #[test]
    fn texts_that_look_like_formulas_are_escaped() {
        let formula = Record { algorithm: "=1+1".to_owned(), ..row("fast", 0, 10.0) };
        let text = details_of(write_csv, &comparison(vec![formula]));
        assert!(text.contains(",'=1+1,ok,"), "{text}");
    }

    #[test]
    fn unknown_values_are_empty() {
        let text = details_of(write_csv, &partly_failed());
        let mut rows = csv::Reader::from_reader(text.as_bytes())
            .into_records()
            .map(|row| row.unwrap())
            .skip(1);
        let from_status = |row: csv::StringRecord| row.iter().skip(9).collect::<Vec<_>>().join(",");
        assert_eq!(
            from_status(rows.next().unwrap()),
            "timeout,60 s are over,blocks,1,20,20,,,,2,,,,,,,,,1,0,0,0,1,0,,"
        );
        let odd =
            "unsupported,a side | of 4\nis \u{1b}[31mtoo odd,none,,,,,,,,,,,,,,,,0,1,0,0,0,0,,";
        assert_eq!(from_status(rows.next().unwrap()), odd);
    }
}
