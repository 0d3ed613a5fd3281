//! The one table of machine parameters.

use super::{Barrier, Machine, Mode, ModelKind, Ports};
use crate::spec::near_matches;

/// One parameter of a machine.
#[derive(Debug)]
pub struct Parameter {
    /// Its key, with the unit in it.
    pub key: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What papers call it.
    pub symbols: &'static str,
    /// Sets it from text; `Err` says what was expected.
    pub(super) read: fn(&mut Machine, &str) -> Result<(), String>,
    /// Its canonical text.
    pub(super) print: fn(&Machine) -> String,
}

impl Parameter {
    /// The value that a machine has.
    pub fn value(&self, machine: &Machine) -> String {
        (self.print)(machine)
    }
}

/// A parameter that can't be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// No such key.
    #[error("unknown key `{key}`")]
    Unknown {
        /// The key.
        key: String,
        /// Keys like it.
        near: Vec<String>,
    },
    /// A value that makes no sense.
    #[error("{key}: expected {expected}, found `{found}`")]
    Bad {
        /// The key.
        key: &'static str,
        /// What was expected.
        expected: String,
        /// What was given.
        found: String,
    },
}

impl ParameterError {
    /// Whether the key is wrong, rather than the value.
    pub fn about_key(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }

    /// Keys like the unknown one.
    pub fn near(&self) -> &[String] {
        match self {
            Self::Unknown { near, .. } => near,
            Self::Bad { .. } => &[],
        }
    }
}

/// All parameters, in the order in which specs print them.
pub fn parameters() -> &'static [Parameter] {
    PARAMETERS
}

pub(super) fn find(key: &str) -> Result<(usize, &'static Parameter), ParameterError> {
    PARAMETERS.iter().enumerate().find(|(_, p)| p.key == key).ok_or_else(|| ParameterError::Unknown {
        key: key.to_owned(),
        near: near_matches(key, PARAMETERS.iter().map(|p| p.key)),
    })
}

static PARAMETERS: &[Parameter] = &[
    Parameter {
        key: "model",
        meaning: "which model prices a schedule",
        symbols: "",
        read: |m, text| {
            let kind = ModelKind::ALL.iter().find(|(_, word)| *word == text);
            m.model = kind.map(|(kind, _)| *kind).ok_or_else(|| one_of(&ModelKind::ALL.map(|(_, word)| word)))?;
            Ok(())
        },
        print: |m| m.model.to_string(),
    },
    Parameter {
        key: "startup_us",
        meaning: "start-up of a message",
        symbols: "ts, alpha, Ts",
        read: |m, text| micros(text).map(|us| m.startup_us = us),
        print: |m| m.startup_us.to_string(),
    },
    Parameter {
        key: "byte_us",
        meaning: "transmission of a byte",
        symbols: "tc, beta, tau, td",
        read: |m, text| micros(text).map(|us| m.byte_us = us),
        print: |m| m.byte_us.to_string(),
    },
    Parameter {
        key: "hop_us",
        meaning: "crossing a link",
        symbols: "tl, delta",
        read: |m, text| micros(text).map(|us| m.hop_us = us),
        print: |m| m.hop_us.to_string(),
    },
    Parameter {
        key: "unpaired_byte_us",
        meaning: "a byte in a step where a node sends to one node and receives from another; as byte_us if not given",
        symbols: "beta_sr",
        read: |m, text| micros(text).map(|us| m.unpaired_byte_us = Some(us)),
        print: |m| m.unpaired_byte_us().to_string(),
    },
    Parameter {
        key: "rearrange_byte_us",
        meaning: "rearranging a byte within a node",
        symbols: "rho, tm",
        read: |m, text| micros(text).map(|us| m.rearrange_byte_us = us),
        print: |m| m.rearrange_byte_us.to_string(),
    },
    Parameter {
        key: "copy_byte_us",
        meaning: "copying a byte between memory and message buffer",
        symbols: "tc (Liu)",
        read: |m, text| micros(text).map(|us| m.copy_byte_us = us),
        print: |m| m.copy_byte_us.to_string(),
    },
    Parameter {
        key: "barrier_us",
        meaning: "a barrier between steps",
        symbols: "tb",
        read: |m, text| micros(text).map(|us| m.barrier = Barrier::Fixed(us)),
        print: |m| match m.barrier {
            Barrier::Fixed(us) => us.to_string(),
            Barrier::Rounds { per_round, offset } => format!("{per_round} d {offset:+}, d = ceil(log2 nodes)"),
        },
    },
    Parameter {
        key: "ports",
        meaning: "messages a node may send, and receive, at a time",
        symbols: "",
        read: |m, text| {
            m.ports = if text == "all" {
                Ports::All
            } else {
                Ports::Count(whole(text, "`all` or a whole number from 1 on")?)
            };
            Ok(())
        },
        print: |m| m.ports.to_string(),
    },
    Parameter {
        key: "virtual_channels",
        meaning: "circuits a directed link carries at a time",
        symbols: "q",
        read: |m, text| whole(text, "a whole number from 1 on").map(|n| m.virtual_channels = n),
        print: |m| m.virtual_channels.to_string(),
    },
    Parameter {
        key: "free_contention",
        meaning: "messages a directed link carries at full speed",
        symbols: "2^gamma",
        read: |m, text| {
            let expected = || "a number from 1 on".to_owned();
            m.free_contention = number(text).filter(|x| *x >= 1.0).ok_or_else(expected)?;
            Ok(())
        },
        print: |m| m.free_contention.to_string(),
    },
    Parameter {
        key: "mode",
        meaning: "whether a send waits until it is done",
        symbols: "",
        read: |m, text| {
            m.mode = match text {
                "blocking" => Mode::Blocking,
                "nonblocking" => Mode::Nonblocking,
                _ => return Err(one_of(&["blocking", "nonblocking"])),
            };
            Ok(())
        },
        print: |m| m.mode.to_string(),
    },
    Parameter {
        key: "buffers",
        meaning: "send buffers of a node",
        symbols: "",
        read: |m, text| {
            m.buffers = match text {
                "1" => 1,
                "2" => 2,
                _ => return Err("1 or 2".to_owned()),
            };
            Ok(())
        },
        print: |m| m.buffers.to_string(),
    },
];

fn one_of(words: &[&str]) -> String {
    format!("one of {}", words.join(", "))
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|x| x.is_finite())
}

fn micros(text: &str) -> Result<f64, String> {
    /// A day: beyond it a figure is a slip, and sums of slips overflow.
    const MOST: f64 = 8.64e10;
    let fits = |us: &f64| (0.0..=MOST).contains(us);
    // A negative zero would print differently from zero.
    number(text).filter(fits).map(|us| us + 0.0).ok_or_else(|| format!("microseconds, a number from 0 to {MOST}"))
}

fn whole(text: &str, expected: &str) -> Result<u64, String> {
    text.parse::<u64>().ok().filter(|n| *n >= 1).ok_or_else(|| expected.to_owned())
}
