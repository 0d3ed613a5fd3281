//! Adds steps to a folded simulation, in which one rank represents an orbit of nodes. Splits orbits
//! if a step has fewer symmetries than the steps before it.

use super::super::fold::Fold;
use super::super::symmetry::{Symmetry, sum};
use super::Simulation;
use crate::cost::model::asynchronous::engine::RankModel;
use crate::cost::model::asynchronous::refine::Refinement;
use crate::simulation::listener::Summed;
use crate::simulation::step::Step;
use std::sync::Arc;

impl Simulation {
    /// Adds a step. Splits the orbits first if the step is not symmetric under all translations of
    /// the folded network.
    pub(super) fn add_folded_step(&mut self, step: &Step<'_>) {
        if self.in_flight.fold.is_plain() && step.symmetry.is_none() {
            return self.progress.steps.add(step);
        }
        if self.progress.steps.known() == 0 {
            self.choose_group(step);
        }
        let periods = self.symmetry.periods(&self.in_flight.fold, step);
        self.set_periods(periods);
        let mut sends = self.symmetry.sends(&self.in_flight.fold, step);
        if self.needs_windows(sends.transfers.len()) {
            self.set_periods(self.in_flight.fold.sides().to_vec());
            sends = self.symmetry.sends(&self.in_flight.fold, step);
        }
        let routes = sends.routes.as_deref().unwrap_or(step.routes);
        let folded = Step { transfers: &sends.transfers, routes, ..*step };
        self.progress.steps.add_folded(&folded, sends.targets);
    }

    /// Folds the network by exclusive-ors instead of translations if the first step is symmetric
    /// under more exclusive-ors than translations. If the two numbers are equal, exclusive-ors are
    /// used if ranks exchange messages in pairs, because such schedules are usually defined by
    /// exclusive-ors.
    fn choose_group(&mut self, first: &Step<'_>) {
        let translations = &self.in_flight.fold;
        let Some(other) = self.in_flight.by_exclusive_or() else { return };
        let mut symmetry = Symmetry::new(self.machine.has_startups());
        let orbits = |periods: Vec<u32>| periods.iter().product::<u32>();
        let of_other = orbits(symmetry.periods(&other, first));
        let now = orbits(self.symmetry.periods(translations, first));
        let is_better = of_other < now || of_other == now && !first.facts.one_directional;
        if is_better && other.orbits() == translations.orbits() {
            self.in_flight.unfold(Arc::new(other), &self.progress.steps, self.now);
            self.symmetry = symmetry;
        }
    }

    /// Adds data that ranks reduce at the end of the step that will be added next. Splits the
    /// orbits first if their nodes reduce different amounts.
    pub(super) fn add_folded_sums(&mut self, summed: Summed<'_>) {
        if self.in_flight.fold.is_plain() && summed.symmetry.is_none() {
            return self.progress.steps.sum(summed);
        }
        let periods = self.symmetry.summation_periods(&self.in_flight.fold, summed);
        self.set_periods(periods);
        let fold = &self.in_flight.fold;
        let of: Vec<u64> =
            (0..fold.orbits() as u32).map(|orbit| sum(summed, fold.first(orbit))).collect();
        self.progress.steps.sum(Summed { of: &of, ..summed });
    }

    /// Returns whether a step with this number of folded messages should be simulated with windows
    /// of time on the unfolded network. This is faster than exact shares on the folded network if
    /// many messages are left after folding.
    fn needs_windows(&self, messages: usize) -> bool {
        let fold = &self.in_flight.fold;
        let translations = fold.nodes() as usize / fold.orbits();
        self.machine.flow_window > 0.0
            && messages * translations > self.most_exact
            && messages > self.most_folded * translations
    }

    /// Splits orbits if the periods of the folded network differ from `periods`. Before the split,
    /// this function processes the events of the known steps. It takes less time to do this now,
    /// with larger orbits.
    fn set_periods(&mut self, periods: Vec<u32>) {
        if periods != self.in_flight.fold.periods() {
            self.run(false);
            self.unfold(self.in_flight.folded(periods));
        }
    }

    /// Splits orbits. Each new rank copies the state of the old rank whose orbit included it.
    fn unfold(&mut self, fold: Fold) {
        let before = Arc::clone(&self.in_flight.fold);
        if fold.orbits() == before.orbits() {
            return;
        }
        let fold = Arc::new(fold);
        self.in_flight.unfold(Arc::clone(&fold), &self.progress.steps, self.now);
        let firsts = (0..fold.orbits() as u32).map(|orbit| fold.first(orbit));
        let of: Vec<usize> = firsts.map(|node| before.orbit(node) as usize).collect();
        // Copy the state of ranks.
        self.ranks = of.iter().map(|rank| self.ranks[*rank]).collect();
        self.progress.ranks = of.iter().map(|rank| self.progress.ranks[*rank]).collect();
        if !self.reduction_clocks.is_empty() {
            self.reduction_clocks = of.iter().map(|rank| self.reduction_clocks[*rank]).collect();
        }
        let only = self.recorded_orbit();
        if let Some(record) = &mut self.progress.record {
            record.remap(&of, only);
        }
        // Copy the timers. The last timer is for the barrier.
        self.reductions = self.reductions.remap(&of);
        let with_barrier: Vec<usize> = of.iter().copied().chain([before.orbits()]).collect();
        self.startups = self.startups.remap(&with_barrier);
        self.at_barrier *= fold.orbits() / before.orbits();
        // Copy the messages of the known steps.
        let ranks = &self.progress.ranks;
        self.progress.steps.refine(&Refinement {
            of: &of,
            moved: &|rank, target| {
                fold.moved(target, before.first(of[rank] as u32), fold.first(rank as u32))
            },
            rank: &|node| fold.orbit(node),
            inside: &|number| ranks.iter().filter(|rank| rank.step <= number).count(),
        });
    }

    /// Splits all orbits, so that every node has its own rank.
    #[cfg(test)]
    pub(in super::super) fn unfolded(mut self) -> Self {
        self.unfold(self.in_flight.folded(self.in_flight.fold.sides().to_vec()));
        self
    }

    /// Returns the number of skipped steps.
    #[cfg(test)]
    pub(in super::super) fn skipped_steps(&self) -> u64 {
        self.progress.repetition.skipped().steps
    }

    /// Returns the number of simulated ranks.
    #[cfg(test)]
    pub(in super::super) fn orbits(&self) -> usize {
        self.ranks.len()
    }
}
