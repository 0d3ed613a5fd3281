//! Tests of the data of papers. The values of formulas are compared with those of other sources.

use crate::engine::{Engine, Paper, Specs};
use crate::formula::Value;
use crate::papers;
use crate::report::{Table, Verdict};
use swapmeet_results::Record;

fn engine(name: &str) -> Engine<'static> {
    Engine::new(papers().iter().find(|paper| paper.name == name).unwrap(), None).unwrap()
}

/// Returns the paper `name` after `change` was applied to its data.
fn changed(name: &str, change: impl FnOnce(&mut toml::Table)) -> Paper {
    let paper = papers().iter().find(|paper| paper.name == name).unwrap();
    let mut data: toml::Table = toml::from_str(paper.data).unwrap();
    change(&mut data);
    Paper { data: toml::to_string(&data).unwrap().leak(), ..*paper }
}

fn keep_table(data: &mut toml::Table, is_kept: impl Fn(&toml::Value) -> bool) {
    data["table"].as_array_mut().unwrap().retain(is_kept);
}

fn specs([topology, algorithm, workload, machine]: [&str; 4]) -> Specs {
    let [topology, algorithm, workload, machine] =
        [topology, algorithm, workload, machine].map(str::to_owned);
    Specs { topology, algorithm, workload, machine, seeds: 1 }
}

fn number(engine: &Engine<'_>, formula: &str, variables: &[(&str, Value)]) -> f64 {
    engine.scope(variables).number(formula).unwrap()
}

#[test]
fn the_data_of_every_paper_is_read() {
    for paper in papers() {
        Engine::new(paper, None).unwrap_or_else(|e| panic!("{}: {e}", paper.name));
    }
}

mod suh_shin {
    use super::*;

    fn proposed(engine: &Engine<'_>, shape: &str, side: u64) -> Vec<f64> {
        let scope = engine.scope(&[("shape", shape.into()), ("side", side.into())]);
        let values = scope.value("own_forms").unwrap();
        values.list().unwrap().iter().map(|value| value.number().unwrap()).collect()
    }

    /// For the paper's algorithm, Table 1's formulas must give the values in its rows of Table 2.
    #[test]
    fn table_2_is_table_1_on_squares() {
        let paper = engine("suh-shin");
        for d in 2..8_u32 {
            let (side, x) = (1_u64 << d, f64::from(d));
            let torus = proposed(&paper, "torus", side);
            assert_eq!(torus[0], (x - 1.0).exp2() + 2.0);
            assert_eq!(torus[1], (3.0 * x - 2.0).exp2() + (2.0 * x).exp2());
            assert_eq!(torus[2], (x + 1.0).exp2() - 2.0);
            let mesh = proposed(&paper, "mesh", side);
            assert_eq!(mesh[2], (2.0 * x).exp2() - (x + 2.0).exp2() + 6.0);
            assert_eq!(mesh[1], (3.0 * x - 1.0).exp2());
        }
    }

    #[test]
    fn on_8_by_8_tori_all_costs_of_13_and_proposed_are_equal() {
        let paper = engine("suh-shin");
        let scope = paper.scope(&[("shape", "torus".into()), ("side", 8_u64.into())]);
        assert_eq!(scope.value("costs_13").unwrap(), proposed(&paper, "torus", 8).into());
    }

    /// The algorithm declares how many blocks are rearranged. No run measures this number.
    #[test]
    fn declared_values_do_not_count_as_agreeing() {
        let paper = engine("suh-shin");
        let terms = paper.scope(&[]).value("each(term in terms, agreement)").unwrap();
        let expected = ["formula", "formula", "formula", "declared", "formula"];
        assert_eq!(terms, expected.to_vec().into());
    }

