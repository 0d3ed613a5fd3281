use crate::table;
use serde_json::{Value, json};
use std::fmt::Write as _;
use swapmeet_optimum::certificate::Evidence;
use swapmeet_optimum::optimum::{Bottleneck, Optimum};
use swapmeet_optimum::{Certificate, demand::Demand};
use swapmeet_results::{Record, Status, duration};

/// If a network has more nodes than this, no algorithms run on it.
pub(super) const MAX_RUN_NODES: u64 = 1024;

pub(super) struct Answer {
    pub optimum: Optimum,
    /// The requested width of the interval that contains the optimum, relative to its lower end.
    pub wanted_gap: f64,
    /// The optimum plus the start-ups and latencies that every schedule has, in µs.
    pub optimum_us: f64,
    pub seconds: f64,
    /// The algorithm whose time for moving bytes replaced the upper end of the interval, and this
    /// time in µs. `None` if no algorithm was below the upper end that the search found.
    pub schedule: Option<(String, f64)>,
}

pub(super) struct Times {
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
    pub(super) fn is_wide(&self) -> bool {
        self.optimum.gap() > self.wanted_gap
    }

    /// Lowers the upper end of the interval to the time of a verified schedule that is faster.
    pub(super) fn use_schedules(&mut self, times: &Times) {
        // If the time for moving bytes is unknown, the total time is used, which is not smaller.
        let enough = |row: &Record| bytes_us(row).or(row.time_us);
        let of_row = |row: &Record| Some((row.algorithm.clone(), enough(row)?));
        let schedules = times.rows.iter().filter_map(of_row);
        let fastest = schedules.min_by(|a, b| a.1.total_cmp(&b.1));
        // Rounding can make the time of an optimal schedule smaller than the lower end.
        let fastest = fastest.map(|(name, us)| (name, us.max(self.optimum.lower_us)));
        self.schedule = fastest.filter(|(_, us)| *us < self.optimum.upper_us);
    }

    fn upper_us(&self) -> f64 {
        self.schedule.as_ref().map_or(self.optimum.upper_us, |(_, us)| *us)
    }

    fn gap(&self) -> f64 {
        match &self.schedule {
            Some((_, us)) if self.optimum.lower_us > 0.0 => us / self.optimum.lower_us - 1.0,
            Some(_) | None => self.optimum.gap(),
        }
    }

    pub(super) fn interval_text(&self) -> String {
        let Optimum { lower_us, certificate, .. } = &self.optimum;
        let origin = &certificate.origin;
        let mut text = format!("{}, {} on {}\n", origin.topology, origin.workload, origin.machine);
        let _ = writeln!(
            text,
            "bytes alone take {} to {} (width {:.1} %)",
            duration(*lower_us),
            duration(self.upper_us()),
            self.gap() * 100.0
        );
        if let Some((algorithm, _)) = &self.schedule {
            let found = duration(self.optimum.upper_us);
            let _ = writeln!(
                text,
                "(the upper end is the verified schedule of {algorithm}; that of the search is {found})"
            );
        } else if self.is_wide()
            && let Some(why) = width_reason(certificate)
        {
            let _ = writeln!(text, "({why})");
        } else if self.is_wide() {
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
        let names = table::marked(&times.rows);
        let has_mark = names.iter().any(|name| name.ends_with('†'));
        let rows = times.rows.iter().zip(names).map(|(row, name)| {
            let [time, bytes] = self.ratios(row);
            let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |r| format!("{r:.2}"));
            vec![name, row.time_us.map_or(String::new(), duration), ratio(time), ratio(bytes)]
        });
        let header = ["algorithm", "time", "time/optimum", "bytes/optimum"];
        text = text + "\n" + &table::plain(&header, &[1, 2, 3], rows.collect()) + "\n";
        if has_mark {
            let _ = writeln!(text, "\n{}", table::UNCHARGED);
        }
        if times.rows.iter().any(has_own_clocks) {
            let _ = writeln!(text, "\n{NO_BYTES}");
        }
        text
    }

    pub(super) fn json(&self, times: &Times) -> Value {
        let Optimum { lower_us, bottleneck, certificate, .. } = &self.optimum;
        let upper_us = self.upper_us();
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
            "upper_from": self.schedule.as_ref().map(|(algorithm, _)| algorithm),
            "seconds": self.seconds,
        })
    }

    /// Returns total time / optimum with start-ups, and time for bytes / optimum without.
    fn ratios(&self, row: &Record) -> [Option<f64>; 2] {
        let over = |value: Option<f64>, least: f64| Some(value? / least).filter(|_| least > 0.0);
        [over(row.time_us, self.optimum_us), over(bytes_us(row), self.optimum.lower_us)]
    }

    fn bottleneck(&self) -> String {
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

const NO_BYTES: &str = "bytes/optimum is empty for models in which each rank has its own clock: the bytes of some messages move during the start-ups of others, so no part of the time is that of the bytes alone";

/// Whether each rank has its own clock. If so, parts of the time are those of one message chain.
fn has_own_clocks(row: &Record) -> bool {
    row.first_rank_us.is_some()
}

/// Returns the time for moving bytes in µs. If each rank has its own clock, returns `None`, because
/// the parts of the time describe only the chain of messages that ends last.
fn bytes_us(row: &Record) -> Option<f64> {
    if has_own_clocks(row) {
        return None;
    }
    row.transmission_us.zip(row.contention_us).map(|(own, shared)| own + shared)
}

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
