//! Why there is no schedule.

use std::fmt;

/// Why there is no schedule, or no more of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The algorithm can't run on this problem; the reason is for the reader of a table.
    Unsupported(String),
    /// The plugin failed at what it should be able to do; the row's `reason` says this.
    Failed(String),
    /// The schedule comes from elsewhere, a file, and breaks a rule that the host can't see; the
    /// row's `reason` says this.
    Invalid(String),
    /// The host refused a call: the schedule broke a rule, or the case was stopped. Pass it on with
    /// `?`.
    Stopped,
}

impl Stop {
    /// The algorithm can't run on this problem, because of `reason`.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// The plugin failed, because of `reason`.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed(reason.into())
    }

    /// The schedule that was read breaks a rule: `reason`.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid(reason.into())
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(reason) | Self::Failed(reason) | Self::Invalid(reason) => {
                f.write_str(reason)
            }
            Self::Stopped => f.write_str("stopped by the host"),
        }
    }
}

impl std::error::Error for Stop {}
