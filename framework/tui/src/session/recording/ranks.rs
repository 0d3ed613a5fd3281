//! The times of ranks. They only exist for models in which each rank has its own clock.

use swapmeet_core::cost::kind::{Kind, Times};
use swapmeet_core::cost::model::time_space::Entry;

/// The serialized form of [`Times`].
pub(crate) type TimeNumbers = [f64; Kind::ALL.len()];

/// The serialized form of an entry: the first and the last step (counted from 0), the times
/// `posted`, `started`, `waited` and `ended`, and the time of each kind. Field names are left out
/// to save space, because there are many entries.
pub(super) type EntryNumbers = ([usize; 2], [f64; 4], TimeNumbers);

/// Returns the serialized form of an entry.
pub(super) fn numbers(entry: &Entry) -> EntryNumbers {
    let Entry { posted, started, waited, ended, kinds, .. } = *entry;
    (steps_of(entry), [posted, started, waited, ended], kinds.0)
}

/// Returns the entries with these serialized forms.
pub(super) fn entries(numbers: Vec<EntryNumbers>) -> Vec<Entry> {
    let entry = |(steps, [posted, started, waited, ended], kinds): EntryNumbers| {
        let [first_step, last_step] = steps.map(|step| (step as u64).saturating_add(1));
        Entry { first_step, last_step, posted, started, waited, ended, kinds: Times(kinds) }
    };
    numbers.into_iter().map(entry).collect()
}

/// Returns the indices of the first and the last step of an entry, counted from 0.
pub(crate) fn steps_of(entry: &Entry) -> [usize; 2] {
    [entry.first_step, entry.last_step].map(|step| step as usize - 1)
}

/// The entries of each rank, and the times of steps that result from these entries. An entry
/// contains the times of one rank in one or several consecutive steps.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ranks {
    pub(crate) entries: Vec<Vec<Entry>>,
    /// For each step, the mean of the times of all ranks. If an entry covers several steps, its
    /// time is divided equally among these steps.
    pub(super) of_steps: Vec<Times>,
    /// For each step, the time when all ranks have ended this step and all steps before it.
    pub(super) ends: Vec<f64>,
    /// The maximum number of steps that one entry covers.
    pub(crate) joined: usize,
}

impl Ranks {
    pub(super) fn new(entries: Vec<Vec<Entry>>) -> Self {
        let all = || entries.iter().flatten();
        let steps = all().map(|entry| steps_of(entry)[1] + 1).max().unwrap_or(0);
        let (mut of_steps, mut ends, mut joined) =
            (vec![Times::default(); steps], vec![0.0_f64; steps], 1);
        for entry in all() {
            let [first, last] = steps_of(entry);
            let shared = last - first + 1;
            joined = joined.max(shared);
            for times in &mut of_steps[first..=last] {
                *times += entry.kinds.map(|us| us / (shared * entries.len()) as f64);
            }
            ends[last] = ends[last].max(entry.ended);
        }
        (1..steps).for_each(|step| ends[step] = ends[step].max(ends[step - 1]));
        Self { entries, of_steps, ends, joined }
    }

    /// Returns when the first rank started a step, when the last rank ended it, and which rank was
    /// the last.
    pub(crate) fn span(&self, step: usize) -> Option<(f64, f64, usize)> {
        let of_step = |entries: &Vec<Entry>| {
            let at = entries.partition_point(|entry| steps_of(entry)[1] < step);
            entries.get(at).filter(|entry| steps_of(entry)[0] <= step).copied()
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
    fn steps_have_the_mean_time_and_last_end_of_ranks() {
        let entry = |steps, posted: f64, ended: f64| {
            let kinds = [ended - posted, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            (steps, [posted, posted, posted, ended], kinds)
        };
        let first = entries(vec![entry([0, 0], 0.0, 4.0), entry([1, 1], 4.0, 5.0)]);
        let ranks = Ranks::new(vec![first, entries(vec![entry([0, 1], 0.0, 2.0)])]);
        let means: Vec<f64> = ranks.of_steps.iter().map(|times| times.total()).collect();
        assert_eq!((means, &*ranks.ends, ranks.joined), (vec![2.5, 1.0], &[4.0, 5.0][..], 2));
        assert_eq!(
            [0, 1, 2].map(|step| ranks.span(step)),
            [Some((0.0, 4.0, 0)), Some((0.0, 5.0, 0)), None]
        );
    }
}
