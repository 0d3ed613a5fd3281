//! The algorithms of NCCL and RCCL, and the places where they were measured.

use swapmeet_core::spec::format_size;
use swapmeet_core::system::{self, LibraryAlgorithm, System};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    Ring,
    Tree,
    /// A reduction in the switch of a domain. Between several domains, NCCL calls it NVLSTree.
    Nvls,
    Pat,
    /// Sends and receives in a group. Libraries use them for an all-to-all.
    PointToPoint,
}

impl Algorithm {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ring" => Self::Ring,
            "tree" => Self::Tree,
            "nvls" | "nvls-tree" | "nvlstree" => Self::Nvls,
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
}

#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub kind: &'static System,
    pub domains: u64,
    pub gpus: u64,
    pub collective: String,
    /// The size of the vector in an allreduce, otherwise of the larger buffer of a rank.
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

    /// The system and the collective must be known.
    #[cfg(test)]
    pub(crate) fn parse(system: &str, collective: &str, bytes: u64) -> Self {
        Self::of(system, collective, &bytes.to_string()).unwrap()
    }

    pub(crate) fn ranks(&self) -> u64 {
        self.domains * self.gpus
    }

    pub(crate) fn workload(&self) -> String {
        let block = match self.collective.as_str() {
            "allreduce" => self.bytes,
            _ => self.bytes.div_ceil(self.ranks()),
        };
        format!("{}/uniform:{}", self.collective, format_size(block))
    }

    pub(crate) fn library(&self) -> Vec<Candidate> {
        let all = self.kind.library(&self.collective, self.domains, self.gpus);
        all.into_iter()
            .map(|own| {
                let algorithm = Algorithm::named(own.name);
                (algorithm.unwrap_or_else(|| unreachable!("{} has a row", own.name)), own)
            })
            .collect()
    }
}

/// An algorithm of a library, and the algorithm of this project that sends the same messages.
pub(crate) type Candidate = (Algorithm, LibraryAlgorithm);
