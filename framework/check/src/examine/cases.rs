//! The cases on which an algorithm is tested.

use super::examiner::{ENOUGH_HUNG, Examiner, Subject};
use super::suited::{FEW, ONE_PORT, Unevenness, rank, unevenness};
use super::verdict::describe_difference;
use crate::question::{Answer, Plan, Question, TestCase};
use std::collections::BTreeSet;
use std::io;
use swapmeet_core::delivery::collective::of_bits;
use swapmeet_runner::plugin::Param;
use swapmeet_workloads::Workload;

/// A permutation that is not its own inverse on a grid with a side longer than 2.
const ONE_ON: &str = "translate:8,by=1";
/// The simplest workload for collectives of tokens. On most topologies, a token has several
/// receivers.
const TOKENS: &str = "moe:experts=16,top=3,tokens=6,bytes=8";
/// Machines that differ from [`ONE_PORT`] in one property, which a plugin can request. An entry has
/// the property and the machine spec.
const OTHER_MACHINES: [(&str, &str); 3] = [
    ("ports=all", "free:ports=all"),
    ("ports=2", "free:ports=2"),
    ("virtual_channels=2", "free:ports=1,virtual_channels=2"),
];

impl Examiner<'_> {
    /// Tests every collective on all topologies. Then tests special cases on two of the topologies
    /// that the algorithm supports. One of them is the largest topology with few nodes, or the
    /// smallest topology if all have many nodes. The other one has odd or different sides.
    pub(super) fn examine_all(&mut self, topologies: &[&str]) -> io::Result<()> {
        for kind in of_bits(self.about.collectives) {
            let collective = kind.word;
            // The plain case is the case with the simplest workload. For permutations it is the
            // reflection, because every topology supports it. The reflection is its own inverse,
            // however, so another permutation is tested too.
            let plain = if kind.permutes() { "reflect" } else { "uniform" };
            let sizes = |generator: &str| {
                let generator = match kind.has_tokens {
                    true => generator.replace("uniform:8", TOKENS),
                    false => generator.replace("uniform", plain),
                };
                format!("{collective}/{generator}")
            };
            if let Err(error) = Workload::parse(&sizes("uniform:8")) {
                self.remark(
                    "delivers",
                    &Subject { place: collective, workload: "" },
                    format!("this program has no workload for it: {error}"),
                );
                continue;
            }
            // The two topologies for the special cases, each with its spec and the plan of the
            // plain case. `special` also has the number of nodes, and `uneven` the unevenness.
            let mut special: Option<(u64, &str, Plan)> = None;
            let mut uneven: Option<(Unevenness, &str, Plan)> = None;
            let mut reasons = BTreeSet::new();
            let mut accepted = Vec::new();
            let (cases_before, refused_before) = (self.done.cases, self.done.unsupported);
            for topology in topologies {
                let Some((nodes, plan)) = self.examine_case(
                    &self.test_case(topology, sizes("uniform:8"), ONE_PORT),
                    topology,
                )?
                else {
                    continue;
                };
                if plan.status == "unsupported" {
                    reasons.insert(plan.reason.clone());
                }
                if plan.status != "ok" {
                    continue;
                }
                accepted.push(*topology);
                let unevenness = unevenness(topology);
                if kind.permutes() && unevenness.is_some() {
                    self.examine_case(
                        &self.test_case(topology, sizes(ONE_ON), ONE_PORT),
                        topology,
                    )?;
                }
                if kind.is_rooted() && (2..=FEW).contains(&nodes) {
                    let from_last = sizes(&format!("uniform:8,root={}", nodes - 1));
                    self.examine_case(&self.test_case(topology, from_last, ONE_PORT), topology)?;
                }
                if unevenness > uneven.as_ref().map(|(other, ..)| *other) {
                    uneven = unevenness.map(|unevenness| (unevenness, *topology, plan.clone()));
                }
                if special.as_ref().is_none_or(|(other, ..)| rank(nodes) >= rank(*other)) {
                    special = Some((nodes, topology, plan));
                }
            }
            // If the algorithm accepts only one topology, the tests cannot show whether a constant
            // in the algorithm is a general rule or fits only this topology.
            if let ([only], 2..) = (&accepted[..], topologies.len())
                && !reasons.is_empty()
                && !self.lacks_a_file()
            {
                let what = format!(
                    "this is the only one of {} machines that it accepts, so it may contain constants that fit this size; name others with --topology",
                    topologies.len()
                );
                self.remark("delivers", &Subject { place: only, workload: collective }, what);
            }
            // Without its input file, an algorithm refuses every case. This is not a fault.
            if self.done.cases - cases_before == self.done.unsupported - refused_before
                && !self.lacks_a_file()
            {
                let reasons: Vec<String> = reasons.into_iter().take(3).collect();
                let what = format!(
                    "refused on every machine tried ({}); name others with --topology",
                    reasons.join("; ")
                );
                self.fault("delivers", &Subject { place: collective, workload: "" }, what);
            }
            let special = special.map(|(_, topology, plan)| (topology, plan));
            let uneven = uneven.map(|(_, topology, plan)| (topology, plan));
            let uneven = uneven.filter(|(topology, _)| {
                special.as_ref().is_none_or(|(other, _)| other != topology)
            });
            for (topology, plan) in special.into_iter().chain(uneven) {
                self.specials(topology, sizes, &plan)?;
            }
        }
        if self.done.cases == 0 {
            self.fault(
                "delivers",
                &Subject { place: "", workload: "" },
                "nothing was tried".to_owned(),
            );
        }
        self.examine_sequence()
    }

    /// Runs some of the cases, with all sizes and collectives, one after another in one process.
    /// State that the plugin keeps from one problem must not change the schedule of the next
    /// problem.
    fn examine_sequence(&mut self) -> io::Result<()> {
        /// The number of cases. It is large enough to find state that a plugin keeps between
        /// problems, and small enough to be fast.
        const CASES: usize = 12;
        let steady = std::mem::take(&mut self.steady);
        let every = steady.len().div_ceil(CASES).max(1);
        let some: Vec<_> = steady.iter().rev().step_by(every).rev().collect();
        if some.len() < 2
            || self.hung >= ENOUGH_HUNG
            || self.findings.iter().any(|f| f.test == "repeats")
        {
            return Ok(());
        }
        let cases: Vec<TestCase> = some.iter().map(|(case, ..)| case.clone()).collect();
        let place = "several problems in one process";
        let Some(Answer::Sequence(plans)) =
            self.ask(&Question::Sequence(cases), &Subject { place, workload: "" })?
        else {
            return Ok(());
        };
        // A plan that timed out cannot be compared.
        let differs = |(i, _, plan): &&(usize, bool, Plan)| {
            !plan.is_like(&some[*i].2) && plan.status != "timeout"
        };
        if let Some((i, is_parallel, plan)) = plans.iter().find(differs) {
            let (case, place, alone) = some[*i];
            let at = &Subject { place, workload: &case.workload };
            let when = match is_parallel {
                true => "at the same time as other problems",
                false => "after other problems",
            };
            let what = describe_difference(alone, plan).replace("the first time", "alone");
            self.fault("repeats", at, format!("{when} in one process {what}"));
        }
        Ok(())
    }

    fn specials(
        &mut self,
        topology: &str,
        sizes: impl Fn(&str) -> String + Copy,
        usual: &Plan,
    ) -> io::Result<()> {
        for generator in [
            "uniform:0",
            "uniform:1MiB",
            "irregular:dist=lognormal,mean=512,cv=2",
            "uniform:64,element=8",
            "uniform:8,root=1",
            "irregular:dist=lognormal,mean=512,cv=2,element=16",
            ONE_ON,
            "transpose-2d:8",
            "shear-2d:8",
        ] {
            // Not every collective supports every generator of block sizes.
            if Workload::parse(&sizes(generator)).is_ok() {
                self.examine_case(&self.test_case(topology, sizes(generator), ONE_PORT), topology)?;
            }
        }
        for (special, machine) in OTHER_MACHINES {
            self.examine_case(
                &self.test_case(topology, sizes("uniform:8"), machine),
                &format!("{topology}, {special}"),
            )?;
        }
        self.parameters(topology, sizes, usual)
    }

    /// Tests the parameters. Setting a parameter to its default value must not change the schedule.
    /// Every declared word of a parameter with a choice of words is tested once.
    fn parameters(
        &mut self,
        topology: &str,
        sizes: impl Fn(&str) -> String,
        usual: &Plan,
    ) -> io::Result<()> {
        for Param { key, kind, default, .. } in &self.about.params {
            if self.params.iter().any(|(given, _)| given == key) {
                continue;
            }
            let others = kind.words().iter().filter(|word| *word != default);
            for value in
                Some(default).filter(|default| !default.is_empty()).into_iter().chain(others)
            {
                let mut case = self.test_case(topology, sizes("uniform:8"), ONE_PORT);
                case.params.push((key.clone(), value.clone()));
                let place = format!("{topology}, {key}={value}");
                let Some((_, plan)) = self.examine_case(&case, &place)? else { continue };
                if value == default && plan.fingerprint != usual.fingerprint {
                    let what = match plan.status.as_str() {
                        "ok" => "makes another schedule".to_owned(),
                        status => format!("ends in {status}: {}", plan.reason),
                    };
                    let what = format!(
                        "`{default}` is named as the default of `{key}`, but giving it {what}"
                    );
                    self.fault(
                        "defaults",
                        &Subject { place: &place, workload: &case.workload },
                        what,
                    );
                }
            }
        }
        Ok(())
    }
}
