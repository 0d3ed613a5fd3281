use super::*;
use crate::cost::parameter::{Barrier, PortLimit};
use crate::network::topology;
use proptest::prelude::*;

fn error(text: &str) -> String {
    Machine::parse(text).unwrap_err().to_string()
}

fn print(text: &str) -> String {
    Machine::parse(text).unwrap().to_string()
}

#[test]
fn the_paragons_barrier_grows_with_log2_of_the_nodes() {
    let paragon = Barrier::Rounds { per_round: 126.0, offset: -113.0 };
    assert_eq!(
        presets()[1].values.iter().find(|f| f.0 == "barrier_us").unwrap().1,
        paragon.to_string()
    );
    let at = |nodes| paragon.us(nodes);
    assert_eq!(
        [at(16 * 16), at(32 * 32), at(64 * 64), at(128 * 128)],
        [895.0, 1147.0, 1399.0, 1651.0]
    );
    assert_eq!(at(100), 769.0, "100 nodes need 7 rounds");
    assert_eq!(at(1), 0.0, "never below 0");
    assert_eq!(Barrier::Fixed(50.0).us(256), 50.0);
}

#[test]
fn barriers_can_have_a_time_per_round() {
    for barrier in ["50", "126d-113", "3.5d", "3d+0.25"] {
        assert_eq!(
            print(&format!("free:barrier_us={barrier}")),
            format!("free:barrier_us={barrier}")
        );
    }
    assert_eq!(print("free:barrier_us=2d+0"), "free:barrier_us=2d");
    for bad in ["d", "2d-", "2d--1", "2dd", "-2d", "2d3"] {
        assert!(error(&format!("free:barrier_us={bad}")).contains("as 126d-113"), "{bad}");
    }
}

#[test]
fn settings_are_printed_in_the_order_of_parameters() {
    assert_eq!(print("paragon"), "paragon");
    assert_eq!(
        print("paragon:ports=all,model=circuit,virtual_channels=2"),
        "paragon:model=circuit,ports=all,virtual_channels=2"
    );
    assert_eq!(print("delta:startup_us=50.0"), "delta:startup_us=50");
}

#[test]
fn unpaired_bytes_cost_as_much_as_others_by_default() {
    let cost = |text| Machine::parse(text).unwrap().number("unpaired_byte_us");
    assert_eq!(cost("paragon:byte_us=2"), Some(2.0));
    assert_eq!(cost("delta"), Some(0.363));
}

#[test]
fn port_limits_determine_the_rounds_of_a_step() {
    assert_eq!(PortLimit::Count(1).rounds(0), 1);
    assert_eq!(PortLimit::Count(2).rounds(5), 3);
    assert_eq!(PortLimit::All.rounds(5), 1);
}

#[test]
fn errors_of_invalid_values_say_what_was_expected() {
    assert_eq!(error("paragn"), "machine `paragn`: unknown name `paragn`; did you mean `paragon`?");
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    assert_eq!(
        error("cray"),
        format!("machine `cray`: unknown name `cray`, expected one of {}", names.join(", "))
    );
    assert_eq!(
        error("paragon:startup=2"),
        "machine `paragon:startup=2`: unknown key `startup`; did you mean `startup_us`?"
    );
    assert_eq!(
        error("paragon:startup_us=-1"),
        "machine `paragon:startup_us=-1`: startup_us: expected microseconds, a number from 0 to 86400000000, found `-1`"
    );
    assert!(error("paragon:byte_us=NaN").contains("found `NaN`"));
    assert!(error("paragon:byte_us=inf").contains("found `inf`"));
    assert!(
        error("paragon:ports=0")
            .contains("ports: expected `all` or a whole number from 1, found `0`")
    );
    assert!(error("paragon:free_contention=0.5").contains("expected a number from 1"));
    let names: Vec<&str> = models().iter().map(|kind| kind.name).collect();
    let one_of = format!("expected one of {}, found `solid`", names.join(", "));
    assert!(error("paragon:model=solid").contains(&one_of), "{one_of}");
    assert!(error("sp2:buffers=3").contains("expected 1 or 2"));
    assert!(error("paragon:fast").contains("expected key=value, found `fast`"));
}

