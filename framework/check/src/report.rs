use crate::request::About;
use serde::Serialize;
use std::fmt;
use swapmeet_core::delivery::fault::Count;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Fault,
    /// The plugin works, but the user should check whether this property is intended.
    Remark,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// The name of the test, such as `tables`, `delivers`, `symmetry`, `repeats` or `quiet`.
    pub test: &'static str,
    /// The algorithm; empty if the finding is about the whole plugin.
    pub algorithm: String,
    /// The topology, and how the case differs from the plain case.
    pub place: String,
    /// The collective and the block sizes; empty if the finding is not about a single case.
    pub workload: String,
    pub what: String,
}

impl Finding {
    /// Returns a fault of an algorithm. If `algorithm` is empty, it is a fault of the whole plugin.
    pub fn fault(test: &'static str, algorithm: &str, what: String) -> Self {
        let (algorithm, place, workload) = (algorithm.to_owned(), String::new(), String::new());
        Self { severity: Severity::Fault, test, algorithm, place, workload, what }
    }

    /// Returns a remark about an algorithm. If `algorithm` is empty, it is about the whole plugin.
    pub fn remark(test: &'static str, algorithm: &str, what: String) -> Self {
        Self { severity: Severity::Remark, ..Self::fault(test, algorithm, what) }
    }

    pub(crate) fn prints(algorithm: &str, line: &str) -> Self {
        let what =
            format!("prints on standard output: `{line}`; the host's log function is for that");
        Self::remark("quiet", algorithm, what)
    }

    pub(crate) fn at(self, place: &str, workload: &str) -> Self {
        Self { place: place.to_owned(), workload: workload.to_owned(), ..self }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AlgorithmReport {
    /// The algorithm with the user's parameters.
    pub algorithm: String,
    pub collectives: Vec<&'static str>,
    pub cases: u64,
    /// The number of cases in which each block was traced to its destination, or all bytes were.
    pub verified: u64,
    /// The number of verified cases whose schedules count bytes instead of blocks.
    pub amounts: u64,
    /// The number of cases with few nodes in which the algorithm declares a symmetry.
    pub symmetric: u64,
    pub unsupported: u64,
    pub most_nodes: u64,
    /// The number of ports that the algorithm declares; 0 if it declares none.
    pub ports_claimed: u64,
    /// The largest number of messages that a node sends or receives in one step, over all cases.
    pub ports_used: u64,
    /// The run time of the slowest plan in milliseconds, and its topology.
    pub slowest: (f64, String),
    /// The largest amount of memory that a plan needed, in bytes, and its topology.
    #[serde(rename = "fattest")]
    pub peak_memory: (u64, String),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub file: String,
    pub about: Option<About>,
    pub algorithms: Vec<AlgorithmReport>,
    pub findings: Vec<Finding>,
}

impl Report {
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Fault)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.about {
            Some(a) => writeln!(
                f,
                "{} {}, plugin ABI {}.{}, {}",
                a.name,
                a.version,
                a.abi.0,
                a.abi.1,
                or(&a.licence, "no licence")
            )?,
            None => writeln!(f, "{}", self.file)?,
        }
        self.findings_of(f, "")?;
        // Findings about the entry of an algorithm in the plugin's table have its name without
        // parameters. They are listed here if the algorithm was examined under no such name, for
        // example because the user gave parameters.
        for name in self.about.iter().flat_map(|about| &about.algorithms).map(|a| &a.name) {
            if self.algorithms.iter().all(|examined| examined.algorithm != *name) {
                self.findings_of(f, name)?;
            }
        }
        for examined in &self.algorithms {
            write!(f, "\n{examined}")?;
            self.findings_of(f, &examined.algorithm)?;
        }
        let count =
            |severity| self.findings.iter().filter(|f| f.severity == severity).count() as u64;
        let (faults, remarks) = (count(Severity::Fault), count(Severity::Remark));
        let verdict = if self.passed() { "passed" } else { "failed" };
        write!(f, "\n{verdict}: {}, {}", Count(faults, "fault"), Count(remarks, "remark"))
    }
}

