//! Systems: named clusters of GPUs. The spec of a system stands for a topology and a machine:
//! `h100-ib:4x8` is four computers of eight GPUs each.
//!
//! A *domain* is a set of GPUs that are joined by NVLink or xGMI: a computer, or a rack of GB200.
//! All systems have the values of the preset `nccl`, and the bandwidths of their data sheets. Two
//! values are fitted to measurements: the least time of a collective (`floor_us`), and the factor
//! of the start-up times of messages between domains (`fabric_factor`).

mod library;

pub use library::{COUNTERPARTS, Counterpart, LibraryAlgorithm};

use crate::cost::machine::Machine;
use crate::spec::{Arg, Spec, SpecError};

/// A kind of cluster.
#[derive(Debug)]
pub struct System {
    /// The name, as in a system's spec.
    pub name: &'static str,
    /// A description of the computers and their network.
    pub title: &'static str,
    /// The GPUs of a computer.
    pub gpus_per_host: u64,
    /// The network ports of a computer.
    pub ports_per_host: u64,
    /// The largest number of GPUs of a domain.
    pub gpus_per_domain: u64,
    /// The bandwidth between a GPU and its domain, in each direction, in GB/s (data sheet).
    pub inside_gbps: f64,
    /// The bandwidth of a network port, in each direction, in GB/s (data sheet).
    pub port_gbps: f64,
    /// The number of physical ports that form a network port. For example, two of 400 Gb/s can form
    /// one of 800 Gb/s.
    pub physical_ports: u64,
    /// The fabric between domains.
    pub fabric: Fabric,
    /// The least time of a collective within a domain, and of one between domains, in µs.
    pub floor_us: [f64; 2],
    /// The published measurements of the system, or `data sheet only`.
    pub measured: &'static str,
}

/// A fabric between domains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fabric {
    /// InfiniBand.
    InfiniBand,
    /// RDMA over Converged Ethernet.
    Roce,
    /// Elastic Fabric Adapter of AWS.
    Efa,
    /// GPUDirect-TCPXO of Google.
    Tcpxo,
}

impl Fabric {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::InfiniBand => "InfiniBand",
            Self::Roce => "RoCE",
            Self::Efa => "EFA",
            Self::Tcpxo => "TCPXO",
        }
    }

    /// Returns the factor by which start-up times of messages between domains are multiplied
    /// (`fabric_factor`).
    pub fn factor(self) -> f64 {
        match self {
            Self::InfiniBand => 0.4,
            Self::Roce => 1.0,
            Self::Efa => 2.0,
            Self::Tcpxo => 4.0,
        }
    }
}

/// The word in [`System::measured`] of a system without measurements.
pub const DATA_SHEET_ONLY: &str = "data sheet only";

/// The fractions of the data sheet's bandwidths that large messages reach with the protocol Simple,
/// first within a domain and then between domains. They are fitted to all systems together.
pub const EFFICIENCY: [f64; 2] = [0.77, 0.98];

/// The topology and the machine that a spec of a system stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Expanded {
    /// The spec of the topology.
    pub topology: String,
    /// The spec of the machine, in canonical form.
    pub machine: String,
}

/// Returns all systems.
pub fn systems() -> &'static [System] {
    SYSTEMS
}

impl System {
    fn ports(&self, gpus: u64) -> u64 {
        (gpus * self.ports_per_host).div_ceil(self.gpus_per_host)
    }

    /// Returns the topology of `domains` domains with `gpus` GPUs each.
    pub fn topology(&self, domains: u64, gpus: u64) -> String {
        self.topology_with(domains, gpus, self.ports(gpus))
    }

    /// Returns the topology of `domains` domains with `gpus` GPUs and `nics` network ports each.
    pub fn topology_with(&self, domains: u64, gpus: u64, nics: u64) -> String {
        let [inside, outside] = [self.inside_gbps, self.port_gbps];
        let inside = rounded(inside * EFFICIENCY[0] / (outside * EFFICIENCY[1]));
        let reduces = if self.reduces_in_switch() && gpus > 1 { ",reduce=switch" } else { "" };
        format!("groups:{domains}x{gpus},inside={inside},nics={nics}{reduces}")
    }

    /// Returns the machine of `domains` domains.
    pub fn machine(&self, domains: u64) -> String {
        let byte_us = rounded(1.0 / (self.port_gbps * EFFICIENCY[1] * 1e3));
        let floor_us = self.floor_us[usize::from(domains > 1)];
        format!("nccl:floor_us={floor_us},fabric_factor={},byte_us={byte_us}", self.fabric.factor())
    }

    /// Returns the spec of two domains of the largest size.
    pub fn example(&self) -> String {
        format!("{}:2x{}", self.name, self.gpus_per_domain)
    }
}

