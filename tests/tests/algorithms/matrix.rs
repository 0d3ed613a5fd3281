//! Topologies, workloads and parameters on which all bundled algorithms are tested.

use super::oracle::Verdict;
use super::{arrivals, claims, oracle, orbits};
use crate::support::timeless;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use swapmeet_core::delivery::collective;
use swapmeet_core::network::topology::{self, Network};
use swapmeet_results::Record;
use swapmeet_runner::plugin::{Algorithm, ParamKind, Plugin};
use swapmeet_runner::registry::Registry;
use swapmeet_tests::plugin_file;
use swapmeet_workloads::Workload;

/// Topologies whose sides are odd, even, powers of two and of three, or multiples of four and two.
/// Together they use every method of counting link loads: by orbits of links, by lines of a grid,
/// and one message at a time.
const TOPOLOGIES: [&str; 31] = [
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
    "groups:1x4,reduce=switch",
    "groups:2x2,reduce=switch",
];

/// Workload specs without the collective. Combinations that are not valid workloads are skipped.
/// Some break a symmetry: a reflection does not commute with shifts, and unequal sizes or a root
/// distinguish nodes.
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

pub(super) type Params = Vec<(String, String)>;

/// The bundled plugins, which are loaded once for all tests of this program.
pub(super) static REGISTRY: LazyLock<Registry> = LazyLock::new(swapmeet_tests::bundled_plugins);

/// Each bundled algorithm has a fixed style (`results/src/styles.rs`). Algorithms for the same
/// collective have different styles, because they are drawn in the same figure.
#[test]
fn bundled_algorithms_have_their_own_styles() {
    let all = bundled();
    let number = |a: &Arc<Algorithm>| swapmeet_results::AlgorithmStyles::default().number(&a.name);
    for (at, one) in all.iter().enumerate() {
        assert!(swapmeet_results::has_fixed_style(&one.name), "{}", one.name);
        for other in all[..at].iter().filter(|other| other.collectives & one.collectives != 0) {
            assert_ne!(number(one), number(other), "{} and {}", one.name, other.name);
        }
    }
}

/// Returns all bundled algorithms but those that read schedules from files.
pub(super) fn bundled() -> Vec<Arc<Algorithm>> {
    let plugins = REGISTRY.plugins().iter();
    plugins
        .flat_map(|plugin| &plugin.algorithms)
        .filter(|algorithm| algorithm.params.iter().all(|param| param.kind != ParamKind::File))
        .cloned()
        .collect()
}

pub(super) fn misprints() -> Plugin {
    let file = plugin_file("misprints");
    Plugin::load(&file).unwrap()
}

/// Returns the sets of parameters that are tested: the defaults and, for each parameter, each of
/// its choices or a small number.
fn variants(algorithm: &Algorithm) -> Vec<Params> {
    let small = ["2".to_owned()];
    // A search that ends after `seconds` may give another schedule each time, and with another
    // `seed` the plugin only makes other random choices. Neither parameter is tried.
    let tried = algorithm.params.iter().filter(|param| !["seconds", "seed"].contains(&&*param.key));
    let given = tried.flat_map(|param| {
        let values = if param.kind.words().is_empty() { &small[..] } else { param.kind.words() };
        values.iter().map(|value| vec![(param.key.clone(), value.clone())])
    });
    std::iter::once(Vec::new()).chain(given).collect()
}

/// The maximum number of nodes for algorithms that search for a schedule. On larger topologies, a
/// search takes seconds.
const SEARCHED: u64 = 16;

/// The maximum number of nodes in the first tier, without and with a search for a schedule.
const FIRST_TIER: [u64; 2] = [18, 9];

pub(super) struct MatrixProblem<'a> {
    pub algorithm: &'a Arc<Algorithm>,
    pub topology: &'a Arc<Network>,
    pub workload: &'a Workload,
    pub params: &'a Params,
}

impl fmt::Display for MatrixProblem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, topology, workload, params } = self;
        write!(f, "{} {params:?} on {} with {workload}", algorithm.name, topology.spec())
    }
}

/// [`TOPOLOGIES`], parsed once.
static NETWORKS: LazyLock<Vec<Arc<Network>>> =
    LazyLock::new(|| TOPOLOGIES.map(|spec| topology::parse(spec).unwrap()).into());