impl Report {
    /// Lists the findings about an algorithm, but only the first few of many similar ones.
    fn findings_of(&self, f: &mut fmt::Formatter<'_>, algorithm: &str) -> fmt::Result {
        let mut listed: Vec<&Finding> = Vec::new();
        let all = || self.findings.iter().filter(|finding| finding.algorithm == algorithm);
        for finding in all() {
            let alike =
                |other: &&Finding| (other.severity, other.test) == (finding.severity, finding.test);
            if listed.iter().any(alike) {
                continue;
            }
            listed.push(finding);
            const ENOUGH: usize = 3;
            for same in all().filter(alike).take(ENOUGH) {
                let word = if same.severity == Severity::Fault { "FAULT " } else { "remark" };
                let about: Vec<&str> = [&same.place, &same.workload].map(String::as_str).into();
                let about: Vec<&str> = about.into_iter().filter(|text| !text.is_empty()).collect();
                let place = if about.is_empty() {
                    String::new()
                } else {
                    format!("{}: ", about.join(", "))
                };
                writeln!(f, "  {word}  {}: {place}{}", same.test, same.what)?;
            }
            let more = all().filter(alike).count().saturating_sub(ENOUGH);
            if more > 0 {
                writeln!(f, "          {}: and {more} more", finding.test)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for AlgorithmReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.algorithm, self.collectives.join(", "))?;
        let failed = self.cases - self.verified - self.unsupported;
        write!(f, "  verified  {} of {} cases", self.verified, self.cases)?;
        if self.verified > 0 {
            let what = match self.amounts {
                0 => "every block".to_owned(),
                all if all == self.verified => "every byte of amounts".to_owned(),
                some => format!("every block, in {some} every byte of amounts"),
            };
            write!(f, ", {what}, up to {} nodes", self.most_nodes)?;
        }
        if self.unsupported > 0 {
            write!(f, "; {} refused as unsupported", self.unsupported)?;
        }
        if failed > 0 {
            write!(f, "; {failed} failed")?;
        }
        let claimed = match self.ports_claimed {
            0 => "none claimed".to_owned(),
            u64::MAX => "all claimed".to_owned(),
            n => format!("{n} claimed"),
        };
        let used = if self.verified > 0 {
            format!("{} used at most", self.ports_used)
        } else {
            "not measured".to_owned()
        };
        writeln!(f, "\n  ports     {claimed}, {used}")?;
        if self.symmetric > 0 {
            writeln!(
                f,
                "  symmetry  claimed, compared with the plan for all nodes in {}",
                Count(self.symmetric, "case")
            )?;
        }
        if !self.slowest.1.is_empty() {
            writeln!(f, "  time      {:.1} ms at most, on {}", self.slowest.0, self.slowest.1)?;
        }
        if !self.peak_memory.1.is_empty() {
            writeln!(
                f,
                "  memory    {:.1} MiB at most, on {}",
                self.peak_memory.0 as f64 / f64::from(1 << 20),
                self.peak_memory.1
            )?;
        }
        Ok(())
    }
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_findings_are_listed_three_times() {
        let examined = AlgorithmReport {
            algorithm: "one".to_owned(),
            collectives: vec!["alltoall"],
            cases: 9,
            verified: 3,
            amounts: 0,
            symmetric: 2,
            unsupported: 1,
            most_nodes: 64,
            ports_claimed: 1,
            ports_used: 1,
            slowest: (12.34, "ring:64".to_owned()),
            peak_memory: (1 << 20, "ring:64".to_owned()),
        };
        let fault = |test, what: &str| Finding::fault(test, "one", what.to_owned());
        let lost = ["ring:3", "ring:5", "ring:7", "ring:9", "ring:11"];
        let mut findings: Vec<Finding> =
            lost.iter().map(|place| fault("delivers", "invalid: lost").at(place, "")).collect();
        findings.insert(0, Finding::remark("tables", "", "no licence".to_owned()));
        findings.push(fault("ports", "2 messages").at("ring:3", ""));
        let report =
            Report { file: "lib.so".to_owned(), about: None, algorithms: vec![examined], findings };
        assert!(!report.passed());
        let expected = "\
lib.so
  remark  tables: no licence

one (alltoall)
  verified  3 of 9 cases, every block, up to 64 nodes; 1 refused as unsupported; 5 failed
  ports     1 claimed, 1 used at most
  symmetry  claimed, compared with the plan for all nodes in 2 cases
  time      12.3 ms at most, on ring:64
  memory    1.0 MiB at most, on ring:64
  FAULT   delivers: ring:3: invalid: lost
  FAULT   delivers: ring:5: invalid: lost
  FAULT   delivers: ring:7: invalid: lost
          delivers: and 2 more
  FAULT   ports: ring:3: 2 messages

failed: 6 faults, 1 remark";
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn values_that_were_not_measured_are_omitted() {
        let mut examined = AlgorithmReport {
            algorithm: "one".to_owned(),
            cases: 2,
            ports_claimed: 1,
            ..AlgorithmReport::default()
        };
        assert_eq!(
            examined.to_string(),
            "one ()\n  verified  0 of 2 cases; 2 failed\n  ports     1 claimed, not measured\n"
        );
        (examined.verified, examined.amounts, examined.ports_used, examined.most_nodes) =
            (2, 2, 1, 9);
        assert_eq!(
            examined.to_string(),
            "one ()\n  verified  2 of 2 cases, every byte of amounts, up to 9 nodes\n  ports     1 claimed, 1 used at most\n"
        );
    }
}
