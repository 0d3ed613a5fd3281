use super::*;

fn case(collective: &str, ranks: u64, bytes: u64, algorithm: &str, time_us: f64) -> TimedCase {
    TimedCase {
        collective: collective.to_owned(),
        ranks,
        bytes,
        algorithm: algorithm.to_owned(),
        protocol: String::new(),
        system: None,
        time_us,
    }
}

/// On 4 ranks, `bruck` is faster than `pairwise` below 1 KiB, and slower from 1 KiB on; `suh-shin`,
/// which Open MPI does not have, is faster than both. On 64 ranks, `linear-sync` is the fastest.
fn sweep() -> Vec<TimedCase> {
    let mut cases = Vec::new();
    for (bytes, bruck, pairwise) in
        [(16, 3.0, 5.0), (512, 4.0, 5.0), (1024, 9.0, 7.0), (4096, 20.0, 9.0)]
    {
        cases.push(case("alltoall", 4, bytes, "bruck", bruck));
        cases.push(case("alltoall", 4, bytes, "pairwise", pairwise));
        cases.push(case("alltoall", 4, bytes, "suh-shin", 1.0));
        cases.push(case("alltoall", 64, bytes, "linear-sync:window=63", 1.0));
        cases.push(case("alltoall", 64, bytes, "pairwise", 2.0));
    }
    cases
}

/// The first entry of the expected file is for numbers of ranks below those of the sweep.
#[test]
fn classic_rules_compare_ranks_times_bytes() {
    let library = library("openmpi").unwrap();
    let text = library.written(&library.decide(&sweep()).unwrap(), None).unwrap();
    let numbers: Vec<String> =
        text.lines().map(|line| line.split('#').next().unwrap().trim().to_owned()).collect();
    let expected = [
        "1",
        "3",
        "3",
        "1",
        "1",
        "0 0 0 0",
        "4",
        "2",
        "0 3 0 0",
        "4096 2 0 0",
        "64",
        "1",
        "0 4 0 0",
    ];
    assert_eq!(numbers, expected, "{text}");
}

/// The library divides messages into segments of a given size. So a chain has a rule only if some
/// segment size gives the same number of segments. In version 1, a window (the number of messages
/// in flight) has no rule.
#[test]
fn rules_express_segments_fan_and_requests() {
    let cases = [
        case("broadcast", 4, 10, "chain-broadcast", 1.0),
        case("broadcast", 4, 10, "binomial-broadcast", 5.0),
        case("broadcast", 4, 64, "chain-broadcast:segments=1", 2.0),
        case("broadcast", 4, 64, "chain-broadcast", 3.0),
        case("broadcast", 4, 4096, "chain-broadcast", 3.0),
        case("broadcast", 4, 8192, "chain-broadcast", 3.0),
        case("alltoall", 16, 64, "linear-sync:window=4", 1.0),
        case("alltoall", 16, 64, "bruck:radix=4", 0.5),
        case("alltoall", 16, 64, "pairwise", 2.0),
    ];
    let rules = |name: &str| {
        let library = library(name).unwrap();
        let text = library.written(&library.decide(&cases).unwrap(), None).unwrap();
        let lines = text.lines().map(|line| line.split('#').next().unwrap().trim().to_owned());
        lines.collect::<Vec<_>>()
    };
    let chains = ["0 6 0 0", "64 2 1 0", "4096 2 1 512", "8192 2 1 1024"];
    let one = rules("openmpi");
    assert_eq!(one[0], "2");
    assert!(one.contains(&"0 2 0 0".to_owned()) && one.ends_with(&chains.map(str::to_owned)));
    let two = rules("openmpi-2");
    assert_eq!(two[..2], ["rule-file-version-2", "2"]);
    let chains = chains.map(|line| format!("{line} 0"));
    assert!(two.contains(&"0 4 0 0 4".to_owned()) && two.ends_with(&chains), "{two:?}");
    let json: serde_json::Value = serde_json::from_str(&rules("openmpi-json").join("\n")).unwrap();
    let rules = |collective: &str| json["collectives"][collective][0]["rules"].clone();
    assert_eq!(rules("alltoall")[0]["reqs"], 4);
    let last = serde_json::json!({ "msg_size_min": 8192, "msg_size_max": "inf", "alg": "chain", "faninout": 1, "seg_size": 1024 });
    assert_eq!(rules("bcast")[3], last);
}

