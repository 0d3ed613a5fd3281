//! The array of Liu, Wang & Prasanna for any number of nodes, and its revised schedule of rows:
//! blocks are sent along rows to the column of the destination, then along columns.
//!
//! | the paper | here |
//! | --- | --- |
//! | P, R, C, r | nodes, rows, columns, nodes in the last row if it is incomplete |
//! | pseudo-node | a position of the incomplete row without a node: its blocks are sent to the complete row with the number of the sender's column |
//! | stall | a step in which a node of a complete row waits, because it or its receiver takes part in such a message |

use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Problem, Schedule, Set, Stop};

/// The step in which a node of a complete row stalls. In the m-th complete row, for each k from 0
/// to C - r + m, the rule applies to the node with the rank (m + C - k) % C.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stall {
    /// Step r - m + 1 + k, as printed: one step too late, in contradiction to the paper's example.
    Printed,
    /// Step r - m + k.
    Mended,
}

pub(crate) struct RowsAndColumns {
    pub name: &'static str,
    pub stall: Stall,
}

struct Array {
    columns: u64,
    rows: u64,
    rest: u64,
}

impl Array {
    fn new(p: u64) -> Self {
        let root = p.isqrt();
        let with = |columns: u64| Self { columns, rows: p.div_ceil(columns), rest: p % columns };
        let usual = with(if root * root == p { root } else { root + 1 });
        // Each node of the incomplete row sends to a different complete row, so there must be
        // enough of them.
        if usual.rest > usual.rows - 1 { with(root) } else { usual }
    }

    fn height(&self, j: u64) -> u64 {
        if self.rest > 0 && j >= self.rest { self.rows - 1 } else { self.rows }
    }
}

impl Algorithm for RowsAndColumns {
    fn about(&self) -> About {
        About {
            name: self.name,
            title: "Rows, then columns, of an array of any number of nodes",
            ports: 1,
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        let array = Array::new(p);
        schedule.layout(&[p], 1)?;
        for step in 1..=array.columns + 1 {
            schedule.step()?;
            for node in 0..p {
                let (row, c) = (node / array.columns, node % array.columns);
                let Some(s) = self.bucket(&array, row, c, step).filter(|s| *s < array.columns)
                else {
                    continue;
                };
                let j = (c + s) % array.columns;
                let is_pseudo = row == array.rows - 1 && array.rest > 0 && j >= array.rest;
                let to = if is_pseudo { c * array.columns + j } else { row * array.columns + j };
                let column = [Axis::stride(j, array.columns, array.height(j))];
                schedule.send(&Blocks::new(node, to).destinations(Set::product(&column)))?;
            }
        }
        for s in 1..array.rows {
            schedule.step()?;
            for node in 0..p {
                let (row, c) = (node / array.columns, node % array.columns);
                let height = array.height(c);
                if s < height {
                    let to = (row + s) % height * array.columns + c;
                    schedule.send(&Blocks::new(node, to).destinations(Set::one(to)))?;
                }
            }
        }
        Ok(())
    }
}

impl RowsAndColumns {
    /// Returns the number, from 1, of the message that the node in row `row` and column `c` sends
    /// in this step, or `None` if the node stalls.
    fn bucket(&self, array: &Array, row: u64, c: u64, step: u64) -> Option<u64> {
        // The rows r to R - 2 receive no message from the incomplete row, so their nodes do not
        // stall. The nodes of the incomplete row do not, either.
        if row >= array.rest || row == array.rows - 1 {
            return Some(step);
        }
        let (m, columns, r) = (row, array.columns, array.rest);
        let k = (m + columns - c) % columns;
        if k > columns - r + m {
            return Some(step);
        }
        let stall = r - m + k + u64::from(self.stall == Stall::Printed);
        match step.cmp(&stall) {
            std::cmp::Ordering::Less => Some(step),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(step - 1),
        }
    }
}
