//! Theorems 1 and 2 and Table I, which state properties of networks.

use super::Li;
use crate::bench::ReproduceError;
use crate::formula::Formula;
use crate::report::{Table, Verdict};
use serde::Deserialize;
use std::sync::Arc;
use swapmeet_core::network::survey::{Survey, SurveyMethod};
use swapmeet_core::network::topology::{Network, parse};

/// The formulas of Theorem 1 for size, node-degree, diameter and bisection, and the networks on
/// which they are checked.
#[derive(Debug, Deserialize)]
pub(super) struct Theorem1 {
    formulas: [Formula; 4],
    nets: Vec<Net>,
}

#[derive(Debug, Deserialize)]
struct Net {
    k: u32,
    base: String,
    spec: String,
}

/// A row of Table I.
#[derive(Debug, Deserialize)]
pub(super) struct Listed {
    name: String,
    spec: String,
    /// The number of nodes, the degree, and the diameter of the network.
    figures: [u64; 3],
    /// The cost ratio, which is `(d + D) / lg n` for n nodes, degree d and diameter D.
    ratio: f64,
}

/// Returns the network with this spec.
pub(super) fn parsed(spec: &str) -> Result<Arc<Network>, ReproduceError> {
    parse(spec).map_err(|e| ReproduceError::Data { paper: "li", message: format!("{spec}: {e}") })
}

fn surveyed(spec: &str) -> Result<Survey, ReproduceError> {
    Ok(Survey::of(parsed(spec)?.as_ref()))
}

fn degree(survey: &Survey) -> u64 {
    survey.degree.map_or(0, |(_, most, _)| most)
}

/// Returns the verdict on the diameter in the paper. Our diameter is either found by a search or
/// computed by a formula. If it comes from a formula, it cannot confirm the paper's diameter.
fn of_diameter(paper: u64, survey: &Survey) -> Verdict {
    match survey.diameter {
        (_, SurveyMethod::Formula) => Verdict::Declared,
        (ours, _) => Verdict::whole(paper, ours),
    }
}

/// Returns size, node-degree, diameter and bisection of the dual-net RDN^k with a given base
/// network, computed by Theorem 1.
fn of_theorem_1(li: &Li, k: u32, base: &Survey) -> [u64; 4] {
    let variable = |name: &str| match name {
        "k" => Some(f64::from(k)),
        "n_0" => Some(base.nodes as f64),
        "d_0" => Some(degree(base) as f64),
        "D_0" => Some(base.diameter.0 as f64),
        _ => None,
    };
    [0, 1, 2, 3].map(|i| li.value(&li.theorem_1.formulas[i], &variable) as u64)
}

pub(super) fn table_1(li: &Li) -> Result<Table, ReproduceError> {
    let mut table = li.words.table("Table I");
    for Listed { name, spec, figures: [n, d, diameter], ratio } in &li.table_1 {
        let found = surveyed(spec)?;
        let how = found.diameter.1.to_string();
        for (column, paper, ours) in [("n", *n, found.nodes), ("d", *d, degree(&found))] {
            table.add_whole((name, column), paper, ours);
        }
        table
            .add((name, "D"), diameter, found.diameter.0, of_diameter(*diameter, &found))
            .because(&how);
        let ours = found.cost_ratio().unwrap_or(f64::NAN);
        let why = if (ratio - ours).abs() < 0.01 { "" } else { "see the other columns" };
        let verdict = Verdict::measured(*ratio, ours, 2);
        table.add((name, "CR"), format!("{ratio:.2}"), format!("{ours:.4}"), verdict).because(why);
    }
    Ok(table)
}

/// Checks Theorem 1 on the dual-nets of Table I, and on dual-nets whose base is a 3-cube.
pub(super) fn theorem_1(li: &Li) -> Result<Table, ReproduceError> {
    let mut table = li.words.table("Theorem 1");
    for Net { k, base, spec } in &li.theorem_1.nets {
        let (base, found) = (surveyed(base)?, surveyed(spec)?);
        let paper = of_theorem_1(li, *k, &base);
        let how = found.diameter.1.to_string();
        let cut = found.bisection.map_or(0, |(links, ..)| links);
        let smaller = match cut < paper[3] {
            true => "a balanced cut with fewer links exists: the theorem gives an upper bound only",
            false => "",
        };
        let ours = [found.nodes, degree(&found), found.diameter.0, cut];
        let names =
            [("size", ""), ("degree", ""), ("diameter", how.as_str()), ("bisection", smaller)];
        for ((column, why), (paper, ours)) in names.into_iter().zip(paper.into_iter().zip(ours)) {
            let verdict = if column == "diameter" {
                of_diameter(paper, &found)
            } else {
                Verdict::whole(paper, ours)
            };
            table.add((spec, column), paper, ours, verdict).because(why);
        }
    }
    Ok(table)
}

/// Checks Theorem 2 on dual-nets of one level. The theorem is about the longest route from node 0.
pub(super) fn theorem_2(li: &Li) -> Result<Table, ReproduceError> {
    let mut table = li.words.table("Theorem 2");
    for Net { k, base, spec } in li.theorem_1.nets.iter().filter(|net| net.k == 1) {
        let bound = of_theorem_1(li, *k, &surveyed(base)?)[2];
        let net = parsed(spec)?;
        let routes = (0..net.nodes()).map(|to| net.route(0, to, None, &mut |_| {}));
        let longest = routes.filter_map(Result::ok).max().unwrap_or(0);
        table.add((spec, "steps"), bound, longest, Verdict::at_most(bound as f64, longest as f64));
    }
    Ok(table)
}

/// The values that the paper states for a network.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Published {
    /// Size, node-degree, diameter and bisection of a dual-net, computed by Theorem 1. The
    /// bisection is only an upper bound, because smaller cuts exist.
    pub theorem_1: Option<[u64; 4]>,
    /// Size, node-degree and diameter according to Table I.
    pub table_1: Option<[u64; 3]>,
    /// The cost ratio according to Table I.
    pub ratio: Option<f64>,
}

impl Published {
    /// Returns the values that the paper states for the network with this spec.
    pub fn of(spec: &str) -> Result<Self, ReproduceError> {
        let li = Li::read()?;
        let row = li.table_1.iter().find(|row| row.spec == spec);
        let theorem_1 = || {
            let (levels, base) = spec.strip_prefix("rdn:")?.strip_suffix(')')?.split_once('(')?;
            Some(of_theorem_1(&li, levels.parse().ok()?, &surveyed(base).ok()?))
        };
        Ok(Self {
            theorem_1: theorem_1(),
            table_1: row.map(|row| row.figures),
            ratio: row.map(|row| row.ratio),
        })
    }
}
