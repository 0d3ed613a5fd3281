//! The dashboard: every panel as it is drawn, and the real program in a terminal.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a failure here is a failed test")]

mod panels;
mod pty;
mod sessions;
mod terminal;
