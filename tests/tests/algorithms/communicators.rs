//! Communicators (`over=`): several sets of ranks run the same algorithm at the same time.

use super::matrix::bundled;
use super::oracle::{ANSWERS, rehearsal};
use crate::support::{rows, swapmeet, timeless};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective;
use swapmeet_core::network::topology;
use swapmeet_core::simulation::{ProofScope, Task};
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, RunOptions, SelectedAlgorithm};
use swapmeet_runner::host::PlanInputs;
use swapmeet_runner::plugin::Algorithm;
use swapmeet_runner::session;
use swapmeet_workloads::Workload;

/// Runs an algorithm on machines. Returns no rows if the workload does not exist on the topology.
fn run(
    algorithm: &Arc<Algorithm>,
    topology: &str,
    workload: &str,
    machines: &[&str],
    proof_scope: ProofScope,
) -> Vec<Record> {
    let case = |machine: &&str| Case {
        experiment: "communicators".into(),
        topology: topology::parse(topology).unwrap(),
        algorithm: Arc::new(SelectedAlgorithm {
            algorithm: Arc::clone(algorithm),
            params: Vec::new(),
            inputs: Vec::new(),
        }),
        workload: Arc::new(Workload::parse(workload).unwrap()),
        inputs: [].into(),
        machine: Arc::new(Machine::parse(machine).unwrap()),
        repetition: 0,
        seed: 42,
        options: RunOptions { timeout: None, proof_scope },
        companions: [].into(),
        optima: None,
    };
    session::run_group(&machines.iter().map(case).collect::<Vec<_>>(), &mut [])
}

fn workloads(algorithm: &Algorithm) -> Vec<String> {
    let uniform = |kind: &&collective::CollectiveKind| !kind.has_tokens && !kind.permutes();
    let kinds = collective::of_bits(algorithm.collectives).filter(uniform);
    kinds.map(|kind| format!("{}/uniform:24", kind.word)).collect()
}

const MACHINES: [&str; 2] = [
    "free:startup_us=1,byte_us=0.01,rearrange_byte_us=0.1,hop_us=0.1",
    "free:model=fluid,startup_us=1,byte_us=0.01,hop_us=0.1",
];