    /// If this project lacks an algorithm, its cells still have the paper's values.
    #[test]
    fn rivals_without_a_run_keep_the_papers_values() {
        let paper = changed("suh-shin", |data| {
            data["sides"] = toml::Value::Array(vec![8.into()]);
            for shape in ["torus", "mesh"] {
                for rival in data["rivals"][shape].as_array_mut().unwrap() {
                    rival.as_table_mut().unwrap().remove("algorithm");
                }
            }
            keep_table(data, |table| table["id"].as_str() == Some("Table 2"));
        });
        let engine = Engine::new(&paper, None).unwrap();
        let machine = "free:startup_us=1,byte_us=1,hop_us=1,rearrange_byte_us=1,rearrangement=declared,barrier_us=1";
        for topology in ["torus:8x8", "mesh:8x8"] {
            engine.suppose(specs([topology, "suh-shin", "uniform:1", machine]), Record::default());
        }
        let tables = engine.tables().unwrap();
        let [Table { cells, .. }] = &tables[..] else { panic!("{} tables", tables.len()) };
        // Each shape has two rivals and the row `proposed`, and each of these has five costs.
        assert_eq!(cells.len(), 2 * 3 * 5);
        assert!(cells.iter().all(|c| c.verdict != Verdict::NotGiven && !c.paper.is_empty()));
        assert_eq!(cells.iter().filter(|c| c.verdict == Verdict::NotRebuilt).count(), 20);
    }
}

mod spencer {
    use super::*;

    /// The formulas give log2(n) rounds, 10 links and 8 blocks. The run has 2 rounds, 10 links and
    /// 8.4 blocks.
    #[test]
    fn terms_that_differ_have_a_reason() {
        let cells = |id: &str| -> Vec<(String, String, Verdict, String)> {
            let paper = changed("spencer", |data| {
                let rows = data["dissemination"].as_array_mut().unwrap();
                rows.truncate(1);
                let row = rows[0].as_table_mut().unwrap();
                row["on"] = "[[1, 3, 1]]".into();
                row["costs"] = ["log(2, n)", "10", "8"].map(toml::Value::from).to_vec().into();
                if id == "Table 4.4" {
                    row.insert("farthest".to_owned(), 1.into());
                }
                let compared: toml::Table = [("id", id), ("rows", "dissemination")]
                    .map(|(k, v)| (k.to_owned(), v.into()))
                    .into_iter()
                    .collect();
                data["compared"] = toml::Value::Array(vec![compared.into()]);
                keep_table(data, |table| table["id"].as_str() == Some("{id}"));
            });
            let engine = Engine::new(&paper, None).unwrap();
            let [topology, algorithm, workload] =
                ["ring:3", "torus-broadcast", "broadcast/uniform:720720"];
            let run = Record {
                startup_us: Some(2.0 * 2_952_069_120.0),
                propagation_us: Some(10.0),
                transmission_us: Some(8.4 * 720_720.0),
                contention_us: Some(0.0),
                ..Record::default()
            };
            let machine = "free:model=circuit,startup_us=2952069120,hop_us=1,byte_us=1,ports=1,virtual_channels=1";
            engine.suppose(specs([topology, algorithm, workload, machine]), run);
            let hops = Record { lower_bound_us: Some(1.0), ..Record::default() };
            let machine = "free:model=circuit,hop_us=1,ports=all";
            engine.suppose(specs([topology, algorithm, workload, machine]), hops);
            let tables = engine.tables().unwrap();
            let [Table { cells, .. }] = &tables[..] else { panic!("{} tables", tables.len()) };
            let texts = |cell: &crate::report::Cell| {
                (cell.paper.clone(), cell.ours.clone(), cell.verdict, cell.why.clone())
            };
            cells.iter().map(texts).collect()
        };
        let reason =
            engine("spencer").scope(&[]).value("at(at(reasons, 'one-port'), 'propagation')");
        let reason = reason.unwrap().text();
        let rounded = "equals the formula with its logarithm rounded up";
        let too_high = "lower bound 1.5 as printed, which is too high: along an axis, a node x and its mirror image -1 - x are an odd number of links apart; 1 here";
        for (id, notes) in [
            ("Table 3.2", ["lower bound 2", "lower bound 1", "lower bound 1"]),
            ("Table 4.4", ["lower bound 1", too_high, "lower bound 0.75"]),
        ] {
            let cells = cells(id);
            let [rounds, links, blocks] = &cells[..] else { panic!("{cells:?}") };
            let of = |paper: &str, ours: &str| (paper.to_owned(), ours.to_owned());
            assert_eq!((rounds.0.clone(), rounds.1.clone()), of("1.58", "2"), "{id}");
            assert!(matches!(rounds.2, Verdict::Off(_)), "{id}: {:?}", rounds.2);
            assert_eq!(rounds.3, format!("{rounded}; {}", notes[0]), "{id}");
            assert_eq!((links.0.clone(), links.1.clone()), of("10", "10"), "{id}");
            assert_eq!((links.2, &*links.3), (Verdict::Agrees, notes[1]), "{id}");
            assert_eq!((blocks.0.clone(), blocks.1.clone()), of("8", "8.4"), "{id}");
            assert!(matches!(blocks.2, Verdict::Off(_)), "{id}: {:?}", blocks.2);
            assert_eq!(blocks.3, format!("{reason}; {}", notes[2]), "{id}");
        }
    }

