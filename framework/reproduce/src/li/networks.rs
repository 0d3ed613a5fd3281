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
        (1, "hypercube:3", "rdn:1(hypercube:3)"),
        (1, "torus:5x5", "rdn:1(torus:5x5)"),
        (1, "torus:3x3x3", "rdn:1(torus:3x3x3)"),
        (2, "hypercube:3", "rdn:2(hypercube:3)"),
        (2, "torus:5x5", "rdn:2(torus:5x5)"),
        (2, "torus:3x3x3", "rdn:2(torus:3x3x3)"),
    ];
    for (k, base, spec) in nets {
        let (base, found) = (surveyed(base)?, surveyed(spec)?);
        let power = (2 * base.nodes).pow(1 << k);
        let how = if found.searched { "searched" } else { "by formula" };
        table.add((spec, "size"), power / 2, found.nodes, Verdict::exactly(&(power / 2), &found.nodes), "");
        let degree = base.degree.map(|d| d + k);
        table.add(
            (spec, "degree"),
            degree.unwrap_or(0),
            found.degree.unwrap_or(0),
            Verdict::exactly(&degree, &found.degree),
            how,
        );
        let diameter = (1 << k) * base.diameter + (1 << (k + 1)) - 2;
        table.add((spec, "diameter"), diameter, found.diameter, Verdict::exactly(&diameter, &found.diameter), how);
        let (claimed, cut) = (power.div_ceil(8), found.balanced_cut.unwrap_or(0));
        let why = match cut < claimed {
            true => "a balanced cut of so few links exists: the theorem's is an upper bound only",
            false => "",
        };
        table.add((spec, "bisection"), claimed, cut, Verdict::exactly(&claimed, &cut), why);
    }
    Ok(table)
}
