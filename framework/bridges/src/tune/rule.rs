//! Rules of a library's table: an algorithm and the parameters that the table can express.

use super::TimedCase;

/// An algorithm that both sides have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    pub(super) collective: &'static str,
    /// Our name, as in rows without parameters.
    pub(super) ours: &'static str,
    /// The library's name.
    pub(super) name: &'static str,
    /// The library's number, if it has one.
    pub(super) number: u32,
    /// The fan-out with which the library's algorithm equals ours; 0 if it has no fan-out.
    pub(super) fan: u32,
    /// The parameter of our algorithm that a rule may express. Rows with other parameters have no
    /// rule.
    pub(super) parameter: Option<Parameter>,
}

/// A parameter of ours, with its default value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    /// `segments`: the number of segments of a block. A rule has the bytes of a segment.
    Segments(u64),
    /// `window`: the number of messages that a rank sends at the same time.
    Window(u64),
}

/// An algorithm with its parameters, as a library's rule states them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    pub(super) algorithm: Algorithm,
    /// Bytes of a segment; 0 if messages are not divided.
    pub(super) segment_bytes: u64,
    /// Limit of the messages in flight; 0 if there is none.
    pub(super) max_requests: u64,
}

impl From<Algorithm> for Rule {
    /// Returns the rule without limits of segments or requests.
    fn from(algorithm: Algorithm) -> Self {
        Self { algorithm, segment_bytes: 0, max_requests: 0 }
    }
}

impl Algorithm {
    /// Returns the rule by which a library runs what was timed. `limits_requests` tells whether a
    /// rule can limit the number of requests. `None` if this is another algorithm, or no rule has
    /// these parameters.
    pub(super) fn rule(&self, cell: &TimedCase, limits_requests: bool) -> Option<Rule> {
        let (ours, parameters) = match cell.algorithm.split_once(':') {
            Some((ours, parameters)) => (ours, Some(parameters)),
            None => (&*cell.algorithm, None),
        };
        if (self.collective, self.ours) != (&*cell.collective, ours) {
            return None;
        }
        let rule = Rule::from(*self);
        let value = |name: &str, default| match parameters {
            Some(text) => text.strip_prefix(name)?.strip_prefix('=')?.parse().ok(),
            None => Some(default),
        };
        match self.parameter {
            None => parameters.is_none().then_some(rule),
            Some(Parameter::Segments(default)) => {
                let segments = value("segments", default).filter(|segments| *segments > 0)?;
                let segment_bytes = cell.bytes.div_ceil(segments);
                match segments {
                    1 => Some(rule),
                    // A block of 10 bytes has 8 segments of ours, but 5 segments of 2 bytes.
                    _ if segment_bytes == 0 || cell.bytes.div_ceil(segment_bytes) != segments => {
                        None
                    }
                    _ => Some(Rule { segment_bytes, ..rule }),
                }
            }
            Some(Parameter::Window(default)) => {
                let window = value("window", default)?;
                match window >= cell.ranks.saturating_sub(1) {
                    true => Some(rule),
                    false => limits_requests.then_some(Rule { max_requests: window, ..rule }),
                }
            }
        }
    }
}
