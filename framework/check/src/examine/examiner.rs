//! One algorithm under examination: what is asked of it, and what was found so far.

use crate::about::AlgorithmAbout;
use crate::bench::{Bench, Outcome};
use crate::question::{Answer, Plan, Question, Ran, Rung};
use crate::report::{Examined, Finding};
use crate::watch::where_it_was;
use std::io;
use swapmeet_core::delivery::collective::of_bits;
use swapmeet_runner::plugin::ParamKind;
use swapmeet_runner::plugin_output::is_out_of_memory;

/// Parameters as a user gives them.
pub(super) type Params = Vec<(String, String)>;

/// What a finding is about.
pub(super) struct At<'a> {
    /// A topology and what else is special.
    pub place: &'a str,
    /// Collective and sizes; empty where it is about no case.
    pub workload: &'a str,
}

/// One algorithm under examination.
pub(super) struct Examiner<'a> {
    pub bench: &'a dyn Bench,
    pub about: &'a AlgorithmAbout,
    pub params: Params,
    pub done: Examined,
    pub findings: Vec<Finding>,
    /// Small cases that came out alike each time, with their places and what came of them in a
    /// process of their own.
    pub steady: Vec<(Rung, String, Plan)>,
    /// Cases that had to be killed. Each takes all the time there is: after some the rest is not
    /// tried.
    pub hung: u32,
}

/// How many cases may hang before an algorithm is given up.
pub(super) const ENOUGH_HUNG: u32 = 2;

impl<'a> Examiner<'a> {
    pub(super) fn new(bench: &'a dyn Bench, about: &'a AlgorithmAbout, params: Params) -> Self {
        let collectives: Vec<&'static str> =
            of_bits(about.collectives).map(|kind| kind.word).collect();
        let done = Examined {
            algorithm: spec_of(&about.name, &params),
            ports_claimed: about.ports,
            collectives,
            ..Examined::default()
        };
        Self { bench, about, params, done, findings: Vec::new(), steady: Vec::new(), hung: 0 }
    }

    pub(super) fn fault(&mut self, test: &'static str, at: &At<'_>, what: String) {
        self.findings
            .push(Finding::fault(test, &self.done.algorithm, what).at(at.place, at.workload));
    }

    pub(super) fn remark(&mut self, test: &'static str, at: &At<'_>, what: String) {
        self.findings
            .push(Finding::remark(test, &self.done.algorithm, what).at(at.place, at.workload));
    }

    /// A remark of which an algorithm gets one.
    pub(super) fn remark_once(&mut self, test: &'static str, at: &At<'_>, what: String) {
        if self.findings.iter().all(|finding| finding.test != test) {
            self.remark(test, at, what);
        }
    }

    /// Whether it reads a file that was not named.
    pub(super) fn lacks_a_file(&self) -> bool {
        let named = |key: &str| self.params.iter().any(|(given, _)| given == key);
        self.about.params.iter().any(|param| param.kind == ParamKind::File && !named(&param.key))
    }

    pub(super) fn rung(&self, topology: &str, workload: String, machine: &str) -> Rung {
        Rung {
            algorithm: self.about.name.clone(),
            params: self.params.clone(),
            topology: topology.to_owned(),
            workload,
            machine: machine.to_owned(),
        }
    }

    /// Why every case was refused, where that is for the parameters given: the user's slip, not the
    /// plugin's fault.
    pub(super) fn misprint(&self) -> Option<&str> {
        let (first, rest) = self.findings.split_first()?;
        let why = first.what.strip_prefix("error: ")?;
        let named = self.params.iter().any(|(key, value)| why.contains(&format!("{key}={value}")));
        let all = self.done.cases == self.findings.len() as u64;
        (named && all && rest.iter().all(|finding| finding.what == first.what)).then_some(why)
    }

    /// What comes of a case, each time.
    pub(super) fn asked(&mut self, rung: &Rung, place: &str) -> io::Result<Option<Ran>> {
        let answer =
            self.answered(&Question::Run(rung.clone()), &At { place, workload: &rung.workload })?;
        Ok(answer.and_then(|answer| if let Answer::Ran(ran) = answer { Some(ran) } else { None }))
    }

    /// What the bench says to a question about this algorithm; what keeps it from an answer is a
    /// fault.
    pub(super) fn answered(
        &mut self,
        question: &Question,
        at: &At<'_>,
    ) -> io::Result<Option<Answer>> {
        match self.bench.ask(question)? {
            Outcome::Answered {
                answer: Answer::BadQuestion(why) | Answer::Refused(why), ..
            } => {
                self.fault("tables", at, why);
            }
            Outcome::Answered { answer: Answer::ClosedFiles, .. } => {
                let what = "closes files that it didn't open: a run would lose the process that its schedules are made in";
                self.fault("survives", at, what.to_owned());
            }
            Outcome::Answered { answer, printed } => {
                if let Some(line) =
                    printed.filter(|_| self.findings.iter().all(|f| f.test != "quiet"))
                {
                    self.findings.push(
                        Finding::prints(&self.done.algorithm, &line).at(at.place, at.workload),
                    );
                }
                return Ok(Some(answer));
            }
            Outcome::Died(how) if is_out_of_memory(&how) => {
                // Two have twice the limit.
                let plans = if how.starts_with("two plans at once") { 2 } else { 1 };
                let most = self.bench.limits().memory.saturating_mul(plans) / (1 << 20);
                self.fault("memory", at, format!("more than {most} MiB: {how}"));
            }
            Outcome::Died(how) => self.fault("survives", at, how),
            Outcome::Hung(step) => {
                self.hung += 1;
                let (most, place) = (self.bench.limits().time.as_secs_f64(), where_it_was(step));
                self.fault(
                    "time",
                    at,
                    format!("not done after {most} s{place}, and it doesn't heed the host: killed"),
                );
                if self.hung == ENOUGH_HUNG {
                    self.remark(
                        "time",
                        at,
                        "given up: what comes after it was not tried".to_owned(),
                    );
                }
            }
        }
        Ok(None)
    }
}

/// `name:key=value,..`, as users type it.
fn spec_of(name: &str, params: &[(String, String)]) -> String {
    let params: Vec<String> = params.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if params.is_empty() { name.to_owned() } else { format!("{name}:{}", params.join(",")) }
}
