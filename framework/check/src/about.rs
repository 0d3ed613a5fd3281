//! What a plugin's tables say.

use serde::{Deserialize, Serialize};
use swapmeet_runner::plugin::{Param, Plugin};

/// What a plugin's tables say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub name: String,
    pub version: String,
    pub licence: String,
    /// Major and minor of the boundary it was built for.
    pub abi: (u32, u32),
    pub algorithms: Vec<AlgorithmAbout>,
}

/// What the table of an algorithm says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlgorithmAbout {
    pub name: String,
    pub title: String,
    /// Where it was published.
    pub paper: String,
    /// On what it runs.
    pub accepts: String,
    /// A bit a collective.
    pub collectives: u64,
    /// The most messages at a node in a step; 0 where it doesn't say.
    pub ports: u64,
    pub params: Vec<Param>,
}

impl From<&Plugin> for About {
    fn from(plugin: &Plugin) -> Self {
        let algorithms = plugin.algorithms.iter().map(|a| AlgorithmAbout {
            name: a.name.clone(),
            title: a.title.clone(),
            paper: a.paper.clone(),
            accepts: a.accepts.clone(),
            collectives: a.collectives,
            ports: a.ports,
            params: a.params.clone(),
        });
        Self {
            name: plugin.name.clone(),
            version: plugin.version.clone(),
            licence: plugin.licence.clone(),
            abi: plugin.abi,
            algorithms: algorithms.collect(),
        }
    }
}