    /// Each formula must have a value on each torus of its row. Each named reason must be defined.
    #[test]
    fn the_data_of_the_thesis_is_complete() {
        let thesis = engine("spencer");
        let rows = "all(list in [dissemination, table_4_4, chapter_4, one_port, appendix], list)";
        for row in thesis.scope(&[]).value(rows).unwrap().list().unwrap() {
            let keys = if let Value::Map(keys) = row { keys.clone() } else { panic!("{row:?}") };
            let mut variables: Vec<(&str, Value)> = vec![("row", row.clone())];
            variables.extend(keys.iter().map(|(key, value)| (key.as_str(), value.clone())));
            let tori = thesis.scope(&variables).value("value(on)").unwrap();
            assert!(!tori.list().unwrap().is_empty(), "{row:?}: nowhere");
            for torus in tori.list().unwrap() {
                let mut variables = variables.clone();
                variables.push(("torus", torus.clone()));
                let scope = thesis.scope(&variables);
                let lists = [("costs", 3), ("bound", 3)];
                let formulas = lists.into_iter().filter(|(key, _)| keys.contains_key(*key));
                let formulas = formulas
                    .flat_map(|(key, count)| (0..count).map(move |i| format!("at({key}, {i})")));
                let single = ["links", "by"].into_iter().filter(|key| keys.contains_key(*key));
                let cycles = ["virtual.k", "virtual.channels"].into_iter();
                let cycles = cycles.filter(|_| keys.contains_key("virtual"));
                let all = formulas.chain(single.chain(cycles).map(str::to_owned));
                for formula in all {
                    let value = scope.number(&format!("value({formula})")).unwrap();
                    assert!(value.is_finite(), "{row:?}: {formula}");
                }
            }
            let scope = thesis.scope(&variables);
            let causes = if keys.contains_key("virtual") {
                "all(l in [why, virtual.why], l)"
            } else {
                "why"
            };
            for cause in scope.value(causes).unwrap().list().unwrap() {
                let reason = thesis.scope(&[("cause", cause.clone())]).value("at(reasons, cause)");
                assert!(matches!(reason.unwrap(), Value::Map(_)), "{row:?}: why = {cause:?}");
            }
        }
    }
}

mod li {
    use super::*;

    /// A separate program moved every block, and computed the expected values.
    #[test]
    fn recurrences_match_the_printed_algorithms() {
        let li = engine("li");
        let words = |name: &str, base: u64| {
            [1_u64, 2].map(|k| {
                let formula =
                    format!("sum(row in pattern, if(row.name = '{name}', by_recurrence, 0))");
                number(&li, &formula, &[("k", k.into()), ("n_0", 8_u64.into()), ("T", base.into())])
            })
        };
        assert_eq!(words("One2All_P", 7), [127.0, 32767.0]);
        assert_eq!(words("All2All_B", 7), [135.0, 33927.0]);
        assert_eq!(words("All2All_P", 12), [574.0, 343_038.0]);
    }
}

mod liu {
    use super::*;

    /// A factor of 0 means that the run is faster than the closed form with f = 1.
    #[test]
    fn a_factor_is_given_for_slower_runs() {
        let liu = engine("liu");
        let text = |factors: &[f64], composed: f64| {
            let variables = [("factors", factors.to_vec().into()), ("composed", composed.into())];
            liu.scope(&variables).value("factors_text").unwrap().text()
        };
        assert_eq!(text(&[1.5, 2.5], 50.0), "f = 2.0");
        assert_eq!(
            text(&[0.0], 102.0),
            "all 1 runs are faster: the formula counts the largest stage for each stage"
        );
        assert_eq!(
            text(&[0.0, 0.0], 31.4),
            "all 2 runs are faster: no node composes more than 31 % of the traffic in the formula"
        );
        assert_eq!(
            text(&[0.0, 1.25, 1.0], 50.0),
            "f = 1.1 except for 1 of 3 runs, which are faster: no node composes more than 50 % of the traffic in the formula"
        );
    }
}