fn rounded(value: f64) -> f64 {
    let scale = 10_f64.powi(3 - value.log10().floor() as i32);
    (value * scale).round() / scale
}

/// Returns the topology and the machine that a system's spec stands for. A spec consists of the
/// name, the number of domains, and the number of GPUs of each domain. Then may follow parameters
/// of the machine, the number of network ports of a domain (`nics=`), and the axes of ranks
/// (`mesh=`).
///
/// ```
/// let system = swapmeet_core::system::expand("h100-ib:4x8,floor_us=30")?;
/// assert_eq!(system.topology, "groups:4x8,inside=7.071,nics=8,reduce=switch");
/// assert_eq!(system.machine, "nccl:fabric_factor=0.4,byte_us=0.00002041,floor_us=30");
/// let system = swapmeet_core::system::expand("h100-ib:4x8,mesh=dp:4/tp:8")?;
/// assert_eq!(system.topology, "groups:4x8,inside=7.071,nics=8,reduce=switch,mesh=dp:4/tp:8");
/// let system = swapmeet_core::system::expand("h100-ib:4x8,nics=4")?;
/// assert_eq!(system.topology, "groups:4x8,inside=7.071,nics=4,reduce=switch");
/// # Ok::<(), swapmeet_core::spec::SpecError>(())
/// ```
///
/// Errors if the system is unknown, if a domain of this size does not exist, or if a parameter is
/// invalid.
pub fn expand(text: &str) -> Result<Expanded, SpecError> {
    let spec = Spec::parse("system", text)?;
    let Some(system) = SYSTEMS.iter().find(|system| system.name == spec.name()) else {
        return Err(spec.unknown_name(SYSTEMS.iter().map(|system| system.name)));
    };
    let example = format!("domains and the GPUs of each, as in `{}`", system.example());
    let Some((shape, settings)) = spec.args().split_first().filter(|(arg, _)| arg.key().is_none())
    else {
        return Err(spec.error(0, text.len(), &format!("expected {example}")));
    };
    let [domains, gpus]: [u64; 2] = spec.dims_array(shape, &example)?;
    let most = system.gpus_per_domain;
    if gpus > most {
        let expected = format!("at most {most} GPUs in a domain of {}", system.name);
        return Err(spec.bad_value(shape, &expected));
    }
    let is = |key: &'static str| move |arg: &&Arg| arg.key() == Some(key);
    let (mesh, settings): (Vec<&Arg>, Vec<&Arg>) = settings.iter().partition(is("mesh"));
    let (nics, settings): (Vec<&Arg>, Vec<&Arg>) = settings.into_iter().partition(is("nics"));
    for (key, given) in [("mesh", &mesh), ("nics", &nics)] {
        if let Some(second) = given.get(1) {
            let why = format!("`{key}` is given twice");
            return Err(spec.error(second.at(), second.len(), &why));
        }
    }
    let ports = |arg: &&Arg| match arg.value().parse() {
        Ok(nics @ 1..) => Ok(nics),
        Ok(0) | Err(_) => Err(spec.bad_value(arg, "a whole number of network ports from 1")),
    };
    let nics = nics.first().map(ports).transpose()?.unwrap_or_else(|| system.ports(gpus));
    let pairs: Result<Vec<(&str, &str)>, SpecError> = settings
        .iter()
        .map(|arg| {
            let key = arg.key().ok_or_else(|| spec.bad_value(arg, "key=value"))?;
            Ok((key, arg.value()))
        })
        .collect();
    let machine = Machine::parse(&system.machine(domains)).expect("the machine of a system");
    let machine = machine.with(&pairs?).map_err(|(index, error)| {
        let arg = settings[index];
        let near = error.near().to_vec();
        SpecError { near, ..spec.error(arg.at(), arg.len(), &error.to_string()) }
    })?;
    let mesh = mesh.first().map_or(String::new(), |arg| format!(",mesh={}", arg.value()));
    let topology = system.topology_with(domains, gpus, nics) + &mesh;
    Ok(Expanded { topology, machine: machine.to_string() })
}

