//! The description that a plugin gives of itself in its tables.

use serde::{Deserialize, Serialize};
use swapmeet_runner::plugin::{Param, Plugin};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub name: String,
    pub version: String,
    pub licence: String,
    /// Major and minor version of the ABI for which the plugin was built.
    pub abi: (u32, u32),
    pub algorithms: Vec<AlgorithmAbout>,
}

/// The description of an algorithm in the tables of its plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlgorithmAbout {
    pub name: String,
    pub title: String,
    pub paper: String,
    /// The supported topologies and sizes, in words.
    pub accepts: String,
    /// The supported collectives: bit `c` is set if the collective with the number `c` in the ABI
    /// is supported.
    pub collectives: u64,
    /// The largest number of messages that a node sends or receives in a step; 0 if the plugin does
    /// not state it.
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
