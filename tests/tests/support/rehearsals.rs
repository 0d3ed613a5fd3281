//! Functions that several tests of the bundled plugins need, for refusals, closed forms, and
//! messages that were recorded from the code of other authors.

use swapmeet_sdk::{Algorithm, Rehearsal, RehearsedSend, RehearsedStep};

/// Returns the reason why an algorithm cannot solve a problem.
pub(crate) fn refusal(problem: &Rehearsal, algorithm: &dyn Algorithm) -> String {
    problem.plan(algorithm).unwrap_err().to_string()
}

/// Returns the logarithm to base 2, rounded up.
pub(crate) fn log2_up(n: u64) -> u64 {
    n.next_power_of_two().trailing_zeros().into()
}

/// Returns the number of steps of Bruck's algorithm with radix `k` on `n` ranks: one for each value
/// of each digit of a distance, except 0.
pub(crate) fn digit_steps(n: u64, k: u64) -> u64 {
    let weights = (0..).map(|i| k.pow(i)).take_while(|weight| *weight < n);
    let steps = |weight| (1..k).filter(|digit| digit * weight < n).count() as u64;
    weights.map(steps).sum()
}

/// Returns the sends of a step between different groups of `g` ranks.
pub(crate) fn between_groups(step: &RehearsedStep, g: u64) -> impl Iterator<Item = &RehearsedSend> {
    step.sends.iter().filter(move |send| send.from / g != send.to / g)
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

/// Formats numbers as the recorded files list them.
pub(crate) fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}