/// The bandwidths are those of data sheets, for one direction. For each GPU, NVLink 3, 4 and 5 have
/// 300, 450 and 900 GB/s. Each of the seven xGMI links has 64 GB/s in an MI300X, and 76.8 GB/s in
/// an MI355X. The value of `floor_us` is the time of the smallest published size, or that of a
/// similar system.
static SYSTEMS: &[System] = &[
    nvidia(
        "a100-ib",
        "A100, 8 ports of 200 Gb/s InfiniBand",
        300.0,
        25.0,
        Fabric::InfiniBand,
        [40.0, 45.0],
        "a computer without network (CC BY-SA rows)",
    ),
    System {
        gpus_per_host: 4,
        ports_per_host: 4,
        gpus_per_domain: 4,
        ..nvidia(
            "leonardo",
            "Leonardo: 4 A100, 4 ports of 100 Gb/s InfiniBand",
            300.0,
            12.5,
            Fabric::InfiniBand,
            [20.0, 100.0],
            "1 GPU of each computer",
        )
    },
    System {
        ports_per_host: 4,
        ..nvidia(
            "p4de",
            "AWS p4de: A100, 4 ports of 100 Gb/s EFA",
            300.0,
            12.5,
            Fabric::Efa,
            [40.0, 163.0],
            "2 computers",
        )
    },
    nvidia(
        "h100-ib",
        "H100, 8 ports of 400 Gb/s InfiniBand",
        450.0,
        50.0,
        Fabric::InfiniBand,
        [35.0, 40.0],
        DATA_SHEET_ONLY,
    ),
    nvidia(
        "p5",
        "AWS p5: H100, 3,200 Gb/s EFA",
        450.0,
        50.0,
        Fabric::Efa,
        [35.0, 71.0],
        "2 computers",
    ),
    nvidia(
        "a3-mega",
        "Google A3 Mega: H100, 8 ports of 200 Gb/s TCPXO",
        450.0,
        25.0,
        Fabric::Tcpxo,
        [35.0, 100.0],
        DATA_SHEET_ONLY,
    ),
    nvidia(
        "h200-roce",
        "H200, 8 ports of 400 Gb/s RoCE",
        450.0,
        50.0,
        Fabric::Roce,
        [39.0, 56.0],
        DATA_SHEET_ONLY,
    ),
    nvidia(
        "a3-ultra",
        "Google A3 Ultra: H200, 8 ports of 400 Gb/s RoCE",
        450.0,
        50.0,
        Fabric::Roce,
        [39.0, 56.0],
        "2 computers",
    ),
    nvidia(
        "p5en",
        "AWS p5en: H200, 3,200 Gb/s EFA",
        450.0,
        50.0,
        Fabric::Efa,
        [39.0, 71.0],
        "a computer (CC BY-SA rows)",
    ),
    nvidia(
        "b200",
        "B200, 8 ports of 400 Gb/s InfiniBand",
        900.0,
        50.0,
        Fabric::InfiniBand,
        [45.0, 48.0],
        DATA_SHEET_ONLY,
    ),
    nvidia(
        "a4",
        "Google A4: B200, 8 ports of 400 Gb/s RoCE",
        900.0,
        50.0,
        Fabric::Roce,
        [45.0, 48.0],
        "2 computers",
    ),
    nvidia(
        "p6-b200",
        "AWS p6-b200: B200, 3,200 Gb/s EFA",
        900.0,
        50.0,
        Fabric::Efa,
        [48.0, 71.0],
        "1 and 4 computers (CC BY-SA rows)",
    ),
    nvidia(
        "b300",
        "B300, 8 ports of 800 Gb/s RoCE",
        900.0,
        100.0,
        Fabric::Roce,
        [34.0, 48.0],
        "1 and 2 computers",
    ),
    nvidia(
        "p6-b300",
        "AWS p6-b300: B300, 6,400 Gb/s EFA",
        900.0,
        100.0,
        Fabric::Efa,
        [34.0, 71.0],
        DATA_SHEET_ONLY,
    ),
    nvl72(
        "gb200-nvl72",
        "GB200, racks of 72 GPUs, a port of 400 Gb/s InfiniBand for each GPU",
        50.0,
        Fabric::InfiniBand,
        DATA_SHEET_ONLY,
    ),
    nvl72(
        "gb200-a4x",
        "Google A4X: GB200, racks of 72 GPUs, a port of 400 Gb/s RoCE for each GPU",
        50.0,
        Fabric::Roce,
        "2 and 8 computers of a rack",
    ),
    System {
        physical_ports: 2,
        ..nvl72(
            "gb300-nvl72",
            "GB300, racks of 72 GPUs, a port of 800 Gb/s RoCE for each GPU",
            100.0,
            Fabric::Roce,
            "4 to 128 GPUs, large sizes",
        )
    },
    nvl72(
        "gb300-a4x-max",
        "Google A4X Max: GB300, racks of 72 GPUs, a port of 800 Gb/s RoCE for each GPU",
        100.0,
        Fabric::Roce,
        DATA_SHEET_ONLY,
    ),
    nvidia(
        "mi300x",
        "MI300X on xGMI, 8 ports of 400 Gb/s RoCE",
        448.0,
        50.0,
        Fabric::Roce,
        [35.0, 56.0],
        "1 and 2 computers, large sizes",
    ),
    nvidia(
        "mi355x",
        "MI355X on xGMI, 8 ports of 400 Gb/s RoCE",
        537.6,
        50.0,
        Fabric::Roce,
        [35.0, 56.0],
        "1 to 4 computers, large sizes",
    ),
];