mod thakur {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn the_papers_tables_are_complete() {
        let thakur = engine("thakur");
        let cells = "sum(of in measured, count(mesh in meshes, len(at(at(seconds, algorithm), mesh)) = len(sizes)))";
        assert_eq!(number(&thakur, cells, &[]), 25.0);
    }

    /// Follows each message of step i. Returns the maximum number of messages on a link.
    fn walked(r: u64, c: u64, i: u64, to: impl Fn(u64, u64) -> u64) -> u64 {
        let mut links: std::collections::BTreeMap<(u64, u64), u64> =
            std::collections::BTreeMap::new();
        for from in 0..r * c {
            let (mut at, end) = (from, to(from, i));
            while at != end {
                let next = match ((at % c).cmp(&(end % c)), (at / c).cmp(&(end / c))) {
                    (Ordering::Less, _) => at + 1,
                    (Ordering::Greater, _) => at - 1,
                    (_, Ordering::Less) => at + c,
                    _ => at - c,
                };
                *links.entry((at, next)).or_default() += 1;
                at = next;
            }
        }
        links.into_values().max().unwrap_or(0)
    }

    /// Returns the value that a formula gives for f in each step on a mesh.
    fn steps(formula: &str, r: u64, c: u64) -> Vec<u64> {
        let thakur = engine("thakur");
        let mesh = format!("{r}x{c}");
        let scope = thakur.scope(&[("mesh", mesh.as_str().into())]);
        let values = scope.value(&format!("each(i in range(1, p - 1), {formula})")).unwrap();
        values.list().unwrap().iter().map(|value| value.number().unwrap() as u64).collect()
    }

    #[test]
    fn the_corrected_formula_for_pex_holds_on_power_of_two_meshes() {
        for (r, c) in [(1, 8), (8, 1), (2, 4), (4, 2), (4, 4), (4, 8), (8, 8), (16, 8), (8, 16)] {
            for (i, f) in (1..).zip(steps("pex_exact", r, c)) {
                assert_eq!(f, walked(r, c, i, |me, i| me ^ i), "{r}x{c}, step {i}");
            }
        }
    }

    #[test]
    fn the_corrected_formula_for_gen_holds_on_small_meshes() {
        for (r, c) in (1..10).flat_map(|r| (1..10).map(move |c| (r, c))) {
            for (i, f) in (1..).zip(steps("gen_exact", r, c)) {
                assert_eq!(f, walked(r, c, i, |me, i| (me + i) % (r * c)), "{r}x{c}, step {i}");
            }
        }
    }

    /// The steps in which a printed formula is wrong were found by an independent computation.
    #[test]
    fn the_printed_formulas_are_wrong_in_known_steps() {
        let wrong = |algorithm: &str, r: u64, c: u64| {
            let [printed, exact] =
                ["printed", "exact"].map(|which| steps(&format!("{algorithm}_{which}"), r, c));
            printed.iter().zip(&exact).filter(|(printed, exact)| printed != exact).count()
        };
        let pex = [(4, 4), (8, 8), (16, 32)].map(|(r, c)| wrong("pex", r, c));
        assert_eq!(pex, [7, 46, 461]);
        let shifts = [(4, 4), (4, 5), (6, 8), (8, 8), (16, 32)].map(|(r, c)| wrong("gen", r, c));
        assert_eq!(shifts, [2, 4, 20, 30, 406]);
    }

    #[test]
    fn the_printed_formula_for_gen_is_never_too_low() {
        for (r, c) in [(4, 4), (4, 5), (6, 8), (8, 8), (16, 9), (16, 14), (16, 30), (16, 32)] {
            let [printed, exact] = ["gen_printed", "gen_exact"].map(|formula| steps(formula, r, c));
            assert!(printed.iter().zip(&exact).all(|(printed, exact)| printed >= exact), "{r}x{c}");
        }
    }

