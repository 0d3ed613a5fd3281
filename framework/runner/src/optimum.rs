//! The optimum of cases: a lower bound on the time of every schedule. [`swapmeet_optimum`] finds an
//! interval that contains the least possible time for moving the bytes, with a certificate. The
//! optimum is the lower end of this interval, plus the start-up times and latencies that no
//! schedule can avoid. [`Optima`] searches for the interval of a network and a demand only once.
//! The ends of the interval are bytes on a link of bandwidth 1. So they hold for every block size,
//! and for all machines with the same ratio between the speeds of links and ports.

use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use swapmeet_core::cost::bound::Traffic;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::model::NetworkRates;
use swapmeet_core::network::topology::Network;
use swapmeet_core::simulation::Task;
use swapmeet_optimum::optimum::{problem, solve_problem};
use swapmeet_optimum::{DEFAULT_GAP, MAX_PAIRS, MachineTask, OptimumError, Options};
use swapmeet_workloads::Workload;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// The lower end of the interval, plus unavoidable start-up times and latencies, in µs.
    pub optimum_us: f64,
    /// The relative width of the interval: the upper end divided by the lower end, minus 1, both
    /// without start-up times and latencies.
    pub gap: f64,
}

/// The reason why a machine without [`Machine::network_rates`] has no optimum.
pub const NO_LINKS: &str =
    "its model has no links, or its times depend on noise or background traffic";

/// The optimum of a case, or the reason why it is unknown. `None` if no optimum is requested, or if
/// the case cannot have one.
pub type CaseOptimum = Option<Result<Optimum, String>>;

/// The connection of a search to its caller: a flag that ends it, and a function for its progress.
pub struct Search<'a> {
    /// Another thread sets this flag if the search must end.
    pub stop: &'a AtomicBool,
    /// A function that is called with a line about the progress of a long search.
    pub report: &'a mut dyn FnMut(String),
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    lower: f64,
    gap: f64,
}

/// The result of a search, or `None` until the search has ended. The lock prevents a second search
/// for the same interval.
type Slot = Mutex<Option<Result<Interval, String>>>;

type Key = [u8; 32];

#[derive(Debug, Default)]
pub struct Optima {
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
}

impl Optima {
    /// Returns the optimum for each pair of a machine and a unit of load in bytes. `seed`
    /// determines random block sizes.
    pub fn of(
        &self,
        (topology, workload, seed): (&Arc<Network>, &Workload, u64),
        machines: &[(&Machine, f64)],
        search: &mut Search<'_>,
    ) -> Vec<CaseOptimum> {
        let rates: Vec<Option<NetworkRates>> =
            machines.iter().map(|(machine, _)| machine.network_rates()).collect();
        if rates.iter().all(Option::is_none) {
            return vec![None; machines.len()];
        }
        let known = task(topology, workload, seed).map(|task| (Traffic::of(&task), task));
        let name = format!("{}, {workload}", topology.spec());
        let mut intervals: Vec<(NetworkRates, Result<Interval, String>)> = Vec::new();
        let mut interval = |task: &Task, rates: NetworkRates| {
            let rates = relative(rates)?;
            if let Some((_, interval)) = intervals.iter().find(|(other, _)| *other == rates) {
                return interval.clone();
            }
            intervals.push((rates, self.interval(task, rates, &name, search)));
            intervals[intervals.len() - 1].1.clone()
        };
        let of_machine = |((machine, unit_bytes), rates): (&(&Machine, f64), &Option<_>)| {
            let rates = (*rates)?;
            Some(known.as_ref().map_err(String::clone).and_then(|(traffic, task)| {
                let Interval { lower, gap } = interval(task, rates)?;
                let traffic = traffic.in_bytes(*unit_bytes).with_link_load(lower * unit_bytes);
                let bound = machine.lower_bound(topology.as_ref(), &traffic);
                Ok(Optimum { optimum_us: bound.total_us(), gap })
            }))
        };
        machines.iter().zip(&rates).map(of_machine).collect()
    }

    fn interval(
        &self,
        task: &Task,
        rates: NetworkRates,
        name: &str,
        search: &mut Search<'_>,
    ) -> Result<Interval, String> {
        const PAUSE: Duration = Duration::from_secs(5);
        let problem =
            problem(&MachineTask { task, unit_bytes: 1.0, rates }).map_err(|e| e.to_string())?;
        let key = digest(&problem).map_err(|e| e.to_string())?;
        let slots = || self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(slots().entry(key).or_default());
        let mut known = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return known.clone();
        }
        let mut last = Instant::now();
        let progress = &mut |lower: f64, upper: f64| {
            if last.elapsed() >= PAUSE {
                last = Instant::now();
                let width = (upper / lower - 1.0) * 100.0;
                let width = if width.is_finite() {
                    format!(": {width:.1} % so far")
                } else {
                    String::new()
                };
                (search.report)(format!("searching for the optimum of {name}{width}"));
            }
            !search.stop.load(Ordering::Relaxed)
        };
        let solved = solve_problem(problem, &mut Options { gap: DEFAULT_GAP, progress });
        let was_stopped = solved == Err(OptimumError::Stopped);
        let interval = solved
            .map(|optimum| Interval { lower: optimum.lower_us, gap: optimum.gap() })
            .map_err(|e| e.to_string());
        if !was_stopped {
            *known = Some(interval.clone());
        }
        interval
    }
}

