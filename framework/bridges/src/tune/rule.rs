//! Rules of a library's decision table. A rule names an algorithm and the parameters that the table
//! can express.

use super::TimedCase;

/// An algorithm that both the library and this project have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    pub(super) collective: &'static str,
    /// This project's name of the algorithm, without parameters.
    pub(super) ours: &'static str,
    pub(super) name: &'static str,
    /// The library's number of the algorithm; 0 if it has none.
    pub(super) number: u32,
    /// The fan-out for which the library's algorithm is the same as this project's algorithm; 0 if
    /// the algorithm has no fan-out.
    pub(super) fan: u32,
    /// The parameter of this project's algorithm that a rule can express. A row that sets any other
    /// parameter has no rule.
    pub(super) parameter: Option<Parameter>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    /// The parameter `segments`, the number of segments of a block. A rule states the number of
    /// bytes of a segment instead.
    Segments(u64),
    /// The parameter `window`, the number of messages that a rank sends at the same time.
    Window(u64),
}

/// An algorithm with the parameters that a library's rule states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    pub(super) algorithm: Algorithm,
    /// The number of bytes of a segment; 0 if messages are not divided.
    pub(super) segment_bytes: u64,
    /// The maximum number of messages in flight; 0 if there is no limit.
    pub(super) max_requests: u64,
}

impl From<Algorithm> for Rule {
    /// Returns a rule that divides no messages and does not limit the number of messages in flight.
    fn from(algorithm: Algorithm) -> Self {
        Self { algorithm, segment_bytes: 0, max_requests: 0 }
    }
}

impl Algorithm {
    /// Returns the rule that makes a library run the algorithm of a timed case with the same
    /// parameters. `limits_requests` states whether a rule can limit the number of messages in
    /// flight. `None` if the case has another algorithm, or parameters that no rule can express.
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
                    // The library must have the same number of segments as the case. For example, a
                    // block of 10 bytes has 8 segments in this project. In the library, it would
                    // have 5 segments of 2 bytes, so this case has no rule.
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