    #[test]
    fn a_link_carries_two_messages_at_no_cost() {
        let thakur = engine("thakur");
        let half = |formula: &str, mesh: &str| number(&thakur, formula, &[("mesh", mesh.into())]);
        assert_eq!(half("sum(f in [1, 2, 3, 4], max(f/2, 1))", "4x4"), 1.0 + 1.0 + 1.5 + 2.0);
        // The expected values were found by an independent computation.
        let printed = ["4x4", "8x8", "4x5", "6x8"].map(|mesh| half("half_printed", mesh));
        assert_eq!(printed, [16.0, 117.0, 21.0, 76.5]);
    }

    /// For each selected claim, counts the cases in which the times in `time` confirm it.
    fn counted(wanted: &str, time: &str) -> Vec<String> {
        let thakur = engine("thakur");
        let scope = thakur.scope(&[("time", time.into())]);
        let counts =
            format!("all(claim in claims, if({wanted}, [join(confirmed, ' of ', of)], []))");
        scope.value(&counts).unwrap().list().unwrap().iter().map(Value::text).collect()
    }

    #[test]
    fn the_papers_tables_confirm_most_claims() {
        let of_gen_and_pex = ["12 of 12", "2 of 2", "0 of 2", "3 of 5"];
        let of_shift_and_pex_gen = ["25 of 25", "16 of 25", "5 of 5", "5 of 5", "5 of 5"];
        let of_gen_and_the_others = ["8 of 8", "10 of 10", "2 of 10"];
        assert_eq!(
            counted("1", "measured_s"),
            [&of_gen_and_pex[..], &of_shift_and_pex_gen[..], &of_gen_and_the_others[..]].concat()
        );
    }

    /// Four claims compare GEN with PEX, two with PEX-GEN-SHIFT, and one with PEX-GEN.
    #[test]
    fn claims_are_counted_in_our_runs() {
        assert_eq!(
            counted("about_gen", "if(algorithm = 'gen', 0, measured_s)"),
            ["0 of 12", "2 of 2", "2 of 2", "5 of 5", "0 of 8", "10 of 10", "0 of 10"]
        );
    }

    #[test]
    fn an_unconfirmed_claim_does_not_hold() {
        let thakur = engine("thakur");
        let holds = |cases: u64, of: u64, mostly: u64| {
            let variables = [("cases", cases), ("of", of), ("mostly", mostly)];
            number(&thakur, "borne_out", &variables.map(|(name, x)| (name, x.into())))
        };
        assert_eq!([holds(0, 2, 0), holds(1, 2, 0), holds(2, 2, 0)], [0.0, 0.0, 1.0]);
        assert_eq!([holds(1, 2, 1), holds(2, 3, 1)], [0.0, 1.0]);
    }

    #[test]
    fn the_faster_takes_less_time() {
        let thakur = engine("thakur");
        let faster =
            |ratio: f64| thakur.scope(&[("ratio", ratio.into())]).value("faster").unwrap().text();
        assert_eq!([0.5, 2.0, 1.0 / 1.001].map(faster), ["PEX", "GEN", "alike"]);
    }

    #[test]
    fn pex_gen_emulates_the_mesh_of_the_next_powers_of_two() {
        let thakur = engine("thakur");
        let power =
            |mesh: &str| thakur.scope(&[("mesh", mesh.into())]).value("power").unwrap().text();
        assert_eq!(["4x5", "16x9", "16x32"].map(power), ["4x8", "16x16", "16x32"]);
    }
}

mod fugaku {
    use super::*;

    #[test]
    fn every_median_belongs_to_a_job() {
        let fugaku = engine("fugaku");
        let jobless = "count(m in lumi, count(job in jobs, on = shape) = 0)";
        let unused = "count(job in jobs, count(m in lumi, shape = on) = 0)";
        assert_eq!([jobless, unused].map(|count| number(&fugaku, count, &[])), [0.0, 0.0]);
        let wrong = "count(job in jobs, not(one_group = with(shape = on, is_one_group)))";
        assert_eq!(number(&fugaku, wrong, &[]), 0.0);
    }

