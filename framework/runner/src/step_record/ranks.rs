//! The times of ranks. They only exist for models in which each rank has its own clock.

use super::TimeBits;
use swapmeet_core::cost::kind::{Kind, Times};
use swapmeet_core::cost::model::time_space::Entry;

/// The serialized form of an entry: the first and the last step, the bits of the times `posted`,
/// `started`, `waited` and `ended`, and the bits of the time of each kind. Field names are left out
/// to save space, because there are many entries.
pub(super) type EntryNumbers = ([u64; 2], [u64; 4], TimeBits);

/// Returns the serialized form of an entry.
pub(super) fn numbers(entry: &Entry) -> EntryNumbers {
    let Entry { first_step, last_step, posted, started, waited, ended, kinds } = *entry;
    let moments = [posted, started, waited, ended].map(f64::to_bits);
    ([first_step, last_step], moments, kinds.0.map(f64::to_bits))
}

/// Returns the entry with this serialized form.
pub(super) fn entry(([first, last], moments, kinds): EntryNumbers) -> Entry {
    let [posted, started, waited, ended] = moments.map(f64::from_bits);
    let first_step = first.max(1);
    let last_step = last.max(first_step);
    Entry {
        first_step,
        last_step,
        posted,
        started,
        waited,
        ended,
        kinds: Times(kinds.map(f64::from_bits)),
    }
}

/// Returns the indices of the first and the last step of an entry, counted from 0.
pub fn steps_of(entry: &Entry) -> [usize; 2] {
    [entry.first_step, entry.last_step].map(|step| step as usize - 1)
}

/// The kinds of time in the order in which they pass in a step. The start-up time occurs twice:
/// first for sent messages, and later for received messages.
const ORDER: [Kind; 9] = [
    Kind::Rearrangement,
    Kind::Startup,
    Kind::Peer,
    Kind::Propagation,
    Kind::Contention,
    Kind::Startup,
    Kind::Transmission,
    Kind::Reduction,
    Kind::Barrier,
];

/// Divides the time of a step that begins at `from` into consecutive intervals, one for each kind
/// of time. Each interval has its kind, its start and its end. `of_sends` is the maximum start-up
/// time of sends. The rest is the start-up time of received messages, which is an interval of its
/// own.
pub fn intervals(times: Times, from: f64, of_sends: f64) -> impl Iterator<Item = (Kind, f64, f64)> {
    let first = times[Kind::Startup].min(of_sends);
    let (mut at, mut is_first) = (from, true);
    ORDER.into_iter().filter_map(move |kind| {
        let us = match kind {
            Kind::Startup if std::mem::take(&mut is_first) => first,
            Kind::Startup => times[kind] - first,
            kind => times[kind],
        };
        let from = at;
        at += us;
        (us > 0.0).then_some((kind, from, at))
    })
}

/// The entries of each rank, and the times of steps that result from these entries. An entry
/// contains the times of one rank in one or several consecutive steps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranks {
    pub entries: Vec<Vec<Entry>>,
    /// For each step, the mean of the times of all ranks. If an entry covers several steps, its
    /// time is divided equally among these steps.
    pub(super) of_steps: Vec<Times>,
    /// For each step, the time when all ranks have ended this step and all steps before it.
    pub(super) ends: Vec<f64>,
    /// The maximum number of steps in an entry.
    pub joined: u64,
}

impl Ranks {
    pub(super) fn new(entries: Vec<Vec<Entry>>, joined: u64) -> Self {
        let all = || entries.iter().flatten();
        let steps = all().map(|entry| steps_of(entry)[1] + 1).max().unwrap_or(0);
        let (mut of_steps, mut ends) = (vec![Times::default(); steps], vec![0.0_f64; steps]);
        for entry in all() {
            let [first, last] = steps_of(entry);
            let shared = last - first + 1;
            for times in &mut of_steps[first..=last] {
                *times += entry.kinds.map(|us| us / (shared * entries.len()) as f64);
            }
            ends[last] = ends[last].max(entry.ended);
        }
        (1..steps).for_each(|step| ends[step] = ends[step].max(ends[step - 1]));
        Self { entries, of_steps, ends, joined }
    }

