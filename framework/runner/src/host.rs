//! Runs a plugin, and provides the functions that it may call while it plans. Pointers, sizes,
//! counts, texts and node numbers of every call are validated. If the host rejects a call, this
//! call and all later calls return [`SWM_STOPPED`].

use crate::defect;
use crate::group_clock::PlanLimit;
use crate::plugin::Algorithm;
use crate::plugin_output::REMARK;
use crate::process::shared::{in_plugin, in_step, record_step};
use block_trace::BlockTrace;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use swapmeet_abi::hosting::{Network, Problem};
use swapmeet_abi::{SWM_ERROR, SWM_INVALID, SWM_OK, SWM_STOPPED, SWM_UNSUPPORTED};
use swapmeet_core::delivery::fault::{Count, Fault};
use swapmeet_core::limits;
use swapmeet_core::network::topology;
use swapmeet_core::simulation::listener::Listener;
use swapmeet_core::simulation::step::Totals;
use swapmeet_core::simulation::{ProofScope, Simulation, Task};

mod block_trace;
mod calls;
mod comparison;

pub use comparison::compare_symmetry;

/// Values that a plugin may request. A plan depends only on those values that the plugin requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlanInputs {
    /// Size of each block in bytes. If blocks differ in size, it is the size of the largest block.
    pub block_bytes: u64,
    /// Number of messages that a node can send and receive at the same time. `u64::MAX` means one
    /// on each of its links.
    pub ports: u64,
    pub virtual_channels: u64,
    /// Bytes of an element, the unit of redistribution. The value is equal for all cases that share
    /// a plan.
    pub element_bytes: u64,
    pub startup_us: f64,
    pub hop_us: f64,
    pub byte_us: f64,
    pub shares_routes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Requested {
    pub bytes: bool,
    pub ports: bool,
    pub virtual_channels: bool,
    pub startup_us: bool,
    pub hop_us: bool,
    pub byte_us: bool,
    pub shares_routes: bool,
}

impl Requested {
    fn add(&mut self, other: Self) {
        self.bytes |= other.bytes;
        self.ports |= other.ports;
        self.virtual_channels |= other.virtual_channels;
        self.startup_us |= other.startup_us;
        self.hop_us |= other.hop_us;
        self.byte_us |= other.byte_us;
        self.shares_routes |= other.shares_routes;
    }

