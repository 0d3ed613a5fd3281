//! The examination of a plugin: first its tables, and then each algorithm on a list of topologies.
//! An [`Examiner`] tests one algorithm. It chooses the cases, requests the plans of each case from
//! a new process, and converts these plans to findings.

mod tables;

use crate::bench::{Bench, ProcessEnd};
use crate::report::{AlgorithmReport, Finding, Report};
use crate::request::{
    AlgorithmAbout, Liveness, Plan, Reply, Request, RunResult, SequencePlan, TestCase,
};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use swapmeet_core::delivery::collective::of_bits;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::spec::{Spec, SpecError};
use swapmeet_runner::plugin::{Param, ParamKind};
use swapmeet_runner::plugin_output::is_out_of_memory;
use swapmeet_runner::topology;
use swapmeet_workloads::Workload;

/// Examines a plugin on a bench. `file` is the name of the plugin in the report, and `topologies`
/// are those of the test cases. `wanted` are algorithms with parameters; if it is empty, all
/// algorithms are tested with default parameters. If `fifo_depth` is given, schedules must not
/// deadlock with FIFOs of this depth. Errors with [`io::ErrorKind::InvalidInput`] if the plugin
/// does not have one of the algorithms or parameters in `wanted`.
pub fn examine(
    bench: &dyn Bench,
    file: &str,
    topologies: &[&str],
    wanted: &[Spec],
    fifo_depth: Option<u64>,
) -> io::Result<Report> {
    let mut report =
        Report { file: file.to_owned(), about: None, algorithms: Vec::new(), findings: Vec::new() };
    // Even loading the plugin and reading its tables can fail.
    let unreadable = match bench.ask(&Request::About)? {
        ProcessEnd::Replied { reply: Reply::About(about), printed } => {
            report.findings.extend(tables::findings(&about));
            report
                .findings
                .extend(printed.map(|line| Finding::prints("", &line).at("when it is loaded", "")));
            report.about = Some(about);
            None
        }
        ProcessEnd::Replied { reply: Reply::Refused(why), .. } => Some(("tables", why)),
        ProcessEnd::ClosedFiles => {
            Some(("survives", "when it is loaded, it closes files that it did not open".to_owned()))
        }
        ProcessEnd::UsedFiles => {
            Some(("survives", "when it is loaded, it uses files that it did not open".to_owned()))
        }
        ProcessEnd::Replied { .. } => Some(("tables", "its tables could not be read".to_owned())),
        ProcessEnd::Died(how) => Some(("survives", format!("when it is loaded: {how}"))),
        ProcessEnd::Hung(_) => Some(("time", "loading it does not end".to_owned())),
    };
    if let Some((test, what)) = unreadable {
        report.findings.push(Finding::fault(test, "", what));
    }
    // Each algorithm is examined, even if another one crashes.
    let about = report.about.as_ref().map_or(&[][..], |about| &about.algorithms);
    for (algorithm, params) in chosen(about, wanted)? {
        let mut examiner = Examiner { fifo_depth, ..Examiner::new(bench, algorithm, params) };
        examiner.examine_all(topologies)?;
        if let Some(why) = examiner.misprint() {
            let why = format!("`{}`: {why}", examiner.done.algorithm);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        report.algorithms.push(examiner.done);
        report.findings.extend(examiner.findings);
    }
    Ok(report)
}

fn chosen<'a>(
    about: &'a [AlgorithmAbout],
    wanted: &[Spec],
) -> io::Result<Vec<(&'a AlgorithmAbout, Params)>> {
    if wanted.is_empty() || about.is_empty() {
        return Ok(about.iter().map(|algorithm| (algorithm, Params::new())).collect());
    }
    let bad = |error: SpecError| io::Error::new(io::ErrorKind::InvalidInput, error);
    let mut chosen = Vec::new();
    for spec in wanted {
        let Some(algorithm) = about.iter().find(|a| a.name == spec.name()) else {
            return Err(bad(spec.unknown_name(about.iter().map(|a| a.name.as_str()))));
        };
        let mut params = Params::new();
        for arg in spec.args() {
            let keys = || algorithm.params.iter().map(|param| param.key.as_str());
            match arg.key().filter(|key| keys().any(|k| k == *key)) {
                Some(key) => params.push((key.to_owned(), arg.value().to_owned())),
                None => return Err(bad(spec.unknown_key(arg, keys()))),
            }
        }
        chosen.push((algorithm, params));
    }
    Ok(chosen)
}