#[test]
fn collectives_with_times_of_one_algorithm_are_reported() {
    let cases = [case("allgather", 8, 64, "ring", 1.0), case("allgather", 8, 64, "bruck", 2.0)];
    let only = |has_others| {
        let (collective, algorithm) = ("allgather".to_owned(), "ring".to_owned());
        vec![Uncompared { collective, algorithm, has_others }]
    };
    assert_eq!(library("nccl").unwrap().uncompared(&cases), only(true));
    let cases = [case("reduce-scatter", 8, 64, "ring-reduce-scatter", 1.0)];
    let only_one = &library("ucc").unwrap().uncompared(&cases)[0];
    assert!(!only_one.has_others, "UCC has one reduce-scatter of this project");
    let cases = [case("allgather", 8, 64, "ring", 1.0), case("allgather", 8, 64, "bruck", 2.0)];
    assert_eq!(library("openmpi").unwrap().uncompared(&cases), []);
    assert_eq!(library("openmpi").unwrap().uncompared(&cases[..1]), only(true));
}

#[test]
fn json_rules_have_no_gaps_or_overlaps() {
    let library = library("openmpi-json").unwrap();
    let text = library.written(&library.decide(&sweep()).unwrap(), None).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["rule_file_version"], 3);
    let entries = &value["collectives"]["alltoall"];
    assert_eq!(
        (&entries[0]["comm_size_min"], &entries[0]["comm_size_max"]),
        (&4.into(), &63.into())
    );
    assert_eq!(entries[1]["comm_size_max"], "inf");
    let rules = &entries[0]["rules"];
    let expected = serde_json::json!([
        { "msg_size_min": 0, "msg_size_max": 4095, "alg": "modified_bruck" },
        { "msg_size_min": 4096, "msg_size_max": "inf", "alg": "pairwise" },
    ]);
    assert_eq!(rules, &expected);
}

#[test]
fn nccl_lines_have_no_spaces_and_whole_buffers() {
    let library = library("nccl").unwrap();
    let cases = [case("allgather", 8, 64, "ring", 1.0), case("allgather", 8, 128, "ring", 2.0)];
    let text = library.written(&library.decide(&cases).unwrap(), None).unwrap();
    assert_eq!(text.lines().nth(1), Some("allgather,0,18446744073709551615,ring,simple,0,-1,8"));
    let why = library.decide(&sweep()).unwrap_err();
    let beginning = "no row has a time of an algorithm that the library's rules can express: nvls-allreduce (allreduce), nvls-tree-allreduce (allreduce), pat-allgather (allgather), pat-reduce-scatter (reduce-scatter), ring (allgather), ring-allreduce (allreduce)";
    assert!(why.starts_with(beginning), "{why}");
}

#[test]
fn losses_compare_with_the_fastest_of_the_library() {
    let losses = library("openmpi").unwrap().losses(&sweep(), "pairwise");
    let found: Vec<_> = losses
        .iter()
        .map(|loss| (loss.ranks, loss.bytes, loss.best.as_str(), loss.ratio))
        .collect();
    assert_eq!(found[0], (4, 16, "bruck", 5.0 / 3.0));
    assert!(
        found.contains(&(4, 4096, "pairwise", 1.0))
            && found.contains(&(64, 16, "linear-sync:window=63", 2.0))
    );
}

const OWN: &str = r#"{ "collective=bcast": { "algorithm=MPIR_Bcast_intra_binomial": {} },
  "collective=alltoall": { "comm_type=intra": { "is_sendbuf_inplace=yes": { "algorithm=MPIR_Alltoall_intra_pairwise_sendrecv_replace": {} },
    "is_sendbuf_inplace=no": { "comm_size<8": { "avg_msg_size<=32768": { "algorithm=MPIR_Alltoall_intra_scattered": {} },
                                                "avg_msg_size=any": { "algorithm=MPIR_Alltoall_intra_pairwise": {} } },
                               "comm_size=any": { "avg_msg_size<=256": { "algorithm=MPIR_Alltoall_intra_brucks": {} },
                                                  "avg_msg_size=any": { "algorithm=MPIR_Alltoall_intra_pairwise": {} } } } },
    "comm_type=inter": { "algorithm=MPIR_Alltoall_inter_pairwise_exchange": {} } } }"#;

