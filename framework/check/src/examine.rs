//! The examination: tables, then every algorithm up the ladder.

mod tables;

use crate::about::AlgorithmAbout;
use crate::bench::{Bench, Outcome};
use crate::question::{Answer, Plan, Question, Ran, Rung};
use crate::report::{Examined, Finding, Report, Severity};
use crate::watch::where_it_was;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use swapmeet_core::delivery::collective::of_bits;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::spec::{Spec, SpecError};
use swapmeet_runner::plugin::{Param, ParamKind};
use swapmeet_runner::topology;
use swapmeet_runner::words::is_out_of_memory;
use swapmeet_workloads::Workload;

/// A price that is nobody's: one port, so that a plugin that asks is told 1.
const ONE_PORT: &str = "free:ports=1";
/// A permutation that is not its own inverse where a side is above 2.
const ONE_ON: &str = "translate:8,by=1";
/// Nodes of a machine on which much can be tried.
const FEW: u64 = 64;
/// Machines that differ from it in what a plugin may ask for.
const OTHER_MACHINES: [(&str, &str); 3] = [
    ("ports=all", "free:ports=all"),
    ("ports=2", "free:ports=2"),
    ("virtual_channels=2", "free:ports=1,virtual_channels=2"),
];

/// Examines a plugin on a bench. `file` is its name in the report; `topologies` are the machines to try it on, `wanted` the algorithms, with
/// parameters; none for all, with none. An algorithm or parameter that the plugin doesn't have is an [`io::ErrorKind::InvalidInput`].
pub fn examine(bench: &dyn Bench, file: &str, topologies: &[&str], wanted: &[Spec]) -> io::Result<Report> {
    let mut report = Report { file: file.to_owned(), about: None, algorithms: Vec::new(), findings: Vec::new() };
    let unreadable = match bench.ask(&Question::About)? {
        Outcome::Answered { answer: Answer::About(about), printed } => {
            report.findings.extend(tables::findings(&about));
            report.findings.extend(printed.map(|line| quiet("", "when it is loaded", "", &line)));
            report.about = Some(about);
            None
        }
        Outcome::Answered { answer: Answer::Refused(why), .. } => Some(("tables", why)),
        Outcome::Answered { answer: Answer::ClosedFiles, .. } => {
            Some(("survives", "when it is loaded it closes files that it didn't open".to_owned()))
        }
        Outcome::Answered { .. } => Some(("tables", "no answer to what its tables say".to_owned())),
        Outcome::Died(how) => Some(("survives", format!("when it is loaded: {how}"))),
        Outcome::Hung(_) => Some(("time", "loading it does not end".to_owned())),
    };
    if let Some((test, what)) = unreadable {
        report.findings.push(fault(test, "", "", "", what));
    }
    let about = report.about.as_ref().map_or(&[][..], |about| &about.algorithms);
    for (algorithm, params) in chosen(about, wanted)? {
        let mut examiner = Examiner::new(bench, algorithm, params);
        examiner.all(topologies)?;
        if let Some(why) = examiner.misprint() {
            let why = format!("`{}`: {why}", examiner.done.algorithm);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        report.algorithms.push(examiner.done);
        report.findings.extend(examiner.findings);
    }
    Ok(report)
}

/// The algorithms to examine, with the parameters to give them.
fn chosen<'a>(about: &'a [AlgorithmAbout], wanted: &[Spec]) -> io::Result<Vec<(&'a AlgorithmAbout, Params)>> {
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

/// Parameters as a user gives them.
type Params = Vec<(String, String)>;

/// What a finding is about.
struct At<'a> {
    /// A topology and what else is special.
    place: &'a str,
    /// Collective and sizes; empty where it is about no case.
    workload: &'a str,
}

/// One algorithm under examination.
struct Examiner<'a> {
    bench: &'a dyn Bench,
    about: &'a AlgorithmAbout,
    params: Params,
    done: Examined,
    findings: Vec<Finding>,
    /// Small cases that came out alike each time, with their places and what came of them in a process of their own.
    steady: Vec<(Rung, String, Plan)>,
    /// Cases that had to be killed. Each takes all the time there is: after some the rest is not tried.
    hung: u32,
}