    /// The predictions for three placements are 2, 5 and 3 µs, so the band is from 2 to 5 µs.
    #[test]
    fn the_band_is_that_of_all_placements() {
        let fugaku = engine("fugaku");
        for (placement, us) in [2.0, 5.0, 3.0].into_iter().enumerate() {
            let topology = format!("dragonfly:1x2x2,place=random:{placement}");
            let run = Record { time_us: Some(us), ..Record::default() };
            fugaku.suppose(specs([&topology, "a", "reduce/uniform:64", "free"]), run);
        }
        let of = |formula: &str, us: f64| {
            let texts = [
                ("shape", "dragonfly:1x2x2"),
                ("algorithm", "a"),
                ("workload", "reduce/uniform:64"),
                ("machine", "free"),
            ];
            let mut variables = texts.map(|(name, text)| (name, text.into())).to_vec();
            variables.extend([("placements", vec![0.0, 1.0, 2.0].into()), ("us", us.into())]);
            number(&fugaku, formula, &variables)
        };
        assert_eq!([of("low", 1.0), of("high", 1.0)], [2.0, 5.0]);
        assert_eq!([1.0, 4.0, 8.0].map(|us| of("nearest", us)), [2.0, 4.0, 5.0]);
    }

    #[test]
    fn the_nearest_time_lies_in_the_band() {
        let fugaku = engine("fugaku");
        let nearest = |us: f64| {
            let variables = [("low", 2.0), ("high", 5.0), ("us", us)];
            number(&fugaku, "nearest", &variables.map(|(name, x)| (name, x.into())))
        };
        assert_eq!([1.0, 4.0, 8.0].map(nearest), [2.0, 4.0, 5.0]);
        // In the tables, `low` and `high` are the least and the largest time of any placement.
        let times = [("placements", vec![2.0, 5.0, 3.0].into())];
        let end = |formula| number(&fugaku, formula, &times);
        assert_eq!(end("least(us in placements, us)"), 2.0);
        assert_eq!(end("most(us in placements, us)"), 5.0);
    }

    /// Only fitted sizes may select a network, because the other sizes are for judging it.
    #[test]
    fn only_fitted_sizes_select_a_network() {
        let fugaku = engine("fugaku");
        let factors = [1.5, 1.25, 1.2, 1.3, 2.1, 1.4, 1.3, 1.6, 2.0, 1.9, 1.7, 1.8];
        let best = "all(i in range(len(foldings)), with(folding = at(foldings, i), with(folding_index = i, if(is_best, [on], []))))";
        let scope = fugaku.scope(&[("folding_factors", factors.to_vec().into())]);
        assert_eq!(
            scope.value(best).unwrap(),
            vec!["tofu:2x2x2", "torus:8x8x8", "tofu:16ox16ox2o", "tofu:8x16x6"].into()
        );
        assert_eq!(
            number(&fugaku, "with(wanted = 1, is_judged)", &[("shape", "64x64".into())]),
            0.0
        );
        // Sizes of 4 and 256 bytes are fitted, and 32 bytes are not.
        let is_fitted = [4_u64, 32, 256]
            .map(|bytes| number(&fugaku, "has_fitted_size", &[("bytes", bytes.into())]));
        assert_eq!(is_fitted, [1.0, 0.0, 1.0]);
    }
}

/// Compares the tables of claims in the docs with the reproduced tables.
mod claims {
    use std::collections::BTreeMap;

    const REPRODUCED: [&str; 2] = [
        include_str!("../../../results/reproduced/fugaku.csv"),
        include_str!("../../../results/reproduced/thakur.csv"),
    ];
    const GPU: &str = include_str!("../../../results/reproduced/gpu.csv");
    const GPU_PAGE: &str = include_str!("../../../docs/gpu.md");
    const PAGE: &str = include_str!("../../../docs/validation.md");
    const README: &str = include_str!("../../../README.md");

    type Line = (String, BTreeMap<String, String>);

