//! `swapmeet check`: conformance of one plugin file.

use crate::args::{CheckArgs, CheckQuestionArgs, ReportFormat};
use crate::failure::{Failure, SOME_FAILED};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use swapmeet_check::bench::Processes;
use swapmeet_check::{LADDER, Limits, Question, answer, examine, limit_memory};
use swapmeet_core::topology;

/// Examines a plugin and prints the report.
pub fn check(args: &CheckArgs) -> Result<ExitCode, Failure> {
    for spec in &args.topologies {
        topology::parse(spec).map_err(|e| Failure::Usage(format!("--topology: {e}")))?;
    }
    if !args.plugin.is_file() {
        return Err(Failure::Usage(format!("{}: no such file", args.plugin.display())));
    }
    let own = |e| Failure::Output(format!("examining {}: {e}", args.plugin.display()));
    let bench = Processes {
        program: std::env::current_exe().map_err(own)?,
        plugin: args.plugin.clone(),
        limits: Limits { time: Duration::from_secs_f64(args.timeout), memory: args.memory_limit },
    };
    let mut topologies: Vec<&str> = args.topologies.iter().map(String::as_str).collect();
    if topologies.is_empty() {
        topologies = LADDER.to_vec();
    }
    let report = examine(&bench, &args.plugin.display().to_string(), &topologies).map_err(own)?;
    let text = match args.format {
        ReportFormat::Text => report.to_string(),
        ReportFormat::Json => serde_json::to_string_pretty(&report).map_err(|e| Failure::Output(e.to_string()))?,
    };
    writeln!(std::io::stdout(), "{text}").map_err(|e| Failure::writing("standard output", &e))?;
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::from(SOME_FAILED) })
}

/// The other side of [`check`]: one question, in a process that the plugin may take with it.
pub fn question(args: &CheckQuestionArgs) -> Result<ExitCode, Failure> {
    let question: Question = serde_json::from_str(&args.question).map_err(|e| Failure::Usage(e.to_string()))?;
    let timeout = Duration::try_from_secs_f64(args.timeout).map_err(|e| Failure::Usage(e.to_string()))?;
    limit_memory(args.memory).map_err(|e| Failure::Usage(format!("memory limit: {e}")))?;
    let answer = answer(&args.plugin, &question, timeout);
    let text = serde_json::to_vec(&answer).map_err(|e| Failure::Output(e.to_string()))?;
    std::fs::write(&args.answer, text).map_err(|e| Failure::writing("the answer", &e))?;
    Ok(ExitCode::SUCCESS)
}
