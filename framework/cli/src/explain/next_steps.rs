//! Suggestions to the user of what to check if the verdict is low.

use super::log::Log;
use super::prediction::{Place, bus_factor, library_times};
use super::{EXPECTED, LARGE, LOW, Line};
use crate::args::PluginArgs;
use crate::failure::Failure;
use swapmeet_core::spec::format_size;
use swapmeet_results::duration;

pub(super) fn counted(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

pub(super) struct Case<'a> {
    pub log: &'a Log,
    pub collective: &'a str,
    pub place: &'a Place,
    pub algorithm: Option<&'a str>,
    pub plugins: &'a PluginArgs,
}

impl Case<'_> {
    /// If the largest size is low, returns suggestions. Returns `None` after an interrupt.
    pub(super) fn after_low(&self, lines: &[Line]) -> Result<Option<Vec<String>>, Failure> {
        let large: Vec<&Line> = lines.iter().filter(|line| line.bytes >= LARGE).collect();
        let Some(line) = large.last().filter(|line| line.ratio() < LOW) else {
            return Ok(Some(Vec::new()));
        };
        let lost = line.measured_us - line.prediction.us;
        let mut remarks = vec![format!(
            "lost at {}: {} of each call, which takes {:.1} times as long as expected",
            format_size(line.bytes),
            duration(lost),
            1.0 / line.ratio()
        )];
        let is_one_domain = self.place.communicator().is_some_and(|(_, domains, _)| domains == 1);
        if is_one_domain {
            remarks.push(
                "next: all ranks are in one domain: check NVLink or xGMI between the GPUs (`nvidia-smi topo -m`, `nvidia-smi nvlink --status`, `rocm-smi --showtopo`)"
                    .to_owned(),
            );
        } else {
            let Some(ports) = self.fewer_ports(&large)? else { return Ok(None) };
            remarks.extend(ports);
            remarks.extend(self.named_ports());
            if self.log.uses_sockets {
                remarks.push(
                    "the log has `via NET/Socket`: NCCL sends through sockets instead of RDMA"
                        .to_owned(),
                );
            }
        }
        if self.log.tuning.is_none() {
            remarks.push(
                "for a second opinion, explain a log of a run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING (docs/gpu.md)"
                    .to_owned(),
            );
        }
        Ok(Some(remarks))
    }

    fn with_ports(&self, nics: u64, sizes: &[u64]) -> Result<Option<Vec<f64>>, Failure> {
        let place = self.place.with_nics(nics);
        library_times(&place, self.collective, sizes, self.algorithm, self.plugins)
    }

    /// Determines with how many network ports the model predicts the times of the two largest
    /// sizes, and returns a suggestion. Returns the outer `None` after an interrupt.
    fn fewer_ports(&self, large: &[&Line]) -> Result<Option<Option<String>>, Failure> {
        let (Some(nics), None) = (self.place.nics(), &self.place.split) else {
            return Ok(Some(None));
        };
        let physical = self.place.system.map_or(1, |(system, ..)| system.physical_ports);
        let largest = &large[large.len().saturating_sub(2)..];
        let sizes: Vec<u64> = largest.iter().map(|line| line.bytes).collect();
        let mut best: Option<(f64, u64)> = None;
        let mut of_one = None;
        let fewer = std::iter::successors(Some(1), |nics| Some(nics * 2));
        for ports in fewer.take_while(|ports| *ports < nics) {
            let Some(times) = self.with_ports(ports, &sizes)? else { return Ok(None) };
            let ratios: Vec<f64> =
                times.iter().zip(largest).map(|(us, line)| us / line.measured_us).collect();
            if ports == 1 {
                of_one = ratios.last().copied();
            }
            let distance = ratios.iter().map(|ratio| ratio.ln().abs()).fold(0.0, f64::max);
            let agrees = ratios.iter().all(|ratio| (EXPECTED[0]..=EXPECTED[1]).contains(ratio));
            if agrees && best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, ports));
            }
        }
        let all = nics * physical;
        Ok(Some(match (best, of_one) {
            (Some((_, ports)), _) => Some(format!(
                "next: this is what {} of the {all} ports of a domain would give: check that all are used (NCCL_IB_HCA, and the lines NET/ of NCCL_DEBUG=INFO)",
                ports * physical
            )),
            (None, Some(ratio)) if ratio < EXPECTED[0] => Some(format!(
                "next: even {} of the {all} of a domain would be {:.1} times as fast: check that RDMA and GPUDirect are used (`NET/IB` and `GDRDMA` in the lines of NCCL_DEBUG=INFO)",
                counted(physical, "port"),
                1.0 / ratio
            )),
            (None, Some(_)) => Some(format!(
                "next: no smaller number of the {all} ports of a domain explains the time: check each port (`ib_write_bw`) and the switches between the hosts"
            )),
            (None, None) => Some(
                "next: check the port of each host (`ib_write_bw`), and that RDMA and GPUDirect are used (`NET/IB` and `GDRDMA` in the lines of NCCL_DEBUG=INFO)"
                    .to_owned(),
            ),
        }))
    }

    fn named_ports(&self) -> Option<String> {
        let named = self.log.named_ports.as_ref()?.len() as u64;
        let (system, _, gpus) = self.place.system?;
        let of_host = self.place.nics()? * gpus.min(system.gpus_per_host) / gpus;
        let of_host = (of_host * system.physical_ports).max(1);
        (named != of_host).then(|| {
            format!(
                "NCCL_IB_HCA names {}, but the GPUs of a host have {of_host} in {}",
                counted(named, "port"),
                self.place.name
            )
        })
    }
}

