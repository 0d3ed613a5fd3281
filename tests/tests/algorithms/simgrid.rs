//! Compares the times of algorithms under `fluid`, and their order, with SimGrid 3.32
//! (`fixtures/simgrid.json`, model CM02 with factors of 1).

use crate::support::rows;
use serde_json::Value;
use std::collections::BTreeMap;
use swapmeet_results::Record;

#[derive(Debug)]
struct Timed {
    algorithm: String,
    us: f64,
    mean_us: f64,
}

/// Returns the times of the fixture by topology, machine and workload. Cases in which SimGrid
/// chooses the routes are left out; a unit test of the model compares them.
fn fixture() -> BTreeMap<[String; 3], Vec<Timed>> {
    let fixture: Value = serde_json::from_str(include_str!("../../fixtures/simgrid.json")).unwrap();
    let mut settings: BTreeMap<_, Vec<Timed>> = BTreeMap::new();
    for row in fixture["rows"].as_array().unwrap().iter().filter(|row| row["routes"] == "own") {
        let number = |key: &str| row[key].as_f64().unwrap();
        let order = if row["sync"] == "barrier" { "barrier" } else { "step" };
        let machine = format!(
            "free:model=fluid,startup_us={},byte_us={},hop_us={},order={order}",
            number("startup_s") * 1e6,
            1e6 / number("link_bytes_per_s"),
            number("link_latency_s") * 1e6
        );
        let word = |key: &str| row[key].as_str().unwrap().to_owned();
        let timed = Timed {
            algorithm: word("algorithm"),
            us: number("seconds") * 1e6,
            mean_us: number("mean_rank_done") * 1e6,
        };
        settings
            .entry([word("topology"), machine, format!("uniform:{}", row["block_bytes"])])
            .or_default()
            .push(timed);
    }
    settings
}

#[test]
fn times_and_order_of_algorithms_agree_with_simgrid() {
    let settings = fixture();
    let (mut compared, mut ordered) = (0, 0);
    for ([topology, machine, workload], timed) in &settings {
        let mut args = vec!["--topology", topology, "--machine", machine, "--workload", workload];
        args.extend(timed.iter().flat_map(|timed| ["--algorithm", timed.algorithm.as_str()]));
        let rows = rows(&args);
        let ours: Vec<(&Timed, &Record)> = timed.iter().zip(&rows).collect();
        for (theirs, row) in &ours {
            assert_eq!(theirs.algorithm, row.algorithm);
            let (us, mean) = (
                row.time_us.unwrap_or_else(|| panic!("{}", row.reason)),
                row.mean_rank_us.unwrap(),
            );
            let case = format!(
                "{} on {topology}, {machine}, {workload}: {us} us, mean {mean}; {theirs:?}",
                row.algorithm
            );
            assert!(
                (us / theirs.us - 1.0).abs() < 0.01 && (mean / theirs.mean_us - 1.0).abs() < 0.01,
                "{case}"
            );
            compared += 1;
        }
        for (a, ours_a) in &ours {
            for (b, ours_b) in ours.iter().filter(|(b, _)| a.us * 1.02 < b.us) {
                let (first, second) = (ours_a.time_us.unwrap(), ours_b.time_us.unwrap());
                assert!(
                    first < second,
                    "{topology}, {machine}, {workload}: {a:?} is before {b:?}, not after"
                );
                ordered += 1;
            }
        }
    }
    assert_eq!((settings.len(), compared), (14, 72));
    assert!(ordered > 100, "{ordered}");
}