/// How many cases may hang before an algorithm is given up.
const ENOUGH_HUNG: u32 = 2;

impl<'a> Examiner<'a> {
    fn new(bench: &'a dyn Bench, about: &'a AlgorithmAbout, params: Params) -> Self {
        let collectives: Vec<&'static str> = of_bits(about.collectives).map(|kind| kind.word).collect();
        let done = Examined {
            algorithm: spec_of(&about.name, &params),
            ports_claimed: about.ports,
            collectives,
            ..Examined::default()
        };
        Self { bench, about, params, done, findings: Vec::new(), steady: Vec::new(), hung: 0 }
    }

    fn fault(&mut self, test: &'static str, at: &At<'_>, what: String) {
        self.findings.push(fault(test, &self.done.algorithm, at.place, at.workload, what));
    }

    fn remark(&mut self, test: &'static str, at: &At<'_>, what: String) {
        let finding = fault(test, &self.done.algorithm, at.place, at.workload, what);
        self.findings.push(Finding { severity: Severity::Remark, ..finding });
    }

    /// A remark of which an algorithm gets one.
    fn remark_once(&mut self, test: &'static str, at: &At<'_>, what: String) {
        if self.findings.iter().all(|finding| finding.test != test) {
            self.remark(test, at, what);
        }
    }

    /// Whether it reads a file that was not named.
    fn lacks_a_file(&self) -> bool {
        let named = |key: &str| self.params.iter().any(|(given, _)| given == key);
        self.about.params.iter().any(|param| param.kind == ParamKind::File && !named(&param.key))
    }

    fn rung(&self, topology: &str, workload: String, machine: &str) -> Rung {
        Rung {
            algorithm: self.about.name.clone(),
            params: self.params.clone(),
            topology: topology.to_owned(),
            workload,
            machine: machine.to_owned(),
        }
    }

    /// Every collective up the ladder, then what is special: on the largest machine that still has few nodes, or else the smallest, and on an
    /// odd or uneven one.
    fn all(&mut self, topologies: &[&str]) -> io::Result<()> {
        for kind in of_bits(self.about.collectives) {
            let collective = kind.word;
            // Of permutations the reflection has a meaning on every machine; but it is its own inverse.
            let plain = if kind.permutes() { "reflect" } else { "uniform" };
            let sizes = |generator: &str| format!("{collective}/{}", generator.replace("uniform", plain));
            if let Err(error) = Workload::parse(&sizes("uniform:8")) {
                self.remark(
                    "delivers",
                    &At { place: collective, workload: "" },
                    format!("this program has no workload for it: {error}"),
                );
                continue;
            }
            // The machine for special cases, with the schedule it gives there.
            let mut special: Option<(u64, &str, Plan)> = None;
            let mut uneven: Option<(Unevenness, &str, Plan)> = None;
            let mut reasons = BTreeSet::new();
            let (cases_before, refused_before) = (self.done.cases, self.done.unsupported);
            for topology in topologies {
                let Some((nodes, plan)) = self.tried(&self.rung(topology, sizes("uniform:8"), ONE_PORT), topology)?
                else {
                    continue;
                };
                if plan.status == "unsupported" {
                    reasons.insert(plan.reason.clone());
                }
                if plan.status != "ok" {
                    continue;
                }
                let unevenness = unevenness(topology);
                if kind.permutes() && unevenness.is_some() {
                    self.tried(&self.rung(topology, sizes(ONE_ON), ONE_PORT), topology)?;
                }
                if kind.is_rooted() && (2..=FEW).contains(&nodes) {
                    let from_last = sizes(&format!("uniform:8,root={}", nodes - 1));
                    self.tried(&self.rung(topology, from_last, ONE_PORT), topology)?;
                }
                if unevenness > uneven.as_ref().map(|(other, ..)| *other) {
                    uneven = unevenness.map(|unevenness| (unevenness, *topology, plan.clone()));
                }
                if special.as_ref().is_none_or(|(other, ..)| rank(nodes) >= rank(*other)) {
                    special = Some((nodes, topology, plan));
                }
            }
            // Without its file there is nothing to be wrong with.
            if self.done.cases - cases_before == self.done.unsupported - refused_before && !self.lacks_a_file() {
                let reasons: Vec<String> = reasons.into_iter().take(3).collect();
                let what =
                    format!("refused on every machine tried ({}); name others with --topology", reasons.join("; "));
                self.fault("delivers", &At { place: collective, workload: "" }, what);
            }
            let special = special.map(|(_, topology, plan)| (topology, plan));
            let uneven = uneven.map(|(_, topology, plan)| (topology, plan));
            let uneven = uneven.filter(|(topology, _)| special.as_ref().is_none_or(|(other, _)| other != topology));
            for (topology, plan) in special.into_iter().chain(uneven) {
                self.specials(topology, sizes, &plan)?;
            }
        }
        if self.done.cases == 0 {
            self.fault("delivers", &At { place: "", workload: "" }, "nothing was tried".to_owned());
        }
        self.among()
    }

