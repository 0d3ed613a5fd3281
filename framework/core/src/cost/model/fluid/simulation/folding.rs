//! What comes of the schedule, taken by those ranks that stand for all; and how they become more
//! where the schedule is less symmetric than it was so far.

use super::super::fold::Fold;
use super::Simulation;
use crate::cost::model::asynchronous::refine::Refinement;
use crate::simulation::listener::Summed;
use crate::simulation::step::Step;
use std::sync::Arc;

impl Simulation {
    pub(super) fn take(&mut self, step: &Step<'_>) {
        if self.in_flight.fold.is_plain() && step.symmetry.is_none() {
            return self.steps.add(step);
        }
        let periods = self.symmetry.periods(&self.in_flight.fold, step);
        self.narrow(periods);
        let sends = self.symmetry.sends(&self.in_flight.fold, step);
        let routes = sends.routes.as_deref().unwrap_or(step.routes);
        self.steps
            .add_folded(&Step { transfers: &sends.transfers, routes, ..*step }, sends.targets);
    }

    /// What nodes add up in the step that comes next.
    pub(super) fn take_sums(&mut self, summed: Summed<'_>) {
        if self.in_flight.fold.is_plain() && summed.symmetry.is_none() {
            return self.steps.sum(summed);
        }
        let of_all = self.symmetry.sums(&self.in_flight.fold, summed);
        let periods = self.symmetry.periods_of_sums(&self.in_flight.fold, &of_all);
        self.narrow(periods);
        let fold = &self.in_flight.fold;
        let of: Vec<u64> =
            (0..fold.orbits() as u32).map(|orbit| of_all[fold.first(orbit) as usize]).collect();
        self.steps.sum(Summed { of: &of, ..summed });
    }

    /// Nodes of an orbit are so far apart from now on.
    fn narrow(&mut self, periods: Vec<u32>) {
        if periods != self.in_flight.fold.periods() {
            self.unfold(self.in_flight.fold.with(periods));
        }
    }

    /// Fewer nodes do the same from now on: each rank is one of each orbit there is then.
    fn unfold(&mut self, fold: Fold) {
        let before = Arc::clone(&self.in_flight.fold);
        if fold.orbits() == before.orbits() {
            return;
        }
        let fold = Arc::new(fold);
        self.in_flight.unfold(Arc::clone(&fold), &self.steps, self.now);
        let firsts = (0..fold.orbits() as u32).map(|orbit| fold.first(orbit));
        let of: Vec<usize> = firsts.map(|node| before.orbit(node) as usize).collect();
        let times = fold.orbits() / before.orbits();
        self.ranks = of.iter().map(|rank| self.ranks[*rank]).collect();
        if !self.summing.is_empty() {
            self.summing = of.iter().map(|rank| self.summing[*rank]).collect();
        }
        self.sums = self.sums.spread(&of);
        let only = self.kept_only_orbit();
        if let Some(kept) = &mut self.kept {
            kept.spread(&of, only);
        }
        let barrier = before.orbits();
        self.posts = self.posts.spread(&of.iter().copied().chain([barrier]).collect::<Vec<_>>());
        self.at_barrier *= times;
        let ranks = &self.ranks;
        self.steps.spread(&Refinement {
            of: &of,
            moved: &|rank, target| {
                fold.moved(target, before.first(of[rank] as u32), fold.first(rank as u32))
            },
            rank: &|node| fold.orbit(node),
            inside: &|number| ranks.iter().filter(|rank| rank.step <= number).count(),
        });
    }

    /// Each rank by itself.
    #[cfg(test)]
    pub(in super::super) fn unfolded(mut self) -> Self {
        self.unfold(self.in_flight.fold.with(self.in_flight.fold.sides().to_vec()));
        self
    }

    /// How many ranks are followed.
    #[cfg(test)]
    pub(in super::super) fn orbits(&self) -> usize {
        self.ranks.len()
    }
}
