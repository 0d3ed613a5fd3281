//! The nodes as a two-dimensional array whose last row may be incomplete, and to which nodes of its
//! row and column each node sends (sections 3.2 and 3.2.2).

use crate::ring;

/// The step in which a node of a complete row waits, because one of the incomplete row sends to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stall {
    /// The step of Fig. 10.
    Corrected,
    /// The step of the paper's text, which is one too late: in the step before, a receiver has
    /// already received two messages.
    Printed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Array {
    pub p: u64,
    pub columns: u64,
    /// R, including the incomplete row.
    pub rows: u64,
    /// r: nodes of the incomplete row, or 0. The first r columns have R nodes, the others R - 1.
    pub rest: u64,
}

impl Array {
    /// C is the square root of P, rounded up. Each node of the incomplete row needs a complete row
    /// of its own to send to (section 3.2.2 A). If there are not enough, which happens for `P =
    /// ceil(sqrt P) floor(sqrt P) - 1`, the square root is rounded down.
    pub(crate) fn new(p: u64) -> Self {
        let floor = p.isqrt();
        let up = Self::with_columns(p, floor + u64::from(floor * floor < p));
        if up.rest < up.rows { up } else { Self::with_columns(p, floor) }
    }

    fn with_columns(p: u64, columns: u64) -> Self {
        Self { p, columns, rows: p.div_ceil(columns), rest: p % columns }
    }

    pub(crate) fn height(&self, column: u64) -> u64 {
        if self.rest == 0 || column < self.rest { self.rows } else { self.rows - 1 }
    }

    pub(crate) fn row_steps(&self) -> u64 {
        self.columns + u64::from(self.rest > 0)
    }

    pub(crate) fn column_steps(&self) -> u64 {
        self.rows
    }

    /// Returns the column to which `node` sends in step `step` (from 1) of a stage along rows, and
    /// the receiver in that column, if any.
    ///
    /// With C columns and r nodes in the incomplete row:
    /// * Within each row, nodes send in the ring order.
    /// * A node of the incomplete row sends the data for a column without a node there (a
    ///   *pseudo-node* in the paper) to the complete row with the number of its own column. A node
    ///   of that row would then receive two messages in this step.
    /// * To prevent this, the nodes of complete row m < r wait for one step each: for each k from 0
    ///   to C - r + m, the node of rank (m + C - k) % C waits in step r - m + k.
    ///
    /// Erratum: the text prints r - m + 1 + k. There are no collisions only one step earlier (Fig.
    /// 10).
    pub(crate) fn row_target(&self, node: u64, step: u64, stall: Stall) -> Option<(u64, u64)> {
        let (row, rank) = (node / self.columns, node % self.columns);
        let (c, r) = (self.columns, self.rest);
        if r > 0 && row == self.rows - 1 {
            let column = ring(rank, step, c);
            let receiving_row = if column < r { row } else { rank };
            return (step <= c).then_some((column, receiving_row * c + column));
        }
        let exchange_step = match self.waiting_step(row, rank, stall) {
            Some(wait) if step == wait => return None,
            Some(wait) if step > wait => step - 1,
            _ => step,
        };
        let column = ring(rank, exchange_step, c);
        (exchange_step <= c).then_some((column, row * c + column))
    }

    fn waiting_step(&self, m: u64, rank: u64, stall: Stall) -> Option<u64> {
        let (c, r) = (self.columns, self.rest);
        let k = (m + c - rank) % c;
        let delay = u64::from(stall == Stall::Printed);
        (m < r && k <= c - r + m).then(|| r - m + k + delay)
    }

    /// Returns the row to which `node` sends in step `step` (from 1) of a stage along columns, and
    /// the receiver there. The nodes of a column send in the ring order.
    pub(crate) fn column_target(&self, node: u64, step: u64) -> Option<(u64, u64)> {
        let (row, column) = (node / self.columns, node % self.columns);
        let height = self.height(column);
        let target = ring(row, step, height);
        (step <= height).then_some((target, target * self.columns + column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

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
        let rounded_down: Vec<u64> = (2..130)
            .filter(|p| Array::new(*p).columns.pow(2) < *p && p.isqrt().pow(2) != *p)
            .collect();
        assert_eq!(rounded_down, [5, 11, 19, 29, 41, 55, 71, 89, 109]);
    }

    /// Fig. 10 of the paper: the third row, and node 58 of the incomplete row.
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

    /// Lemma 1 and section 3.2.2 B, for every number of nodes.
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
}
