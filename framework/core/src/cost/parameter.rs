//! Parameters of machines. A parameter has a key, a meaning, a default value and a parser.
//!
//! This file has the parameters that several models, or plugins, can read. All others are in the
//! file of the model that reads them.

use crate::spec::parse_decimal;
use std::fmt::{self, Debug, Display};

/// A parameter of a machine, with values of any type.
pub trait Parameter: Debug + Sync {
    /// Returns the key. The key of a time, or of a number of bytes, ends with the unit.
    fn key(&self) -> &'static str;
    /// Returns a description of the parameter, for lists and documentation.
    fn meaning(&self) -> &'static str;
    /// Returns the symbols that papers use for this parameter.
    fn symbols(&self) -> &'static str;
    /// Returns the default value.
    fn default(&self) -> DefaultValue;
    /// Parses a value and returns it in canonical form. An error describes valid values.
    fn canonical(&self, text: &str) -> Result<String, String>;
}

/// The default value of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum DefaultValue {
    /// A value in canonical form.
    Text(&'static str),
    /// The value that another parameter of the same machine has.
    SameAs(&'static dyn Parameter),
}

impl Display for DefaultValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::SameAs(other) => write!(f, "as {}", other.key()),
        }
    }
}

/// A parameter whose values are of the type `T`.
#[derive(Debug)]
pub struct TypedParameter<T: 'static> {
    pub(super) key: &'static str,
    pub(super) meaning: &'static str,
    pub(super) symbols: &'static str,
    pub(super) default: DefaultValue,
    pub(super) read: fn(&str) -> Result<T, String>,
}

impl<T: Display + Debug> Parameter for TypedParameter<T> {
    fn key(&self) -> &'static str {
        self.key
    }

    fn meaning(&self) -> &'static str {
        self.meaning
    }

    fn symbols(&self) -> &'static str {
        self.symbols
    }

    fn default(&self) -> DefaultValue {
        self.default
    }

    fn canonical(&self, text: &str) -> Result<String, String> {
        (self.read)(text).map(|value| value.to_string())
    }
}

impl TypedParameter<f64> {
    pub(super) const fn micros(
        key: &'static str,
        meaning: &'static str,
        symbols: &'static str,
    ) -> Self {
        Self { key, meaning, symbols, default: DefaultValue::Text("0"), read: parse_micros }
    }
}

impl<T: Display + Debug> TypedParameter<T> {
    pub(super) fn value(&self, text: String) -> Result<T, ParameterError> {
        (self.read)(&text).map_err(|expected| ParameterError::Bad {
            key: self.key,
            expected,
            found: text,
        })
    }
}

/// A reason why a parameter cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// No parameter has this key.
    #[error("unknown key `{key}`")]
    Unknown {
        /// The key as the user wrote it.
        key: String,
        /// Known keys with a similar spelling, the most similar first.
        near: Vec<String>,
    },
    /// The value is invalid.
    #[error("{key}: expected {expected}, found `{found}`")]
    Bad {
        /// The key of the parameter.
        key: &'static str,
        /// A description of valid values.
        expected: String,
        /// The value as the user wrote it.
        found: String,
    },
    /// The parameter exists, but the machine does not use it.
    #[error("`{key}` is not read by the model `{model}`, whose parameters are {}", has.join(", "))]
    Unread {
        /// The key of the parameter.
        key: &'static str,
        /// The machine's model.
        model: &'static str,
        /// The keys of the machine's parameters.
        has: Vec<&'static str>,
    },
}

impl ParameterError {
    /// Returns whether the key is invalid. Otherwise the value is invalid.
    pub fn about_key(&self) -> bool {
        match self {
            Self::Unknown { .. } | Self::Unread { .. } => true,
            Self::Bad { .. } => false,
        }
    }

    /// Returns the known keys with a spelling similar to the unknown key.
    pub fn near(&self) -> &[String] {
        match self {
            Self::Unknown { near, .. } => near,
            Self::Bad { .. } | Self::Unread { .. } => &[],
        }
    }
}

pub(super) static STARTUP_US: TypedParameter<f64> =
    TypedParameter::micros("startup_us", "start-up time of a message", "ts, alpha, Ts");

pub(super) static BYTE_US: TypedParameter<f64> =
    TypedParameter::micros("byte_us", "transmission time of a byte", "tc, beta, tau, td");

pub(super) static INJECTION_BYTE_US: TypedParameter<f64> = TypedParameter::micros(
    "injection_byte_us",
    "transmission time of a byte between a node and the network, in each direction; 0 for no limit",
    "",
);

pub(super) static HOP_US: TypedParameter<f64> =
    TypedParameter::micros("hop_us", "latency of a link", "tl, delta");

pub(super) static REARRANGE_BYTE_US: TypedParameter<f64> =
    TypedParameter::micros("rearrange_byte_us", "rearrangement of a byte within a node", "rho, tm");