#[test]
fn numbers_that_underflow_are_refused() {
    assert_eq!(
        error("paragon:byte_us=1e-400"),
        error("paragon:byte_us=-1").replace("-1", "1e-400")
    );
    assert_eq!(print("paragon:byte_us=0.0e-400"), "paragon:byte_us=0");
    assert_eq!(print("paragon:byte_us=1e-300"), print("paragon:byte_us=1e-300"));
}

#[test]
fn invalid_factors_and_weights_are_refused() {
    let expects = |setting: &str| {
        error(&format!("free:model=fluid,{setting}")).rsplit_once("expected ").unwrap().1.to_owned()
    };
    for factor in ["latency_factor", "bandwidth_factor"] {
        for bad in ["0", "-1", "1e-300", "1e300", "NaN", "inf"] {
            let expected = format!("a number from 0.000001 to 1000000, found `{bad}`");
            assert_eq!(expects(&format!("{factor}={bad}")), expected);
        }
    }
    assert_eq!(expects("weight_bytes=-1"), "a number of bytes from 0 to 1000000000000, found `-1`");
    assert_eq!(
        expects("weight_bytes=1e300"),
        "a number of bytes from 0 to 1000000000000, found `1e300`"
    );
    for key in ["byte_us", "hop_us", "startup_us", "injection_byte_us"] {
        assert_eq!(
            expects(&format!("{key}=-1")),
            "microseconds, a number from 0 to 86400000000, found `-1`"
        );
    }
    for model in ["loggp", "fluid"] {
        let noise = |cv: &str| error(&format!("free:model={model},noise={cv}"));
        assert!(
            noise("-0.1").ends_with("expected a number from 0 to 10, found `-0.1`"),
            "{}",
            noise("-0.1")
        );
    }
    assert!(error("paragon:noise=0.1").contains("`noise` is not read by the model `wormhole`"));
}

#[test]
fn errors_of_unused_parameters_list_the_used_ones() {
    assert_eq!(
        error("paragon:mode=nonblocking,buffers=2"),
        "machine `paragon:mode=nonblocking,buffers=2`: `mode` is not read by the model `wormhole`, whose parameters are model, startup_us, byte_us, hop_us, \
         unpaired_byte_us, injection_byte_us, rearrange_byte_us, rearrangement, rearrange_block_us, reduce_byte_us, barrier_us, ports, free_contention, hops, rendezvous_bytes, rendezvous_us, eager_byte_us, launch_us, floor_us, virtual_channels"
    );
    assert!(
        error("free:free_contention=2,model=circuit")
            .contains("`free_contention` is not read by the model `circuit`")
    );
    assert_eq!(print("paragon:mode=nonblocking,model=flat"), "paragon:model=flat,mode=nonblocking");
    assert!(
        error("sp2:hop_us=1,free_contention=2")
            .contains("`hop_us` is not read by the model `flat`")
    );
    for read in [
        "sp2:virtual_channels=2",
        "paragon:virtual_channels=2",
        "free:model=store-and-forward,virtual_channels=2",
    ] {
        assert_eq!(print(read), read);
    }
}

#[test]
fn values_of_a_base_that_the_model_does_not_read_are_listed_as_unused() {
    let unused = |machine: &Machine| {
        machine
            .unused()
            .iter()
            .map(|v| (v.parameter.key(), v.text.clone(), v.origin))
            .collect::<Vec<_>>()
    };
    let machine = Machine::parse("sp2:model=circuit").unwrap();
    assert_eq!(machine.number("copy_byte_us"), None);
    let [(key, text, Origin::Preset(_))] = &unused(&machine)[..] else {
        panic!("{:?}", unused(&machine))
    };
    assert_eq!((*key, text.as_str()), ("copy_byte_us", "0.0175"));
    let mine = Machine::parse("sp2:mode=nonblocking").unwrap().renamed("mine");
    let other = mine.with(&[("model", "circuit"), ("hop_us", "1")]).unwrap();
    assert_eq!(unused(&other)[1..], [("mode", "nonblocking".to_owned(), Origin::Experiment)]);
    assert_eq!(
        other.definition().as_deref(),
        Some("sp2:model=circuit,hop_us=1"),
        "which can be read again"
    );
}