/// Returns the workload of a spec, or `None` if the spec is invalid. Each spec is parsed once, because
/// the suggestions of an error take long.
fn parsed(spec: &str) -> Option<Arc<Workload>> {
    static PARSED: Mutex<BTreeMap<String, Option<Arc<Workload>>>> = Mutex::new(BTreeMap::new());
    let mut parsed = PARSED.lock().unwrap();
    if !parsed.contains_key(spec) {
        parsed.insert(spec.to_owned(), Workload::parse(spec).ok().map(Arc::new));
    }
    parsed[spec].clone()
}

/// Calls `test` for each topology, workload and set of parameters of an algorithm. In the first tier
/// of tests, sets other than the defaults are combined with the first workload only.
pub(super) fn for_each_problem(
    algorithm: &Arc<Algorithm>,
    mut test: impl FnMut(&MatrixProblem<'_>),
) {
    let variants = variants(algorithm);
    let runs_all = swapmeet_tests::runs_all();
    let most = match (runs_all, algorithm.plugin.name == "synthesis") {
        (true, false) => u64::MAX,
        (true, true) => SEARCHED,
        (false, searches) => FIRST_TIER[usize::from(searches)],
    };
    for topology in NETWORKS.iter().filter(|topology| topology.nodes() <= most) {
        for kind in collective::of_bits(algorithm.collectives) {
            let root = match kind.is_rooted() {
                true => format!(",root={}", topology.nodes() - 1),
                false => String::new(),
            };
            let specs = WORKLOADS.map(|workload| format!("{}/{workload}{root}", kind.word));
            for (index, spec) in specs.iter().enumerate() {
                let Some(workload) = parsed(spec) else { continue };
                let count = if runs_all || index == 0 { variants.len() } else { 1 };
                for params in &variants[..count] {
                    let workload = &workload;
                    test(&MatrixProblem { algorithm, topology, workload, params });
                }
            }
        }
    }
}

#[derive(Default)]
struct Found {
    right: u64,
    reduced: u64,
    compared_claims: u64,
    compared_arrivals: u64,
    claims_symmetry: bool,
}

fn walk(algorithm: &Arc<Algorithm>) -> Found {
    let mut found = Found::default();
    for_each_problem(algorithm, |problem| {
        let verdict = oracle::compare(problem);
        let is_right = matches!(verdict, Some(Verdict::Right(_)));
        found.right += u64::from(is_right);
        found.reduced += orbits::compare(problem, |case, full, auto| {
            let row = |record: &Record| Record { proved_on: None, ..timeless(record) };
            assert_eq!(row(auto), row(full), "{case}");
        });
        if is_right {
            let claim = claims::compare(problem);
            found.claims_symmetry |= claim.is_claimed;
            found.compared_claims += u64::from(claim.is_compared);
            found.compared_arrivals += u64::from(arrivals::compares(problem));
        }
    });
    found
}

/// Checks every bundled algorithm on the whole matrix:
///
/// - The naive host of the SDK, which traces every block, gives the same values ([`oracle`]).
/// - Verification on one node of each orbit gives the same rows as full planning ([`orbits`]).
/// - The plans of other nodes agree with the claim of symmetry ([`claims`]).
/// - A naive simulation, which follows every block, gives the same times ([`arrivals`]).
#[test]
fn every_bundled_algorithm_has_all_properties() {
    let (algorithms, next) = (bundled(), AtomicUsize::new(0));
    let total = Mutex::new(Found::default());
    let symmetric = AtomicUsize::new(0);
    let work = || {
        while let Some(algorithm) = algorithms.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (name, found) = (&algorithm.name, walk(algorithm));
            assert!(
                found.right > 0,
                "no schedule of {name} was right: add a problem on which one is"
            );
            assert!(
                found.reduced > 0 || !found.claims_symmetry,
                "the symmetry of {name} is never used: add a problem on which it is"
            );
            symmetric.fetch_add(usize::from(found.reduced > 0), Ordering::Relaxed);
            let mut total = total.lock().unwrap();
            total.right += found.right;
            total.compared_claims += found.compared_claims;
            total.compared_arrivals += found.compared_arrivals;
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let total = total.into_inner().unwrap();
    assert!(total.right > 1000, "{} right schedules", total.right);
    assert!(total.compared_claims > 300, "{} claims of symmetry", total.compared_claims);
    assert!(total.compared_arrivals > 500, "{} schedules with arrivals", total.compared_arrivals);
    let symmetric = symmetric.into_inner();
    assert!(symmetric >= 30, "{symmetric} algorithms are verified on fewer than all nodes");
}