    fn lines_of(table: &str, text: &str) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for cells in csv::Reader::from_reader(text.as_bytes()).records().map(Result::unwrap) {
            let [row, column, ours] = [1, 2, 4].map(|i| cells[i].to_owned());
            if &cells[0] != table {
                continue;
            }
            if lines.last().is_none_or(|(last, _)| *last != row) {
                lines.push((row, BTreeMap::new()));
            }
            lines.last_mut().unwrap().1.insert(column, ours);
        }
        lines
    }

    /// Returns the lines of the tables "Claims", and one line about all clusters of GPUs.
    fn claims() -> Vec<Line> {
        let mut lines: Vec<Line> =
            REPRODUCED.iter().flat_map(|text| lines_of("Claims", text)).collect();
        let (factors, choices) = (lines_of("Error factors", GPU), lines_of("Choices", GPU));
        let [(_, all), (_, chosen)] = [&factors[0], &choices[0]];
        let rounded = |number: &str| format!("{:.2}", number.parse::<f64>().unwrap());
        let first = |both: &str| rounded(both.split(',').next().unwrap());
        let cells = [
            ("fitted on", "all other sets".to_owned()),
            ("error factor", rounded(&all["set left out"])),
            ("ordered pairs", chosen["ordered pairs"].clone()),
            ("mean regret", first(&chosen["regret, mean and largest"])),
            ("data sheet: error factor", rounded(&all["data sheet"])),
            ("same algorithm: ordered pairs", chosen["ordered pairs, best fixed choice"].clone()),
            ("same algorithm: mean regret", first(&chosen["regret, best fixed choice"])),
        ];
        let row = format!("`nccl`: {} times on clusters of GPUs, each set left out", all["points"]);
        lines.push((row, cells.map(|(column, cell)| (column.to_owned(), cell)).into()));
        lines
    }

    #[test]
    fn the_page_of_gpu_clusters_has_its_values() {
        let header = ["points", "set left out", "NCCL's model, its points", "data sheet"];
        let rows = lines_of("Error factors", GPU)
            .into_iter()
            .map(|(row, cells)| [&[row][..], &header.map(|column| cells[column].clone())].concat());
        let expected = table(&[&["error factor"][..], &header].concat(), rows.collect());
        assert!(GPU_PAGE.contains(&expected), "docs/gpu.md does not have this table:\n{expected}");
        let header = ["other platform", "NCCL model", "always ring"];
        let rows = lines_of("Winners", GPU).into_iter().map(|(row, cells)| {
            let of = |start: &str| {
                let (_, both) = cells.iter().find(|(column, _)| column.starts_with(start)).unwrap();
                both.split(',').next().unwrap().to_owned()
            };
            [&[row][..], &header.map(of)].concat()
        });
        let expected = table(&[&["winners"][..], &header].concat(), rows.collect());
        assert!(GPU_PAGE.contains(&expected), "docs/gpu.md does not have this table:\n{expected}");
    }

    fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let titles = header.iter().map(|title| (*title).to_owned()).collect();
        let rules = (0..header.len()).map(|i| if i == 0 { "---" } else { "---:" }.to_owned());
        let rows: String = rows.into_iter().map(line).collect();
        line(titles) + &line(rules.collect()) + &rows
    }

    #[test]
    fn the_page_has_the_values_of_the_reproductions() {
        let rows = claims().into_iter().map(|(row, cells)| {
            let of = |start: &str, columns: &[&str]| -> String {
                let found = columns.iter().filter_map(|c| cells.get(&format!("{start}{c}")));
                found.map(String::as_str).collect::<Vec<_>>().join("; ")
            };
            let all = ["error factor", "ordered pairs", "mean regret"];
            let baselines = ["data sheet: ", "same algorithm: "].map(|start| of(start, &all));
            let own = all.map(|column| of("", &[column]));
            [&[row, of("", &["fitted on"])][..], &own, &baselines].concat()
        });
        let header = [
            "machine and measurements",
            "fitted on",
            "error factor",
            "ordered pairs",
            "mean regret",
            "data sheet",
            "same algorithm",
        ];
        let rows: Vec<Vec<String>> = rows.collect();
        assert!(rows.len() >= 12, "{rows:?}");
        let expected = table(&header, rows);
        assert!(
            PAGE.contains(&expected),
            "docs/validation.md does not have this table:\n{expected}"
        );
        // The numbers in the text must be those in the table "LUMI: bands".
        let bands = include_str!("../../../results/reproduced/fugaku.md");
        let text = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
        for number in ["4 of 72", "16 of 208"] {
            assert!(bands.contains(&format!("| {number} in the band")) && text.contains(number));
        }
    }

    #[test]
    fn the_readme_has_the_values_of_the_reproductions() {
        let rows = claims().into_iter().map(|(row, cells)| {
            let columns = ["error factor", "ordered pairs", "same algorithm: ordered pairs"];
            [&[row][..], &columns.map(|column| cells[column].clone())].concat()
        });
        let header = [
            "machine and measurements",
            "error factor",
            "ordered pairs",
            "always the same algorithm",
        ];
        let expected = table(&header, rows.collect());
        assert!(README.contains(&expected), "README.md does not have this table:\n{expected}");
    }
}