pub(super) static REDUCE_BYTE_US: TypedParameter<f64> =
    TypedParameter::micros("reduce_byte_us", "reduction of a received byte", "gamma");

pub(super) static BARRIER_US: TypedParameter<Barrier> = TypedParameter {
    key: "barrier_us",
    meaning: "barrier between steps: a time, or a formula such as 126d-113, where d = ceil(log2(nodes)) is the number of rounds",
    symbols: "tb",
    default: DefaultValue::Text("0"),
    read: Barrier::read,
};

pub(super) static PORTS: TypedParameter<PortLimit> = TypedParameter {
    key: "ports",
    meaning: "messages that a node can send, and receive, at a time; with model=fluid and order=step it limits no rate and is only a value for planning (injection_byte_us limits the rate of a node)",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: PortLimit::read,
};

pub(super) static VIRTUAL_CHANNELS: TypedParameter<u64> = TypedParameter {
    key: "virtual_channels",
    meaning: "circuits that a directed link carries at a time",
    symbols: "q",
    default: DefaultValue::Text("1"),
    read: |text| parse_count(text, "a whole number from 1"),
};

/// A limit on the messages that a node sends, or receives, at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortLimit {
    /// At most this number of messages.
    Count(u64),
    /// No limit: one port for each link of the node.
    All,
}

impl PortLimit {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            count => parse_count(count, "`all` or a whole number from 1").map(Self::Count),
        }
    }

    /// Returns the limit as a number; `u64::MAX` if there is none.
    pub fn count(self) -> u64 {
        match self {
            Self::Count(n) => n,
            Self::All => u64::MAX,
        }
    }

    /// Returns the number of rounds, at least 1, in which a node sends `messages` messages.
    pub fn rounds(self, messages: u64) -> u64 {
        messages.div_ceil(self.count()).max(1)
    }

    /// Returns how many of `messages` messages a node sends at the same time, at least 1.
    pub fn at_most(self, messages: u64) -> u64 {
        self.count().min(messages).max(1)
    }
}

impl Display for PortLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(n) => write!(f, "{n}"),
            Self::All => f.write_str("all"),
        }
    }
}

/// The time of a barrier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Barrier {
    /// A time in µs that does not depend on the number of nodes.
    Fixed(f64),
    /// The time `per_round * ceil(log2(nodes)) + offset` in µs, at least 0. A barrier of messages
    /// needs `ceil(log2(nodes))` rounds.
    Rounds {
        /// The time of a round, in µs.
        per_round: f64,
        /// A time in µs that is added once, perhaps negative.
        offset: f64,
    },
}

impl Barrier {
    /// Parses a time in µs, or a formula such as `126d-113`, where d is the number of rounds. An
    /// error describes valid values.
    pub fn read(text: &str) -> Result<Self, String> {
        let Some((per_round, offset)) = text.split_once('d') else {
            return parse_micros(text).map(Self::Fixed);
        };
        let expected =
            |e: String| format!("{e}, or a time for each round and an offset, such as 126d-113");
        let per_round = parse_micros(per_round).map_err(expected)?;
        let sign = if offset.starts_with('-') { -1.0 } else { 1.0 };
        let offset = match offset {
            "" => 0.0,
            _ => parse_micros(offset.strip_prefix(['+', '-']).unwrap_or("")).map_err(expected)?,
        };
        Ok(Self::Rounds { per_round, offset: sign * offset })
    }

    /// Returns the time of a barrier among this number of nodes, in µs.
    pub fn us(self, nodes: u64) -> f64 {
        match self {
            Self::Fixed(us) => us,
            Self::Rounds { per_round, offset } => {
                let rounds = nodes.max(1).next_power_of_two().trailing_zeros();
                (per_round * f64::from(rounds) + offset).max(0.0)
            }
        }
    }
}

impl Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(us) => write!(f, "{us}"),
            Self::Rounds { per_round, offset: 0.0 } => write!(f, "{per_round}d"),
            Self::Rounds { per_round, offset } => write!(f, "{per_round}d{offset:+}"),
        }
    }
}

pub(super) fn parse_word<T: Copy>(text: &str, words: &[(&'static str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        format!("one of {}", words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", "))
    })
}

pub(super) fn parse_number(text: &str) -> Option<f64> {
    parse_decimal(text).filter(|x| x.is_finite())
}

pub(super) fn parse_micros(text: &str) -> Result<f64, String> {
    /// One day. Longer times are certainly mistakes, and sums of them could overflow.
    const MAX: f64 = 8.64e10;
    let fits = |us: &f64| (0.0..=MAX).contains(us);
    // This turns -0.0 into 0.0, which is printed without a sign.
    parse_number(text)
        .filter(fits)
        .map(|us| us + 0.0)
        .ok_or_else(|| format!("microseconds, a number from 0 to {MAX}"))
}

pub(super) fn parse_count(text: &str, expected: &str) -> Result<u64, String> {
    text.parse::<u64>().ok().filter(|n| *n >= 1).ok_or_else(|| expected.to_owned())
}
