//! The nodes as a two-dimensional array, and the receivers of each node along rows and columns,
//! also when the last row is incomplete (sections 3.2 and 3.2.2).

use crate::ring;

/// The step in which a node of a complete row waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stall {
    /// The step shown in Fig. 10.
    Corrected,
    /// The step stated in the text. It is one step later, after two messages have already arrived
    /// at the same receiver.
    Printed,
}

/// P nodes in rows of C, numbered row-major. The last row may be incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Array {
    /// P: number of nodes.
    pub p: u64,
    /// C: number of columns.
    pub columns: u64,
    /// R: number of rows, including the incomplete row.
    pub rows: u64,
    /// r: number of nodes in the incomplete row, 0 if there is none. The first r columns are
    /// complete; the others have one node less.
    pub rest: u64,
}

impl Array {
    /// Chooses C. It is the square root of P, rounded up. If the number of complete rows would then
    /// be less than r, it is rounded down instead, because each node of the incomplete row sends to
    /// a complete row of its own (section 3.2.2 A). That is the case exactly for P = ceil(sqrt P)
    /// floor(sqrt P) - 1.
    pub(crate) fn new(p: u64) -> Self {
        let floor = p.isqrt();
        let up = Self::with_columns(p, floor + u64::from(floor * floor < p));
        if up.rest < up.rows { up } else { Self::with_columns(p, floor) }
    }

    fn with_columns(p: u64, columns: u64) -> Self {
        Self { p, columns, rows: p.div_ceil(columns), rest: p % columns }
    }

    /// Returns the number of nodes in a column.
    pub(crate) fn height(&self, column: u64) -> u64 {
        if self.rest == 0 || column < self.rest { self.rows } else { self.rows - 1 }
    }

    /// Returns the number of steps of a stage along rows: C, or C + 1 if messages of an incomplete
    /// row interleave.
    pub(crate) fn row_steps(&self) -> u64 {
        self.columns + u64::from(self.rest > 0)
    }

    /// Returns the number of steps of a stage along columns.
    pub(crate) fn column_steps(&self) -> u64 {
        self.rows
    }

    /// Returns the column that `node` sends to in step `step` (from 1) of a stage along rows, and
    /// the receiving node in that column. Returns `None` if the node sends nothing.
    ///
    /// Rules:
    /// * Within each row the ring order applies.
    /// * A node of the incomplete row sends the data for a missing node (*pseudo-node*) to the
    ///   complete row whose number is its own column. In that step the receiver would get two
    ///   messages.
    /// * Therefore, in each such row one node waits for one step, and its neighbours wait one after
    ///   another in the following steps: in complete row m < r, for 0 <= k <= C - r + m, the node
    ///   of rank (m + C - k) % C waits in step r - m + k.
    ///
    /// Erratum: the text prints r - m + 1 + k for that step, which is one step too late. Fig. 10 of
    /// the paper shows the waits one step earlier, and only these prevent the collision.
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

    /// Returns the step in which a node of a complete row waits.
    fn waiting_step(&self, m: u64, rank: u64, stall: Stall) -> Option<u64> {
        let (c, r) = (self.columns, self.rest);
        let k = (m + c - rank) % c;
        let delay = u64::from(stall == Stall::Printed);
        (m < r && k <= c - r + m).then(|| r - m + k + delay)
    }

    /// Returns the row that `node` sends to in step `step` (from 1) of a stage along columns, and
    /// the receiving node. The order is the ring order.
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

    /// Section 3.2.2 A, with C rounded down where the condition does not hold.
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

    /// Fig. 10: the third row of 61 nodes, and node 58 of the incomplete row.
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
        // The last line of the figure leaves two cells empty: nodes 19 and 20 have already sent
        // everything.
    }

    /// Lemma 1 and section 3.2.2 B, for every P: no node sends or receives two messages in a step,
    /// and every message is sent once.
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

    /// The rule as printed sends two messages to one node, for every array with an incomplete row.
    #[test]
    fn the_stall_rule_as_printed_does_not_prevent_collisions() {
        for p in 2..=130 {
            let a = Array::new(p);
            // The last waiting node needs one step more than in Fig. 10.
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
