//! Machines: a model and its parameters.
//!
//! One table of parameters ([`parameters`]) feeds parsing, printing, listing and the experiment file; one table of [`presets`] says where every
//! figure comes from.

use crate::spec::{Spec, SpecError};
use std::fmt;

mod parameters;
mod presets;

pub use parameters::{Parameter, ParameterError, parameters};
pub use presets::{Preset, presets};

/// Which model prices a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// Synchronous steps on a wormhole-routed network.
    Wormhole,
    /// Synchronous rounds of circuits.
    Circuit,
    /// Synchronous steps, each message stored at every node it passes.
    StoreAndForward,
    /// Event-driven, without a network: every node works through its own messages.
    Flat,
}

impl ModelKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Wormhole, "wormhole"),
        (Self::Circuit, "circuit"),
        (Self::StoreAndForward, "store-and-forward"),
        (Self::Flat, "flat"),
    ];
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(kind, _)| kind == self).map_or("", |(_, word)| word))
    }
}

/// Messages that a node may send, and receive, at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// So many.
    Count(u64),
    /// One a link.
    All,
}

impl Ports {
    /// As a number; the largest there is for all.
    pub fn count(self) -> u64 {
        match self {
            Self::Count(n) => n,
            Self::All => u64::MAX,
        }
    }

    /// How many turns a node needs for so many messages at once; at least 1.
    pub fn turns(self, messages: u64) -> u64 {
        messages.div_ceil(self.count()).max(1)
    }

    /// How many of so many messages go at once; at least 1.
    pub fn at_most(self, messages: u64) -> u64 {
        self.count().min(messages).max(1)
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(n) => write!(f, "{n}"),
            Self::All => f.write_str("all"),
        }
    }
}

/// What a barrier costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Barrier {
    /// The same on any number of nodes, in us.
    Fixed(f64),
    /// `per_round * ceil(log2 nodes) + offset`, in us, and never below 0: a barrier by messages takes that many rounds.
    Rounds {
        /// What a round costs.
        per_round: f64,
        /// What is added once.
        offset: f64,
    },
}

/// Whether a send waits until it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A node does one thing at a time.
    Blocking,
    /// Sends go on while the node does other things.
    Nonblocking,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocking => "blocking",
            Self::Nonblocking => "nonblocking",
        })
    }
}

/// A machine: a model and its parameters. Times are in microseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    name: String,
    /// What a name of the user's own stands for, as a spec of presets.
    stands_for: Option<String>,
    /// What was set by the user, in the order of the parameter table: the canonical form prints it.
    set: Vec<(&'static str, String)>,
    /// Which model prices it.
    pub model: ModelKind,
    /// Start-up of a message (ts, alpha, Ts).
    pub startup_us: f64,
    /// Transmission of a byte (tc, beta, tau, td).
    pub byte_us: f64,
    /// Crossing a link (tl, delta).
    pub hop_us: f64,
    /// Transmission of a byte in a step where a node sends to one node and receives from another (beta_sr); `None` for `byte_us`.
    pub unpaired_byte_us: Option<f64>,
    /// Rearranging a byte within a node (rho, tm).
    pub rearrange_byte_us: f64,
    /// Copying a byte between memory and message buffer (Liu's tc).
    pub copy_byte_us: f64,
    /// A barrier between steps (tb).
    pub barrier: Barrier,
    /// Messages a node may send, and receive, at a time.
    pub ports: Ports,
    /// Circuits a directed link carries at a time (q).
    pub virtual_channels: u64,
    /// Messages that a directed link carries at full speed (2^gamma).
    pub free_contention: f64,
    /// Whether a send waits until it is done.
    pub mode: Mode,
    /// Send buffers of a node.
    pub buffers: u64,
}

impl Default for Machine {
    /// A machine on which nothing costs anything.
    fn default() -> Self {
        Self {
            name: "free".to_owned(),
            stands_for: None,
            set: Vec::new(),
            model: ModelKind::Wormhole,
            startup_us: 0.0,
            byte_us: 0.0,
            hop_us: 0.0,
            unpaired_byte_us: None,
            rearrange_byte_us: 0.0,
            copy_byte_us: 0.0,
            barrier: Barrier::Fixed(0.0),
            ports: Ports::Count(1),
            virtual_channels: 1,
            free_contention: 1.0,
            mode: Mode::Blocking,
            buffers: 1,
        }
    }
}

