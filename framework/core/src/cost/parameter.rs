//! Parameters of machines: what each is called, what it means, how its text is read.
//!
//! Here stand those that several models or planning read; what only one model reads is declared in
//! that model's file.

use std::fmt::{self, Debug, Display};

/// What there is to know of a parameter, whatever the type of its values.
pub trait Parameter: Debug + Sync {
    /// Its key, with the unit in it.
    fn key(&self) -> &'static str;
    /// What it means, with its unit, for `list` and the docs.
    fn meaning(&self) -> &'static str;
    /// What papers call it.
    fn symbols(&self) -> &'static str;
    /// What it is where nobody says.
    fn default(&self) -> DefaultValue;
    /// The one way to write a value; `Err` says what was expected.
    fn canonical(&self, text: &str) -> Result<String, String>;
}

/// What a parameter is where nobody says.
#[derive(Debug, Clone, Copy)]
pub enum DefaultValue {
    /// This value, in canonical form.
    Text(&'static str),
    /// What this other one is.
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
    /// `Err` says what was expected.
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

impl<T: Display + Debug> TypedParameter<T> {
    /// The value that a text in canonical form stands for.
    pub(super) fn value(&self, text: String) -> Result<T, ParameterError> {
        (self.read)(&text).map_err(|expected| ParameterError::Bad {
            key: self.key,
            expected,
            found: text,
        })
    }
}

/// A parameter that can't be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// No machine has such a key.
    #[error("unknown key `{key}`")]
    Unknown {
        /// As the user wrote it.
        key: String,
        /// Keys that are spelt like it, the nearest first.
        near: Vec<String>,
    },
    /// A value that makes no sense.
    #[error("{key}: expected {expected}, found `{found}`")]
    Bad {
        /// Whose value it is.
        key: &'static str,
        /// What a value of it looks like.
        expected: String,
        /// The value as the user wrote it.
        found: String,
    },
    /// A key that changes nothing on this machine.
    #[error("`{key}` is not read by the model `{model}`, whose parameters are {}", has.join(", "))]
    Unread {
        /// Whose value it is.
        key: &'static str,
        /// The model that the machine has, be it that the spec or the base says so.
        model: &'static str,
        /// The keys that the machine has.
        has: Vec<&'static str>,
    },
}

impl ParameterError {
    /// Whether the key is wrong, rather than the value.
    pub fn about_key(&self) -> bool {
        match self {
            Self::Unknown { .. } | Self::Unread { .. } => true,
            Self::Bad { .. } => false,
        }
    }

