use std::collections::HashSet;
use swapmeet_plugin_liu::array::{Array, Stall};

/// The rule for the number of columns is that of section 3.2.2 A.
#[test]
fn each_node_of_the_incomplete_row_has_a_complete_row() {
    let shape = |p| {
        let a = Array::new(p);
        (a.columns, a.rows, a.rest)
    };
    assert_eq!(shape(18), (5, 4, 3), "Fig. 8");
    assert_eq!(shape(61), (8, 8, 5), "Figs. 9 and 10");
    assert_eq!(
        [shape(2), shape(3), shape(5), shape(11), shape(64)],
        [(2, 1, 0), (2, 2, 1), (2, 3, 1), (3, 4, 2), (8, 8, 0)]
    );
    for p in 1..2000 {
        let a = Array::new(p);
        assert!(
            a.rest < a.rows && (a.rows - 1) * a.columns < p && p <= a.rows * a.columns,
            "{a:?}"
        );
    }
    let rounded_down: Vec<u64> =
        (2..130).filter(|p| Array::new(*p).columns.pow(2) < *p && p.isqrt().pow(2) != *p).collect();
    assert_eq!(rounded_down, [5, 11, 19, 29, 41, 55, 71, 89, 109]);
}

/// Fig. 10 of the paper shows the receivers of the third row and of node 58 of the incomplete row.
#[test]
fn the_third_row_of_61_nodes_waits_as_in_figure_10() {
    let a = Array::new(61);
    let row = |step: u64| -> Vec<Option<u64>> {
        (16..24)
            .chain([58])
            .map(|n| a.row_target(n, step, Stall::Corrected).map(|(_, to)| to))
            .collect()
    };
    let s = Some;
    let x = None;
    let figure = [
        [s(17), s(18), s(19), s(20), s(21), s(22), s(23), s(16), s(59)],
        [s(18), s(19), s(20), s(21), s(22), s(23), s(16), s(17), s(60)],
        [s(19), s(20), x, s(22), s(23), s(16), s(17), s(18), s(21)],
        [s(20), x, s(21), s(23), s(16), s(17), s(18), s(19), s(22)],
        [x, s(21), s(22), s(16), s(17), s(18), s(19), s(20), s(23)],
        [s(21), s(22), s(23), s(17), s(18), s(19), s(20), x, s(56)],
        [s(22), s(23), s(16), s(18), s(19), s(20), x, s(21), s(57)],
        [s(23), s(16), s(17), s(19), s(20), x, s(21), s(22), s(58)],
        [s(16), s(17), s(18), x, x, s(21), s(22), s(23), x],
    ];
    for (step, expected) in (1..).zip(figure) {
        assert_eq!(row(step), expected, "step {step}");
    }
    // Nodes 19 and 20 have already sent all their messages, so two cells are empty.
}

/// Checks Lemma 1 and section 3.2.2 B for every number of nodes.
#[test]
fn no_node_sends_or_receives_twice_in_a_step() {
    for p in 1..=300 {
        let a = Array::new(p);
        let mut sent = HashSet::new();
        for step in 1..=a.row_steps() {
            let mut receivers = HashSet::new();
            for node in 0..p {
                if let Some((column, to)) = a.row_target(node, step, Stall::Corrected) {
                    assert!(
                        to < p && receivers.insert(to),
                        "P = {p}, step {step}: node {to} receives twice"
                    );
                    assert!(
                        sent.insert((node, column)),
                        "P = {p}: node {node} sends twice to column {column}"
                    );
                }
            }
        }
        assert_eq!(sent.len() as u64, p * a.columns, "P = {p}: along rows");
        let mut sent = HashSet::new();
        for step in 1..=a.column_steps() {
            let mut receivers = HashSet::new();
            for node in 0..p {
                if let Some((row, to)) = a.column_target(node, step) {
                    assert!(
                        to < p && receivers.insert(to) && sent.insert((node, row)),
                        "P = {p}, step {step}"
                    );
                }
            }
        }
        let expected: u64 = (0..p).map(|node| a.height(node % a.columns)).sum();
        assert_eq!(sent.len() as u64, expected, "P = {p}: along columns");
    }
}

/// In every array with an incomplete row, some node receives two messages in a step.
#[test]
fn the_stall_rule_as_printed_does_not_prevent_collisions() {
    for p in 2..=130 {
        let a = Array::new(p);
        // With the printed rule, the last node that waits needs one step more than in Fig. 10.
        let collides = (1..=a.row_steps() + 1).any(|step| {
            let mut receivers = HashSet::new();
            (0..p)
                .filter_map(|n| a.row_target(n, step, Stall::Printed))
                .any(|(_, to)| !receivers.insert(to))
        });
        assert_eq!(collides, a.rest > 0, "P = {p}");
    }
}