#[test]
fn one_communicator_of_all_ranks_gives_the_row_without_communicators() {
    let networks = [
        ("ring:8", "a:8", "a"),
        ("torus:4x4", "a:2/b:8", "a+b"),
        ("hypercube:3", "a:2/b:2/c:2", "a+b+c"),
        ("rdn:1(ring:3)", "a:3/b:6", "a+b"),
        ("ring:9", "a:9", "a"),
        ("mesh:2x4,faults=1:3", "a:4/b:2", "a+b"),
        ("groups:2x4,reduce=switch", "a:2/b:4", "a+b"),
        ("groups:1x8,reduce=switch", "a:8", "a"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let tokens = |network: &str| {
        let nodes = topology::parse(network).unwrap().nodes();
        let file = folder.path().join(format!("{nodes}.txt"));
        let line = |rank| format!("{rank} {} {}\n", (rank + 1) % nodes, (rank + 2) % nodes);
        std::fs::write(&file, (0..nodes).map(line).collect::<String>()).unwrap();
        format!("tokens:{},bytes=24", file.display())
    };
    let more = |algorithm: &Algorithm, network: &str| -> Vec<String> {
        let kinds = collective::of_bits(algorithm.collectives);
        let workload = |kind: &collective::CollectiveKind| match kind {
            kind if kind.has_tokens => Some(format!("{}/{}", kind.word, tokens(network))),
            kind if kind.permutes() && network == "torus:4x4" => {
                Some("permutation/transpose-2d:24".to_owned())
            }
            _ => None,
        };
        kinds.filter_map(workload).collect()
    };
    let mut compared = BTreeSet::new();
    for algorithm in bundled() {
        for (network, mesh, over) in networks {
            if network.contains("reduce=switch") && compared.contains(&algorithm.name) {
                continue;
            }
            let with_mesh = format!("{network},mesh={mesh}");
            for workload in [workloads(&algorithm), more(&algorithm, network)].concat() {
                let row = |topology: &str, workload: &str| {
                    run(&algorithm, topology, workload, &MACHINES, ProofScope::Auto)
                };
                let plain = row(network, &workload);
                let in_one = row(&with_mesh, &format!("{workload},over={over}"));
                for (plain, in_one) in plain.iter().zip(&in_one) {
                    assert_eq!(plain.status, in_one.status, "{}", in_one.reason);
                    if plain.status == Status::Ok {
                        let nodes = plain.nodes;
                        let expected = Record {
                            topology: in_one.topology.clone(),
                            workload: in_one.workload.clone(),
                            communicators: Some(1),
                            members: Some(nodes),
                            alone_us: plain.time_us,
                            ..timeless(plain)
                        };
                        assert_eq!(timeless(in_one), expected);
                        compared.insert(algorithm.name.clone());
                    }
                }
            }
        }
    }
    let missing: Vec<String> = bundled()
        .iter()
        .map(|algorithm| algorithm.name.clone())
        .filter(|name| !compared.contains(name))
        .collect();
    assert!(compared.len() >= 70, "{} algorithms: {compared:?}", compared.len());
    assert_eq!(missing, [""; 0]);
}

/// No schedule is faster than its bound, and one communicator alone is not slower than all of them.
#[test]
fn rows_of_communicators_are_not_below_their_bounds() {
    let networks = [
        ("torus:4x4,mesh=a:4/b:4", "a"),
        ("torus:4x4,mesh=a:2/b:8", "b"),
        ("torus:4x4,mesh=a:2/b:4/a:2", "a"),
        ("hypercube:4,mesh=a:4/b:4", "b"),
        ("fat-tree:4x2,mesh=a:4/b:4", "a"),
        ("dragonfly:3x2x2,mesh=a:3/b:4", "b"),
        ("groups:4x4,inside=3,mesh=a:4/b:4", "a"),
        ("mesh:4x4,ranks=2,mesh=a:8/b:4", "a"),
    ];
    let (mut verified, mut symmetric) = (0, 0);
    for algorithm in bundled().iter().filter(|algorithm| algorithm.plugin.name != "synthesis") {
        for (network, over) in networks {
            for workload in workloads(algorithm) {
                let workload = format!("{workload},over={over}");
                let rows = |scope| run(algorithm, network, &workload, &MACHINES, scope);
                let (auto, full) = (rows(ProofScope::Auto), rows(ProofScope::Full));
                for (row, full) in auto.iter().zip(&full) {
                    let case = format!("{} on {network}, {workload}: {row:?}", algorithm.name);
                    assert!(matches!(row.status, Status::Ok | Status::Unsupported), "{case}");
                    let Some(time) = row.time_us else { continue };
                    assert!(time >= row.lower_bound_us.unwrap() * (1.0 - 1e-9), "{case}");
                    assert!(time >= row.alone_us.unwrap() * (1.0 - 1e-9), "{case}");
                    let same = Record { proved_on: full.proved_on, ..timeless(row) };
                    let full = Record { compared_on: row.compared_on, ..timeless(full) };
                    assert_eq!(same, full, "{case}");
                    symmetric += u64::from(row.proved_on < full.proved_on);
                    verified += 1;
                }
            }
        }
    }
    assert!(verified > 500 && symmetric > 100, "{verified} rows, {symmetric} with symmetry");
}

/// The times of 40 cases equal those of SimGrid 3.32 (`fixtures/simgrid-communicators.json`). In
/// SimGrid, every rank of every communicator sends its own messages.
#[test]
fn times_of_communicators_agree_with_simgrid() {
    let fixture = include_str!("../../fixtures/simgrid-communicators.json");
    let fixture: Value = serde_json::from_str(fixture).unwrap();
    let mut groups: BTreeMap<[&str; 2], Vec<&Value>> = BTreeMap::new();
    for row in fixture["rows"].as_array().unwrap() {
        let key = ["topology", "over"].map(|key| row[key].as_str().unwrap());
        groups.entry(key).or_default().push(row);
    }
    let machine = "free:model=fluid,byte_us=0.001,hop_us=0.1";
    let mut compared = 0;
    for ([topology, over], theirs) in groups {
        let workloads =
            ["", "allreduce/"].map(|collective| format!("{collective}uniform:64KiB,over={over}"));
        let mut args = vec!["--topology", topology, "--machine", machine];
        args.extend(workloads.iter().flat_map(|workload| ["--workload", workload]));
        let names = theirs.iter().map(|row| row["algorithm"].as_str().unwrap());
        args.extend(names.flat_map(|name| ["--algorithm", name]));
        let rows = rows(&args);
        for row in theirs {
            let is_same = |ours: &&Record| row["algorithm"] == *ours.algorithm;
            let ours = rows.iter().find(|ours| is_same(ours) && ours.status == Status::Ok).unwrap();
            for (us, key) in [(ours.time_us, "seconds"), (ours.mean_rank_us, "mean_rank_done")] {
                let expected = row[key].as_f64().unwrap() * 1e6;
                assert!((us.unwrap() / expected - 1.0).abs() < 1e-6, "{us:?} us, {row}");
            }
            assert_eq!(ours.messages, row["messages"].as_u64());
            compared += 1;
        }
    }
    assert_eq!(compared, 40);
}

/// The origin, destination and segment of a piece of data. An origin or destination that the
/// collective does not distinguish is 0.
type Piece = [u64; 3];

fn pieces(send: &Value) -> BTreeSet<Piece> {
    let numbers = |set: &Value| -> Vec<u64> {
        let Some(runs) = set.as_array() else { return vec![0] };
        let run = |run: &Value| run[0].as_u64().unwrap()..=run[1].as_u64().unwrap();
        runs.iter().flat_map(run).collect()
    };
    let mut all = BTreeSet::new();
    for set in send["blocks"].as_array().unwrap() {
        for origin in numbers(&set["origins"]) {
            for destination in numbers(&set["destinations"]) {
                all.extend(numbers(&set["segments"]).iter().map(|s| [origin, destination, *s]));
            }
        }
    }
    all
}

/// A naive host follows every piece through the schedules of all communicators (JSON of `trace`).
/// At the end, each rank must have exactly the pieces of its communicator.
#[test]
fn a_naive_host_follows_the_data_of_all_communicators() {
    let networks = [
        ("torus:8x8,mesh=a:8/b:8", "a", 8),
        ("torus:8x8,mesh=a:2/b:4/a:4/b:2", "a", 8),
        ("torus:4x4,mesh=a:2/b:8", "b", 8),
        ("hypercube:6,mesh=a:8/b:8", "b", 8),
        ("fat-tree:4x2,mesh=a:4/b:4", "b+a", 16),
        ("groups:4x4,mesh=a:4/b:4", "a", 4),
        ("ring:12", "size:4", 4),
    ];
    let algorithms = [
        ("alltoall", &["linear", "pairwise", "bruck", "ring", "half-ring", "direct"][..]),
        ("allgather", &["recursive-doubling-allgather", "neighbour-allgather", "ring"]),
        ("reduce-scatter", &["ring-reduce-scatter", "circulant-reduce-scatter"]),
        ("allreduce", &["ring-allreduce", "rabenseifner-allreduce", "swing-allreduce"]),
        ("reduce", &["binomial-reduce"]),
        ("broadcast", &["binomial-broadcast", "scatter-allgather", "torus-broadcast"]),
        ("scatter", &["linear", "torus-scatter"]),
        ("gather", &["linear", "torus-gather"]),
    ];
    let mut followed: BTreeMap<&str, u32> = BTreeMap::new();
    for (network, over, size) in networks {
        let all = |algorithms: &'static [&str]| algorithms.iter().copied();
        let pairs = algorithms.iter().flat_map(|(word, names)| all(names).map(move |n| (*word, n)));
        for (word, algorithm) in pairs {
            let is_rooted = ["reduce", "broadcast", "scatter", "gather"].contains(&word);
            let root = if is_rooted { ",root=1" } else { "" };
            let workload = format!("{word}/uniform:24,over={over}{root}");
            let output = swapmeet(&["trace", "--format", "json", "--topology", network])
                .args(["--algorithm", algorithm, "--workload", &workload])
                .output()
                .unwrap();
            let Ok(document) = serde_json::from_slice::<Value>(&output.stdout) else { continue };
            if document["outcome"]["status"] != "ok" {
                continue;
            }
            follow(&document, word, size);
            *followed.entry(word).or_default() += 1;
        }
    }
    assert!(followed.values().sum::<u32>() >= 80, "{followed:?}");
    assert_eq!(followed.len(), algorithms.len(), "{followed:?}");
}

fn follow(document: &Value, word: &str, size: usize) {
    let case = &document["schedule"];
    let list = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|rank| rank.as_u64().unwrap()).collect()
    };
    let communicators: Vec<Vec<u64>> =
        case["communicators"].as_array().unwrap().iter().map(list).collect();
    let events = document["events"].as_array().unwrap();
    let layout = events.iter().find(|event| event["layout"].is_object()).unwrap();
    let segments = layout["layout"]["segments"].as_u64().unwrap();
    let sends: Vec<&Value> = events.iter().filter(|event| event["from"].is_u64()).collect();
    let root = case["root"].as_u64().unwrap_or(0) as usize;
    let of_side = |key: &str| sends[0]["blocks"][0][key].is_array();
    let (has_origins, has_destinations) = (of_side("origins"), of_side("destinations"));
    let sets = |rank: u64, ranks: &[u64], at_end: bool| -> BTreeSet<Piece> {
        let (own, all, none) = (&[rank][..], ranks, &[][..]);
        let of_root = if rank == ranks[root] { all } else { none };
        let (origins, destinations) = match (word, at_end) {
            (
                "alltoall" | "allgather" | "reduce-scatter" | "allreduce" | "reduce" | "gather",
                false,
            ) => (own, all),
            ("broadcast" | "scatter", false) => (&ranks[root..=root], of_root),
            ("alltoall" | "reduce-scatter", true) => (all, own),
            ("allgather" | "allreduce", true) => (all, all),
            ("reduce" | "gather", true) => (of_root, all),
            ("broadcast", true) => (&ranks[root..=root], all),
            ("scatter", true) => (&ranks[root..=root], own),
            (other, _) => panic!("{other}"),
        };
        let pair = |o: u64, d: u64| [u64::from(has_origins) * o, u64::from(has_destinations) * d];
        let pairs = origins.iter().flat_map(|o| destinations.iter().map(move |d| pair(*o, *d)));
        pairs.flat_map(|[o, d]| (0..segments).map(move |s| [o, d, s])).collect()
    };
    let mut held = BTreeMap::new();
    for ranks in &communicators {
        assert_eq!(ranks.len(), size, "{case}");
        held.extend(ranks.iter().map(|rank| (*rank, sets(*rank, ranks, false))));
    }
    assert_eq!(held.len() as u64, case["nodes"].as_u64().unwrap(), "every rank has a place");
    let mut messages = BTreeSet::new();
    for step in sends.chunk_by(|a, b| a["step"] == b["step"]) {
        let mut arriving = Vec::new();
        for send in step {
            let [from, to, number] =
                ["from", "to", "communicator"].map(|key| send[key].as_u64().unwrap());
            let ranks = &communicators[number as usize];
            assert!(ranks.contains(&from) && ranks.contains(&to), "{send}");
            let moved = pieces(send);
            let own = held.get_mut(&from).unwrap();
            assert!(moved.is_subset(own), "{case}: {from} does not hold all of {send}");
            if send["copy"] != true {
                moved.iter().for_each(|piece| assert!(own.remove(piece)));
            }
            if from != to {
                messages.insert((send["step"].as_u64(), from, to, send["path"].to_string()));
                assert_eq!(send["path"][0], from, "{send}");
            }
            arriving.push((to, moved));
        }
        for (to, moved) in arriving {
            held.get_mut(&to).unwrap().extend(moved);
        }
    }
    for ranks in &communicators {
        for rank in ranks {
            let end = sets(*rank, ranks, true);
            assert!(end.is_subset(&held[rank]), "{case}: rank {rank} has {:?}", held[rank]);
        }
    }
    assert_eq!(document["outcome"]["messages"].as_u64(), Some(messages.len() as u64), "{case}");
}