    /// Why every case was refused, where that is for the parameters given: the user's slip, not the plugin's fault.
    fn misprint(&self) -> Option<&str> {
        let (first, rest) = self.findings.split_first()?;
        let why = first.what.strip_prefix("error: ")?;
        let named = self.params.iter().any(|(key, value)| why.contains(&format!("{key}={value}")));
        let all = self.done.cases == self.findings.len() as u64;
        (named && all && rest.iter().all(|finding| finding.what == first.what)).then_some(why)
    }

    /// What one problem leaves behind must not change the next: some of the cases, of all sizes and collectives, in one process.
    fn among(&mut self) -> io::Result<()> {
        /// Enough to meet what is kept between problems, few enough to be quick.
        const CASES: usize = 12;
        let steady = std::mem::take(&mut self.steady);
        let every = steady.len().div_ceil(CASES).max(1);
        let some: Vec<_> = steady.iter().rev().step_by(every).rev().collect();
        if some.len() < 2 || self.hung >= ENOUGH_HUNG || self.findings.iter().any(|f| f.test == "repeats") {
            return Ok(());
        }
        let rungs: Vec<Rung> = some.iter().map(|(rung, ..)| rung.clone()).collect();
        let place = "several problems in one process";
        let Some(Answer::Among(plans)) = self.answered(&Question::Among(rungs), &At { place, workload: "" })? else {
            return Ok(());
        };
        // A plan that is late says nothing of its schedule.
        let differs = |(i, _, plan): &&(usize, bool, Plan)| !plan.is_like(&some[*i].2) && plan.status != "timeout";
        if let Some((i, beside, plan)) = plans.iter().find(differs) {
            let (rung, place, alone) = some[*i];
            let at = &At { place, workload: &rung.workload };
            let when = if *beside { "beside other problems" } else { "after other problems" };
            let what = what_differs(alone, plan).replace("the first time", "alone");
            self.fault("repeats", at, format!("{when} in one process {what}"));
        }
        Ok(())
    }