#[test]
fn values_have_their_origin() {
    let machine = Machine::parse("paragon:startup_us=220").unwrap();
    let origin =
        |key: &str| machine.values().into_iter().find(|v| v.parameter.key() == key).unwrap().origin;
    assert_eq!(origin("startup_us"), Origin::User);
    assert_eq!(origin("byte_us"), Origin::Preset("tc = 0.011 us a byte, Suh & Shin, section 5"));
    assert_eq!(origin("free_contention"), Origin::Default);
    let mine = machine.renamed("mine").with(&[("byte_us", "2")]).unwrap();
    let origin =
        |key: &str| mine.values().into_iter().find(|v| v.parameter.key() == key).unwrap().origin;
    assert_eq!((origin("startup_us"), origin("byte_us")), (Origin::Experiment, Origin::User));
}

#[test]
fn machines_of_an_experiment_have_a_spec_of_presets() {
    let mine = Machine::parse("paragon:startup_us=220").unwrap().renamed("mine");
    assert_eq!(
        (mine.to_string().as_str(), mine.stands_for()),
        ("mine", Some("paragon:startup_us=220"))
    );
    let changed = Machine::parse_with("mine:ports=2,startup_us=220", &[mine]).unwrap();
    assert_eq!(
        (changed.to_string().as_str(), changed.number("startup_us")),
        ("mine:ports=2", Some(220.0))
    );
    assert_eq!(changed.stands_for(), Some("paragon:startup_us=220"));
    assert_eq!(changed.definition().as_deref(), Some("paragon:startup_us=220,ports=2"));
    assert_eq!(Machine::parse("paragon:ports=2").unwrap().definition(), None);
    let again = changed.renamed("again");
    assert_eq!(again.stands_for(), Some("paragon:startup_us=220,ports=2"));
    let same = Machine::parse_with("again:startup_us=220,ports=2", &[again]).unwrap();
    assert_eq!(same.to_string(), "again");
}

#[test]
fn full_specs_are_the_same_machines() {
    let others = ["paragon:model=circuit,ports=2", "sp2:mode=nonblocking,late=random:2:10"];
    for spec in presets().iter().map(|preset| preset.name).chain(others) {
        let machine = Machine::parse(spec).unwrap();
        let full = machine.full_spec();
        assert_eq!(full.split(',').count(), machine.parameters().len(), "{full}");
        assert_eq!(Machine::parse(&full).unwrap().to_string(), machine.to_string(), "{full}");
    }
    assert!(Machine::parse("paragon").unwrap().full_spec().contains(",rearrangement=packed,"));
}

#[test]
fn plugins_can_read_the_virtual_channels() {
    let machine = Machine::parse("paragon:model=circuit,virtual_channels=2").unwrap();
    assert_eq!(machine.planning().virtual_channels(), 2);
}

#[test]
fn a_negative_zero_is_printed_without_a_sign() {
    assert_eq!(print("paragon:startup_us=-0"), "paragon:startup_us=0");
}

#[test]
fn equal_machines_have_equal_specs() {
    let spelled = |text: &str, own: &[Machine]| Machine::parse_with(text, own).unwrap().to_string();
    assert_eq!(spelled("paragon:ports=2,startup_us=75.0", &[]), "paragon:ports=2");
    assert_eq!(spelled("paragon:ports=1,byte_us=0.0110,model=wormhole", &[]), "paragon");
    assert_eq!(spelled("paragon:byte_us=2,unpaired_byte_us=2", &[]), "paragon:byte_us=2");
    let mine = Machine::parse("paragon:startup_us=220").unwrap().renamed("mine");
    assert_eq!(spelled("mine:startup_us=220,ports=1", std::slice::from_ref(&mine)), "mine");
    assert_eq!(
        spelled("mine:startup_us=75", &[mine]),
        "mine:startup_us=75",
        "the preset's, but not the user's"
    );
    let kept = "paragon:unpaired_byte_us=0.011,byte_us=5";
    assert_eq!(
        Machine::parse(&spelled(kept, &[])).unwrap().number("unpaired_byte_us"),
        Some(0.011),
        "set, though as it was before byte_us was"
    );
}