    /// Returns whether all requested values are equal in `a` and `b`, so that the same plan is
    /// valid for both.
    pub fn same_plan(self, a: PlanInputs, b: PlanInputs) -> bool {
        (!self.bytes || a.block_bytes == b.block_bytes)
            && (!self.ports || a.ports == b.ports)
            && (!self.virtual_channels || a.virtual_channels == b.virtual_channels)
            && (!self.startup_us || a.startup_us == b.startup_us)
            && (!self.hop_us || a.hop_us == b.hop_us)
            && (!self.byte_us || a.byte_us == b.byte_us)
            && (!self.shares_routes || a.shares_routes == b.shares_routes)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Verified(Totals),
    Unsupported(String),
    Invalid(Fault),
    Failed(String),
    HostPanicked(String),
    TimedOut(String),
}

impl Outcome {
    fn of(fault: Fault) -> Self {
        match fault {
            Fault::Refused(reason) => Self::Unsupported(reason),
            broken => Self::Invalid(broken),
        }
    }
}

#[derive(Debug)]
pub struct Planned {
    pub outcome: Outcome,
    pub requested: Requested,
    pub log: Vec<String>,
    pub notes: Vec<String>,
    /// Whether any send requested a path or an order of dimensions that differs from the network's
    /// own route.
    pub departs: bool,
    /// Whether the schedule claims a symmetry, also if the host plans all nodes nevertheless.
    pub claims_symmetry: bool,
    pub relied_on_symmetry: bool,
    /// The number of nodes whose sends the plugin itself planned. If the host relied on a claimed
    /// symmetry, it is the number of nodes whose plans were compared with the claim.
    pub compared_on: u64,
}

/// Lets `algorithm` plan `task`, verifies the schedule, and reports each step to `listeners`. If
/// the verification relies on a claimed symmetry, the claim is compared with the plugin's plans of
/// other nodes.
pub fn plan<'a>(
    algorithm: &Algorithm,
    params: &[(String, String)],
    task: &'a Task,
    inputs: PlanInputs,
    limit: Option<&PlanLimit>,
    listeners: Vec<&'a mut dyn Listener>,
) -> Planned {
    let call = PlanCall { algorithm, params, task, inputs, limit };
    let mut host = Host::new(task, inputs, limit.cloned());
    record_step(0);
    let outcome = defect::catch(|| call.run(&mut host, listeners));
    let outcome = outcome.unwrap_or_else(Outcome::HostPanicked);
    if host.calls_after_error > 0 {
        host.log.push(format!(
            "{REMARK}it makes {} after a refused one",
            Count(host.calls_after_error, "call")
        ));
    }
    // A wrong claim can cause any fault, so the claim is compared with other plans even if the
    // schedule has a fault.
    let mut requested = host.requested;
    let (mut outcome, mut compared_on) = (outcome, task.topology.nodes());
    if host.relies_on_symmetry && matches!(outcome, Outcome::Verified(_) | Outcome::Invalid(_)) {
        let compare = || call.compare_symmetry(limits::COMPARED_SENDS, &mut requested);
        let compared = defect::catch(compare).unwrap_or_else(|d| Err(Outcome::HostPanicked(d)));
        match (compared, &outcome) {
            (Ok(nodes), _) => compared_on = nodes,
            (Err(wrong @ Outcome::Invalid(Fault::WrongSymmetry(_))), _)
            | (Err(wrong @ Outcome::HostPanicked(_)), _)
            | (Err(wrong), Outcome::Verified(_)) => outcome = wrong,
            // The fault of the first plan is more specific.
            (Err(_), _) => {}
        }
    }
    let outcome = match outcome {
        // This fault already names the wrong send.
        Outcome::Invalid(fault @ Fault::WrongSymmetry(_)) => Outcome::Invalid(fault),
        // To find where the block was lost, the plan is repeated for all nodes. If a symmetry is
        // claimed, this may be far more expensive than the first plan, so it is done only for few
        // nodes.
        Outcome::Invalid(fault) if !host.claims_symmetry || task.topology.nodes() <= FEW_NODES => {
            defect::catch(|| Outcome::Invalid(call.explained(fault)))
                .unwrap_or_else(Outcome::HostPanicked)
        }
        ended => ended,
    };
    Planned {
        outcome,
        requested,
        log: host.log,
        notes: host.notes,
        departs: host.departs,
        claims_symmetry: host.claims_symmetry,
        relied_on_symmetry: host.relies_on_symmetry,
        compared_on,
    }
}

/// Maximum number of nodes for which a plan with a claimed symmetry is repeated for all nodes.
const FEW_NODES: u64 = 4096;

#[derive(Clone, Copy)]
struct PlanCall<'a> {
    algorithm: &'a Algorithm,
    params: &'a [(String, String)],
    task: &'a Task,
    inputs: PlanInputs,
    /// The time limit for the plan and its comparison together. A repeated plan has the same limit
    /// again.
    limit: Option<&'a PlanLimit>,
}

impl<'a> PlanCall<'a> {
    fn explained(self, fault: Fault) -> Fault {
        let labels = Rc::default();
        let trail = BlockTrace::for_fault(&fault, &self.task.collective, Rc::clone(&labels));
        let Some(mut trail) = trail else { return fault };
        let task = &Task { proof_scope: ProofScope::Full, ..self.task.clone() };
        let limit = self.limit.map(PlanLimit::restarted);
        let mut host = Host { labels: Some(labels), ..Host::new(task, self.inputs, limit) };
        // If the plugin behaves differently in the repeated plan, the trace is empty.
        drop(PlanCall { task, ..self }.run(&mut host, vec![&mut trail]));
        trail.explain(fault)
    }

    fn run<'l>(self, host: &mut Host<'l>, listeners: Vec<&'l mut dyn Listener>) -> Outcome {
        let simulation = self.drive(host, || Simulation::new(self.task.clone(), listeners));
        match simulation.map(Simulation::finish) {
            Ok(Ok(totals)) => Outcome::Verified(totals),
            Ok(Err(fault)) => Outcome::of(fault),
            Err(outcome) => outcome,
        }
    }

    fn drive<'l>(
        self,
        host: &mut Host<'l>,
        begin: impl FnOnce() -> Result<Simulation<'l>, Fault>,
    ) -> Result<Simulation<'l>, Outcome> {
        let Self { algorithm, params, task, .. } = self;
        algorithm.check_implements(task.collective.kind()).map_err(Outcome::Unsupported)?;
        let functions = algorithm.table().map_err(Outcome::Failed)?;
        let (topology, spec) = (task.topology.as_ref(), task.topology.spec());
        let base = topology.base().map(|(base, levels)| (base, base.spec(), levels));
        let problem = Problem {
            collective: task.collective.kind().code,
            network: network(topology, &spec),
            base: base.as_ref().map(|(base, spec, levels)| (network(base, spec), *levels)),
            root: task.collective.root().unwrap_or(0),
            params,
            permutation: task.collective.permutation_name(),
        };
        if let Some(refusal) = host.call(|host| functions.supports(&problem, host)) {
            return Err(refusal);
        }
        host.simulation = Some(begin().map_err(Outcome::of)?);
        if let Some(refusal) = host.call(|host| Some(functions.plan(&problem, host))) {
            return Err(refusal);
        }
        Ok(host.simulation.take().expect(BEGUN))
    }
}