    /// Cases that differ from the ladder's in one thing.
    fn specials(&mut self, topology: &str, sizes: impl Fn(&str) -> String + Copy, usual: &Plan) -> io::Result<()> {
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
            // Not every collective has every generator.
            if Workload::parse(&sizes(generator)).is_ok() {
                self.tried(&self.rung(topology, sizes(generator), ONE_PORT), topology)?;
            }
        }
        for (special, machine) in OTHER_MACHINES {
            self.tried(&self.rung(topology, sizes("uniform:8"), machine), &format!("{topology}, {special}"))?;
        }
        self.parameters(topology, sizes, usual)
    }

    /// Every default given, which must change nothing, and every declared choice.
    fn parameters(&mut self, topology: &str, sizes: impl Fn(&str) -> String, usual: &Plan) -> io::Result<()> {
        for Param { key, kind, default, .. } in &self.about.params {
            if self.params.iter().any(|(given, _)| given == key) {
                continue;
            }
            let others = kind.words().iter().filter(|word| *word != default);
            for value in Some(default).filter(|default| !default.is_empty()).into_iter().chain(others) {
                let mut rung = self.rung(topology, sizes("uniform:8"), ONE_PORT);
                rung.params.push((key.clone(), value.clone()));
                let place = format!("{topology}, {key}={value}");
                let Some((_, plan)) = self.tried(&rung, &place)? else { continue };
                if value == default && plan.fingerprint != usual.fingerprint {
                    let what = match plan.status.as_str() {
                        "ok" => "makes another schedule".to_owned(),
                        status => format!("ends in {status}: {}", plan.reason),
                    };
                    let what = format!("`{default}` is named as the default of `{key}`, but giving it {what}");
                    self.fault("defaults", &At { place: &place, workload: &rung.workload }, what);
                }
            }
        }
        Ok(())
    }

    /// One case, with all that can be said of it: nodes and what came of it, unless the process did not come back.
    fn tried(&mut self, rung: &Rung, place: &str) -> io::Result<Option<(u64, Plan)>> {
        let at = &At { place, workload: &rung.workload };
        if self.hung >= ENOUGH_HUNG {
            return Ok(None);
        }
        self.done.cases += 1;
        let Some(Ran { nodes, plans, ms, symmetry, bytes }) = self.asked(rung, place)? else { return Ok(None) };
        let Some(first) = plans.first().cloned() else { return Ok(None) };
        match first.status.as_str() {
            "ok" => {
                self.done.verified += 1;
                self.done.amounts += u64::from(first.proof == "amounts");
                self.done.most_nodes = self.done.most_nodes.max(nodes);
                if ms > self.done.slowest.0 {
                    self.done.slowest = (ms, rung.topology.clone());
                }
                if let Some(bytes) = bytes.filter(|bytes| *bytes > self.done.fattest.0) {
                    self.done.fattest = (bytes, rung.topology.clone());
                }
                self.ports(&first, rung, place);
                if let Some(symmetry) = symmetry {
                    self.done.symmetric += 1;
                    if let Some(differs) = symmetry.differs {
                        let what = format!("one node of each orbit says another schedule than all nodes do: {differs}");
                        self.fault("symmetry", at, what);
                    }
                }
                // Where blocks have bytes, of the algorithm as it is: a choice may be one that shows what goes wrong.
                let is_plain = rung.machine == ONE_PORT && rung.workload.ends_with("uniform:8");
                // A bucket may be empty; blocks are named by who sends them.
                if is_plain && first.proof != "amounts" && rung.params == self.params && !first.waste.is_empty() {
                    self.remark_once("waste", at, first.waste.join("; "));
                }
                if first.threads > 0 {
                    let what = format!("{} outlived the plan: let it end first", Count(first.threads, "thread"));
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
            self.repeats(&first, &plans[1..], nodes, rung, place)?;
        }
        Ok(Some((nodes, first)))
    }

    /// The same problem must give the same schedule: again, on two threads at once, in another process.
    fn repeats(&mut self, first: &Plan, again: &[Plan], nodes: u64, rung: &Rung, place: &str) -> io::Result<()> {
        let at = &At { place, workload: &rung.workload };
        const TOLD: [&str; 3] = ["the second time", "beside another thread", "beside another thread"];
        let differs = |plan: &Plan| !plan.is_like(first);
        if let Some((plan, when)) = again.iter().zip(TOLD).find(|(plan, _)| differs(plan)) {
            self.fault("repeats", at, format!("{when} {}", what_differs(first, plan)));
            return Ok(());
        }
        // Another process has other addresses and another time of day. Large cases would only cost time.
        if nodes > 1 && nodes <= 64 {
            let Some(Ran { plans, .. }) = self.asked(rung, place)? else { return Ok(()) };
            match plans.first() {
                Some(plan) if differs(plan) => {
                    self.fault("repeats", at, format!("in another process {}", what_differs(first, plan)));
                }
                _ => self.steady.push((rung.clone(), place.to_owned(), first.clone())),
            }
        }
        Ok(())
    }

    /// Ports claimed against ports used, of the algorithm as it is: a choice may be one that uses more, or that shows what goes wrong.
    fn ports(&mut self, plan: &Plan, rung: &Rung, place: &str) {
        let at = &At { place, workload: &rung.workload };
        if rung.params != self.params {
            return;
        }
        let used = plan.fullest.messages;
        self.done.ports_used = self.done.ports_used.max(used);
        let claimed = self.about.ports;
        if claimed == 0 {
            let already = self.findings.iter().any(|f| f.test == "ports");
            if used > 1 && !already && rung.machine == ONE_PORT {
                let what = format!(
                    "{} where the machine has one port: priced in turns; if that is meant, let `ports` say so",
                    plan.fullest
                );
                self.remark("ports", at, what);
            }
        } else if used > claimed {
            self.fault("ports", at, format!("{}: {claimed} claimed", plan.fullest));
        }
    }

    /// What comes of a case, each time.
    fn asked(&mut self, rung: &Rung, place: &str) -> io::Result<Option<Ran>> {
        let answer = self.answered(&Question::Run(rung.clone()), &At { place, workload: &rung.workload })?;
        Ok(answer.and_then(|answer| if let Answer::Ran(ran) = answer { Some(ran) } else { None }))
    }

    /// What the bench says to a question about this algorithm; what keeps it from an answer is a fault.
    fn answered(&mut self, question: &Question, at: &At<'_>) -> io::Result<Option<Answer>> {
        match self.bench.ask(question)? {
            Outcome::Answered { answer: Answer::BadQuestion(why) | Answer::Refused(why), .. } => {
                self.fault("tables", at, why);
            }
            Outcome::Answered { answer: Answer::ClosedFiles, .. } => {
                let what =
                    "closes files that it didn't open: a run would lose the process that its schedules are made in";
                self.fault("survives", at, what.to_owned());
            }
            Outcome::Answered { answer, printed } => {
                if let Some(line) = printed.filter(|_| self.findings.iter().all(|f| f.test != "quiet")) {
                    self.findings.push(quiet(&self.done.algorithm, at.place, at.workload, &line));
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
                self.fault("time", at, format!("not done after {most} s{place}, and it doesn't heed the host: killed"));
                if self.hung == ENOUGH_HUNG {
                    self.remark("time", at, "given up: what comes after it was not tried".to_owned());
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

/// How well a machine suits special cases: the more nodes the better while they are few, then the fewer.
fn rank(nodes: u64) -> (bool, i128) {
    if nodes <= FEW { (true, nodes.into()) } else { (false, -i128::from(nodes)) }
}

/// How well a machine of few nodes suits what sides of two, or of a power of two, would hide: an odd side, several lengths of sides, then few nodes.
type Unevenness = (bool, bool, usize, Reverse<u64>);

/// `None` for a machine that hides it.
fn unevenness(topology: &str) -> Option<Unevenness> {
    /// Fewer hide other mistakes.
    const SOME: u64 = 7;
    let topology = topology::parse(topology).ok().filter(|topology| topology.nodes() <= FEW)?;
    let sides: BTreeSet<u64> = topology.radices().iter().copied().filter(|side| *side > 2).collect();
    let odd = sides.iter().any(|side| side % 2 == 1);
    let nodes = topology.nodes();
    (!sides.is_empty()).then_some((odd, nodes >= SOME, sides.len().min(2), Reverse(nodes)))
}

fn what_differs(first: &Plan, other: &Plan) -> String {
    if first.status != other.status {
        let because = if other.reason.is_empty() { String::new() } else { format!(" ({})", other.reason) };
        return format!("the same problem is {}{because}, the first time {}", other.status, first.status);
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

fn fault(test: &'static str, algorithm: &str, place: &str, workload: &str, what: String) -> Finding {
    let [algorithm, place, workload] = [algorithm, place, workload].map(str::to_owned);
    Finding { severity: Severity::Fault, test, algorithm, place, workload, what }
}

fn quiet(algorithm: &str, place: &str, workload: &str, line: &str) -> Finding {
    let what = format!("prints on standard output: `{line}`; the host's log function is for that");
    Finding { severity: Severity::Remark, ..fault("quiet", algorithm, place, workload, what) }
}