#[test]
fn presets_are_valid_and_name_their_sources() {
    for preset in presets() {
        let machine = Machine::parse(preset.name).unwrap();
        assert!(machine.unused().is_empty(), "{}", preset.name);
        assert_eq!(
            machine.values().iter().filter(|v| v.origin != Origin::Default).count(),
            preset.values.len()
        );
        for (key, text, source) in preset.values {
            assert_eq!(
                find(key).unwrap().canonical(text).as_deref(),
                Ok(*text),
                "{}: {key}",
                preset.name
            );
            assert!(!source.is_empty(), "{}: {key}", preset.name);
        }
    }
}

/// The bandwidth of a node, over its links in both directions, is 75 % to 100 % of the vendor's
/// value in GB/s. Bits instead of bytes, or one direction instead of both, would be outside.
#[test]
fn nodes_of_current_machines_have_the_bandwidth_that_vendors_state() {
    let nvlink_5_and_adapter = 1800.0 + 100.0;
    let nvlink_4_and_adapter = 900.0 + 100.0;
    for (machine, topology, stated) in [
        // Google Cloud's pages of the TPU versions: bidirectional bandwidth of a chip.
        ("tpu-v5p", "torus:16x20x28", 1200.0),
        ("tpu-v5e", "torus:16x16", 400.0),
        ("tpu-v6e", "torus:16x16", 800.0),
        // AWS Neuron SDK, trainium2.rst: 1.28 TB/s, of which 256 GB/s lead to other instances.
        ("trainium2", "torus:4x4", 1280.0 - 256.0),
        // AWS Neuron SDK, trainium3.rst: 2.56 TB/s.
        ("trainium3", "fat-tree:64x1", 2560.0),
        // AMD, data sheet of the MI300X platform: 896 GB/s.
        ("mi300x", "fully-connected:8", 896.0),
        // NVIDIA, data sheets of DGX B200 and DGX H100.
        ("dgx-b200", "groups:2x8,inside=18,inside_hop=0", nvlink_5_and_adapter),
        ("efa-p5", "groups:2x8,inside=9,inside_hop=0", nvlink_4_and_adapter),
        ("efa-p5en", "groups:2x8,inside=9,inside_hop=0", nvlink_4_and_adapter),
        // HPE: 200 Gb/s in each direction.
        ("aurora", "dragonfly:5x32x16", 50.0),
    ] {
        let network = topology::parse(topology).unwrap();
        let leaves = |link: &u64| network.link_ends(*link).is_some_and(|(from, _)| from == 0);
        let links = (0..network.link_slots()).filter(leaves);
        let multiple: f64 = links.map(|link| network.bandwidth(link)).sum();
        let byte_us = Machine::parse(machine).unwrap().number("byte_us").unwrap();
        let gigabytes = 2.0 * multiple / byte_us / 1e3;
        assert!((0.75..=1.001).contains(&(gigabytes / stated)), "{machine}: {gigabytes} GB/s");
    }
}

#[test]
fn a_key_is_the_same_parameter_in_every_model() {
    for kind in models() {
        for parameter in kind.parameters {
            let Ok(known) = find(parameter.key()) else { panic!("{}", parameter.key()) };
            let meaning = |p: &dyn Parameter| (p.meaning(), p.symbols(), p.default().to_string());
            assert_eq!(meaning(*parameter), meaning(known), "{}: {}", kind.name, parameter.key());
        }
    }
}

#[test]
fn every_model_has_defaults_for_all_parameters() {
    for kind in models() {
        let machine = Machine::parse(&format!("free:model={kind}")).unwrap();
        assert_eq!(machine.model.name, kind.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

    #[test]
    fn specs_print_what_they_parse(
        startup in 0.0..1e6_f64, ports in prop_oneof![Just("all".to_owned()), (1_u64..9).prop_map(|n| n.to_string())],
    ) {
        let machine = Machine::parse(&format!("paragon:ports={ports},startup_us={startup}")).unwrap();
        prop_assert_eq!(Machine::parse(&machine.to_string()).unwrap(), machine);
    }
}