    /// Returns the entry of a rank that contains a step.
    pub fn entry(&self, rank: usize, step: usize) -> Option<&Entry> {
        let entries = self.entries.get(rank)?;
        let at = entries.partition_point(|entry| steps_of(entry)[1] < step);
        entries.get(at).filter(|entry| steps_of(entry)[0] <= step)
    }

    /// Returns when the first rank started a step, when the last rank ended it, and which rank was
    /// the last.
    pub fn span(&self, step: usize) -> Option<(f64, f64, usize)> {
        let all = (0..self.entries.len()).filter_map(|rank| Some((rank, self.entry(rank, step)?)));
        all.fold(None, |span, (rank, &Entry { posted, ended, .. })| {
            let (began, ends, last) = span.unwrap_or((posted, ended, rank));
            Some((began.min(posted), ends.max(ended), if ended > ends { rank } else { last }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry has the same value after it has been sent.
    fn sent(steps: [u64; 2], posted: f64, ended: f64) -> Entry {
        let kinds = Times::of([(Kind::Startup, ended - posted)]);
        let [first_step, last_step] = steps;
        let sent =
            Entry { first_step, last_step, posted, started: posted, waited: posted, ended, kinds };
        let text = serde_json::to_string(&numbers(&sent)).unwrap();
        let received = entry(serde_json::from_str(&text).unwrap());
        assert_eq!(received, sent);
        received
    }

    #[test]
    fn steps_have_the_mean_time_and_last_end_of_ranks() {
        let first = vec![sent([1, 1], 0.0, 4.0), sent([2, 2], 4.0, 5.0)];
        let ranks = Ranks::new(vec![first, vec![sent([1, 2], 0.0, 2.0)]], 2);
        let means: Vec<f64> = ranks.of_steps.iter().map(|times| times.total()).collect();
        assert_eq!((means, &*ranks.ends), (vec![2.5, 1.0], &[4.0, 5.0][..]));
        assert_eq!(
            [0, 1, 2].map(|step| ranks.span(step)),
            [Some((0.0, 4.0, 0)), Some((0.0, 5.0, 0)), None]
        );
    }

    /// A rank sends, waits for a peer and receives. The intervals of its step fill its time without
    /// gaps.
    #[test]
    fn intervals_of_a_rank_are_in_chronological_order() {
        let kinds = Times::of([
            (Kind::Startup, 5.0),
            (Kind::Peer, 7.0),
            (Kind::Transmission, 4.0),
            (Kind::Barrier, 1.0),
        ]);
        let all: Vec<_> = intervals(kinds, 10.0, 3.0).collect();
        assert_eq!(
            all,
            [
                (Kind::Startup, 10.0, 13.0),
                (Kind::Peer, 13.0, 20.0),
                (Kind::Startup, 20.0, 22.0),
                (Kind::Transmission, 22.0, 26.0),
                (Kind::Barrier, 26.0, 27.0)
            ]
        );
    }

    /// If all ranks have the same clock, they start up at the same time.
    #[test]
    fn the_parts_of_a_step_follow_one_another() {
        let times = Times::of([
            (Kind::Barrier, 4.0),
            (Kind::Startup, 2.0),
            (Kind::Transmission, 3.0),
            (Kind::Rearrangement, 1.0),
        ]);
        let all: Vec<_> = intervals(times, 10.0, f64::INFINITY).collect();
        assert_eq!(
            all,
            [
                (Kind::Rearrangement, 10.0, 11.0),
                (Kind::Startup, 11.0, 13.0),
                (Kind::Transmission, 13.0, 16.0),
                (Kind::Barrier, 16.0, 20.0)
            ]
        );
    }
}
