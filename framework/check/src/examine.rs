//! The examination of a plugin: its tables, and then every algorithm on a list of topologies. An
//! [`Examiner`] tests one algorithm. It chooses the cases, asks a new process for the plans of
//! each, and turns them into findings.

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

/// Examines a plugin on a bench. `file` is its name in the report, `topologies` are those of the
/// test cases, and `wanted` are the algorithms with their parameters; by default all with default
/// parameters. Schedules must not deadlock with FIFOs of the depth `fifo_depth`.
/// Errors with [`io::ErrorKind::InvalidInput`] if the plugin lacks one of the algorithms or
/// parameters.
pub fn examine(
    bench: &dyn Bench,
    file: &str,
    topologies: &[&str],
    wanted: &[Spec],
    fifo_depth: Option<u64>,
) -> io::Result<Report> {
    let mut report =
        Report { file: file.to_owned(), about: None, algorithms: Vec::new(), findings: Vec::new() };
    // Loading a plugin and reading its tables may already fail.
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
    // A crash of one algorithm must not hide findings about others.
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
    /// The topology, and the difference of a case from the plain one (the simplest workload).
    pub place: &'a str,
    /// Collective and block sizes; empty if the finding is not about a case.
    pub workload: &'a str,
}

struct Examiner<'a> {
    pub bench: &'a dyn Bench,
    pub about: &'a AlgorithmAbout,
    pub params: Params,
    pub done: AlgorithmReport,
    pub findings: Vec<Finding>,
    /// Small cases with equal plans in several processes, with the text of their topology.
    pub steady: Vec<(TestCase, String, Plan)>,
    /// The number of cases that were killed at the time limit. [`ENOUGH_HUNG`] end the examination.
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

    /// Adds a remark, unless this test has already produced a finding about the algorithm.
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

    /// If every case was refused because of a parameter from the user, returns this error.
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

    /// Sends a request to a separate process. If there is no reply, adds the reason as a fault.
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
            // If the plugin prints several times, only the first time is reported.
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
                // Two plans at the same time have twice the memory limit of one plan.
                let plans = if how.starts_with("two plans at once") { 2 } else { 1 };
                let most = self.bench.limits().memory.saturating_mul(plans) / (1 << 20);
                self.fault("memory", at, format!("more than {most} MiB: {how}"));
            }
            ProcessEnd::Died(how) => self.fault("survives", at, how),
            // The remaining cases could take hours.
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

/// A permutation that is not its own inverse on a grid with a side longer than 2.
const ONE_ON: &str = "translate:8,by=1";
/// The simplest workload of tokens, most of which have several receivers.
const TOKENS: &str = "moe:experts=16,top=3,tokens=6,bytes=8";
/// A property that a plugin can request, and a machine that differs from [`ONE_PORT`] in it.
const OTHER_MACHINES: [(&str, &str); 3] = [
    ("ports=all", "free:ports=all"),
    ("ports=2", "free:ports=2"),
    ("virtual_channels=2", "free:ports=1,virtual_channels=2"),
];

impl Examiner<'_> {
    /// Tests every collective on all topologies, and special cases on two supported ones: one with
    /// many but not too many nodes, and one with odd or different sides.
    fn examine_all(&mut self, topologies: &[&str]) -> io::Result<()> {
        for kind in of_bits(self.about.collectives) {
            let collective = kind.word;
            // All topologies support the reflection, but it is its own inverse, so another
            // permutation is tested.
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
            // The topologies for special cases, each with a key by which it was chosen, and a plan.
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
            // With a single accepted topology, tests cannot show whether constants are general.
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
            // Without its input file, an algorithm refuses every case, which is no fault.
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

    /// Runs cases one after another in one process. State of the plugin must not change schedules.
    fn examine_sequence(&mut self) -> io::Result<()> {
        /// Enough cases to find kept state, and few enough to be fast.
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
        // A plan that timed out cannot be compared.
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

    /// A parameter with its default value must not change the schedule. Every word is tested once.
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

    /// Tests the extremes of a number, which may be refused but must not make a wrong schedule.
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
                // The case takes too long, as with a large number of tries.
                ProcessEnd::Hung(_) => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Examiner<'_> {
    /// Returns the number of nodes and the first plan, unless the examination ends early.
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
        // Other faults may follow from a wrong symmetry, which is therefore reported first.
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
                // Cases with another parameter do not count, because it may be meant to show
                // wasteful sends.
                let is_plain = case.machine == ONE_PORT && case.workload.ends_with("uniform:8");
                // A redistribution sends every bucket, even an empty one.
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

    /// Repetitions, also on two threads and in another process, must give the same schedule.
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
        // A plan that depends on memory addresses or on the time differs in another process.
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

    /// Finds the first deadlock if connections are FIFOs and nodes send before they receive.
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

    /// Compares the declared with the used number of ports. Cases with another parameter do not
    /// count, because it may be meant to use more ports.
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

/// A machine on which messages take no time, with one port for each node.
const ONE_PORT: &str = "free:ports=1";
/// The largest number of nodes for which additional tests are fast enough.
const FEW: u64 = 64;

/// Ranks topologies: the largest with at most [`FEW`] nodes first, the largest of all last.
fn rank(nodes: u64) -> (bool, i128) {
    if nodes <= FEW { (true, nodes.into()) } else { (false, -i128::from(nodes)) }
}

/// How well a small topology reveals faults, some of which do not show if all sides are 2 or equal.
/// In the order of importance: whether a side is odd, whether there are enough nodes, the number of
/// different sides (at most 2 count), and the number of nodes, of which fewer are better.
type Unevenness = (bool, bool, usize, Reverse<u64>);

/// Returns `None` if the topology is too large or all its sides are at most 2.
fn unevenness(topology: &str) -> Option<Unevenness> {
    /// Smaller topologies hide other faults.
    const SOME: u64 = 7;
    let topology = topology::parse(topology).ok().filter(|topology| topology.nodes() <= FEW)?;
    let sides: BTreeSet<u64> =
        topology.radices().iter().copied().filter(|side| *side > 2).collect();
    let odd = sides.iter().any(|side| side % 2 == 1);
    let nodes = topology.nodes();
    (!sides.is_empty()).then_some((odd, nodes >= SOME, sides.len().min(2), Reverse(nodes)))
}
