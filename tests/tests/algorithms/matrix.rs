//! The matrix of topologies, workloads and parameters on which all bundled algorithms are tested.

use std::sync::{Arc, LazyLock};
use swapmeet_core::delivery::collective;
use swapmeet_core::network::topology::{self, Topology};
use swapmeet_runner::plugin::{Algorithm, ParamKind, Plugin};
use swapmeet_runner::registry::Registry;
use swapmeet_tests::plugin_file;
use swapmeet_workloads::Workload;

/// Topologies whose sides are odd, even, powers of two and of three, or multiples of four and two.
/// Together they use every method of counting link loads: by orbits of links, by lines of a grid,
/// and one message at a time.
pub(super) const TOPOLOGIES: [&str; 29] = [
    "ring:1",
    "ring:2",
    "ring:3",
    "ring:8",
    "ring:9",
    "torus:4x4",
    "torus:2x2",
    "torus:3x5",
    "torus:5x2",
    "torus:4x6",
    "torus:9x3",
    "torus:2x3x2",
    "torus:4x4x4",
    "mesh:2x4",
    "mesh:3x3",
    "mesh:5x2",
    "mesh:4x4",
    "mesh:2x2x3",
    "hypercube:0",
    "hypercube:3",
    "hypercube:4",
    "rdn:1(ring:3)",
    "rdn:1(hypercube:2)",
    "rdn:1(fully-connected:3)",
    "fully-connected:7",
    "fat-tree:3x2",
    "twisted-torus:2x4",
    "tofu:1x1x1",
    "tofu:1x1x1,place=fold:4x2",
];

/// Workload specs without the name of the collective, which precedes each of them. Combinations
/// that are not valid workloads are skipped. Some workloads break a symmetry: a reflection does not
/// commute with shifts, and unequal sizes or a root distinguish nodes.
const WORKLOADS: [&str; 8] = [
    "uniform:6",
    "irregular:dist=lognormal,mean=20,cv=1,element=4",
    "uniform:0",
    "moe:experts=16,top=3,tokens=5,bytes=6",
    "reflect:3",
    "transpose-2d:3",
    "translate:3,by=1",
    "shear-2d:3",
];

/// Parameters of an algorithm: keys and values.
pub(super) type Params = Vec<(String, String)>;

/// The bundled plugins. They are loaded once for all tests, because the digest of the test program
/// is computed.
pub(super) static REGISTRY: LazyLock<Registry> = LazyLock::new(swapmeet::bundled_plugins);

/// Returns the bundled algorithms, except those that read schedules from files, which have their
/// own tests.
pub(super) fn bundled() -> Vec<Arc<Algorithm>> {
    let plugins = REGISTRY.plugins().iter();
    plugins
        .flat_map(|plugin| &plugin.algorithms)
        .filter(|algorithm| algorithm.params.iter().all(|param| param.kind != ParamKind::File))
        .cloned()
        .collect()
}

/// Returns the test plugin `misprints`, whose algorithms are wrong.
pub(super) fn misprints() -> Plugin {
    let file = plugin_file("misprints");
    Plugin::load(&file).unwrap()
}

/// Returns sets of parameters: the defaults and, for each parameter, each of its choices or a small
/// number.
fn variants(algorithm: &Algorithm) -> Vec<Params> {
    let small = ["2".to_owned()];
    // Leave out the parameters `seconds` and `seed`. A search that ends after a time may give
    // another schedule each time, and another seed only gives another random choice.
    let tried = algorithm.params.iter().filter(|param| !["seconds", "seed"].contains(&&*param.key));
    let given = tried.flat_map(|param| {
        let values = if param.kind.words().is_empty() { &small[..] } else { param.kind.words() };
        values.iter().map(|value| vec![(param.key.clone(), value.clone())])
    });
    std::iter::once(Vec::new()).chain(given).collect()
}

/// The maximum number of nodes for tests of algorithms that search for a schedule. On larger
/// topologies, a search takes seconds. Small ones are enough, because the host treats the schedules
/// of a search like those of other plugins.
const SEARCHED: u64 = 16;

/// Calls `test` for each topology, workload and set of parameters of an algorithm.
pub(super) fn for_each_problem(
    algorithm: &Algorithm,
    mut test: impl FnMut(&Arc<dyn Topology>, &Workload, &Params),
) {
    let variants = variants(algorithm);
    let most = if algorithm.plugin.name == "synthesis" { SEARCHED } else { u64::MAX };
    let topologies = TOPOLOGIES.map(|spec| topology::parse(spec).unwrap());
    for topology in topologies.iter().filter(|topology| topology.nodes() <= most) {
        for kind in collective::of_bits(algorithm.collectives) {
            let root = match kind.is_rooted() {
                true => format!(",root={}", topology.nodes() - 1),
                false => String::new(),
            };
            let specs = WORKLOADS.map(|workload| format!("{}/{workload}{root}", kind.word));
            for workload in specs.iter().filter_map(|spec| Workload::parse(spec).ok()) {
                variants.iter().for_each(|params| test(topology, &workload, params));
            }
        }
    }
}
