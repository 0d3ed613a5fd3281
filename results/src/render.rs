//! A comparison as a table, as CSV, as JSON, as Markdown, and in words.

use crate::compare::{Comparison, Group, Line};
use crate::record::Status;
use crate::stats::{Interval, Spread};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

const HEADER: [&str; 9] =
    ["algorithm", "verified", "n", "mean, us", "95 %", "median, us", "ratio", "95 % ", "p (Welch, U)"];

fn cells(line: &Line) -> Vec<String> {
    let interval = |i: Option<Interval>, digits: usize| match i {
        Some(i) if i.low == i.high => "no spread".to_owned(),
        Some(i) => format!("{:.digits$} to {:.digits$}", i.low, i.high),
        None => String::new(),
    };
    let verified = match line.status {
        Status::Ok => line.verified.to_string(),
        status => status.to_string(),
    };
    let p = match (line.welch_p, line.mann_whitney_p) {
        (None, None) => String::new(),
        (welch, u) => format!("{}, {}", p_value(welch), p_value(u)),
    };
    let time = line.time.as_ref();
    vec![
        line.algorithm.clone(),
        verified,
        time.map(|t| t.n.to_string()).unwrap_or_default(),
        time.map(|t| format!("{:.3}", t.mean)).unwrap_or_default(),
        interval(time.and_then(|t| t.interval), 3),
        time.map(|t| format!("{:.3}", t.median)).unwrap_or_default(),
        line.ratio.as_ref().map(|r| format!("{:.3}", r.value)).unwrap_or_default(),
        interval(line.ratio.as_ref().and_then(|r| r.interval), 3),
        p,
    ]
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

fn title(group: &Group) -> String {
    let collective = if group.collective == "alltoall" { String::new() } else { format!("{}, ", group.collective) };
    format!("{}, {collective}{}, {}", group.topology, group.workload, group.machine)
}

/// Tables to read, a group each, each followed by its sentence.
pub fn as_table(comparison: &Comparison) -> String {
    let mut out = String::new();
    for group in &comparison.groups {
        let mut table = Table::new();
        table.load_style(NOTHING).set_header(HEADER.to_vec()).add_rows(group.lines.iter().map(cells));
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if i >= 2 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        out += &format!("{}\n{}\n", title(group), table.trim_fmt());
        for line in group.lines.iter().filter(|l| !l.reason.is_empty()) {
            out += &format!("{}: {}\n", line.algorithm, line.reason);
        }
        out += &format!("{}\n\n", in_words(group));
    }
    for note in &comparison.notes {
        out += &format!("note: {note}\n");
    }
    out.trim_end().to_owned()
}

/// One Markdown table a group.
pub fn as_markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    for group in &comparison.groups {
        out += &format!(
            "### {}\n\n| {} |\n| --- | --- |{}\n",
            title(group),
            HEADER.map(str::trim).join(" | "),
            " ---: |".repeat(7)
        );
        for line in &group.lines {
            out +=
                &format!("| {} |\n", cells(line).iter().map(|c| c.replace('|', "\\|")).collect::<Vec<_>>().join(" | "));
        }
        out += &format!("\n{}\n\n", in_words(group));
    }
    out.trim_end().to_owned()
}

