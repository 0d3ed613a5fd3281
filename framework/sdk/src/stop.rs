//! The reasons for which an algorithm gives no schedule.

use std::fmt;

/// The reason for which an algorithm returns no schedule, or an incomplete one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The algorithm cannot run on this problem. The result row of the case shows the reason.
    Unsupported(String),
    /// The plugin failed on a problem that it should solve. The row of the case shows the reason.
    Failed(String),
    /// The schedule comes from another source, such as a file, and breaks a rule that the host
    /// cannot check. The row of the case shows the reason.
    Invalid(String),
    /// The host refused a call, because the schedule broke a rule or was stopped. Return this error
    /// with `?`.
    Stopped,
}

impl Stop {
    /// Makes the error of an algorithm that cannot run on this problem.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// Makes the error of a plugin that failed.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed(reason.into())
    }

    /// Makes the error of a schedule that comes from another source, such as a file, and breaks a
    /// rule.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid(reason.into())
    }

    pub(crate) fn host_too_old() -> Self {
        Self::failed("the host is older than this plugin and lacks a function that it calls")
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