impl Machine {
    /// Reads a spec: a preset, then what differs, as in `paragon:startup_us=220`.
    ///
    /// ```
    /// use swapmeet_core::cost::machine::Machine;
    /// let machine = Machine::parse("paragon:startup_us=220").unwrap();
    /// assert_eq!(machine.startup_us, 220.0);
    /// assert_eq!(machine.byte_us, 0.011);
    /// assert_eq!(machine.to_string(), "paragon:startup_us=220");
    /// ```
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        Self::parse_among(text, &[])
    }

    /// As [`Machine::parse`], with machines of the user's own, which hide presets of the same name.
    pub fn parse_among(text: &str, own: &[Self]) -> Result<Self, SpecError> {
        let spec = Spec::parse("machine", text)?;
        let known = own.iter().find(|m| m.name == spec.name()).cloned();
        let preset = || presets().iter().find(|p| p.name == spec.name()).map(|p| (p.machine)());
        let Some(base) = known.or_else(preset) else {
            let names = own.iter().map(|m| m.name.as_str()).chain(presets().iter().map(|p| p.name));
            return Err(spec.unknown_name(names));
        };
        spec.args().iter().try_fold(base, |machine, arg| {
            let Some(key) = arg.key() else { return Err(spec.unknown_key(arg, parameters().iter().map(|p| p.key))) };
            machine.with(key, arg.value()).map_err(|e| match e {
                ParameterError::Unknown { .. } => spec.unknown_key(arg, parameters().iter().map(|p| p.key)),
                ParameterError::Bad { expected, .. } => spec.bad_value(arg, &expected),
            })
        })
    }

    /// Under a name of the user's own, which stands for all that was set so far.
    #[must_use]
    pub fn renamed(mut self, name: &str) -> Self {
        self.stands_for = Some(self.stands_for.clone().unwrap_or_else(|| self.to_string()));
        name.clone_into(&mut self.name);
        self.set.clear();
        self
    }

    /// What a name of the user's own stands for: a spec that means the same without the user's file.
    pub fn stands_for(&self) -> Option<&str> {
        self.stands_for.as_deref()
    }

    /// The same machine as a spec of presets, where its name is the user's own: what the name stands for, and what was set besides.
    pub fn definition(&self) -> Option<String> {
        let base = Self::parse(self.stands_for()?).ok()?;
        let whole = self.set.iter().try_fold(base, |machine, (key, value)| machine.with(key, value)).ok()?;
        Some(whole.to_string())
    }

    /// The name, without what was set.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// With one parameter changed, given as text. What is as it was under the machine's name alone is not printed: one machine has one spelling.
    pub fn with(mut self, key: &str, value: &str) -> Result<Self, ParameterError> {
        let (rank, parameter) = parameters::find(key)?;
        (parameter.read)(&mut self, value).map_err(|expected| ParameterError::Bad {
            key: parameter.key,
            expected,
            found: value.to_owned(),
        })?;
        self.set.retain(|(k, _)| *k != parameter.key);
        let canonical = (parameter.print)(&self);
        // Whether it says something, rather than what it prints as: what follows another parameter until it is set prints as that one.
        let changes = |base: Self| {
            let mut changed = base.clone();
            (parameter.read)(&mut changed, value).is_ok() && changed != base
        };
        if self.base().is_none_or(changes) {
            let at = self.set.iter().take_while(|(k, _)| parameters::find(k).is_ok_and(|(r, _)| r < rank)).count();
            self.set.insert(at, (parameter.key, canonical));
        }
        Ok(self)
    }

    /// The machine of this name before anything was set besides.
    fn base(&self) -> Option<Self> {
        match self.stands_for() {
            Some(spec) => Self::parse(spec).ok(),
            None => presets().iter().find(|p| p.name == self.name).map(|p| (p.machine)()),
        }
    }

    /// What a barrier among so many nodes costs, in us.
    pub fn barrier_us(&self, nodes: u64) -> f64 {
        match self.barrier {
            Barrier::Fixed(us) => us,
            Barrier::Rounds { per_round, offset } => {
                let rounds = nodes.max(1).next_power_of_two().trailing_zeros();
                (per_round * f64::from(rounds) + offset).max(0.0)
            }
        }
    }

    /// What a byte costs in a step where a node sends to one node and receives from another, in us.
    pub fn unpaired_byte_us(&self) -> f64 {
        self.unpaired_byte_us.unwrap_or(self.byte_us)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, (key, value)) in self.set.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