const BEGUN: &str = "the schedule has begun";

struct Host<'a> {
    /// The simulation of the schedule; `None` while the plugin's function `supports` runs.
    simulation: Option<Simulation<'a>>,
    task: &'a Task,
    inputs: PlanInputs,
    requested: Requested,
    fault: Option<Fault>,
    /// The first assertion of the host that failed while the plugin called it.
    defect: Option<String>,
    reason: Option<String>,
    log: Vec<String>,
    notes: Vec<String>,
    route: calls::RouteBuffer,
    departs: bool,
    /// Only in a repeated plan: the label of the current send is stored here for the trace.
    labels: Option<Rc<RefCell<String>>>,
    /// The time limit. It is only checked when the plugin makes a call.
    limit: Option<PlanLimit>,
    late: bool,
    has_reported_error: bool,
    calls_after_error: u64,
    calls: u32,
    claims_symmetry: bool,
    relies_on_symmetry: bool,
    links: Option<calls::LinkTable>,
    /// Whether the schedule has placed a node. Setting another grid after this would discard the
    /// placement, so it is refused.
    placed: bool,
}

impl<'a> Host<'a> {
    fn new(task: &'a Task, inputs: PlanInputs, limit: Option<PlanLimit>) -> Self {
        Self {
            simulation: None,
            task,
            inputs,
            requested: Requested::default(),
            fault: None,
            defect: None,
            reason: None,
            log: Vec::new(),
            notes: Vec::new(),
            route: calls::RouteBuffer::default(),
            departs: false,
            labels: None,
            limit,
            late: false,
            has_reported_error: false,
            calls_after_error: 0,
            calls: 0,
            claims_symmetry: false,
            relies_on_symmetry: false,
            links: None,
            placed: false,
        }
    }

    fn schedule(&mut self) -> &mut Simulation<'a> {
        self.simulation.as_mut().expect(BEGUN)
    }
}

impl Host<'_> {
    /// Calls a function of the plugin. Returns `None` if the function succeeds or does not exist,
    /// otherwise the outcome.
    fn call(&mut self, function: impl FnOnce(&mut Self) -> Option<i32>) -> Option<Outcome> {
        let code = in_plugin(|| defect::call_plugin(|| function(self)));
        if let Some(defect) = self.defect.take() {
            return Some(Outcome::HostPanicked(defect));
        }
        if let Some(PlanLimit { limit, .. }) = self.limit.as_ref().filter(|_| self.late) {
            let step = self.simulation.as_ref().map_or(0, |simulation| simulation.step_number());
            return Some(Outcome::TimedOut(format!(
                "not done after {} s{}",
                limit.as_secs_f64(),
                in_step(step)
            )));
        }
        if let Some(fault) = self.fault.take() {
            return Some(Outcome::of(fault));
        }
        let reason = self.reason.take().filter(|reason| !reason.trim().is_empty());
        let reason_or = |none: &str| reason.unwrap_or_else(|| none.to_owned());
        match code? {
            SWM_OK => None,
            SWM_UNSUPPORTED => Some(Outcome::Unsupported(reason_or("the plugin gives no reason"))),
            SWM_ERROR => Some(Outcome::Failed(reason_or("the plugin gives no reason"))),
            SWM_INVALID => {
                Some(Outcome::Invalid(Fault::Plugin(reason_or("the plugin gives no reason"))))
            }
            SWM_STOPPED => Some(Outcome::Failed(reason_or(
                "the plugin returned SWM_STOPPED, although no call was refused",
            ))),
            other => Some(Outcome::Failed(format!("the plugin returned {other}, expected 0 to 4"))),
        }
    }
}

fn network<'a>(topology: &'a topology::Network, spec: &'a str) -> Network<'a> {
    Network { kind: topology.kind(), spec, nodes: topology.nodes(), dims: topology.radices() }
}
