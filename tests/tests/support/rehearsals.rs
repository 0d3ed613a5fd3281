//! What several tests of the bundled plugins need: refusals, closed forms, and messages that were
//! recorded from the code of other authors.

use swapmeet_sdk::{Algorithm, Rehearsal};

/// Returns the reason why an algorithm cannot solve a problem.
pub(crate) fn refusal(problem: &Rehearsal, algorithm: &dyn Algorithm) -> String {
    problem.plan(algorithm).unwrap_err().to_string()
}

/// Returns the logarithm to base 2, rounded up.
pub(crate) fn log2_up(n: u64) -> u64 {
    n.next_power_of_two().trailing_zeros().into()
}

/// Returns the lines of a file that are not comments.
pub(crate) fn recorded_lines(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.starts_with('#'))
}

/// Returns the cases of a file: the words of the title, and a line for each rank. An empty line
/// ends a case.
pub(crate) fn recorded_cases(file: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let lines: Vec<&str> = recorded_lines(file).collect();
    let cases = lines.split(|line| line.is_empty()).filter(|case| !case.is_empty());
    cases.map(|case| (case[0].split(' ').collect(), case[1..].to_vec())).collect()
}

/// Returns numbers as the recorded files list them.
pub(crate) fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}