/// MPICH's rules remain for fewer ranks. A rule applies up to one byte below the next rule's size.
#[test]
fn mpich_keeps_the_rest_of_its_table() {
    let library = library("mpich").unwrap();
    let text = library.written(&library.decide(&sweep()).unwrap(), Some(OWN)).unwrap();
    let squeezed: String = text.split_whitespace().collect();
    let own: String = OWN.split_whitespace().collect();
    let decided =
        own.find("\"is_sendbuf_inplace=no\":").unwrap() + "\"is_sendbuf_inplace=no\":".len();
    assert_eq!(squeezed[..decided], own[..decided]);
    let before = &own[decided..own.find("},\"comm_type=inter").unwrap()];
    let expected = format!(
        "{{\"comm_size<=3\":{before},\"comm_size<=63\":{{\"avg_msg_size<=1023\":{{\"algorithm=MPIR_Alltoall_intra_brucks\":{{}}}},\"avg_msg_size=any\":{{\"algorithm=MPIR_Alltoall_intra_pairwise\":{{}}}}}},\"comm_size=any\":{{\"avg_msg_size=any\":{{\"algorithm=MPIR_Alltoall_intra_pairwise\":{{}}}}}}}}}},\"comm_type=inter"
    );
    assert!(squeezed[decided..].starts_with(&expected), "{squeezed}");
    let why = library.written(&library.decide(&sweep()).unwrap(), None).unwrap_err();
    assert!(
        why.contains("give its own (maint/tuning/coll/mpir/generic.json) with --base"),
        "{why}"
    );
    let why = library
        .written(&library.decide(&sweep()).unwrap(), Some("{\"collective=bcast\": {}}"))
        .unwrap_err();
    assert_eq!(why, "--base: it has no `collective=alltoall`, expected MPICH's generic.json");
}

/// For 4 ranks, the table `OWN` chooses the scattered algorithm up to 32 KiB. For 64 ranks, it
/// chooses Bruck's algorithm up to 256 bytes and the pairwise algorithm above.
#[test]
fn losses_by_mpichs_own_table() {
    let library = library("mpich").unwrap();
    let mut cases = sweep();
    cases.push(case("alltoall", 4, 16, "linear", 6.0));
    cases.push(case("alltoall", 64, 4096, "linear", 1.0));
    let DefaultLosses { losses, without_a_time } =
        library.losses_of_defaults(&cases, Some(OWN)).unwrap().unwrap();
    let found: Vec<_> = losses
        .iter()
        .map(|loss| (loss.ranks, loss.bytes, loss.used.as_str(), loss.best.as_str(), loss.ratio))
        .collect();
    assert!(found.contains(&(4, 16, "linear", "bruck", 2.0)), "{found:?}");
    assert!(
        found.contains(&(64, 4096, "pairwise", "linear", 2.0))
            && found.contains(&(64, 512, "pairwise", "pairwise", 1.0)),
        "{found:?}"
    );
    assert!(
        !found.iter().any(|(ranks, bytes, ..)| (*ranks, *bytes) == (64, 16)),
        "the sweep has no Bruck there: {found:?}"
    );
    let of_others = [("MPIR_Alltoall_intra_brucks", 1), ("MPIR_Alltoall_intra_scattered", 3)];
    assert_eq!(without_a_time, of_others.map(|(name, times)| (name.to_owned(), times)).into());
}

/// For 4 ranks, Open MPI 4.1 chooses linear_sync below 8 KiB. For 64 ranks, it chooses Bruck's
/// algorithm below 1 KiB, linear below 2 KiB, linear_sync below 4 KiB, and linear from 4 KiB on.
#[test]
fn losses_by_open_mpis_default_choices() {
    let mut cases = sweep();
    cases.push(case("alltoall", 4, 16, "linear-sync", 6.0));
    cases.push(case("alltoall", 64, 16, "bruck", 4.0));
    for name in ["openmpi", "openmpi-2", "openmpi-json"] {
        let DefaultLosses { losses, without_a_time } =
            library(name).unwrap().losses_of_defaults(&cases, None).unwrap().unwrap();
        let found: Vec<_> =
            losses.iter().map(|l| (l.ranks, l.bytes, &*l.used, &*l.best, l.ratio)).collect();
        assert_eq!(
            found,
            [(4, 16, "linear-sync", "bruck", 2.0), (64, 16, "bruck", "linear-sync:window=63", 4.0)]
        );
        let of_others = [("linear", 2), ("linear_sync", 3), ("modified_bruck", 1)];
        assert_eq!(without_a_time, of_others.map(|(name, times)| (name.to_owned(), times)).into());
    }
    assert_eq!(library("nccl").unwrap().losses_of_defaults(&cases, None).unwrap(), None);
}

