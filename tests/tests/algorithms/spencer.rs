//! Spencer's algorithms must deliver all data with at most q circuits on a link. The rounds, links
//! and blocks must be those of an independent implementation, or of the formulas in the thesis.

use super::planted::{Planned, only_the_right_schedule_does};
use crate::support::{rows, swapmeet, words};
use swapmeet_core::cost::kind::Kind;
use swapmeet_results::{Record, Status, Verified};

mod permutations;

/// A multiple of all numbers up to 16, so that segments are whole bytes.
const BLOCK_BYTES: f64 = 720_720.0;
const ROUND_US: f64 = 4096.0 * BLOCK_BYTES;

/// Each term of the cost has its own column. Rounds are the most expensive term and links the
/// cheapest, so that the program makes the same choices as the thesis.
fn machine(ports: &str, q: u64) -> String {
    format!(
        "free:model=circuit,startup_us={ROUND_US},hop_us=1,byte_us=1,ports={ports},virtual_channels={q}"
    )
}

fn run(
    topologies: &[&str],
    algorithms: &[&str],
    workloads: &[&str],
    machines: &[String],
) -> Vec<Record> {
    let flags =
        [("--topology", topologies), ("--algorithm", algorithms), ("--workload", workloads)];
    let mut args: Vec<&str> = flags
        .iter()
        .flat_map(|(flag, specs)| specs.iter().flat_map(|spec| [*flag, *spec]))
        .collect();
    args.extend(machines.iter().flat_map(|machine| ["--machine", machine.as_str()]));
    rows(&args)
}

fn proved(row: &Record) {
    let case = format!(
        "{} on {}, {}, {}: {}",
        row.algorithm, row.topology, row.workload, row.machine, row.reason
    );
    assert_eq!((row.status, row.verified), (Status::Ok, Verified::Blocks), "{case}");
}

/// Returns the number of rounds, the sum over rounds of the links of the longest circuit, and the
/// blocks.
fn costs(topology: &str, algorithm: &str, workload: &str, ports: &str, q: u64) -> (f64, f64, f64) {
    let rows = run(&[topology], &[algorithm], &[workload], &[machine(ports, q)]);
    proved(&rows[0]);
    cost(&rows[0])
}

fn cost(row: &Record) -> (f64, f64, f64) {
    let parts = row.parts();
    let of = |part: Option<f64>| part.unwrap_or(f64::NAN);
    let blocks = (of(parts[Kind::Transmission]) + of(parts[Kind::Contention])) / BLOCK_BYTES;
    (
        of(parts[Kind::Startup]) / ROUND_US,
        of(parts[Kind::Propagation]),
        (blocks * 1000.0).round() / 1000.0,
    )
}

/// Asserts that the planned schedule has this cost and that corrupted schedules do not.
fn reaches(
    topology: &str,
    algorithm: &str,
    workload: &str,
    (ports, q): (&str, u64),
    expected: (f64, f64, f64),
) {
    assert_eq!(
        costs(topology, algorithm, workload, ports, q),
        expected,
        "{algorithm} on {topology}, {workload}"
    );
    let planned = Planned { topology, algorithm, workload, machine: &machine(ports, q) };
    only_the_right_schedule_does(planned, |row| cost(row) == expected);
}

#[test]
fn disseminations_are_delivered_on_any_torus_with_any_channels_and_ports() {
    let tori = words(
        "ring:1 ring:2 ring:7 ring:16 torus:5x4 torus:9x9 torus:1x6 torus:3x4x5 torus:2x3x2x3",
    );
    let machines: Vec<String> =
        [1, 2, 3, 5].iter().flat_map(|q| [machine("1", *q), machine("all", *q)]).collect();
    for (algorithms, workload) in [
        (
            &[
                "torus-broadcast",
                "torus-broadcast:variant=one-port",
                "torus-broadcast:variant=all-ports",
            ][..],
            "broadcast",
        ),
        (&["torus-scatter"], "scatter"),
        (&["torus-gather"], "gather"),
        (
            &["torus-gossip", "torus-gossip:variant=hybrid", "torus-gossip:variant=one-port"],
            "allgather",
        ),
        (&["torus-multiscatter", "torus-multiscatter:variant=hybrid"], "alltoall"),
    ] {
        run(&tori, algorithms, &[&format!("{workload}/uniform:12")], &machines)
            .iter()
            .for_each(proved);
    }
}