/// The naive host of the SDK traces every block of each schedule. The rows have the sums of its
/// counts.
#[test]
fn a_naive_host_follows_the_schedules_of_unequal_communicators() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f.txt");
    std::fs::write(&file, "0 1 2 3\n4 5 6 7 8 9 10 11\n63 61\n16 20 24 28\n17 33 49 50 51 52\n")
        .unwrap();
    let over = format!("over=file:{}", file.display());
    let mut followed = 0;
    for network in ["torus:8x8", "hypercube:6", "groups:8x8", "mesh:8x8"] {
        let topology = topology::parse(&format!("{network},mesh=a:8/b:8")).unwrap();
        for algorithm in bundled().iter().filter(|a| {
            let names = [
                "linear",
                "pairwise",
                "bruck",
                "ring-allreduce",
                "ring",
                "half-ring",
                "recursive-doubling-allgather",
                "ring-reduce-scatter",
                "binomial-broadcast",
                "rabenseifner-allreduce",
                "direct",
                "spread",
            ];
            names.contains(&&*a.name)
        }) {
            let uniform = workloads(algorithm).into_iter().map(|w| format!("{w},{over}"));
            let sizes = "irregular:dist=lognormal,mean=1KiB,cv=1";
            let drawn = [format!("{sizes},{over}"), format!("{sizes},over=b")];
            for workload in uniform.chain(drawn) {
                let row =
                    &run(algorithm, &topology.spec(), &workload, &MACHINES[1..], ProofScope::Auto);
                let [row] = &row[..] else { panic!("one row") };
                if row.status != Status::Ok {
                    assert_eq!(row.status, Status::Unsupported, "{}", row.reason);
                    continue;
                }
                let parsed = Workload::parse(&workload).unwrap();
                let (mut messages, mut bytes, mut steps) = (0, 0, 0);
                for task in parsed.tasks(&topology, 42).unwrap() {
                    let counts = naive(algorithm, &task, parsed.block_bytes());
                    let count = task.communicators.as_ref().unwrap().count();
                    messages += count * counts.messages;
                    bytes += count * counts.total_bytes;
                    steps = counts.steps.max(steps);
                }
                let found = (row.messages, row.total_bytes, row.steps);
                let case = format!("{} on {network}, {workload}", algorithm.name);
                assert_eq!(found, (Some(messages), Some(bytes.into()), Some(steps)), "{case}");
                followed += 1;
            }
        }
    }
    assert!(followed >= 30, "{followed} cases");
}