pub(super) struct MorePorts {
    /// The expected times in µs if each GPU uses only one port.
    pub one_port_us: Vec<f64>,
    pub remark: String,
}

/// If a domain has more network ports than GPUs, predicts the times with one port for each GPU,
/// because a GPU normally reaches only one port at its full rate. Returns the outer `None` after an
/// interrupt.
pub(super) fn more_ports(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    algorithm: Option<&str>,
    plugins: &PluginArgs,
) -> Result<Option<Option<MorePorts>>, Failure> {
    let (Some((system, domains, gpus)), Some(nics), None) =
        (place.system, place.nics(), &place.split)
    else {
        return Ok(Some(None));
    };
    if nics <= gpus || domains == 1 {
        return Ok(Some(None));
    }
    let times =
        |place: &Place, sizes: &[u64]| library_times(place, collective, sizes, algorithm, plugins);
    let Some(one_port_us) = times(&place.with_nics(gpus), sizes)? else { return Ok(None) };
    let (Some(bytes), Some(us)) = (sizes.last(), one_port_us.last()) else { return Ok(Some(None)) };
    let bus = |us: f64, ranks: u64| *bytes as f64 / us / 1e3 * bus_factor(collective, ranks);
    let more = nics.min(system.gpus_per_domain);
    let mut remark = format!(
        "a domain has {} and {}: a GPU normally reaches one port at its full rate (PCIe), which gives a busbw of {:.1} GB/s at {}",
        counted(gpus, "GPU"),
        counted(nics, "port"),
        bus(*us, place.ranks),
        format_size(*bytes)
    );
    let wider = Place::of_system(&format!("{}:{domains}x{more},nics={nics}", system.name))?;
    let wider = Place { machine: place.machine.clone(), ..wider };
    let Some(wider_us) = times(&wider, std::slice::from_ref(bytes))? else { return Ok(None) };
    if let Some(us) = wider_us.first() {
        remark += &format!(
            "; {} in each domain would give {:.1} GB/s",
            counted(more, "GPU"),
            bus(*us, wider.ranks)
        );
    }
    Ok(Some(Some(MorePorts { one_port_us, remark })))
}
