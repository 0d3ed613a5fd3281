//! Deadlocks of programs whose connections are FIFOs of a fixed depth, as in NCCL (eight slots).
//!
//! A *process* is a rank or a thread block of a GPU. It executes its operations one after another.
//! A send waits for a free slot of its connection. A receive waits for data, and frees its slots.
//!
//! A connection has one sender and one receiver, and the effect of an operation does not depend on
//! the order of other operations. So all interleavings end in the same state (G. Kahn, The
//! semantics of a simple language for parallel programming, IFIP 1974), and it is enough to execute
//! each process as far as possible.

use std::collections::HashMap;
use std::fmt;

/// An operation of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A send that fills slots of a connection, one after another.
    Send {
        /// The index of the connection.
        connection: usize,
        /// The number of slots.
        slots: u64,
    },
    /// A receive that frees slots of a connection, one after another.
    Receive {
        /// The index of the connection.
        connection: usize,
        /// The number of slots.
        slots: u64,
    },
    /// A wait until another process has executed a number of its operations.
    Wait {
        /// The index of the other process.
        process: usize,
        /// The number of its operations.
        operations: usize,
    },
}

/// Programs of processes, and the connections between them.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    operations: Vec<Vec<Operation>>,
    /// The sending and the receiving process of each connection.
    connections: Vec<[usize; 2]>,
    by_ends: HashMap<[usize; 2], usize>,
}

/// A deadlock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// A list of processes, each of which waits for the next one. The last process waits for the
    /// first one, or for a process that has ended and is not listed. An entry has the index of a
    /// process, the index of the process for which it waits, and whether it waits for a slot.
    pub cycle: Vec<(usize, usize, bool)>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 4;
        for (index, (process, other, is_full)) in self.cycle.iter().take(MOST).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            match is_full {
                true => {
                    write!(f, "{separator}rank {process} waits for a free slot to rank {other}")?;
                }
                false => write!(f, "{separator}rank {process} waits for data of rank {other}")?,
            }
        }
        match self.cycle.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, ", and {more} more ranks wait in this cycle"),
        }
    }
}

impl Programs {
    /// Returns the connection from one process to another, created at the first call.
    pub fn connection(&mut self, from: usize, to: usize) -> usize {
        let connections = &mut self.connections;
        *self.by_ends.entry([from, to]).or_insert_with(|| {
            connections.push([from, to]);
            connections.len() - 1
        })
    }

    /// Appends an operation to the program of a process.
    pub fn push(&mut self, process: usize, operation: Operation) {
        if self.operations.len() <= process {
            self.operations.resize_with(process + 1, Vec::new);
        }
        self.operations[process].push(operation);
    }

    /// Returns the number of operations of a process.
    pub fn operations(&self, process: usize) -> usize {
        self.operations.get(process).map_or(0, Vec::len)
    }

    /// Returns the deadlock if connections have `depth` slots; `None` if all processes end.
    pub fn deadlock(&self, depth: u64) -> Option<Deadlock> {
        let mut done = vec![(0_usize, 0_u64); self.operations.len()];
        let mut filled = vec![0_u64; self.connections.len()];
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); self.operations.len()];
        let mut ready: Vec<usize> = (0..self.operations.len()).collect();
        while let Some(process) = ready.pop() {
            loop {
                let (executed, part) = done[process];
                let Some(operation) = self.operations[process].get(executed) else { break };
                let (progress, is_complete) = match *operation {
                    Operation::Send { connection, slots } => {
                        let sent = (slots - part).min(depth - filled[connection]);
                        filled[connection] += sent;
                        if sent > 0 {
                            ready.push(self.connections[connection][1]);
                        }
                        (sent, part + sent == slots)
                    }
                    Operation::Receive { connection, slots } => {
                        let received = (slots - part).min(filled[connection]);
                        filled[connection] -= received;
                        if received > 0 {
                            ready.push(self.connections[connection][0]);
                        }
                        (received, part + received == slots)
                    }
                    Operation::Wait { process: other, operations } => {
                        let is_complete = done[other].0 >= operations;
                        if !is_complete {
                            waiting[other].push(process);
                        }
                        (0, is_complete)
                    }
                };
                if is_complete {
                    done[process] = (executed + 1, 0);
                    ready.append(&mut waiting[process]);
                    continue;
                }
                done[process].1 += progress;
                if progress == 0 {
                    break;
                }
            }
        }
        let waits_for = |process: usize| {
            let operation = self.operations[process].get(done[process].0)?;
            Some(match *operation {
                Operation::Send { connection, .. } => (self.connections[connection][1], true),
                Operation::Receive { connection, .. } => (self.connections[connection][0], false),
                Operation::Wait { process, .. } => (process, false),
            })
        };
        let first = (0..self.operations.len()).find(|process| waits_for(*process).is_some())?;
        let mut path: Vec<(usize, usize, bool)> = Vec::new();
        let mut process = first;
        while let Some((other, is_full)) = waits_for(process) {
            if let Some(start) = path.iter().position(|(earlier, ..)| *earlier == process) {
                path.drain(..start);
                break;
            }
            path.push((process, other, is_full));
            process = other;
        }
        Some(Deadlock { cycle: path })
    }
}

/// The programs of ranks that execute a schedule step by step: in each step, a rank sends all of
/// its messages in the order of the schedule, and then receives.
#[derive(Debug, Clone, Default)]
pub struct StepPrograms {
    programs: Programs,
    step: u64,
    receives: Vec<(usize, Operation)>,
}

impl StepPrograms {
    /// Adds a message that takes a number of slots. Messages are added in the order of steps.
    pub fn message(&mut self, step: u64, from: usize, to: usize, slots: u64) {
        if step != self.step {
            self.end_step();
            self.step = step;
        }
        let connection = self.programs.connection(from, to);
        self.programs.push(from, Operation::Send { connection, slots });
        self.receives.push((to, Operation::Receive { connection, slots }));
    }

    /// Returns the programs of all added messages.
    pub fn finish(mut self) -> Programs {
        self.end_step();
        self.programs
    }

    fn end_step(&mut self) {
        for (process, receive) in self.receives.drain(..) {
            self.programs.push(process, receive);
        }
    }
}

#[cfg(test)]
mod tests;