#[test]
fn a_naive_host_follows_the_schedules_of_jobs() {
    let topology = "torus:8x8,mesh=dp:4/ep:16";
    let network = topology::parse(topology).unwrap();
    let machine = "tpu-v5p:model=fluid";
    let mut followed = 0;
    for first in ["linear", "pairwise", "bruck"] {
        for second in ["ring-allreduce", "rabenseifner-allreduce", "recursive-doubling-allreduce"] {
            let beside = format!("{second} allreduce/uniform:64KiB,over=dp start_us=2");
            let both = rows(&[
                "--topology",
                topology,
                "--machine",
                machine,
                "--algorithm",
                first,
                "--workload",
                "uniform:1KiB,over=ep",
                "--beside",
                &beside,
            ]);
            for row in &both {
                let algorithm = bundled().into_iter().find(|a| a.name == row.algorithm).unwrap();
                let workload = Workload::parse(&row.workload).unwrap();
                let task = workload.task(&network, 42).unwrap();
                let counts = naive(&algorithm, &task, workload.block_bytes());
                let count = row.communicators.unwrap();
                assert_eq!(row.messages, Some(count * counts.messages), "{row:?}");
                assert_eq!(row.total_bytes, Some(u128::from(count * counts.total_bytes)));
                assert_eq!(row.steps, Some(counts.steps));
                followed += 1;
            }
        }
    }
    assert_eq!(followed, 18);
}

fn naive(algorithm: &Algorithm, task: &Task, block_bytes: u64) -> swapmeet_sdk::Proved {
    let answers = PlanInputs { block_bytes, ..ANSWERS };
    let table = algorithm.raw_table().unwrap();
    // SAFETY: the table belongs to a plugin that this process has loaded.
    let proved = unsafe { rehearsal(task, &[], answers).verify_table(table) };
    proved.unwrap_or_else(|wrong| panic!("{}: {wrong}", algorithm.name))
}