type Params = Vec<(String, String)>;

struct Subject<'a> {
    /// The topology, and how the case differs from the plain case, which has the simplest workload.
    pub place: &'a str,
    /// The collective and the block sizes; empty if the finding is not about a single case.
    pub workload: &'a str,
}

struct Examiner<'a> {
    pub bench: &'a dyn Bench,
    pub about: &'a AlgorithmAbout,
    pub params: Params,
    pub done: AlgorithmReport,
    pub findings: Vec<Finding>,
    /// Small cases whose plans were equal in several processes, with the text of their topology.
    pub steady: Vec<(TestCase, String, Plan)>,
    /// The number of cases killed at the time limit. [`ENOUGH_HUNG`] of them end the examination.
    pub hung: u32,
    pub fifo_depth: Option<u64>,
}

const ENOUGH_HUNG: u32 = 2;

impl<'a> Examiner<'a> {
    fn new(bench: &'a dyn Bench, about: &'a AlgorithmAbout, params: Params) -> Self {
        let collectives: Vec<&'static str> =
            of_bits(about.collectives).map(|kind| kind.word).collect();
        let done = AlgorithmReport {
            algorithm: spec_of(&about.name, &params),
            ports_claimed: about.ports,
            collectives,
            ..AlgorithmReport::default()
        };
        let (findings, steady) = (Vec::new(), Vec::new());
        Self { bench, about, params, done, findings, steady, hung: 0, fifo_depth: None }
    }

    fn fault(&mut self, test: &'static str, at: &Subject<'_>, what: String) {
        self.findings
            .push(Finding::fault(test, &self.done.algorithm, what).at(at.place, at.workload));
    }

    fn remark(&mut self, test: &'static str, at: &Subject<'_>, what: String) {
        self.findings
            .push(Finding::remark(test, &self.done.algorithm, what).at(at.place, at.workload));
    }

    /// Adds a remark, unless this test already has a finding about the algorithm.
    fn remark_once(&mut self, test: &'static str, at: &Subject<'_>, what: String) {
        if self.findings.iter().all(|finding| finding.test != test) {
            self.remark(test, at, what);
        }
    }

    fn lacks_a_file(&self) -> bool {
        let named = |key: &str| self.params.iter().any(|(given, _)| given == key);
        self.about.params.iter().any(|param| param.kind == ParamKind::File && !named(&param.key))
    }

    fn test_case(&self, topology: &str, workload: String, machine: &str) -> TestCase {
        TestCase {
            algorithm: self.about.name.clone(),
            params: self.params.clone(),
            topology: topology.to_owned(),
            workload,
            machine: machine.to_owned(),
        }
    }

    /// If every case was refused because of a parameter of the user, returns the reason.
    fn misprint(&self) -> Option<&str> {
        let (first, rest) = self.findings.split_first()?;
        let why = first.what.strip_prefix("error: ")?;
        let named = self.params.iter().any(|(key, value)| why.contains(&format!("{key}={value}")));
        let all = self.done.cases == self.findings.len() as u64;
        (named && all && rest.iter().all(|finding| finding.what == first.what)).then_some(why)
    }

    fn run_case(
        &mut self,
        request: fn(TestCase) -> Request,
        case: &TestCase,
        place: &str,
    ) -> io::Result<Option<RunResult>> {
        let at = &Subject { place, workload: &case.workload };
        let reply = self.ask(&request(case.clone()), at)?;
        Ok(reply.and_then(|reply| if let Reply::Run(ran) = reply { Some(ran) } else { None }))
    }

