//! The result of `swapmeet optimum`, printed as text and as JSON.

use crate::table;
use serde_json::{Value, json};
use std::fmt::Write as _;
use swapmeet_optimum::certificate::Evidence;
use swapmeet_optimum::optimum::{Bottleneck, Optimum};
use swapmeet_optimum::{Certificate, demand::Demand};
use swapmeet_results::{Record, Status, duration};

/// Algorithms are run only on networks with at most this number of nodes.
pub(super) const MAX_RUN_NODES: u64 = 1024;

/// The optimum of a case.
pub(super) struct Answer {
    pub optimum: Optimum,
    /// The requested width of the interval that contains the optimum, divided by its lower end.
    pub wanted_gap: f64,
    /// The lower end of the interval that contains the optimum, plus the start-ups and latencies
    /// that every schedule has, in µs.
    pub optimum_us: f64,
    /// The duration of the search for the optimum, in seconds.
    pub seconds: f64,
}

/// The results of the algorithms that are compared with the optimum.
pub(super) struct Times {
    /// The rows that have a time, in ascending order of time.
    rows: Vec<Record>,
    /// The algorithms whose cases exceeded the time limit.
    unfinished: Vec<String>,
}

impl Times {
    pub(super) fn of(mut rows: Vec<Record>) -> Self {
        let unfinished = rows.iter().filter(|row| row.status == Status::Timeout);
        let unfinished = unfinished.map(|row| row.algorithm.clone()).collect();
        rows.retain(|row| row.time_us.is_some());
        rows.sort_by(|a, b| {
            let by_time = a.time_us.partial_cmp(&b.time_us).unwrap_or(std::cmp::Ordering::Equal);
            by_time.then_with(|| a.algorithm.cmp(&b.algorithm))
        });
        Self { rows, unfinished }
    }
}

impl Answer {
    /// Returns the lines about the interval that contains the optimum, and about the bottleneck.
    pub(super) fn interval_text(&self) -> String {
        let Optimum { lower_us, upper_us, certificate, .. } = &self.optimum;
        let origin = &certificate.origin;
        let mut text = format!("{}, {} on {}\n", origin.topology, origin.workload, origin.machine);
        let gap = self.optimum.gap() * 100.0;
        let _ = writeln!(
            text,
            "bytes alone take {} to {} (width {gap:.1} %)",
            duration(*lower_us),
            duration(*upper_us)
        );
        if self.optimum.gap() > self.wanted_gap
            && let Some(why) = width_reason(certificate)
        {
            let _ = writeln!(text, "({why})");
        } else if self.optimum.gap() > self.wanted_gap {
            let wanted = self.wanted_gap;
            let _ = writeln!(text, "(wider than --gap {wanted}: the search made no more progress)");
        }
        let _ = writeln!(
            text,
            "with the start-ups and latencies that no schedule avoids: at least {}",
            duration(self.optimum_us)
        );
        let _ = writeln!(text, "bottleneck: {}", self.bottleneck());
        text
    }

    /// Returns a table that compares the times of the algorithms with the optimum.
    pub(super) fn times_text(&self, times: &Times) -> String {
        let mut text = String::new();
        if !times.unfinished.is_empty() {
            let names = times.unfinished.join(", ");
            let _ = writeln!(text, "not finished in time (`--timeout`): {names}");
        }
        if times.rows.is_empty() {
            let _ = writeln!(
                text,
                "no algorithm was run: none supports the case, or there are more than {MAX_RUN_NODES} nodes"
            );
            return text;
        }
        let rows = times.rows.iter().map(|row| {
            let [time, bytes] = self.ratios(row);
            let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |r| format!("{r:.2}"));
            vec![
                row.algorithm.clone(),
                row.time_us.map_or(String::new(), duration),
                ratio(time),
                ratio(bytes),
            ]
        });
        let header = ["algorithm", "time", "time/optimum", "bytes/optimum"];
        text + "\n" + &table::plain(&header, &[1, 2, 3], rows.collect()) + "\n"
    }

    pub(super) fn json(&self, times: &Times) -> Value {
        let Optimum { lower_us, upper_us, bottleneck, certificate } = &self.optimum;
        let origin = &certificate.origin;
        let algorithms: Vec<Value> = times
            .rows
            .iter()
            .map(|row| {
                let [time, bytes] = self.ratios(row);
                json!({
                    "algorithm": row.algorithm, "time_us": row.time_us,
                    "ratio": time, "bytes_ratio": bytes,
                })
            })
            .collect();
        let bottleneck = match bottleneck {
            Bottleneck::Nothing => json!({ "kind": "nothing" }),
            Bottleneck::Ports => json!({ "kind": "ports" }),
            Bottleneck::Links { links, copies } => json!({
                "kind": "links", "count": links.len() as u64 * copies, "links": links,
            }),
        };
        json!({
            "topology": origin.topology, "workload": origin.workload, "machine": origin.machine,
            "seed": origin.seed, "lower_us": lower_us, "upper_us": upper_us,
            "optimum_us": self.optimum_us, "bottleneck": bottleneck, "algorithms": algorithms,
            "unfinished": times.unfinished,
            "seconds": self.seconds,
        })
    }

    /// Returns two ratios for a row. The first is the time of the algorithm divided by the optimum
    /// with start-ups. The second is the time that the algorithm spends on moving bytes, divided by
    /// the optimum without start-ups.
    fn ratios(&self, row: &Record) -> [Option<f64>; 2] {
        let over = |value: Option<f64>, least: f64| Some(value? / least).filter(|_| least > 0.0);
        let bytes = row.transmission_us.zip(row.contention_us).map(|(own, shared)| own + shared);
        [over(row.time_us, self.optimum_us), over(bytes, self.optimum.lower_us)]
    }

    fn bottleneck(&self) -> String {
        /// The maximum number of links that the text lists.
        const NAMED: usize = 12;
        let network = &self.optimum.certificate.network;
        match &self.optimum.bottleneck {
            Bottleneck::Nothing => "none, no data moves".to_owned(),
            Bottleneck::Ports => {
                "the ports of nodes, or the injection of their data into the network".to_owned()
            }
            Bottleneck::Links { links, copies } => {
                let named = links.iter().take(NAMED).map(|(from, to)| format!("{from}-{to}"));
                let named: Vec<String> = named.collect();
                let more = if links.len() > NAMED || *copies > 1 { ", .." } else { "" };
                format!(
                    "{} of {} links: {}{more}",
                    links.len() as u64 * copies,
                    network.link_count(),
                    named.join(", ")
                )
            }
        }
    }
}

/// Returns the reason why the interval can be wide, however long the search takes.
fn width_reason(certificate: &Certificate) -> Option<&'static str> {
    match (&certificate.demand, &certificate.proof) {
        (Demand::SumForAll(_), Evidence::Messages { .. }) => Some(
            "the upper end adds all data at one node and copies the sum from there, piece by piece; other schedules may be faster",
        ),
        (Demand::SumForAll(_), _) => Some(
            "more than 64 nodes: the upper end is a reduce-scatter followed by an allgather; other schedules may be faster",
        ),
        (Demand::Copies(_) | Demand::Sums(_), Evidence::Trees { .. }) => Some(
            "more than 64 nodes: the upper end is the best schedule without ports, slowed down to the speed of the ports; other schedules may be faster",
        ),
        (Demand::Even(_) | Demand::Pairs(_) | Demand::Copies(_) | Demand::Sums(_), _) => None,
    }
}