#[test]
fn broadcast_and_scatter_meet_the_formulas_where_logarithms_are_whole() {
    for (torus, q, rounds, links) in
        [("ring:27", 1, 3.0, 13.0), ("torus:9x9", 1, 4.0, 8.0), ("torus:25x25", 2, 4.0, 24.0)]
    {
        let d = if torus.contains('x') { 2.0 } else { 1.0 };
        let nodes = if torus == "ring:27" {
            27.0
        } else if q == 1 {
            81.0
        } else {
            625.0
        };
        assert_eq!(
            costs(torus, "torus-broadcast", "broadcast/uniform:720720", "all", q),
            (rounds, links, q as f64 * rounds / d),
            "{torus}"
        );
        for collective in ["scatter", "gather"] {
            assert_eq!(
                costs(
                    torus,
                    &format!("torus-{collective}"),
                    &format!("{collective}/uniform:720720"),
                    "all",
                    q
                ),
                (rounds, links, (nodes - 1.0) / (2.0 * d)),
                "{collective} on {torus}"
            );
        }
    }
}

#[test]
fn with_one_port_rounds_and_blocks_equal_the_formulas_and_links_exceed_them() {
    assert_eq!(
        costs("ring:9", "torus-broadcast", "broadcast/uniform:720720", "1", 2),
        (2.0, 6.0, 4.0)
    );
    assert_eq!(
        costs("ring:27", "torus-broadcast", "broadcast/uniform:720720", "1", 2),
        (3.0, 18.0, 6.0)
    );
    // The longest circuits take n/2 = 8 links only if the first circuit leads to a neighbour.
    assert_eq!(
        costs("ring:16", "torus-scatter", "scatter/uniform:720720", "1", 1),
        (4.0, 8.0, 15.0)
    );
}

#[test]
fn multiscatter_costs_at_most_the_formulas() {
    let all = |torus, q, k| {
        costs(torus, &format!("torus-multiscatter:cycles={k}"), "uniform:720720", "all", q)
    };
    // Formula 3.8 of the thesis gives 20, 56 and 208 blocks.
    assert_eq!(all("ring:8", 2, 2), (3.0, 5.0, 16.0));
    assert_eq!(all("ring:16", 2, 2), (5.0, 9.0, 48.0));
    assert_eq!(all("ring:32", 4, 4), (6.0, 22.0, 200.0));
    // With one port and k = 2q cycles, a link would carry q + 1 circuits, so 4 cycles need q = 3.
    let one_port = "torus-multiscatter:cycles=4";
    assert_eq!(costs("ring:16", one_port, "uniform:720720", "1", 3), (4.0, 12.0, 72.0));
    // The thesis prints (N-1)/(n-1) and the values 216, 90, 108 and 56, which are wrong.
    assert_eq!(costs("torus:8x8", one_port, "uniform:720720", "1", 3).2, 384.0);
    assert_eq!(all("torus:8x8", 2, 2).2, 128.0);
    let hybrid = "torus-multiscatter:variant=hybrid,cycles=4";
    assert_eq!(costs("torus:8x8", hybrid, "uniform:720720", "all", 3).2, 176.0);
    assert_eq!(all("torus:4x4x4", 2, 2).2, 96.0);
}

#[test]
fn gossip_follows_formula_3_6_and_sends_nothing_twice() {
    let one_port = "torus-gossip:cycles=4";
    assert_eq!(costs("ring:16", one_port, "allgather/uniform:720720", "1", 3), (4.0, 12.0, 25.0));
    // The thesis prints 24, because its schedule sends the data for the opposite node from both
    // sides.
    assert_eq!(
        costs("ring:16", "torus-gossip:cycles=2", "allgather/uniform:720720", "all", 2).2,
        16.0
    );
}

