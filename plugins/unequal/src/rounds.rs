//! Divides a matrix of demands into rounds. In a round, each sender has at most one receiver, and
//! each receiver at most one sender. The longest messages of all rounds add up to L, the largest
//! sum of a row or a column. No division into rounds has a smaller sum.
//!
//! By Birkhoff's theorem, a matrix whose rows and columns all have the sum L is a sum of
//! permutation matrices with weights that add up to L. The demand is first padded to such a matrix.
//! Each round then subtracts a permutation matrix with the largest possible weight: the smallest
//! entry of a *bottleneck matching*, a perfect matching whose smallest entry is as large as
//! possible.

use std::collections::VecDeque;

#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub column: u32,
    /// Demand that is not sent yet, in the unit of the matrix (bytes or elements).
    demand: u64,
    padding: u64,
}

impl Entry {
    pub fn amount(self) -> u64 {
        self.demand + self.padding
    }
}

/// The sender, the receiver and the amount of each send.
pub type Round = Vec<(u64, u64, u64)>;

pub struct Rounds {
    pub rows: Vec<Vec<Entry>>,
    used: Vec<Option<usize>>,
    row_of: Vec<Option<u32>>,
    /// The smallest entry of a bottleneck matching of the remaining amounts. The matching uses only
    /// entries of at least this amount. The threshold never rises, because amounts only decrease.
    threshold: u64,
    /// The sum of the amounts that remain in a row. It is the same for all rows.
    pub remaining: u64,
}

impl Rounds {
    /// Pads a demand. For each row, `demand` has a list of columns and amounts.
    pub fn new(demand: &[Vec<(u32, u64)>]) -> Self {
        let n = demand.len();
        let mut rows: Vec<Vec<Entry>> = demand
            .iter()
            .map(|row| {
                let entry = |&(column, demand)| Entry { column, demand, padding: 0 };
                row.iter().filter(|(_, bytes)| *bytes > 0).map(entry).collect()
            })
            .collect();
        let mut missing_in_row: Vec<u64> =
            rows.iter().map(|row| row.iter().map(|entry| entry.demand).sum()).collect();
        let mut missing_in_column = vec![0; n];
        for entry in rows.iter().flatten() {
            missing_in_column[entry.column as usize] += entry.demand;
        }
        let largest = missing_in_row.iter().chain(&missing_in_column).copied().max().unwrap_or(0);
        for sum in missing_in_row.iter_mut().chain(&mut missing_in_column) {
            *sum = largest - *sum;
        }
        // The diagonal is padded first, because local copies need no message. Each padded entry
        // completes a row or a column, so there are at most 2n of them.
        let mut pad = |row: usize, column: usize| {
            let padding = missing_in_row[row].min(missing_in_column[column]);
            missing_in_row[row] -= padding;
            missing_in_column[column] -= padding;
            let is_row_complete = missing_in_row[row] == 0;
            if padding > 0 {
                let column = column as u32;
                match rows[row].iter_mut().find(|entry| entry.column == column) {
                    Some(entry) => entry.padding += padding,
                    None => rows[row].push(Entry { column, demand: 0, padding }),
                }
            }
            is_row_complete
        };
        (0..n).for_each(|i| {
            pad(i, i);
        });
        let (mut row, mut column) = (0, 0);
        while row < n && column < n {
            if pad(row, column) { row += 1 } else { column += 1 }
        }
        Self {
            rows,
            used: vec![None; n],
            row_of: vec![None; n],
            threshold: u64::MAX,
            remaining: largest,
        }
    }

    /// Adds row `start` to the matching, along a path of entries of at least the threshold. On the
    /// path, each row gives its column to another row. If there is no path, the error is the
    /// largest amount below the threshold with which the search could continue. This is an upper
    /// bound on the smallest entry of a perfect matching.
    fn augment(&mut self, start: usize) -> Result<(), u64> {
        let mut came_from: Vec<Option<(u32, u32)>> = vec![None; self.rows.len()];
        let mut waiting = VecDeque::from([start]);
        let mut visited = Vec::new();
        while let Some(row) = waiting.pop_front() {
            visited.push(row);
            for (index, entry) in self.rows[row].iter().enumerate() {
                let column = entry.column as usize;
                if entry.amount() < self.threshold || came_from[column].is_some() {
                    continue;
                }
                came_from[column] = Some((row as u32, index as u32));
                match self.row_of[column] {
                    Some(matched) => waiting.push_back(matched as usize),
                    None => {
                        self.exchange(column, &came_from);
                        return Ok(());
                    }
                }
            }
        }
        let entries = visited.iter().flat_map(|row| &self.rows[*row]);
        let others = entries.filter(|entry| came_from[entry.column as usize].is_none());
        Err(others.map(|entry| entry.amount()).max().unwrap_or(0))
    }

    /// Matches the free column with the row from which it was reached, the former column of this
    /// row with the row from which that column was reached, and so on.
    fn exchange(&mut self, free: usize, came_from: &[Option<(u32, u32)>]) {
        let mut column = Some(free);
        while let Some((row, index)) = column.and_then(|column| came_from[column]) {
            let former = self.used[row as usize].replace(index as usize);
            let entry = self.rows[row as usize][index as usize];
            self.row_of[entry.column as usize] = Some(row);
            column = former.map(|index| self.rows[row as usize][index].column as usize);
        }
    }

    fn release(&mut self, row: usize) {
        if let Some(index) = self.used[row].take() {
            self.row_of[self.rows[row][index].column as usize] = None;
        }
    }
}

impl Iterator for Rounds {
    type Item = Round;

    fn next(&mut self) -> Option<Round> {
        if self.remaining == 0 {
            return None;
        }
        for row in 0..self.rows.len() {
            while self.used[row].is_none() {
                if let Err(next) = self.augment(row) {
                    self.threshold = next;
                }
            }
        }
        let weight = self.threshold;
        self.remaining -= weight;
        let mut round = Round::new();
        for row in 0..self.rows.len() {
            let Some(index) = self.used[row] else { continue };
            let entry = &mut self.rows[row][index];
            let bytes = weight.min(entry.demand);
            entry.demand -= bytes;
            entry.padding -= weight - bytes;
            if bytes > 0 {
                round.push((row as u64, entry.column.into(), bytes));
            }
            let left = entry.amount();
            if left < weight {
                self.release(row);
            }
            if left == 0 {
                self.rows[row].swap_remove(index);
            }
        }
        Some(round)
    }
}
