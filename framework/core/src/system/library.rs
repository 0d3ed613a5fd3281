//! The algorithms from which NCCL and RCCL choose on a system, and the algorithms of this project
//! that send the same messages.

use super::System;
use crate::cost::machine::Machine;

/// An algorithm of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryAlgorithm {
    /// The library's name, such as `ring`.
    pub name: &'static str,
    /// The spec of the algorithm of this project.
    pub spec: String,
    /// The protocols in which the library has the algorithm.
    pub protocols: Vec<&'static str>,
}

impl LibraryAlgorithm {
    /// Returns the machine with only the protocols of this algorithm. Machines without `protocols`
    /// stay the same.
    pub fn machine(&self, machine: &Machine) -> Machine {
        let list = machine.values().into_iter().find(|value| value.parameter.key() == "protocols");
        let Some(list) = list.filter(|list| list.text != "none") else { return machine.clone() };
        let kept: Vec<&str> = list
            .text
            .split('+')
            .filter(|one| one.split(':').next().is_some_and(|name| self.protocols.contains(&name)))
            .collect();
        let kept = machine.with(&[("protocols", &*kept.join("+"))]);
        kept.unwrap_or_else(|(_, error)| unreachable!("a part of a list is a list: {error}"))
    }
}

impl System {
    /// Returns whether the system has AMD's GPUs, on which RCCL runs.
    pub fn is_amd(&self) -> bool {
        self.name.starts_with("mi")
    }

    /// Returns whether the switch of a domain adds and multicasts (NVLink 4 and later, NVLS).
    pub fn reduces_in_switch(&self) -> bool {
        !self.is_amd() && self.inside_gbps > 300.0
    }

    /// Returns the algorithms from which the library chooses for a collective on `domains` domains of
    /// `gpus` GPUs each. `collective` is its word, such as `allreduce`. Empty if the collective is
    /// not modelled.
    pub fn library(&self, collective: &str, domains: u64, gpus: u64) -> Vec<LibraryAlgorithm> {
        let own = |name, spec: &str| LibraryAlgorithm {
            name,
            spec: spec.to_owned(),
            protocols: match name {
                "ring" | "tree" => vec!["LL", "LL128", "Simple"],
                _ => vec!["Simple"],
            },
        };
        match collective {
            "alltoall" => vec![own("p2p", "linear")],
            "allreduce" => {
                // The model cuts messages into chunks, so each share has one segment, or one for each
                // tree.
                let tree = format!("two-tree-allreduce:group={gpus},segments=2");
                let mut all = vec![own("ring", "ring-allreduce"), own("tree", &tree)];
                if self.reduces_in_switch() && gpus > 1 {
                    all.push(match domains {
                        1 => own("nvls", "nvls-allreduce:segments=1"),
                        _ => {
                            own("nvlstree", &format!("nvls-tree-allreduce:segments=2,group={gpus}"))
                        }
                    });
                }
                all
            }
            "allgather" => {
                let pat = (gpus == 1).then(|| own("pat", "pat-allgather"));
                [own("ring", "ring")].into_iter().chain(pat).collect()
            }
            "reduce-scatter" => {
                let pat = (gpus == 1).then(|| own("pat", "pat-reduce-scatter"));
                [own("ring", "ring-reduce-scatter")].into_iter().chain(pat).collect()
            }
            _ => Vec::new(),
        }
    }
}
