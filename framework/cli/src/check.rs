//! `swapmeet check`: tests whether a plugin file conforms to the plugin interface.

use crate::args::{CheckArgs, CheckQuestionArgs, ReportFormat};
use crate::failure::{ExitStatus, Failure, SOME_FAILED, SUCCESS};
use crate::output;
use crate::run::{bundled_owner, is_sandboxed};
use crate::say::say;
use crate::streams;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::{Cell, RefCell};
use std::io;
use std::time::Duration;
use swapmeet_check::bench::Processes;
use swapmeet_check::{
    Bench, Finding, Limits, Plan, ProcessEnd, Reply, Report, Request, examine, ladder, reply,
};
use swapmeet_core::spec::Spec;
use swapmeet_results::Status;
use swapmeet_runner::isolation;
use swapmeet_runner::limits::{MemoryLimit, wait_for_double_memory};
use swapmeet_runner::sandbox::{FileAccess, NO_SANDBOX, TRACE};
use swapmeet_runner::topology;

pub(crate) fn check(args: &CheckArgs) -> Result<ExitStatus, Failure> {
    for spec in &args.topologies {
        topology::parse(spec).map_err(|e| Failure::Usage(format!("--topology: {e}")))?;
    }
    let wanted: Result<Vec<Spec>, _> =
        args.algorithms.iter().map(|spec| Spec::parse("algorithm", spec)).collect();
    let wanted = wanted.map_err(|e| Failure::Usage(format!("--algorithm: {e}")))?;
    if args.plugin.is_dir() {
        let what = "is a folder, expected a plugin's file such as target/release/libmy_ring.so";
        return Err(Failure::Usage(format!("{}: {what}", args.plugin.display())));
    }
    if !args.plugin.is_file() {
        return Err(Failure::Usage(format!("{}: no such file", args.plugin.display())));
    }
    let own = |e: io::Error| Failure::Output(format!("examining {}: {e}", args.plugin.display()));
    let is_sandboxed = is_sandboxed(args.no_sandbox);
    let processes = Processes {
        program: std::env::current_exe().map_err(own)?,
        plugin: args.plugin.clone(),
        limits: Limits { time: Duration::from_secs_f64(args.timeout), memory: args.memory_limit },
        is_sandboxed,
    };
    let mut topologies: Vec<&str> = args.topologies.iter().map(String::as_str).collect();
    if topologies.is_empty() {
        topologies = ladder();
    }
    let bench = BenchWithProgress::new(processes);
    let file = args.plugin.display().to_string();
    let report = examine(&bench, &file, &topologies, &wanted, args.fifo_depth);
    bench.bar.finish_and_clear();
    let mut report = report.map_err(|e| match e.kind() {
        io::ErrorKind::InvalidInput => Failure::Usage(format!("--algorithm: {e}")),
        _ => own(e),
    })?;
    report.findings.extend(name_clashes(&report));
    // Only the report is printed to standard output. Hints are printed to standard error.
    let text = match args.format {
        ReportFormat::Text => report.to_string(),
        ReportFormat::Json => serde_json::to_string_pretty(&report).map_err(Failure::output)?,
    };
    output::print(&format!("{text}\n"))?;
    let is_read = matches!(args.format, ReportFormat::Text);
    let may_hint = is_read && is_sandboxed && std::env::var_os(TRACE).is_none();
    if may_hint && bench.sandbox_refused_a_call().map_err(own)? {
        say!(
            "note: the sandbox has refused a system call: {TRACE}=1 names refused calls, {NO_SANDBOX} permits them"
        );
    }
    Ok(if report.passed() { SUCCESS } else { SOME_FAILED })
}

/// Returns a finding for each algorithm of the plugin that has the same name as a bundled
/// algorithm, because only one of the two can be used by this name.
fn name_clashes(report: &Report) -> Vec<Finding> {
    let algorithms = report
        .about
        .iter()
        .flat_map(|about| about.algorithms.iter().map(|a| (&about.name, &a.name)));
    let taken = algorithms.filter_map(|(plugin, name)| {
        let other = bundled_owner(name).filter(|other| other != plugin)?;
        let what = format!(
            "the bundled plugin `{other}` has an algorithm of this name: one hides the other"
        );
        Some(Finding::remark("tables", name, what))
    });
    taken.collect()
}

