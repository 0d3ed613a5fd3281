//! The nodes as a two-dimensional array, whose last row may be incomplete. For each node and step,
//! the receiver in its row or column (sections 3.2 and 3.2.2).

use crate::ring;

/// The step in which a node of a complete row waits because a node of the incomplete row sends to
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stall {
    /// The node waits in the step that Fig. 10 of the paper shows.
    Corrected,
    /// The node waits in the step that the paper's text states, which is one too late: in the step
    /// before, a receiver has already received two messages.
    Printed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Array {
    pub p: u64,
    pub columns: u64,
    /// R, the number of rows, including the incomplete row.
    pub rows: u64,
    /// r, the number of nodes of the incomplete row, or 0. The first r columns have R nodes, the
    /// others R - 1.
    pub rest: u64,
}

impl Array {
    /// Arranges P nodes. C is the square root of P, rounded up. Each node of the incomplete row
    /// sends to a different complete row (section 3.2.2 A). If `P = ceil(sqrt P) floor(sqrt P) -
    /// 1`, there are not enough complete rows for this, so the square root is rounded down.
    pub fn new(p: u64) -> Self {
        let floor = p.isqrt();
        let up = Self::with_columns(p, floor + u64::from(floor * floor < p));
        if up.rest < up.rows { up } else { Self::with_columns(p, floor) }
    }

    fn with_columns(p: u64, columns: u64) -> Self {
        Self { p, columns, rows: p.div_ceil(columns), rest: p % columns }
    }

    pub fn height(&self, column: u64) -> u64 {
        if self.rest == 0 || column < self.rest { self.rows } else { self.rows - 1 }
    }

    /// Returns C, or C + 1 if an incomplete row also sends to the complete rows.
    pub fn row_steps(&self) -> u64 {
        self.columns + u64::from(self.rest > 0)
    }

    pub fn column_steps(&self) -> u64 {
        self.rows
    }

    /// Returns the column to which `node` sends in step `step` (from 1) of a stage along rows, and
    /// the receiver in this column. Returns `None` if the node does not send in this step.
    ///
    /// With C columns and r nodes in the incomplete row:
    /// * Within each row, nodes send in the ring order.
    /// * A node of the incomplete row sends the data for a column without a node there (a
    ///   *pseudo-node* in the paper) to the complete row with the number of its own column. A node
    ///   of that row would then receive two messages in this step.
    /// * To prevent this, the nodes of complete row m < r wait for one step each: for each k from 0
    ///   to C - r + m, the node of rank (m + C - k) % C waits in step r - m + k.
    ///
    /// Erratum: the text prints r - m + 1 + k. There are no collisions only if nodes wait one step
    /// earlier, as in Fig. 10.
    pub fn row_target(&self, node: u64, step: u64, stall: Stall) -> Option<(u64, u64)> {
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
    /// the receiver in this row. Returns `None` if the node does not send in this step. The nodes
    /// of a column send in the ring order.
    pub fn column_target(&self, node: u64, step: u64) -> Option<(u64, u64)> {
        let (row, column) = (node / self.columns, node % self.columns);
        let height = self.height(column);
        let target = ring(row, step, height);
        (step <= height).then_some((target, target * self.columns + column))
    }
}