const fn nvidia(
    name: &'static str,
    title: &'static str,
    inside_gbps: f64,
    port_gbps: f64,
    fabric: Fabric,
    floor_us: [f64; 2],
    measured: &'static str,
) -> System {
    System {
        name,
        title,
        gpus_per_host: 8,
        ports_per_host: 8,
        gpus_per_domain: 8,
        inside_gbps,
        port_gbps,
        physical_ports: 1,
        fabric,
        floor_us,
        measured,
    }
}

/// Returns a system of racks. A rack has 72 GPUs in 18 computers, and a network port for each GPU.
const fn nvl72(
    name: &'static str,
    title: &'static str,
    port_gbps: f64,
    fabric: Fabric,
    measured: &'static str,
) -> System {
    System {
        gpus_per_host: 4,
        ports_per_host: 4,
        gpus_per_domain: 72,
        ..nvidia(name, title, 900.0, port_gbps, fabric, [40.0, 57.0], measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology;
    use std::collections::BTreeSet;

    #[test]
    fn the_bandwidths_are_those_of_the_data_sheets() {
        for system in systems() {
            let Expanded { topology, machine } = expand(&system.example()).unwrap();
            let (network, machine) =
                (topology::parse(&topology).unwrap(), Machine::parse(&machine).unwrap());
            let gbps = |link| network.bandwidth(link) / machine.number("byte_us").unwrap() / 1e3;
            let (n, domain) = (network.nodes(), system.gpus_per_domain);
            let close = |found: f64, stated: f64| (found / stated - 1.0).abs() < 1e-3;
            assert!(close(gbps(0), system.inside_gbps * EFFICIENCY[0]), "{}", system.name);
            let ports = domain * system.ports_per_host / system.gpus_per_host;
            let pool = gbps(4 * n) / ports as f64;
            assert!(close(pool, system.port_gbps * EFFICIENCY[1]), "{}: {pool}", system.name);
        }
    }

    #[test]
    fn specs_of_systems_have_overrides_and_clear_errors() {
        let error = |text: &str| expand(text).unwrap_err().to_string();
        assert_eq!(
            expand("p4de:2x8").unwrap(),
            Expanded {
                topology: "groups:2x8,inside=18.86,nics=4".to_owned(),
                machine: "nccl:fabric_factor=2,byte_us=0.00008163,floor_us=163".to_owned(),
            }
        );
        assert!(expand("p4de:4x1").unwrap().topology.ends_with("nics=1"));
        assert!(expand("b300:1x8").unwrap().machine.contains("floor_us=34"));
        assert!(error("h100:4x8").contains("did you mean `h100-ib`"), "{}", error("h100:4x8"));
        for wrong in ["h100-ib", "h100-ib:4", "h100-ib:floor_us=3", "h100-ib:2x4x4"] {
            assert!(error(wrong).contains("as in `h100-ib:2x8`"), "{}", error(wrong));
        }
        assert!(error("h100-ib:0x8").contains("dimension 1 is 0, expected a whole number from 1"));
        assert!(error("h100-ib:2x9").contains("at most 8 GPUs in a domain of h100-ib"));
        assert!(expand("h100-ib:2x8,nics=4").unwrap().topology.contains(",nics=4,"));
        assert!(error("h100-ib:2x8,nics=0").contains("a whole number of network ports from 1"));
        assert!(error("h100-ib:2x8,nics=4,nics=4").contains("`nics` is given twice"));
        assert!(error("h100-ib:2x8,hop_us=3").contains("`hop_us` is not read by the model"));
        assert!(error("h100-ib:2x8,floor=3").contains("did you mean `floor_us`"));
        assert!(error("h100-ib:2x8,floor_us=-3").contains("expected microseconds"));
    }

    #[test]
    fn names_are_unique_and_all_promised_names_exist() {
        let names: BTreeSet<&str> = systems().iter().map(|system| system.name).collect();
        assert_eq!(names.len(), systems().len());
        for name in "h100-ib h200-roce a3-ultra b200 a4 b300 gb200-nvl72 gb200-a4x gb300-nvl72 \
            gb300-a4x-max mi300x mi355x a100-ib leonardo p4de p5 p5en p6-b200 p6-b300 a3-mega"
            .split_whitespace()
        {
            assert!(names.contains(name), "{name}");
        }
    }
}