struct BenchWithProgress {
    processes: Processes,
    bar: ProgressBar,
    /// Requests that failed, perhaps because the sandbox refused a system call.
    failed: RefCell<Vec<Request>>,
    /// Whether an error message states a missing permission. If the kernel refuses access to a
    /// file, such a message is the only sign of it.
    is_denied: Cell<bool>,
}

impl BenchWithProgress {
    fn new(processes: Processes) -> Self {
        let bar = ProgressBar::new_spinner();
        if !streams::stderr().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} cases  {msg}") {
            bar.set_style(style);
        }
        Self { processes, bar, failed: RefCell::default(), is_denied: Cell::new(false) }
    }

    /// Sends some failed requests again, and returns whether the sandbox refused a system call.
    fn sandbox_refused_a_call(&self) -> io::Result<bool> {
        const MOST: usize = 3;
        if self.is_denied.get() {
            return Ok(true);
        }
        for request in self.failed.borrow().iter().take(MOST) {
            if self.processes.is_refused_a_call(request)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Bench for BenchWithProgress {
    fn ask(&self, request: &Request) -> io::Result<ProcessEnd> {
        match request {
            Request::Run(case) | Request::RunOnce(case) | Request::Liveness(case, _) => {
                self.bar.set_message(format!(
                    "{} on {}, {}",
                    case.algorithm, case.topology, case.workload
                ));
            }
            Request::Sequence(cases) => {
                self.bar.set_message(format!("{} problems in one process", cases.len()));
            }
            Request::About => {}
        }
        self.bar.inc(1);
        let outcome = self.processes.ask(request)?;
        let reasons: Vec<&str> = match &outcome {
            ProcessEnd::Died(why) | ProcessEnd::Replied { reply: Reply::Refused(why), .. } => {
                vec![why]
            }
            ProcessEnd::Replied { reply: Reply::Run(ran), .. } => {
                let failed = |plan: &&Plan| plan.status == Status::Error.to_string();
                ran.plans.iter().filter(failed).map(|plan| &*plan.reason).collect()
            }
            ProcessEnd::Replied { .. }
            | ProcessEnd::ClosedFiles
            | ProcessEnd::UsedFiles
            | ProcessEnd::Hung(_) => Vec::new(),
        };
        // The C library and Rust have these texts for the errors EPERM and EACCES.
        let denied = ["Operation not permitted", "Permission denied", "PermissionDenied"];
        let is_denied = |why: &&str| denied.iter().any(|text| why.contains(text));
        self.is_denied.set(self.is_denied.get() || reasons.iter().any(is_denied));
        if !reasons.is_empty() {
            self.failed.borrow_mut().push(request.clone());
        }
        Ok(outcome)
    }

    fn limits(&self) -> Limits {
        self.processes.limits()
    }
}

/// Answers one request of [`check`]. This runs in a child process, because the plugin may crash.
pub(crate) fn question(args: &CheckQuestionArgs) -> Result<ExitStatus, Failure> {
    let request: Request = serde_json::from_str(&args.question).map_err(Failure::usage)?;
    let timeout = Duration::try_from_secs_f64(args.timeout).map_err(Failure::usage)?;
    let access =
        FileAccess { plugins: std::slice::from_ref(&args.plugin), readable: &request.inputs() };
    let memory = MemoryLimit::Doubling(args.memory);
    let replies = isolation::begin(memory, !args.no_sandbox, &access).map_err(Failure::output)?;
    // Two plans at the same time can need twice the memory. The parent process raises the limit.
    let two = || {
        if replies.send(&Reply::AtOnce).is_ok() {
            wait_for_double_memory();
        }
    };
    let reply = reply(&args.plugin, &request, timeout, &two);
    if replies.send(&reply).is_err() {
        // The plugin has closed the socket to the parent process, which will end this process.
        loop {
            std::thread::park();
        }
    }
    // The socket stays open: if the plugin crashes the process now, the parent learns the reason.
    std::mem::forget(replies);
    Ok(SUCCESS)
}