#[test]
fn the_direct_baseline_delivers_the_same() {
    let machines = [machine("all", 1)];
    for workload in words(
        "broadcast/uniform:8 scatter/uniform:8 gather/uniform:8 allgather/uniform:8 permutation/rotate-90:8",
    ) {
        run(&["torus:6x6"], &["linear"], &[workload], &machines).iter().for_each(proved);
    }
}

#[test]
fn meaningless_problems_are_refused_with_the_reason() {
    let refusal = |topology: &str, algorithm: &str, workload: &str| {
        let rows = run(&[topology], &[algorithm], &[workload], &[machine("all", 1)]);
        assert_eq!(rows[0].status, Status::Unsupported, "{}", rows[0].reason);
        rows[0].reason.clone()
    };
    for (topology, algorithm, workload, reason) in [
        ("torus:8x16", "torus-permutation", "permutation/rotate-90:8", "they have 16 and 8 nodes"),
        (
            "ring:9",
            "torus-permutation",
            "permutation/transpose-1d:8",
            "needs an even number of nodes in each permuted dimension, not 9",
        ),
        (
            "mesh:8x8",
            "torus-permutation",
            "permutation/reflect:8",
            "runs only on a torus or a ring; this topology is `mesh:8x8`",
        ),
        (
            "torus:8x8",
            "torus-permutation:form=combined",
            "permutation/rotate-90:8",
            "`form=combined` needs a single 1- or 2-dimensional transposition",
        ),
        (
            "torus:8x8",
            "torus-permutation:form=balanced",
            "permutation/rotate-180:8",
            "`form=balanced` needs a rotation by 90 degrees of two axes with an even number of nodes",
        ),
        (
            "ring:8",
            "torus-permutation:form=combined,variant=one-port",
            "permutation/transpose-1d:8",
            "`form=combined` needs all ports",
        ),
        (
            "torus:8x8",
            "torus-permutation:form=direct",
            "permutation/reflect:8",
            "`form=direct` needs one 1- or 2-dimensional transposition for each size of axes",
        ),
        (
            "ring:8",
            "torus-gossip:cycles=3",
            "allgather/uniform:8",
            "`cycles=3` does not divide a dimension of 8 nodes",
        ),
    ] {
        let refused = refusal(topology, algorithm, workload);
        assert!(refused.ends_with(reason), "{refused}");
    }
    assert!(refusal("torus:8x8", "torus-permutation", "uniform:8").contains("permutation"));
}

/// An undeclared word is a mistake of the user, so the run ends before any case starts.
#[test]
fn an_unknown_form_is_refused_before_anything_runs() {
    for (algorithm, choices) in [
        ("torus-permutation:form=both", "standard, balanced, combined, direct"),
        ("torus-permutation:directions=back", "forward, both"),
        ("torus-broadcast:variant=hybrid", "one-port, all-ports"),
    ] {
        let line = format!(
            "run --topology ring:8 --algorithm {algorithm} --workload uniform:8 --machine free"
        );
        let args = words(&line);
        let refused = swapmeet(&args).assert().code(2);
        let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(error.contains(&format!("`: expected one of {choices}\n")), "{error}");
        assert!(!error.contains("help:"), "{error}");
    }
}

#[test]
fn zero_channels_are_refused() {
    let line = format!(
        "run --topology ring:8 --algorithm torus-broadcast --workload broadcast/uniform:8 \
        --machine {}",
        machine("all", 0)
    );
    let refused = swapmeet(&words(&line)).assert().code(2);
    let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(error.contains("virtual_channels") && error.contains("expected"), "{error}");
}

#[test]
fn every_difference_in_the_reproduction_has_a_reason() {
    let committed = swapmeet_tests::project("results/reproduced/spencer.csv");
    let mut reader = csv::Reader::from_path(&committed)
        .unwrap_or_else(|error| panic!("{}: {error}", committed.display()));
    let mut cells = 0;
    for record in reader.records().map_while(Result::ok) {
        cells += 1;
        let reasons = record[6].split("; ").filter(|why| {
            !why.starts_with("lower bound") && !why.ends_with("with the logarithm rounded up")
        });
        assert!(&record[5] == "agrees" || reasons.count() > 0, "{record:?}");
    }
    assert!(cells > 700, "{cells}");
}
