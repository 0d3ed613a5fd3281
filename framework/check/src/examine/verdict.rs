//! The evaluation of one case of an algorithm: the findings about its plans.

use super::examiner::{ENOUGH_HUNG, Examiner, Subject};
use super::suited::{FEW, ONE_PORT};
use crate::question::{Plan, Question, Ran, TestCase};
use std::io;
use swapmeet_core::delivery::fault::Count;

impl Examiner<'_> {
    /// Runs a case and adds findings about it. Returns the number of nodes and the first plan, or
    /// `None` if the process gave no answer, or if the examination has already ended early.
    pub(super) fn examine_case(
        &mut self,
        case: &TestCase,
        place: &str,
    ) -> io::Result<Option<(u64, Plan)>> {
        let at = &Subject { place, workload: &case.workload };
        if self.hung >= ENOUGH_HUNG {
            return Ok(None);
        }
        self.done.cases += 1;
        let Some(Ran { nodes, plans, ms, symmetry, bytes }) =
            self.run_case(Question::Run, case, place)?
        else {
            return Ok(None);
        };
        let Some(first) = plans.first().cloned() else { return Ok(None) };
        // Report a wrong symmetry first. If a schedule is not invariant under its claimed symmetry,
        // its other faults may be consequences of the wrong claim.
        if let Some(symmetry) = symmetry {
            self.done.symmetric += 1;
            if let Some(differs) = symmetry.differs {
                self.fault("symmetry", at, differs);
            }
        }
        match first.status.as_str() {
            "ok" => {
                self.done.verified += 1;
                self.done.amounts += u64::from(first.proof == "amounts");
                self.done.most_nodes = self.done.most_nodes.max(nodes);
                if ms > self.done.slowest.0 {
                    self.done.slowest = (ms, case.topology.clone());
                }
                if let Some(bytes) = bytes.filter(|bytes| *bytes > self.done.peak_memory.0) {
                    self.done.peak_memory = (bytes, case.topology.clone());
                }
                self.ports(&first, case, place);
                // Wasteful sends are only reported for the plain case with default parameters. The
                // purpose of another parameter may be to show such sends.
                let is_plain = case.machine == ONE_PORT && case.workload.ends_with("uniform:8");
                // A schedule of blocks can avoid wasteful sends. Schedules of byte counts are
                // excluded, because in a redistribution every bucket must be sent, even an empty
                // one.
                if is_plain
                    && first.proof != "amounts"
                    && case.params == self.params
                    && !first.waste.is_empty()
                {
                    self.remark_once("waste", at, first.waste.join("; "));
                }
                if first.threads > 0 {
                    let what = format!(
                        "{} outlived the plan: end it before the plan returns",
                        Count(first.threads, "thread")
                    );
                    self.remark_once("threads", at, what);
                }
            }
            "unsupported" => {
                self.done.unsupported += 1;
                if first.reason.trim().is_empty() {
                    self.remark("delivers", at, "refused without a reason".to_owned());
                }
            }
            "timeout" => self.fault("time", at, first.reason.clone()),
            status => self.fault("delivers", at, format!("{status}: {}", first.reason)),
        }
        if let Some(what) = &first.unheeded {
            self.remark_once("heeds", at, what.clone());
        }
        if matches!(first.status.as_str(), "ok" | "unsupported") {
            self.repeats(&first, &plans[1..], nodes, case, place)?;
        }
        Ok(Some((nodes, first)))
    }

    /// Checks that the same problem gives the same schedule if it is planned again: a second time
    /// in the same process, on two threads at the same time, and in another process.
    fn repeats(
        &mut self,
        first: &Plan,
        again: &[Plan],
        nodes: u64,
        case: &TestCase,
        place: &str,
    ) -> io::Result<()> {
        let at = &Subject { place, workload: &case.workload };
        const WHEN: [&str; 3] =
            ["the second time", "on two threads at once,", "on two threads at once,"];
        let differs = |plan: &Plan| !plan.is_like(first);
        if let Some((plan, when)) = again.iter().zip(WHEN).find(|(plan, _)| differs(plan)) {
            self.fault("repeats", at, format!("{when} {}", describe_difference(first, plan)));
            return Ok(());
        }
        // Plan again in another process, in which memory addresses and the time are different.
        // Large cases are skipped, because they would take too long.
        if nodes > 1 && nodes <= FEW {
            let Some(Ran { plans, .. }) = self.run_case(Question::RunOnce, case, place)? else {
                return Ok(());
            };
            match plans.first() {
                Some(plan) if differs(plan) => {
                    self.fault(
                        "repeats",
                        at,
                        format!("in another process {}", describe_difference(first, plan)),
                    );
                }
                _ => self.steady.push((case.clone(), place.to_owned(), first.clone())),
            }
        }
        Ok(())
    }

    /// Compares the declared number of ports with the number that the schedule uses. This is only
    /// done with default parameters. The purpose of another parameter may be to use more ports or
    /// to show a fault.
    fn ports(&mut self, plan: &Plan, case: &TestCase, place: &str) {
        let at = &Subject { place, workload: &case.workload };
        if case.params != self.params {
            return;
        }
        let used = plan.busiest_node.messages;
        self.done.ports_used = self.done.ports_used.max(used);
        let claimed = self.about.ports;
        if claimed == 0 {
            let already = self.findings.iter().any(|f| f.test == "ports");
            if used > 1 && !already && case.machine == ONE_PORT {
                let what = format!(
                    "{}, but the machine has one port: they run in rounds; if this is intended, declare it in `ports`",
                    plan.busiest_node
                );
                self.remark("ports", at, what);
            }
        } else if used > claimed {
            self.fault("ports", at, format!("{}: {claimed} claimed", plan.busiest_node));
        }
    }
}

pub(super) fn describe_difference(first: &Plan, other: &Plan) -> String {
    if first.status != other.status {
        let because =
            if other.reason.is_empty() { String::new() } else { format!(" ({})", other.reason) };
        return format!(
            "the same problem is {}{because}, the first time {}",
            other.status, first.status
        );
    }
    if first.fingerprint == other.fingerprint {
        return "the same problem is refused for another reason".to_owned();
    }
    let place = other.differs.clone().or_else(|| {
        let step = first.steps.iter().zip(&other.steps).position(|(one, two)| one != two)?;
        Some(format!("from step {} on", step + 1))
    });
    place.map_or("the same problem gives another schedule".to_owned(), |place| {
        format!("the same problem gives another schedule: {place}")
    })
}
