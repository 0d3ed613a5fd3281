use super::closed;
use std::collections::BTreeSet;
use swapmeet_results::analysis::{Axis, Factors, Overview, Place, Standing, WonRange};
use swapmeet_results::units::{count, number};
use swapmeet_results::{escaped, grouped, html_table};

const MOST_PLACES: usize = 4;

pub(super) fn summary(overview: &Overview) -> String {
    let Overview { standings, axis, places } = overview;
    if standings.is_empty() {
        return "<p>No case has two algorithms with a time, so nothing is compared.</p>\n"
            .to_owned();
    }
    let sections = standings.chunk_by(|a, b| conditions(a) == conditions(b)).map(|section| {
        let is_here = |place: &&Place| {
            [&*place.collective, &place.machine, &place.model] == conditions(&section[0])
        };
        of_conditions(section, *axis, &places.iter().filter(is_here).collect::<Vec<_>>())
    });
    let sections: String = sections.collect();
    sections
        + "<p>Factors are the median (least to largest) over the cases. A time is tied if it cannot be distinguished from that of the fastest algorithm.</p>\n"
}

fn conditions(standing: &Standing) -> [&str; 3] {
    [&standing.collective, &standing.machine, &standing.model]
}

fn of_conditions(standings: &[Standing], axis: Axis, places: &[&Place]) -> String {
    let best = &standings[0];
    let [collective, machine, model] = conditions(best).map(escaped);
    let by = best.ahead.map_or(String::new(), |ahead| {
        format!(", {} times faster than the next algorithm in the median", factor(ahead.median))
    });
    let cases = standings.iter().map(|standing| standing.cases).max().unwrap_or(0);
    let sentence = format!(
        "<p>In {collective} on {machine} (model {model}), {} ran fastest in {} of {}{by}.</p>\n",
        code(&best.algorithm),
        best.fastest,
        count(cases, "case"),
    );
    let columns = [
        ("algorithm", false),
        ("cases", true),
        ("fastest", true),
        ("tied", true),
        ("faster than the next", true),
        ("else slower than the fastest", true),
        ("fastest for", false),
    ];
    let line = |standing: &Standing| {
        let mut cells = vec![code(&standing.algorithm)];
        cells.extend([standing.cases, standing.fastest, standing.tied].map(|n| n.to_string()));
        cells.extend([factors(standing.ahead), factors(standing.behind)]);
        cells.push(won_by(&standing.algorithm, axis, places));
        cells
    };
    let lines: Vec<Vec<String>> = standings.iter().map(line).collect();
    let ranges = count(places.len(), "line");
    let details = format!("the fastest algorithm of each network and {}: {ranges}", axis.label());
    sentence + &html_table(&columns, &lines) + &closed(&details, &places_table(axis, places))
}

/// Describes where an algorithm won. Networks with the same workload and sizes are one entry.
fn won_by(algorithm: &str, axis: Axis, places: &[&Place]) -> String {
    let is_won = |range: &&WonRange| range.algorithm == algorithm && range.tied.is_empty();
    let won = places.iter().flat_map(|place| {
        let ranges = place.ranges.iter().filter(is_won);
        ranges
            .map(|range| ((place.workload.as_str(), values(axis, range)), place.topology.as_str()))
    });
    let won = grouped(won);
    let networks: BTreeSet<&str> = places.iter().map(|place| place.topology.as_str()).collect();
    let mut parts: Vec<String> = won
        .iter()
        .take(MOST_PLACES)
        .map(|((workload, values), of)| {
            let on = match of.len() {
                all if all == networks.len() && all > 1 => "all networks".to_owned(),
                _ => of.join(", "),
            };
            let values = if values.is_empty() { String::new() } else { format!(", {values}") };
            escaped(&format!("{workload}{values}: {on}"))
        })
        .collect();
    let others = won.len().saturating_sub(MOST_PLACES);
    if others > 0 {
        parts.push(format!("and {others} more"));
    }
    parts.join("<br>")
}

fn places_table(axis: Axis, places: &[&Place]) -> String {
    let columns = [("workload", false), ("network", false), ("fastest algorithm", false)];
    let line = |place: &&Place| {
        let ranges: Vec<String> = place.ranges.iter().map(|won| range(axis, won)).collect();
        vec![escaped(&place.workload), escaped(&place.topology), ranges.join("<br>")]
    };
    html_table(&columns, &places.iter().map(line).collect::<Vec<_>>())
}

fn range(axis: Axis, range: &WonRange) -> String {
    let margin = match range.ahead {
        _ if !range.tied.is_empty() => {
            let tied: Vec<String> = range.tied.iter().map(|name| code(name)).collect();
            format!(", not told apart from {}", tied.join(", "))
        }
        Some(Factors { least, most, .. }) if factor(least) == factor(most) => {
            format!(", {} times faster than the next", factor(least))
        }
        Some(Factors { least, most, .. }) => {
            format!(", {} to {} times faster than the next", factor(least), factor(most))
        }
        None => " (no other algorithm)".to_owned(),
    };
    let colon = if range.values.is_some() { ": " } else { "" };
    format!("{}{colon}{}{margin}", values(axis, range), code(&range.algorithm))
}

fn values(axis: Axis, range: &WonRange) -> String {
    match range.values {
        Some((least, most)) if least == most => axis.position(least),
        Some((least, most)) => format!("{} to {}", axis.position(least), axis.text(most)),
        None => String::new(),
    }
}

fn code(name: &str) -> String {
    format!("<code>{}</code>", escaped(name))
}

/// Formats three digits, or more if a factor other than 1 would be shown as 1.
fn factor(value: f64) -> String {
    let exact = (3..=6).map(|digits| format!("{value:.digits$}"));
    let is_close = value > 1.0 && value < 1.005;
    let close = exact.into_iter().find(|text| is_close && text.parse() != Ok(1.0));
    close.unwrap_or_else(|| number(value))
}

fn factors(factors: Option<Factors>) -> String {
    factors.map_or(String::new(), |Factors { least, median, most }| {
        if least == most {
            factor(median)
        } else {
            format!("{} ({} to {})", factor(median), factor(least), factor(most))
        }
    })
}