    /// Keys like the unknown one.
    pub fn near(&self) -> &[String] {
        match self {
            Self::Unknown { near, .. } => near,
            Self::Bad { .. } | Self::Unread { .. } => &[],
        }
    }
}

/// Start-up of a message (ts, alpha, Ts).
pub(super) static STARTUP_US: TypedParameter<f64> = TypedParameter {
    key: "startup_us",
    meaning: "start-up of a message",
    symbols: "ts, alpha, Ts",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

/// Transmission of a byte (tc, beta, tau, td).
pub(super) static BYTE_US: TypedParameter<f64> = TypedParameter {
    key: "byte_us",
    meaning: "transmission of a byte",
    symbols: "tc, beta, tau, td",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

/// A node's own way into the network, and out of it.
pub(super) static INJECTION_BYTE_US: TypedParameter<f64> = TypedParameter {
    key: "injection_byte_us",
    meaning: "a byte on a node's own way into the network, and on that out of it; 0 for no limit",
    symbols: "",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

/// Crossing a link (tl, delta).
pub(super) static HOP_US: TypedParameter<f64> = TypedParameter {
    key: "hop_us",
    meaning: "crossing a link",
    symbols: "tl, delta",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

/// Rearranging a byte within a node (rho, tm).
pub(super) static REARRANGE_BYTE_US: TypedParameter<f64> = TypedParameter {
    key: "rearrange_byte_us",
    meaning: "rearranging a byte within a node",
    symbols: "rho, tm",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

/// Adding a byte that comes to one that is there (gamma).
pub(super) static REDUCE_BYTE_US: TypedParameter<f64> = TypedParameter {
    key: "reduce_byte_us",
    meaning: "adding a byte of what comes to what a node has",
    symbols: "gamma",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

/// A barrier between steps (tb).
pub(super) static BARRIER_US: TypedParameter<Barrier> = TypedParameter {
    key: "barrier_us",
    meaning: "a barrier between steps; as 126d-113, d = ceil(log2 nodes), one that takes so many rounds",
    symbols: "tb",
    default: DefaultValue::Text("0"),
    read: Barrier::read,
};

/// Messages a node may send, and receive, at a time.
pub(super) static PORTS: TypedParameter<PortLimit> = TypedParameter {
    key: "ports",
    meaning: "messages a node may send, and receive, at a time",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: PortLimit::read,
};

/// Circuits a directed link carries at a time (q).
pub(super) static VIRTUAL_CHANNELS: TypedParameter<u64> = TypedParameter {
    key: "virtual_channels",
    meaning: "circuits a directed link carries at a time",
    symbols: "q",
    default: DefaultValue::Text("1"),
    read: |text| parse_count(text, "a whole number from 1 on"),
};

/// Messages that a node may send, and receive, at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortLimit {
    /// So many messages at a time.
    Count(u64),
    /// One for each link of the node.
    All,
}

impl PortLimit {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            count => parse_count(count, "`all` or a whole number from 1 on").map(Self::Count),
        }
    }

    /// As a number; the largest there is for all.
    pub fn count(self) -> u64 {
        match self {
            Self::Count(n) => n,
            Self::All => u64::MAX,
        }
    }

    /// How many rounds a node needs for so many messages at once; at least 1.
    pub fn rounds(self, messages: u64) -> u64 {
        messages.div_ceil(self.count()).max(1)
    }

    /// How many of so many messages go at once; at least 1.
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

/// What a barrier costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Barrier {
    /// The same on any number of nodes, in us.
    Fixed(f64),
    /// `per_round * ceil(log2 nodes) + offset`, in us, and never below 0: a barrier by messages
    /// takes that many rounds.
    Rounds {
        /// What a round costs.
        per_round: f64,
        /// What is added once.
        offset: f64,
    },
}

impl Barrier {
    fn read(text: &str) -> Result<Self, String> {
        let Some((per_round, offset)) = text.split_once('d') else {
            return parse_micros(text).map(Self::Fixed);
        };
        let expected = |e: String| {
            format!("{e}, or a number of them for each round and what is added, as 126d-113")
        };
        let per_round = parse_micros(per_round).map_err(expected)?;
        let sign = if offset.starts_with('-') { -1.0 } else { 1.0 };
        let offset = match offset {
            "" => 0.0,
            _ => parse_micros(offset.strip_prefix(['+', '-']).unwrap_or("")).map_err(expected)?,
        };
        Ok(Self::Rounds { per_round, offset: sign * offset })
    }

    /// Among so many nodes, in us.
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

/// One of a few words.
pub(super) fn parse_word<T: Copy>(text: &str, words: &[(&'static str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        format!("one of {}", words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", "))
    })
}

pub(super) fn parse_number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|x| x.is_finite())
}

pub(super) fn parse_micros(text: &str) -> Result<f64, String> {
    /// A day: beyond it a figure is a slip, and sums of slips overflow.
    const MOST: f64 = 8.64e10;
    let fits = |us: &f64| (0.0..=MOST).contains(us);
    // A negative zero would print differently from zero.
    parse_number(text)
        .filter(fits)
        .map(|us| us + 0.0)
        .ok_or_else(|| format!("microseconds, a number from 0 to {MOST}"))
}

pub(super) fn parse_count(text: &str, expected: &str) -> Result<u64, String> {
    text.parse::<u64>().ok().filter(|n| *n >= 1).ok_or_else(|| expected.to_owned())
}
