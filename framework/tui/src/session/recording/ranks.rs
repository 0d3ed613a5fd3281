//! When each rank does what, where ranks go on by themselves.

use serde::{Deserialize, Serialize};
use swapmeet_core::cost::model::time_space::{self, TIME_KINDS};

/// The parts of a step's time, in us, in the order of a row's columns: what its machine charges for
/// it, with what is rearranged before it. A part that the model has no meaning for is 0. Where
/// ranks go on by themselves it is what a rank's time goes into, and waiting for peers is the last
/// kind.
pub(crate) type Times = [f64; TIME_KINDS];

/// What a rank did in a step, or in some that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Figures", into = "Figures")]
pub(crate) struct Entry {
    /// The first and last of the steps, from 0.
    pub(crate) steps: [usize; 2],
    /// When it came to them, had made its sends, had waited for its peers, and was done; in us.
    pub(crate) posted: f64,
    pub(crate) started: f64,
    pub(crate) waited: f64,
    pub(crate) ended: f64,
    pub(crate) kinds: Times,
}

/// Figures alone: there are many.
type Figures = ([usize; 2], [f64; 4], Times);

impl From<Figures> for Entry {
    fn from((steps, [posted, started, waited, ended], kinds): Figures) -> Self {
        Self { steps, posted, started, waited, ended, kinds }
    }
}

impl From<Entry> for Figures {
    fn from(Entry { steps, posted, started, waited, ended, kinds }: Entry) -> Self {
        (steps, [posted, started, waited, ended], kinds)
    }
}

impl From<&time_space::Entry> for Entry {
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

/// What all ranks did, and what of it each step took.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ranks {
    pub(crate) entries: Vec<Vec<Entry>>,
    /// What the time of a rank went into in each step: the mean of all ranks. Steps that are one
    /// entry share its time alike.
    pub(super) of_steps: Vec<Times>,
    /// When the last rank was done with each step and those before.
    pub(super) ends: Vec<f64>,
    /// How many steps are one entry, at most.
    pub(crate) joined: usize,
}

impl Ranks {
    pub(super) fn new(entries: Vec<Vec<Entry>>) -> Self {
        let all = || entries.iter().flatten();
        let steps = all().map(|entry| entry.steps[1] + 1).max().unwrap_or(0);
        let (mut of_steps, mut ends, mut joined) =
            (vec![Times::default(); steps], vec![0.0_f64; steps], 1);
        for Entry { steps: [first, last], ended, kinds, .. } in all() {
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

    /// When the first rank came to a step, and when the last was done with it, which is that rank.
    pub(crate) fn span(&self, step: usize) -> Option<(f64, f64, usize)> {
        let of_step = |entries: &Vec<Entry>| {
            let at = entries.partition_point(|entry| entry.steps[1] < step);
            entries.get(at).filter(|entry| entry.steps[0] <= step).copied()
        };
        let all = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(rank, entries)| Some((rank, of_step(entries)?)));
        all.fold(None, |span, (rank, Entry { posted, ended, .. })| {
            let (began, ends, last) = span.unwrap_or((posted, ended, rank));
            Some((began.min(posted), ends.max(ended), if ended > ends { rank } else { last }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_the_mean_of_ranks_and_the_end_of_the_last() {
        let entry = |steps, posted: f64, ended: f64| {
            let kinds = [ended - posted, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            Entry { steps, posted, started: posted, waited: posted, ended, kinds }
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