/// Two domains of eight H100. NVLS has no protocol LL, so its first case has no rule.
fn sweep_of_a_system() -> Vec<TimedCase> {
    let p5 = swapmeet_core::system::systems().iter().find(|system| system.name == "p5").unwrap();
    let row = |bytes, algorithm: &str, protocol: &str, time_us| TimedCase {
        protocol: protocol.to_owned(),
        system: Some((p5, 2, 8)),
        ..case("allreduce", 16, bytes, algorithm, time_us)
    };
    let nvls = "nvls-tree-allreduce:group=8,segments=2";
    vec![
        row(8, nvls, "LL", 1.0),
        row(8, "two-tree-allreduce:segments=2,group=8", "LL", 5.0),
        row(8, "two-tree-allreduce:segments=2,group=4", "LL", 4.0),
        row(1 << 20, "two-tree-allreduce:segments=2,group=8", "LL128", 20.0),
        row(1 << 20, "ring-allreduce", "LL128", 30.0),
        row(8 << 30, nvls, "Simple", 90.0),
        row(8 << 30, "ring-allreduce", "Simple", 99.0),
    ]
}

/// The parsers imitate those of NVIDIA/nccl (plugins/tuner/example/plugin.c, which uses `strtoull`
/// and `strcmp`) and of meta-pytorch/torchcomms (comms/ncclx/meta/tuner/ConfigParse.h, where a size
/// is that of a rank's share).
#[test]
fn rows_of_a_system_name_algorithms_and_protocols() {
    let written = |name: &str| {
        let library = library(name).unwrap();
        let text = library.written(&library.decide(&sweep_of_a_system()).unwrap(), None).unwrap();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        written("nccl"),
        [
            "allreduce,0,1048575,tree,ll,0,2,16",
            "allreduce,1048576,8589934591,tree,ll128,0,2,16",
            "allreduce,8589934592,18446744073709551615,nvls_tree,simple,0,2,16",
        ]
    );
    assert_eq!(
        written("ncclx"),
        [
            "allreduce,[0,65535],tree,ll,-1,2,8",
            "allreduce,[65536,536870911],tree,ll128,-1,2,8",
            "allreduce,[536870912,),nvls_tree,simple,-1,2,8",
        ]
    );
    let ncclx = library("ncclx").unwrap();
    let unknown = [case("allgather", 8, 64, "ring", 1.0)];
    let why = ncclx.written(&ncclx.decide(&unknown).unwrap(), None).unwrap_err();
    assert!(why.contains("--system"), "{why}");
}

/// If each domain has one GPU, trees in rows have no `group=`, because its default is one.
#[test]
fn trees_of_single_gpus_have_a_rule() {
    let p5 = swapmeet_core::system::systems().iter().find(|system| system.name == "p5").unwrap();
    let tree = case("allreduce", 4, 8, "two-tree-allreduce:segments=2", 1.0);
    let tree = TimedCase { protocol: "LL".to_owned(), system: Some((p5, 4, 1)), ..tree };
    assert_eq!(library("nccl").unwrap().name_of(&tree), Some("tree"));
}

/// The expected texts have the forms in oneCCL's guide
/// (`CCL_ALLREDUCE="recursive_doubling:0-8192;..ring:..-max"`) and in UCC's guide
/// (`allreduce:0-4k:[4]:@ring`, contrib/ucc.conf and docs/user_guide.md).
#[test]
fn settings_of_oneccl_and_ucc_are_single_lines() {
    let cases = [
        case("allreduce", 4, 64, "recursive-doubling-allreduce", 1.0),
        case("allreduce", 4, 64, "ring-allreduce", 2.0),
        case("allreduce", 4, 4096, "recursive-doubling-allreduce", 9.0),
        case("allreduce", 4, 4096, "ring-allreduce", 5.0),
        case("alltoall", 4, 64, "bruck", 1.0),
        case("alltoall", 4, 64, "pairwise", 2.0),
        case("alltoall", 4, 4096, "bruck", 9.0),
        case("alltoall", 4, 4096, "pairwise", 5.0),
        case("alltoall", 4, 4096, "linear", 6.0),
    ];
    let written = |name: &str, cases: &[TimedCase]| {
        let library = library(name).unwrap();
        library.written(&library.decide(cases).unwrap(), None)
    };
    assert_eq!(
        written("oneccl", &cases).unwrap(),
        "CCL_ALLREDUCE=\"recursive_doubling:0-4095;ring:4096-max\"\nCCL_ALLTOALL=\"naive:0-max\"\n"
    );
    assert_eq!(
        written("ucc", &cases).unwrap(),
        "UCC_TL_UCP_TUNE=allreduce:0-inf:[4]:@ring#alltoall:0-16384:[4]:@bruck#alltoall:16384-inf:[4]:@pairwise\n"
    );
    let two = [&cases[..], &[case("allreduce", 8, 64, "ring-allreduce", 1.0)]].concat();
    let why = written("oneccl", &two).unwrap_err();
    assert!(why.contains("all numbers of ranks, and the rows have 4, 8"), "{why}");
}