/// One row a line of a group, every figure in full.
pub fn as_csv(comparison: &Comparison) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "topology",
        "collective",
        "workload",
        "machine",
        "model",
        "baseline",
        "algorithm",
        "status",
        "reason",
        "verified",
        "n",
        "mean_us",
        "median_us",
        "sd_us",
        "mean_low_us",
        "mean_high_us",
        "ratio",
        "ratio_low",
        "ratio_high",
        "welch_p",
        "mann_whitney_p",
    ])?;
    for g in &comparison.groups {
        for l in &g.lines {
            let figure = |f: Option<f64>| f.map(|f| f.to_string()).unwrap_or_default();
            let time = l.time.as_ref();
            let of_ratio = l.ratio.as_ref();
            let ends = |i: Option<Interval>| (figure(i.map(|i| i.low)), figure(i.map(|i| i.high)));
            let (low, high) = ends(time.and_then(|t| t.interval));
            let (ratio_low, ratio_high) = ends(of_ratio.and_then(|r| r.interval));
            writer.write_record([
                g.topology.clone(),
                g.collective.clone(),
                g.workload.clone(),
                g.machine.clone(),
                g.model.clone(),
                g.baseline.clone().unwrap_or_default(),
                l.algorithm.clone(),
                l.status.to_string(),
                l.reason.clone(),
                l.verified.to_string(),
                time.map(|t| t.n.to_string()).unwrap_or_default(),
                figure(time.map(|t| t.mean)),
                figure(time.map(|t| t.median)),
                figure(time.and_then(|t| t.sd)),
                low,
                high,
                figure(of_ratio.map(|r| r.value)),
                ratio_low,
                ratio_high,
                figure(l.welch_p),
                figure(l.mann_whitney_p),
            ])?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Everything, as it is.
pub fn as_json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(comparison)
}

/// Who ran how much faster than whom, and how sure that is.
pub fn in_words(group: &Group) -> String {
    let timed: Vec<&Line> = group.lines.iter().filter(|l| l.time.is_some()).collect();
    let Some(baseline) = &group.baseline else {
        return "The baseline has no time here: nothing to compare with.".to_owned();
    };
    let others: Vec<String> =
        timed.iter().filter(|l| l.algorithm != *baseline).map(|l| against(l, baseline, &timed)).collect();
    if others.is_empty() {
        format!("Only `{baseline}` has a time here: nothing to compare with.")
    } else {
        others.join("\n")
    }
}

fn against(line: &Line, baseline: &str, timed: &[&Line]) -> String {
    let Some(ratio) = &line.ratio else {
        return format!("`{}` and `{baseline}`: a time is 0, so that there is no ratio.", line.algorithm);
    };
    let (word, factor) = if ratio.value < 1.0 { ("faster", 1.0 / ratio.value) } else { ("slower", ratio.value) };
    let times = format!("`{}` ran {factor:.2} times {word} than `{baseline}`", line.algorithm);
    let n = |l: &Line| l.time.as_ref().map_or(0, |t| t.n);
    let of_baseline = timed.iter().find(|l| l.algorithm == baseline);
    let Some(interval) = ratio.interval else {
        let runs = if n(line) == 1 && of_baseline.is_some_and(|b| n(b) == 1) { "one run each" } else { "a single run" };
        return format!("{times} ({runs}: no uncertainty can be given).");
    };
    if line.time.as_ref().is_some_and(|t| t.spread == Spread::None) && interval.low == interval.high {
        return format!("{times} (the same in all {} repetitions).", n(line));
    }
    let (low, high) =
        if ratio.value < 1.0 { (1.0 / interval.high, 1.0 / interval.low) } else { (interval.low, interval.high) };
    let tests = format!("p by Welch's t {}, by Mann-Whitney {}", p_value(line.welch_p), p_value(line.mann_whitney_p));
    if interval.low <= 1.0 && interval.high >= 1.0 {
        return format!(
            "`{}` and `{baseline}` do not differ by more than their spread (95 %: {:.2} to {:.2} times as long; {tests}).",
            line.algorithm, interval.low, interval.high
        );
    }
    format!("{times} (95 %: {low:.2} to {high:.2}; {tests}).")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{compare, tests::row};
    use crate::record::Record;

    fn comparison(records: Vec<Record>) -> Comparison {
        compare(&[("rows.csv".to_owned(), records)], None).unwrap()
    }

    fn repeated() -> Comparison {
        let times = [("fast", [10.0, 10.4, 9.8]), ("slow", [20.5, 21.0, 20.0]), ("alike", [10.1, 10.3, 9.9])];
        let rows = times.iter().flat_map(|(name, t)| (0..3).map(move |r| row(name, r, t[r as usize])));
        comparison(rows.collect())
    }

    #[test]
    fn a_table_ends_in_a_sentence_with_its_uncertainty() {
        insta::assert_snapshot!(as_table(&repeated()), @r"
        torus:4x4, uniform:64, paragon
        algorithm  verified  n  mean, us              95 %  median, us  ratio           95 %     p (Welch, U)
        fast       blocks    3    10.067   9.308 to 10.826      10.000  1.000
        alike      blocks    3    10.100   9.603 to 10.597      10.100  1.003  0.943 to 1.067    0.883, 1.000
        slow       blocks    3    20.500  19.258 to 21.742      20.500  2.036  1.911 to 2.170  < 0.001, 0.100
        `alike` and `fast` do not differ by more than their spread (95 %: 0.94 to 1.07 times as long; p by Welch's t 0.883, by Mann-Whitney 1.000).
        `slow` ran 2.04 times slower than `fast` (95 %: 1.91 to 2.17; p by Welch's t < 0.001, by Mann-Whitney 0.100).
        ");
    }

    #[test]
    fn single_rows_give_ratios_only_and_say_so() {
        let single = comparison(vec![row("slow", 0, 25.0), row("fast", 0, 10.0)]);
        assert_eq!(
            in_words(&single.groups[0]),
            "`slow` ran 2.50 times slower than `fast` (one run each: no uncertainty can be given)."
        );
        let same = comparison((0..4).flat_map(|r| [row("slow", r, 25.0), row("fast", r, 10.0)]).collect());
        assert_eq!(
            in_words(&same.groups[0]),
            "`slow` ran 2.50 times slower than `fast` (the same in all 4 repetitions)."
        );
    }

    #[test]
    fn other_formats_have_the_same_figures() {
        insta::assert_snapshot!(as_markdown(&repeated()), @r"
        ### torus:4x4, uniform:64, paragon

        | algorithm | verified | n | mean, us | 95 % | median, us | ratio | 95 % | p (Welch, U) |
        | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | fast | blocks | 3 | 10.067 | 9.308 to 10.826 | 10.000 | 1.000 |  |  |
        | alike | blocks | 3 | 10.100 | 9.603 to 10.597 | 10.100 | 1.003 | 0.943 to 1.067 | 0.883, 1.000 |
        | slow | blocks | 3 | 20.500 | 19.258 to 21.742 | 20.500 | 2.036 | 1.911 to 2.170 | < 0.001, 0.100 |

        `alike` and `fast` do not differ by more than their spread (95 %: 0.94 to 1.07 times as long; p by Welch's t 0.883, by Mann-Whitney 1.000).
        `slow` ran 2.04 times slower than `fast` (95 %: 1.91 to 2.17; p by Welch's t < 0.001, by Mann-Whitney 0.100).
        ");
        insta::assert_snapshot!(as_csv(&repeated()).unwrap().lines().nth(3).unwrap(), @r"torus:4x4,alltoall,uniform:64,paragon,wormhole,fast,slow,ok,,blocks,3,20.5,20.5,0.5,19.257931144124832,21.742068855875168,2.0364238410596025,1.9110026221860945,2.170076593454358,0.000034534966420073936,0.1");
        let json: serde_json::Value = serde_json::from_str(&as_json(&repeated()).unwrap()).unwrap();
        assert_eq!(json["groups"][0]["lines"][2]["algorithm"], "slow");
    }
}