fn task(topology: &Arc<Network>, workload: &Workload, seed: u64) -> Result<Task, String> {
    let pairs = topology.nodes().saturating_mul(topology.nodes());
    let lists_pairs = workload.collective().connects_all_pairs() && !workload.counts_blocks();
    if lists_pairs && pairs > MAX_PAIRS {
        return Err(OptimumError::TooManyPairs { pairs }.to_string());
    }
    workload.task(topology, seed)
}

/// Divides all rates by the rate of links, so that a byte takes 1 µs on a link.
fn relative(rates: NetworkRates) -> Result<NetworkRates, String> {
    let link = rates.link_byte_us;
    if link <= 0.0 {
        return Err(OptimumError::NoTime.to_string());
    }
    Ok(NetworkRates {
        link_byte_us: 1.0,
        ports: rates.ports.map(|mut ports| {
            ports.byte_us /= link;
            ports
        }),
        injection_byte_us: rates.injection_byte_us / link,
    })
}

fn digest(value: &impl Serialize) -> serde_json::Result<Key> {
    struct Hasher(Sha256);
    impl io::Write for Hasher {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hasher = Hasher(Sha256::new());
    serde_json::to_writer(&mut hasher, value)?;
    Ok(hasher.0.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    fn found(
        optima: &Optima,
        topology: &str,
        workload: &str,
        machines: &[&str],
    ) -> Vec<CaseOptimum> {
        let machines: Vec<Machine> =
            machines.iter().map(|spec| Machine::parse(spec).unwrap()).collect();
        let workload = Workload::parse(workload).unwrap();
        let unit = if workload.counts_blocks() { workload.block_bytes() as f64 } else { 1.0 };
        let machines: Vec<(&Machine, f64)> = machines.iter().map(|m| (m, unit)).collect();
        let (stop, report) = (AtomicBool::new(false), &mut |_| ());
        let topology = topology::parse(topology).unwrap();
        optima.of((&topology, &workload, 42), &machines, &mut Search { stop: &stop, report })
    }

    /// By the closed form of Suh & Shin (1998), section 3.1.4, the busiest link of a mesh of n
    /// nodes carries `n N1 / 4` blocks, where `N1` is the longest side. With `ports=all`, one
    /// start-up time is enough.
    #[test]
    fn one_search_serves_all_sizes_and_speeds() {
        let optima = Optima::default();
        for (bytes, machine, byte_us) in [
            (64.0, "free:startup_us=5,byte_us=1,ports=all", 1.0),
            (8.0, "free:startup_us=5,byte_us=0.3,ports=all", 0.3),
        ] {
            let workload = format!("uniform:{bytes}");
            let all = found(&optima, "mesh:8x8", &workload, &[machine]);
            let Some(Ok(Optimum { optimum_us, gap })) = all[0] else { panic!("{all:?}") };
            let bisection = 128.0 * bytes * byte_us;
            assert!(optimum_us <= 5.0 + bisection + 1e-6, "{optimum_us}");
            assert!(optimum_us >= 5.0 + bisection * 0.98, "{optimum_us}");
            assert!((0.0..=0.02).contains(&gap), "{gap}");
        }
        let count = || optima.slots.lock().unwrap().len();
        assert_eq!(count(), 1);
        // If the ratio between the speeds of ports and links differs, another interval is searched.
        found(&optima, "mesh:8x8", "uniform:8", &["free:byte_us=1,injection_byte_us=1,ports=all"]);
        found(&optima, "mesh:8x4", "uniform:8", &["free:byte_us=1,ports=all"]);
        assert_eq!(count(), 3);
    }

    #[test]
    fn models_without_links_have_no_optimum() {
        let machines = [
            "free:model=flat,byte_us=1",
            "free:model=loggp,byte_us=1",
            "free:model=fluid,byte_us=1,noise=0.1",
            "free",
            "free:byte_us=1",
        ];
        let all = found(&Optima::default(), "ring:4", "uniform:8", &machines);
        assert_eq!(all[..3], [None, None, None]);
        assert_eq!(
            all[3],
            Some(Err("bytes take no time on this machine: expected byte_us above 0".to_owned()))
        );
        assert!(matches!(all[4], Some(Ok(_))));
        let large = found(
            &Optima::default(),
            "mesh:60x60",
            "irregular:dist=lognormal,mean=64,cv=2",
            &machines[4..],
        );
        assert!(matches!(&large[0], Some(Err(why)) if why.starts_with("12960000 pairs of nodes")));
    }

    #[test]
    fn a_stopped_search_is_not_remembered() {
        let optima = Optima::default();
        let topology = topology::parse("mesh:4x4").unwrap();
        let (workload, machine) =
            (Workload::parse("uniform:8").unwrap(), Machine::parse("free:byte_us=1").unwrap());
        let found = |stop: bool| {
            let (stop, report) = (AtomicBool::new(stop), &mut |_| ());
            let search = &mut Search { stop: &stop, report };
            optima.of((&topology, &workload, 42), &[(&machine, 8.0)], search).remove(0)
        };
        assert_eq!(found(true), Some(Err("the search was stopped".to_owned())));
        assert!(matches!(found(false), Some(Ok(_))));
    }
}
