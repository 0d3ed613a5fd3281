//! Theorem 1 and Table I: what the networks are like.

use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use swapmeet_core::survey::{Survey, survey};
use swapmeet_core::topology::parse;

/// Rows of Table I: name, spec, nodes, degree, diameter, cost ratio.
const TABLE_1: [(&str, &str, u64, u64, u64, f64); 8] = [
    ("10-cube", "hypercube:10", 1024, 10, 10, 2.0),
    ("RDN^1(B(25))", "rdn:1(torus:5x5)", 1250, 5, 10, 1.46),
    ("RDN^1(B(27))", "rdn:1(torus:3x3x3)", 1458, 7, 8, 1.43),
    ("3D-Tori(10)", "torus:10x10x10", 1000, 6, 15, 2.11),
    ("22-cube", "hypercube:22", 4_194_304, 22, 22, 2.0),
    ("RDN^2(B(25))", "rdn:2(torus:5x5)", 3_125_000, 6, 22, 1.30),
    ("RDN^2(B(27))", "rdn:2(torus:3x3x3)", 4_251_528, 8, 18, 1.18),
    ("3D-Tori(160)", "torus:160x160x160", 4_096_000, 6, 240, 11.20),
];

/// What the paper says of a network: nodes, degree, diameter, and bisection or cost ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// Theorem 1, for a dual-net: nodes, degree, diameter, bisection.
    pub theorem_1: Option<[u64; 4]>,
    /// The row of Table I, if there is one.
    pub table_1: Option<(u64, u64, u64, f64)>,
}

/// What the paper says of the network of a spec in canonical form.
pub fn stated(spec: &str) -> Stated {
    let row = TABLE_1.iter().find(|row| row.1 == spec);
    Stated { theorem_1: theorem(spec), table_1: row.map(|(_, _, n, d, diameter, ratio)| (*n, *d, *diameter, *ratio)) }
}

/// Theorem 1, where a spec is a dual-net's over a regular base and the figures have numbers.
fn theorem(spec: &str) -> Option<[u64; 4]> {
    let (levels, inner) = spec.strip_prefix("rdn:")?.split_once('(')?;
    let k = levels.parse::<u32>().ok()?;
    let base = parse(inner.strip_suffix(')')?).ok()?;
    let power = base.nodes().checked_mul(2)?.checked_pow(1_u32.checked_shl(k)?)?;
    let diameter = base.diameter().checked_mul(1 << k)?.checked_add((1 << (k + 1)) - 2)?;
    Some([power / 2, base.degree()? + u64::from(k), diameter, power.div_ceil(8)])
}

fn surveyed(spec: &'static str) -> Result<Survey, ReproduceError> {
    let topology = parse(spec).map_err(|e| ReproduceError::Row {
        algorithm: "Table I".to_owned(),
        topology: spec.to_owned(),
        status: swapmeet_results::Status::Error,
        reason: e.to_string(),
    })?;
    Ok(survey(topology.as_ref()))
}

/// Table I.
pub fn table_1(_: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Table I",
        "Nodes n, links a node d, diameter D and cost ratio (d + D) / lg n. Networks of up to 65,536 nodes were searched, link by link; of the others the formulas of ours that those confirm.",
    );
    for (name, spec, n, d, diameter, ratio) in TABLE_1 {
        let found = surveyed(spec)?;
        let how = if found.searched { "searched" } else { "by formula" };
        table.add((name, "n"), n, found.nodes, Verdict::exactly(&n, &found.nodes), "");
        let degree = found.degree.unwrap_or(0);
        table.add((name, "d"), d, degree, Verdict::exactly(&d, &degree), "");
        table.add((name, "D"), diameter, found.diameter, Verdict::exactly(&diameter, &found.diameter), how);
        let ours = found.cost_ratio.unwrap_or(f64::NAN);
        table.add(
            (name, "CR"),
            format!("{ratio:.2}"),
            format!("{ours:.4}"),
            Verdict::measured(ratio, ours, 2),
            if (ratio - ours).abs() < 0.01 { "" } else { "see the other columns" },
        );
    }
    Ok(table)
}

/// Theorem 1 on the dual-nets of Table I and those over a 3-cube.
pub fn theorem_1(_: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Theorem 1",
        "Size (2 n_0)^(2^k) / 2, degree d_0 + k, diameter 2^k D_0 + 2^(k+1) - 2 and bisection (2 n_0)^(2^k) / 8 of RDN^k(B), beside what searching finds; cuts are the best balanced ones that we know.",
    );
    let nets = [
        "rdn:1(hypercube:3)",
        "rdn:1(torus:5x5)",
        "rdn:1(torus:3x3x3)",
        "rdn:2(hypercube:3)",
        "rdn:2(torus:5x5)",
        "rdn:2(torus:3x3x3)",
    ];
    for spec in nets {
        let found = surveyed(spec)?;
        let Some([size, degree, diameter, bisection]) = theorem(spec) else { continue };
        let how = if found.searched { "searched" } else { "by formula" };
        table.add((spec, "size"), size, found.nodes, Verdict::exactly(&size, &found.nodes), "");
        let links = found.degree.unwrap_or(0);
        table.add((spec, "degree"), degree, links, Verdict::exactly(&degree, &links), how);
        table.add((spec, "diameter"), diameter, found.diameter, Verdict::exactly(&diameter, &found.diameter), how);
        let cut = found.balanced_cut.unwrap_or(0);
        let why = if cut < bisection {
            "a balanced cut of so few links exists: the theorem's is an upper bound only"
        } else {
            ""
        };
        table.add((spec, "bisection"), bisection, cut, Verdict::exactly(&bisection, &cut), why);
    }
    Ok(table)
}