    /// Sends a request to a new process. If there is no reply, adds a fault with the reason.
    fn ask(&mut self, request: &Request, at: &Subject<'_>) -> io::Result<Option<Reply>> {
        match self.bench.ask(request)? {
            ProcessEnd::Replied { reply: Reply::BadRequest(why) | Reply::Refused(why), .. } => {
                self.fault("tables", at, why);
            }
            ProcessEnd::ClosedFiles => {
                let what = "closes files that it did not open, or shuts them down: a run would lose its \
                            worker process";
                self.fault("survives", at, what.to_owned());
            }
            ProcessEnd::UsedFiles => {
                let what =
                    "writes to files that it did not open: a run would lose its worker process";
                self.fault("survives", at, what.to_owned());
            }
            // If the plugin prints in several cases, only the first case is reported.
            ProcessEnd::Replied { reply, printed } => {
                if let Some(line) =
                    printed.filter(|_| self.findings.iter().all(|f| f.test != "quiet"))
                {
                    self.findings.push(
                        Finding::prints(&self.done.algorithm, &line).at(at.place, at.workload),
                    );
                }
                return Ok(Some(reply));
            }
            ProcessEnd::Died(how) if is_out_of_memory(&how) => {
                // For two plans at the same time, the memory limit is twice that of one plan.
                let plans = if how.starts_with("two plans at once") { 2 } else { 1 };
                let most = self.bench.limits().memory.saturating_mul(plans) / (1 << 20);
                self.fault("memory", at, format!("more than {most} MiB: {how}"));
            }
            ProcessEnd::Died(how) => self.fault("survives", at, how),
            // After several such cases, the examination ends. The other cases could take hours.
            ProcessEnd::Hung(how) => {
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

/// A permutation that differs from its own inverse if a side of the grid is longer than 2.
const ONE_ON: &str = "translate:8,by=1";
/// The simplest workload with tokens. Most of the tokens have several receivers.
const TOKENS: &str = "moe:experts=16,top=3,tokens=6,bytes=8";
/// For each property that a plugin can request, a machine that differs from [`ONE_PORT`] in it.
const OTHER_MACHINES: [(&str, &str); 3] = [
    ("ports=all", "free:ports=all"),
    ("ports=2", "free:ports=2"),
    ("virtual_channels=2", "free:ports=1,virtual_channels=2"),
];

impl Examiner<'_> {
    /// Tests each collective on all topologies. Special cases are tested on two topologies that the
    /// algorithm supports: one with many nodes, but not too many, and one with odd or different
    /// sides.
    fn examine_all(&mut self, topologies: &[&str]) -> io::Result<()> {
        for kind in of_bits(self.about.collectives) {
            let collective = kind.word;
            // The reflection is supported by all topologies. But it is its own inverse, so another
            // permutation is tested, too.
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
            // The topologies for special cases, each with the key by which it was chosen, and its
            // plan.
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
            // If only one topology is accepted, tests cannot show whether constants hold for
            // others.
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
            // An algorithm whose input file is missing refuses every case, which is no fault.
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

    /// Runs cases one after another in one process. State that the plugin keeps must not matter.
    fn examine_sequence(&mut self) -> io::Result<()> {
        /// With this number of cases, state that the plugin keeps is found, and the test is fast.
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
        let Some(Reply::Sequence(plans)) =
            self.ask(&Request::Sequence(cases), &Subject { place, workload: "" })?
        else {
            return Ok(());
        };
        // A plan that exceeded the time limit is incomplete, so it is not compared.
        let differs = |SequencePlan { case, plan, .. }: &&SequencePlan| {
            !plan.is_like(&some[*case].2) && plan.status != "timeout"
        };
        if let Some(SequencePlan { case, is_parallel, plan }) = plans.iter().find(differs) {
            let (case, place, alone) = some[*case];
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
            // Some collectives do not support all generators of block sizes.
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

    /// Tests the parameters. If a parameter is set to its default value, the schedule must not
    /// change. If the values of a parameter are words, each word is tested once.
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
            if *kind == ParamKind::Number {
                self.extremes(topology, &sizes("uniform:8"), key)?;
            }
        }
        Ok(())
    }

    /// Tests the extremes of a number. The plugin may refuse them, but schedules must be right.
    fn extremes(&mut self, topology: &str, workload: &str, key: &str) -> io::Result<()> {
        const PANIC: &str = "the plugin panicked";
        for value in ["0", "1", "18446744073709551615"] {
            let mut case = self.test_case(topology, workload.to_owned(), ONE_PORT);
            case.params.push((key.to_owned(), value.to_owned()));
            let place = format!("{topology}, {key}={value}");
            let at = &Subject { place: &place, workload };
            match self.bench.ask(&Request::RunOnce(case))? {
                ProcessEnd::Died(how) if !is_out_of_memory(&how) => {
                    self.fault("survives", at, how);
                }
                ProcessEnd::Replied { reply: Reply::Run(ran), .. } => {
                    let is_wrong =
                        |plan: &&Plan| plan.status == "invalid" || plan.reason.starts_with(PANIC);
                    if let Some(plan) = ran.plans.iter().find(is_wrong) {
                        self.fault("delivers", at, format!("{}: {}", plan.status, plan.reason));
                    }
                }
                // Such a case can take too long, for instance with a large number of tries.
                ProcessEnd::Hung(_) => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Examiner<'_> {
    /// Tests a case. Returns the number of nodes and the first plan, unless the test ends early.
    fn examine_case(&mut self, case: &TestCase, place: &str) -> io::Result<Option<(u64, Plan)>> {
        let at = &Subject { place, workload: &case.workload };
        if self.hung >= ENOUGH_HUNG {
            return Ok(None);
        }
        self.done.cases += 1;
        let Some(RunResult { nodes, plans, ms, symmetry, bytes }) =
            self.run_case(Request::Run, case, place)?
        else {
            return Ok(None);
        };
        let Some(first) = plans.first().cloned() else { return Ok(None) };
        // A wrong symmetry can cause other faults, so it is reported first.
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
                // Cases in which a parameter was changed do not count, because the parameter may be
                // meant to show wasteful sends.
                let is_plain = case.machine == ONE_PORT && case.workload.ends_with("uniform:8");
                // A redistribution sends every bucket, so its empty sends do not count.
                if is_plain
                    && first.proof != "amounts"
                    && case.params == self.params
                    && !first.waste.is_empty()
                {
                    self.remark_once("waste", at, first.waste.join("; "));
                }
                if let Some(depth) = self.fifo_depth.filter(|_| is_plain) {
                    self.liveness(case, at, depth)?;
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

    /// Tests that repetitions, also on two threads or in another process, give the same schedule.
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
        // If a plan depends on memory addresses or on the time, it is different in another process.
        if nodes > 1 && nodes <= FEW {
            let Some(RunResult { plans, .. }) = self.run_case(Request::RunOnce, case, place)?
            else {
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

    /// Adds a fault if the schedule deadlocks when connections are FIFOs and each node sends before
    /// it receives. Only the first deadlock of an algorithm is reported.
    fn liveness(&mut self, case: &TestCase, at: &Subject<'_>, depth: u64) -> io::Result<()> {
        if self.findings.iter().any(|finding| finding.test == "liveness") {
            return Ok(());
        }
        let reply = self.ask(&Request::Liveness(case.clone(), depth), at)?;
        let Some(Reply::Liveness(found)) = reply else { return Ok(()) };
        match found {
            Liveness::Ends => {}
            Liveness::NotExamined(why) => {
                self.remark("liveness", at, format!("not examined: {why}"));
            }
            Liveness::Deadlock { cycle, least_depth } => {
                let what = format!(
                    "deadlock with {depth} slots, one for each block: {cycle}; there is none from {least_depth} slots on"
                );
                self.fault("liveness", at, what);
            }
        }
        Ok(())
    }

    /// Compares the number of ports that the algorithm declares with the number that its plan uses.
    /// Cases in which a parameter was changed do not count, because the parameter may be meant to
    /// use more ports.
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

fn describe_difference(first: &Plan, other: &Plan) -> String {
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

/// A machine with one port for each node, on which messages take no time.
const ONE_PORT: &str = "free:ports=1";
/// If there are at most this number of nodes, additional tests are fast enough.
const FEW: u64 = 64;

/// Ranks topologies by size. The largest one with at most [`FEW`] nodes has the highest rank. Above
/// [`FEW`] nodes, a larger topology has a lower rank.
fn rank(nodes: u64) -> (bool, i128) {
    if nodes <= FEW { (true, nodes.into()) } else { (false, -i128::from(nodes)) }
}

/// How well a small topology reveals faults. Some faults do not show if all sides are 2, or if all
/// sides are equal. The values are, in descending order of importance: whether a side is odd, whether
/// there are enough nodes, the number of different sides (at most 2 count), and the number of nodes,
/// where fewer are better.
type Unevenness = (bool, bool, usize, Reverse<u64>);

/// Returns `None` if the topology has more than [`FEW`] nodes, or if no side is longer than 2.
fn unevenness(topology: &str) -> Option<Unevenness> {
    /// The least number of nodes that is enough. On smaller topologies, some faults do not show.
    const SOME: u64 = 7;
    let topology = topology::parse(topology).ok().filter(|topology| topology.nodes() <= FEW)?;
    let sides: BTreeSet<u64> =
        topology.radices().iter().copied().filter(|side| *side > 2).collect();
    let odd = sides.iter().any(|side| side % 2 == 1);
    let nodes = topology.nodes();
    (!sides.is_empty()).then_some((odd, nodes >= SOME, sides.len().min(2), Reverse(nodes)))
}
