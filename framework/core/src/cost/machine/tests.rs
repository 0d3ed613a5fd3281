use super::*;
use proptest::prelude::*;

fn error(text: &str) -> String {
    Machine::parse(text).unwrap_err().to_string()
}

#[test]
fn the_paragons_barrier_grows_with_log2_of_the_nodes() {
    let paragon = Machine::parse("paragon").unwrap();
    let at = |nodes| paragon.barrier_us(nodes);
    assert_eq!([at(16 * 16), at(32 * 32), at(64 * 64), at(128 * 128)], [895.0, 1147.0, 1399.0, 1651.0]);
    assert_eq!(at(100), 769.0, "100 nodes need 7 rounds");
    assert_eq!(at(1), 0.0, "never below 0");
    assert_eq!(Machine::parse("paragon:barrier_us=50").unwrap().barrier_us(256), 50.0);
}

#[test]
fn overrides_print_in_the_tables_order_whatever_the_order_given() {
    let print = |t: &str| Machine::parse(t).unwrap().to_string();
    assert_eq!(print("paragon"), "paragon");
    assert_eq!(
        print("paragon:ports=all,model=circuit,virtual_channels=2"),
        "paragon:model=circuit,ports=all,virtual_channels=2"
    );
    assert_eq!(print("delta:startup_us=50.0"), "delta:startup_us=50");
}

#[test]
fn a_byte_unpaired_costs_what_a_byte_costs_unless_said_otherwise() {
    assert_eq!(Machine::parse("paragon:byte_us=2").unwrap().unpaired_byte_us(), 2.0);
    assert_eq!(Machine::parse("delta").unwrap().unpaired_byte_us(), 0.363);
}

#[test]
fn ports_say_how_many_turns_a_step_takes() {
    assert_eq!(Ports::Count(1).turns(0), 1);
    assert_eq!(Ports::Count(2).turns(5), 3);
    assert_eq!(Ports::All.turns(5), 1);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_was_expected() {
    assert_eq!(error("paragn"), "machine `paragn`: unknown name `paragn`; did you mean `paragon`?");
    assert_eq!(
        error("cray"),
        "machine `cray`: unknown name `cray`, expected one of free, paragon, delta, cm5, sp2, t3d, t3e, myrinet"
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
    assert!(error("paragon:ports=0").contains("ports: expected `all` or a whole number from 1 on, found `0`"));
    assert!(error("paragon:free_contention=0.5").contains("expected a number from 1 on"));
    assert!(
        error("paragon:model=fluid")
            .contains("expected one of wormhole, circuit, store-and-forward, flat, found `fluid`")
    );
    assert!(error("paragon:buffers=3").contains("expected 1 or 2"));
    assert!(error("paragon:fast").contains("expected key=value, found `fast`"));
}

#[test]
fn a_name_of_ones_own_stands_for_a_spec_of_presets() {
    let mine = Machine::parse("paragon:startup_us=220").unwrap().renamed("mine");
    assert_eq!((mine.to_string().as_str(), mine.stands_for()), ("mine", Some("paragon:startup_us=220")));
    let changed = Machine::parse_among("mine:ports=2", &[mine]).unwrap();
    assert_eq!((changed.to_string().as_str(), changed.startup_us), ("mine:ports=2", 220.0));
    assert_eq!(changed.stands_for(), Some("paragon:startup_us=220"));
    assert_eq!(changed.definition().as_deref(), Some("paragon:startup_us=220,ports=2"));
    assert_eq!(Machine::parse("paragon:ports=2").unwrap().definition(), None);
}

#[test]
fn one_machine_has_one_spelling() {
    let spelled = |text: &str, own: &[Machine]| Machine::parse_among(text, own).unwrap().to_string();
    assert_eq!(spelled("paragon:ports=2,startup_us=75.0", &[]), "paragon:ports=2");
    assert_eq!(spelled("paragon:ports=1,byte_us=0.0110", &[]), "paragon");
    let mine = Machine::parse("paragon:startup_us=220").unwrap().renamed("mine");
    assert_eq!(spelled("mine:startup_us=220,ports=1", std::slice::from_ref(&mine)), "mine");
    assert_eq!(spelled("mine:startup_us=75", &[mine]), "mine:startup_us=75", "the preset's, but not the user's");
    let kept = "paragon:unpaired_byte_us=0.011,byte_us=5";
    assert_eq!(
        Machine::parse(&spelled(kept, &[])).unwrap().unpaired_byte_us(),
        0.011,
        "set, though as it was before byte_us was"
    );
}

#[test]
fn every_preset_says_where_its_figures_are_from() {
    for preset in presets() {
        let (machine, free) = ((preset.machine)(), Machine::default());
        assert_eq!(machine.name(), preset.name);
        for p in parameters().iter().filter(|p| p.key != "model") {
            let sourced = preset.sources.iter().any(|(key, _)| *key == p.key);
            let as_byte_us = p.key == "unpaired_byte_us" && machine.unpaired_byte_us.is_none();
            assert!(sourced || as_byte_us || p.value(&machine) == p.value(&free), "{}: {}", preset.name, p.key);
        }
    }
}

proptest! {
    #[test]
    fn specs_print_what_they_parse(
        startup in 0.0..1e6_f64, ports in prop_oneof![Just("all".to_owned()), (1_u64..9).prop_map(|n| n.to_string())],
    ) {
        let machine = Machine::parse(&format!("paragon:ports={ports},startup_us={startup}")).unwrap();
        prop_assert_eq!(Machine::parse(&machine.to_string()).unwrap(), machine);
    }
}
