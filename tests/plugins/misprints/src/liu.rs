//! Liu, Wang & Prasanna's array of any number of nodes and its revised schedule of rows: along rows
//! to the destination's column, then along columns.
//!
//! | the paper | here |
//! | --- | --- |
//! | P, R, C, r | nodes, rows, columns, nodes in the last row if it is incomplete |
//! | pseudo-node | a place of the incomplete row without a node: what is for it goes to the complete row with the sender's column's number |
//! | stall | a step in which a node of a complete row waits, because it, or whom it would send to, is in the way of such a message |

use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Problem, Schedule, Set, Stop};

/// In which step the node ranked (m + C - k) % C of the m-th complete row stalls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stall {
    /// Step r - m + 1 + k: one late, and not what the paper's own example shows.
    Printed,
    /// Step r - m + k.
    Mended,
}

/// The schedule with one of the rules.
pub(crate) struct RowsAndColumns {
    pub name: &'static str,
    pub stall: Stall,
}

struct Array {
    columns: u64,
    rows: u64,
    /// Nodes in the last row, if it is incomplete; else 0.
    rest: u64,
}

impl Array {
    fn of(p: u64) -> Self {
        let root = p.isqrt();
        let with = |columns: u64| Self { columns, rows: p.div_ceil(columns), rest: p % columns };
        let usual = with(if root * root == p { root } else { root + 1 });
        // There must be a complete row for each node of the incomplete one.
        if usual.rest > usual.rows - 1 { with(root) } else { usual }
    }

    /// The nodes of column `j`.
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
        let array = Array::of(p);
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
    /// Which of its messages, from 1, the node in `row` and column `c` sends in this step; `None`
    /// while it stalls.
    fn bucket(&self, array: &Array, row: u64, c: u64, step: u64) -> Option<u64> {
        // Rows r .. R - 2 get no message from the incomplete row; the incomplete row doesn't stall.
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
