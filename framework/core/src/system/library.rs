//! The algorithms from which NCCL and RCCL choose, and the algorithms of this project that send the
//! same messages.

use super::System;
use crate::cost::machine::Machine;

/// An algorithm of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryAlgorithm {
    /// The library's name, such as `ring`.
    pub name: &'static str,
    /// The spec of this project's algorithm that sends the same messages.
    pub spec: String,
    /// The protocols with which the library offers the algorithm.
    pub protocols: Vec<&'static str>,
}

/// An algorithm of NCCL and RCCL, and the algorithm of this project that sends the same messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counterpart {
    /// The word for the collective in specs.
    pub collective: &'static str,
    /// The library's name, such as `ring`.
    pub name: &'static str,
    /// The algorithm of this project, without parameters.
    pub ours: &'static str,
    /// The parameters of this project's algorithm. `{gpus}` is the number of GPUs of a domain.
    parameters: &'static str,
}

const fn counterpart(
    collective: &'static str,
    name: &'static str,
    ours: &'static str,
    parameters: &'static str,
) -> Counterpart {
    Counterpart { collective, name, ours, parameters }
}

/// The algorithms of NCCL and RCCL. The model itself cuts messages into chunks, so each of the two
/// trees needs only one segment.
pub const COUNTERPARTS: [Counterpart; 9] = [
    counterpart("alltoall", "p2p", "linear", ""),
    counterpart("allreduce", "ring", "ring-allreduce", ""),
    counterpart("allreduce", "tree", "two-tree-allreduce", "group={gpus},segments=2"),
    counterpart("allreduce", "nvls", "nvls-allreduce", "segments=1"),
    counterpart("allreduce", "nvlstree", "nvls-tree-allreduce", "segments=2,group={gpus}"),
    counterpart("allgather", "ring", "ring", ""),
    counterpart("allgather", "pat", "pat-allgather", ""),
    counterpart("reduce-scatter", "ring", "ring-reduce-scatter", ""),
    counterpart("reduce-scatter", "pat", "pat-reduce-scatter", ""),
];

impl LibraryAlgorithm {
    /// If the machine has the parameter `protocols`, returns the machine with only the protocols of
    /// this algorithm.
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
    /// Returns whether the GPUs of the system are made by AMD. The library is then RCCL.
    pub fn is_amd(&self) -> bool {
        self.name.starts_with("mi")
    }

    /// Returns whether the switch of a domain can add and copy data (NVLink 4 and later, NVLS).
    pub fn reduces_in_switch(&self) -> bool {
        !self.is_amd() && self.inside_gbps > 300.0
    }

    /// Returns the algorithms from which the library chooses on `domains` domains of `gpus` GPUs.
    /// The collective is given by its word, such as `allreduce`. The list is empty if the
    /// collective is not modelled.
    pub fn library(&self, collective: &str, domains: u64, gpus: u64) -> Vec<LibraryAlgorithm> {
        let in_switch = self.reduces_in_switch() && gpus > 1;
        let all = COUNTERPARTS.iter().filter(|own| own.collective == collective);
        all.filter(|own| match own.name {
            "nvls" => in_switch && domains == 1,
            "nvlstree" => in_switch && domains > 1,
            "pat" => gpus == 1,
            _ => true,
        })
        .map(|own| {
            let parameters = own.parameters.replace("{gpus}", &gpus.to_string());
            let parameters: Vec<&str> =
                parameters.split(',').filter(|text| *text != "group=1").collect();
            let parameters = parameters.join(",");
            let colon = if parameters.is_empty() { "" } else { ":" };
            LibraryAlgorithm {
                name: own.name,
                spec: format!("{}{colon}{parameters}", own.ours),
                protocols: match own.name {
                    "ring" | "tree" => vec!["LL", "LL128", "Simple"],
                    _ => vec!["Simple"],
                },
            }
        })
        .collect()
    }
}
