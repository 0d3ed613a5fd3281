//! Theorem 1 and Table I: what the networks are like.

use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use swapmeet_core::network::topology::parse;
use swapmeet_core::network::topology::survey::Survey;

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
    Ok(Survey::of(topology.as_ref()))
}

/// Table I.
pub fn table_1(_: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Table I",
        "Nodes n, links a node d, diameter D and cost ratio (d + D) / lg n. Links are counted and distances searched; from one node only where each sees the same and there are too many.",
    );
    for (name, spec, n, d, diameter, ratio) in TABLE_1 {
        let found = surveyed(spec)?;
        let how = found.diameter.1.to_string();
        table.add((name, "n"), n, found.nodes, Verdict::exactly(&n, &found.nodes), "");
        let degree = found.degree.map_or(0, |(_, most, _)| most);
        table.add((name, "d"), d, degree, Verdict::exactly(&d, &degree), "");
        table.add((name, "D"), diameter, found.diameter.0, Verdict::exactly(&diameter, &found.diameter.0), &how);
        let ours = found.cost_ratio().unwrap_or(f64::NAN);
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
        let [size, degree, diameter, claimed] = of_theorem_1(k, &base);
        let how = found.diameter.1.to_string();
        let links = found.degree.map_or(0, |(_, most, _)| most);
        table.add((spec, "size"), size, found.nodes, Verdict::exactly(&size, &found.nodes), "");
        table.add((spec, "degree"), degree, links, Verdict::exactly(&degree, &links), "");
        table.add((spec, "diameter"), diameter, found.diameter.0, Verdict::exactly(&diameter, &found.diameter.0), &how);
        let cut = found.bisection.map_or(0, |(links, ..)| links);
        let why = match cut < claimed {
            true => "a balanced cut of so few links exists: the theorem's is an upper bound only",
            false => "",
        };
        table.add((spec, "bisection"), claimed, cut, Verdict::exactly(&claimed, &cut), why);
    }
    Ok(table)
}

/// Size, node-degree, diameter and bisection of RDN^k over a base, as Theorem 1 has them.
fn of_theorem_1(k: u32, base: &Survey) -> [u64; 4] {
    let power = (2 * base.nodes).pow(1 << k);
    let degree = base.degree.map_or(0, |(_, most, _)| most);
    [power / 2, degree + u64::from(k), (1 << k) * base.diameter.0 + (1 << (k + 1)) - 2, power.div_ceil(8)]
}

/// What the paper says of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Size, node-degree, diameter and bisection by Theorem 1, of a dual-net. The last is an upper bound only: there are smaller cuts.
    pub theorem_1: Option<[u64; 4]>,
    /// Size, node-degree, diameter and cost ratio in Table I.
    pub table_1: Option<([u64; 3], f64)>,
}

impl Published {
    /// What it says of the network of this spec.
    pub fn of(spec: &str) -> Self {
        let row = TABLE_1.iter().find(|row| row.1 == spec);
        let theorem_1 = || {
            let (levels, base) = spec.strip_prefix("rdn:")?.strip_suffix(')')?.split_once('(')?;
            Some(of_theorem_1(levels.parse().ok()?, &Survey::of(parse(base).ok()?.as_ref())))
        };
        Self { theorem_1: theorem_1(), table_1: row.map(|(_, _, n, d, diameter, ratio)| ([*n, *d, *diameter], *ratio)) }
    }
}
