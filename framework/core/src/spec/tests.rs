use super::*;
use proptest::prelude::*;

fn error(text: &str) -> String {
    Spec::parse("thing", text).unwrap_err().to_string()
}

#[test]
fn a_spec_has_a_name_words_and_pairs() {
    let spec = Spec::parse("machine", "sp2:fast,mode=nonblocking,base=rdn(a=1,b)").unwrap();
    assert_eq!(spec.name(), "sp2");
    let args: Vec<_> =
        spec.args().iter().map(|a| (a.key(), a.value(), a.at(), a.value_at(), a.len())).collect();
    assert_eq!(
        args,
        [
            (None, "fast", 4, 4, 4),
            (Some("mode"), "nonblocking", 9, 14, 16),
            (Some("base"), "rdn(a=1,b)", 26, 31, 15)
        ]
    );
}

#[test]
fn malformed_specs_are_explained() {
    insta::assert_snapshot!(error(""), @"thing ``: the name is missing, expected `name` or `name:arguments`");
    insta::assert_snapshot!(error(":8"), @"thing `:8`: the name is missing, expected `name` or `name:arguments`");
    insta::assert_snapshot!(error("torus:"), @"thing `torus:`: nothing after the colon, expected arguments");
    insta::assert_snapshot!(error("to rus:8"), @"thing `to rus:8`: unexpected ` ` in the name");
    insta::assert_snapshot!(error("a:1,,2"), @"thing `a:1,,2`: an argument is missing");
    insta::assert_snapshot!(error("a:=2"), @"thing `a:=2`: the key before `=` is missing");
    insta::assert_snapshot!(error("a:b="), @"thing `a:b=`: the value after `=` is missing");
    assert_eq!(error("a:b=1,b=2"), "thing `a:b=1,b=2`: `b` is given twice");
    insta::assert_snapshot!(error("a:(b"), @"thing `a:(b`: the parenthesis is never closed");
    let nested = |deep: usize| format!("a:{}b{}", "a:1(".repeat(deep), ")".repeat(deep));
    assert!(Spec::parse("thing", &nested(8)).is_ok());
    let deep = Spec::parse("thing", &nested(60_000)).unwrap_err();
    assert_eq!(
        (deep.at, &*deep.message),
        (37, "parentheses nested more than 8 deep, expected at most 8 levels")
    );
    insta::assert_snapshot!(error("a:b)"), @"thing `a:b)`: a closing parenthesis without an opening one");
}

#[test]
fn the_error_for_a_missing_argument_points_at_its_comma() {
    let place = |text| Spec::parse("thing", text).map_err(|e| (e.at, e.len)).unwrap_err();
    assert_eq!([place("a:1,"), place("a:1,,2"), place("a:,2")], [(3, 1), (4, 1), (2, 1)]);
}

#[test]
fn suggestions_are_similar_names_only() {
    let known = ["torus", "mesh", "ring", "hypercube", "fully-connected"];
    assert_eq!(near_matches("tours", known), ["torus"]);
    assert_eq!(near_matches("hyper", known), ["hypercube"]);
    assert_eq!(near_matches("Mesh", known), ["mesh"]);
    assert!(near_matches("dragonfly", known).is_empty());
    assert_eq!(near_matches("graf", ["ring", "graph", "groups"]), ["graph"]);
}

#[test]
fn sizes_have_binary_units() {
    assert_eq!(parse_size("64"), Ok(64));
    assert_eq!(parse_size("64B"), Ok(64));
    assert_eq!(parse_size("4KiB"), Ok(4096));
    assert_eq!(parse_size("1mib"), Ok(1 << 20));
    assert_eq!(parse_size("0"), Ok(0));
    let expected = |t| parse_size(t).unwrap_err();
    assert_eq!(
        expected("4KB"),
        "a size such as 64, 64B, 4KiB or 1MiB: sizes count in powers of 1024, write KiB"
    );
    assert_eq!(expected("-1"), "a size such as 64, 64B, 4KiB or 1MiB");
    assert_eq!(expected(""), "a size such as 64, 64B, 4KiB or 1MiB");
    assert_eq!(expected("99999999999GiB"), "a size of at most 18446744073709551615 bytes");
}

#[test]
fn errors_in_dimensions_have_positions() {
    assert_eq!(parse_dims("16x8"), Ok(vec![16, 8]));
    assert_eq!(
        parse_dims("4x0x4"),
        Err((2, 1, "dimension 2 is 0, expected a whole number from 1 on".to_owned()))
    );
    assert_eq!(
        parse_dims("4xq"),
        Err((2, 1, "dimension 2 is `q`, expected a whole number from 1 on".to_owned()))
    );
    assert_eq!(parse_dims("4x"), Err((1, 1, "dimension 2 is missing".to_owned())));
    assert_eq!(
        parse_dims("65536x32769"),
        Err((0, 11, "over 2147483648 nodes, the most that a topology may have".to_owned()))
    );
    assert_eq!(
        parse_dims("99999999999999999999"),
        Err((0, 20, "dimension 1 is too large".to_owned()))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

    #[test]
    fn printed_sizes_parse_to_the_same_size(bytes in prop_oneof![any::<u64>(), (0_u64..4096).prop_map(|k| k << 20)]) {
        prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
    }

    #[test]
    fn errors_point_into_the_text(text in prop_oneof!["[a(),=:é]{1,8}", "a:[a(),=é]{1,8}"]) {
        if let Err(e) = Spec::parse("thing", &text) {
            prop_assert!(e.len > 0 && text.get(e.at..e.at + e.len).is_some(), "{} + {} in `{}`", e.at, e.len, text);
        }
    }

    #[test]
    fn parsers_accept_any_text(text in "\\PC{0,24}") {
        let _ = Spec::parse("thing", &text);
        let _ = parse_dims(&text);
        let _ = parse_size(&text);
        let _ = near_matches(&text, ["torus"]);
    }
}
