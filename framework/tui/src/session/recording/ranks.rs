//! The times of ranks. They only exist for models in which each rank has its own clock.

use serde::{Deserialize, Serialize};
use swapmeet_core::cost::model::time_space::{self, TIME_KINDS};

/// The time of a step in µs: one number for each kind of time, in the order of the columns of a
/// result row. The times include the rearrangement before the step. A kind of time that the model
/// does not charge is 0. The last kind is the time for which a rank waits for its peer. This time
/// exists only in models in which each rank has its own clock.
pub(crate) type Times = [f64; TIME_KINDS];

/// The times of a rank in one step, or in several consecutive steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Figures", into = "Figures")]
pub(crate) struct RankEntry {
    /// The indices of the first and the last step, counted from 0.
    pub(crate) steps: [usize; 2],
    /// The time at which the rank started the steps, in µs.
    pub(crate) posted: f64,
    /// The time at which the rank had posted all its sends, in µs.
    pub(crate) started: f64,
    /// The time at which the rank stopped waiting for its peers, in µs.
    pub(crate) waited: f64,
    /// The time at which the rank ended the steps, in µs.
    pub(crate) ended: f64,
    pub(crate) kinds: Times,
}

/// The serialized form of an entry. It contains only numbers to save space, because there are many
/// entries.
type Figures = ([usize; 2], [f64; 4], Times);

impl From<Figures> for RankEntry {
    fn from((steps, [posted, started, waited, ended], kinds): Figures) -> Self {
        Self { steps, posted, started, waited, ended, kinds }
    }
}

impl From<RankEntry> for Figures {
    fn from(RankEntry { steps, posted, started, waited, ended, kinds }: RankEntry) -> Self {
        (steps, [posted, started, waited, ended], kinds)
    }
}

impl From<&time_space::Entry> for RankEntry {
    fn from(entry: &time_space::Entry) -> Self {
        let time_space::Entry { first_step, last_step, posted, started, waited, ended, kinds } =
            *entry;
        Self {
            steps: [first_step, last_step].map(|step| step as usize - 1),
            posted,
            started,
            waited,
            ended,
            kinds,
        }
    }
}

/// The entries of all ranks, and the times of steps that result from them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ranks {
    pub(crate) entries: Vec<Vec<RankEntry>>,
    /// For each step, the mean of the times of all ranks. If an entry covers several steps, its
    /// time is divided equally among these steps.
    pub(super) of_steps: Vec<Times>,
    /// For each step, the time when all ranks have ended this step and all steps before it.
    pub(super) ends: Vec<f64>,
    /// The maximum number of steps that one entry covers.
    pub(crate) joined: usize,
}

impl Ranks {
    pub(super) fn new(entries: Vec<Vec<RankEntry>>) -> Self {
        let all = || entries.iter().flatten();
        let steps = all().map(|entry| entry.steps[1] + 1).max().unwrap_or(0);
        let (mut of_steps, mut ends, mut joined) =
            (vec![Times::default(); steps], vec![0.0_f64; steps], 1);
        for RankEntry { steps: [first, last], ended, kinds, .. } in all() {
            let shared = last - first + 1;
            joined = joined.max(shared);
            for times in &mut of_steps[*first..=*last] {
                times
                    .iter_mut()
                    .zip(kinds)
                    .for_each(|(time, us)| *time += us / (shared * entries.len()) as f64);
            }
            ends[*last] = ends[*last].max(*ended);
        }
        (1..steps).for_each(|step| ends[step] = ends[step].max(ends[step - 1]));
        Self { entries, of_steps, ends, joined }
    }

    /// Returns when the first rank started a step, when the last rank ended it, and which rank was
    /// the last.
    pub(crate) fn span(&self, step: usize) -> Option<(f64, f64, usize)> {
        let of_step = |entries: &Vec<RankEntry>| {
            let at = entries.partition_point(|entry| entry.steps[1] < step);
            entries.get(at).filter(|entry| entry.steps[0] <= step).copied()
        };
        let all = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(rank, entries)| Some((rank, of_step(entries)?)));
        all.fold(None, |span, (rank, RankEntry { posted, ended, .. })| {
            let (began, ends, last) = span.unwrap_or((posted, ended, rank));
            Some((began.min(posted), ends.max(ended), if ended > ends { rank } else { last }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_the_mean_time_and_last_end_of_ranks() {
        let entry = |steps, posted: f64, ended: f64| {
            let kinds = [ended - posted, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            RankEntry { steps, posted, started: posted, waited: posted, ended, kinds }
        };
        let first = vec![entry([0, 0], 0.0, 4.0), entry([1, 1], 4.0, 5.0)];
        let ranks = Ranks::new(vec![first, vec![entry([0, 1], 0.0, 2.0)]]);
        let means: Vec<f64> = ranks.of_steps.iter().map(|times| times.iter().sum()).collect();
        assert_eq!((means, &*ranks.ends, ranks.joined), (vec![2.5, 1.0], &[4.0, 5.0][..], 2));
        assert_eq!(
            [0, 1, 2].map(|step| ranks.span(step)),
            [Some((0.0, 4.0, 0)), Some((0.0, 5.0, 0)), None]
        );
    }
}
