//! The examination of one algorithm: the questions that it asks, and the findings so far.

use crate::about::AlgorithmAbout;
use crate::bench::{Bench, Outcome};
use crate::question::{Answer, Plan, Question, Ran, TestCase};
use crate::report::{Examined, Finding};
use std::io;
use swapmeet_core::delivery::collective::of_bits;
use swapmeet_runner::plugin::ParamKind;
use swapmeet_runner::plugin_output::is_out_of_memory;

pub(super) type Params = Vec<(String, String)>;

pub(super) struct Subject<'a> {
    /// The topology. If the case differs from the plain case (the case with the simplest workload)
    /// on this topology, also the property in which it differs.
    pub place: &'a str,
    /// Collective and block sizes; empty if the finding is not about a case.
    pub workload: &'a str,
}

pub(super) struct Examiner<'a> {
    pub bench: &'a dyn Bench,
    pub about: &'a AlgorithmAbout,
    pub params: Params,
    pub done: Examined,
    pub findings: Vec<Finding>,
    /// Small cases that were planned several times with equal results. Each entry has the case, the
    /// text that names its topology in findings, and its plan, which was made in a separate
    /// process.
    pub steady: Vec<(TestCase, String, Plan)>,
    /// The number of cases whose process was killed at the time limit. Each takes the whole time
    /// limit, so the examination ends early after [`ENOUGH_HUNG`] of them.
    pub hung: u32,
}

/// The number of killed cases after which the examination of an algorithm ends early.
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

    pub(super) fn fault(&mut self, test: &'static str, at: &Subject<'_>, what: String) {
        self.findings
            .push(Finding::fault(test, &self.done.algorithm, what).at(at.place, at.workload));
    }

    pub(super) fn remark(&mut self, test: &'static str, at: &Subject<'_>, what: String) {
        self.findings
            .push(Finding::remark(test, &self.done.algorithm, what).at(at.place, at.workload));
    }

    /// Adds a remark, unless this test has already produced a finding about the algorithm.
    pub(super) fn remark_once(&mut self, test: &'static str, at: &Subject<'_>, what: String) {
        if self.findings.iter().all(|finding| finding.test != test) {
            self.remark(test, at, what);
        }
    }

    /// Returns whether the algorithm needs an input file and the user has not named one.
    pub(super) fn lacks_a_file(&self) -> bool {
        let named = |key: &str| self.params.iter().any(|(given, _)| given == key);
        self.about.params.iter().any(|param| param.kind == ParamKind::File && !named(&param.key))
    }

    pub(super) fn test_case(&self, topology: &str, workload: String, machine: &str) -> TestCase {
        TestCase {
            algorithm: self.about.name.clone(),
            params: self.params.clone(),
            topology: topology.to_owned(),
            workload,
            machine: machine.to_owned(),
        }
    }

    /// Returns the reason for the refusals if every case was refused because of a parameter from
    /// the user. This is an error in the input and not a fault of the plugin.
    pub(super) fn misprint(&self) -> Option<&str> {
        let (first, rest) = self.findings.split_first()?;
        let why = first.what.strip_prefix("error: ")?;
        let named = self.params.iter().any(|(key, value)| why.contains(&format!("{key}={value}")));
        let all = self.done.cases == self.findings.len() as u64;
        (named && all && rest.iter().all(|finding| finding.what == first.what)).then_some(why)
    }

    /// Runs a case in a new process and returns its plans. `question` is [`Question::Run`] or
    /// [`Question::RunOnce`].
    pub(super) fn run_case(
        &mut self,
        question: fn(TestCase) -> Question,
        case: &TestCase,
        place: &str,
    ) -> io::Result<Option<Ran>> {
        let at = &Subject { place, workload: &case.workload };
        let answer = self.ask(&question(case.clone()), at)?;
        Ok(answer.and_then(|answer| if let Answer::Ran(ran) = answer { Some(ran) } else { None }))
    }

    /// Asks a question about this algorithm in a separate process. If the process gives no answer,
    /// adds the reason as a fault.
    pub(super) fn ask(
        &mut self,
        question: &Question,
        at: &Subject<'_>,
    ) -> io::Result<Option<Answer>> {
        match self.bench.ask(question)? {
            Outcome::Answered {
                answer: Answer::BadQuestion(why) | Answer::Refused(why), ..
            } => {
                self.fault("tables", at, why);
            }
            Outcome::ClosedFiles => {
                let what = "closes files that it did not open, or shuts them down: a run would lose its \
                            worker process";
                self.fault("survives", at, what.to_owned());
            }
            Outcome::UsedFiles => {
                let what =
                    "writes to files that it did not open: a run would lose its worker process";
                self.fault("survives", at, what.to_owned());
            }
            // If the plugin prints several times, report only the first time.
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
                // Two plans at the same time have twice the memory limit of one plan.
                let plans = if how.starts_with("two plans at once") { 2 } else { 1 };
                let most = self.bench.limits().memory.saturating_mul(plans) / (1 << 20);
                self.fault("memory", at, format!("more than {most} MiB: {how}"));
            }
            Outcome::Died(how) => self.fault("survives", at, how),
            // End the examination of the algorithm after several hangs, because its remaining cases
            // could take hours.
            Outcome::Hung(how) => {
                self.hung += 1;
                self.fault("time", at, format!("{how}, and it ignores the host: killed"));
                if self.hung == ENOUGH_HUNG {
                    self.remark(
                        "time",
                        at,
                        "given up: the following cases were not tried".to_owned(),
                    );
                }
            }
        }
        Ok(None)
    }
}

fn spec_of(name: &str, params: &[(String, String)]) -> String {
    let params: Vec<String> = params.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if params.is_empty() { name.to_owned() } else { format!("{name}:{}", params.join(",")) }
}
