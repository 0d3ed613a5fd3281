//! The algorithms of NCCL and RCCL, and the places at which they were measured.

use swapmeet_core::spec::format_size;
use swapmeet_core::system::{self, System};

/// The algorithms of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    Ring,
    Tree,
    /// The reduction in the switch of a domain. Between domains, NCCL calls it NVLSTree.
    Nvls,
    Pat,
    /// Sends and receives in a group, for an all-to-all.
    PointToPoint,
}

impl Algorithm {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ring" => Self::Ring,
            "tree" => Self::Tree,
            "nvls" | "nvls-tree" => Self::Nvls,
            "pat" => Self::Pat,
            "p2p" => Self::PointToPoint,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Tree => "tree",
            Self::Nvls => "nvls",
            Self::Pat => "pat",
            Self::PointToPoint => "p2p",
        }
    }

    /// Returns the spec of the algorithm of this project that sends the same messages; `None` if
    /// there is none.
    pub(crate) fn spec(self, place: &Place) -> Option<String> {
        Some(match (self, place.collective.as_str()) {
            (Self::Ring, "allreduce") => "ring-allreduce".to_owned(),
            (Self::Ring, "allgather") => "ring".to_owned(),
            (Self::Ring, "reduce-scatter") => "ring-reduce-scatter".to_owned(),
            (Self::Pat, "allgather") => "pat-allgather".to_owned(),
            (Self::Pat, "reduce-scatter") => "pat-reduce-scatter".to_owned(),
            (Self::PointToPoint, "alltoall") => "linear".to_owned(),
            // The model cuts messages into chunks itself, so there is one segment for each tree.
            (Self::Tree, "allreduce") => match place.gpus {
                1 => "two-tree-allreduce:segments=2".to_owned(),
                gpus => format!("two-tree-allreduce:segments=2,group={gpus}"),
            },
            _ => return None,
        })
    }

    /// Returns the protocols in which NCCL has the algorithm.
    pub(crate) fn protocols(self) -> &'static [&'static str] {
        match self {
            Self::Ring | Self::Tree => &["LL", "LL128", "Simple"],
            Self::Nvls | Self::Pat | Self::PointToPoint => &["Simple"],
        }
    }
}

/// A collective of a number of bytes on a system.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub kind: &'static System,
    pub domains: u64,
    /// The GPUs of a domain.
    pub gpus: u64,
    pub collective: String,
    /// The vector of an allreduce; otherwise the larger of a rank's two buffers.
    pub bytes: u64,
}

impl Place {
    pub(crate) fn of(system: &str, collective: &str, bytes: &str) -> Result<Self, String> {
        let wrong = || format!("`{system}` with `{bytes}` bytes is no measurement");
        let (name, shape) = system.split_once(':').ok_or_else(wrong)?;
        let kind = system::systems().iter().find(|kind| kind.name == name).ok_or_else(wrong)?;
        let (domains, gpus) = shape.split_once('x').ok_or_else(wrong)?;
        let number = |text: &str| text.parse().map_err(|_| wrong());
        Ok(Self {
            kind,
            domains: number(domains)?,
            gpus: number(gpus)?,
            collective: collective.to_owned(),
            bytes: number(bytes)?,
        })
    }

    /// Returns the place of a test, whose system and collective are known.
    #[cfg(test)]
    pub(crate) fn parse(system: &str, collective: &str, bytes: u64) -> Self {
        Self::of(system, collective, &bytes.to_string()).unwrap()
    }

    pub(crate) fn ranks(&self) -> u64 {
        self.domains * self.gpus
    }

    /// Returns whether the system has AMD's GPUs, on which RCCL runs.
    pub(crate) fn is_amd(&self) -> bool {
        self.kind.name.starts_with("mi")
    }

    pub(crate) fn workload(&self) -> String {
        let block = match self.collective.as_str() {
            "allreduce" => self.bytes,
            _ => self.bytes.div_ceil(self.ranks()),
        };
        format!("{}/uniform:{}", self.collective, format_size(block))
    }

    /// Returns the algorithms that the library can choose.
    pub(crate) fn library(&self) -> Vec<Algorithm> {
        let has_nvls = !self.is_amd() && self.kind.inside_gbps > 300.0 && self.gpus > 1;
        match self.collective.as_str() {
            "alltoall" => vec![Algorithm::PointToPoint],
            "allreduce" if has_nvls => vec![Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls],
            "allreduce" => vec![Algorithm::Ring, Algorithm::Tree],
            _ if self.gpus == 1 => vec![Algorithm::Ring, Algorithm::Pat],
            _ => vec![Algorithm::Ring],
        }
    }
}
