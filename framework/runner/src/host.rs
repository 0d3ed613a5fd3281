//! Runs a plugin and provides the functions that it may call while it plans.
//!
//! Every call of the plugin is validated: pointers, sizes, counts, texts and node numbers. If the
//! host rejects a call, it records the reason. This call and all later ones return [`SWM_STOPPED`].

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

/// Values that a plugin may request while it plans. If the plugin does not request a value, the
/// plan does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlanInputs {
    /// Size of each block in bytes. If sizes differ, size of the largest block.
    pub block_bytes: u64,
    /// Maximum number of messages that a node can send, and maximum number that it can receive, at
    /// the same time; `u64::MAX` if it can use all its links at the same time.
    pub ports: u64,
    pub virtual_channels: u64,
    /// Size of an element in bytes, the unit of redistribution. It is equal for all cases that
    /// share a plan.
    pub element_bytes: u64,
    pub startup_us: f64,
    pub hop_us: f64,
    pub byte_us: f64,
    /// Whether messages share the links of their routes.
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

    /// Returns whether `a` and `b` agree in all requested values. If they do, a plan for one of
    /// them is also valid for the other.
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
    /// The algorithm does not support the problem, for this reason.
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
    /// Whether a send requested a path, or an order of dimensions, that differs from the network's
    /// own route.
    pub departs: bool,
    /// Whether the schedule declares a symmetry, even if the host plans all nodes in spite of it.
    pub claims_symmetry: bool,
    /// Whether delivery was verified only for one node of each orbit.
    pub relied_on_symmetry: bool,
    /// The number of nodes for which the plugin itself planned the sends: all nodes or, if the host
    /// relies on a claimed symmetry, the nodes whose own plans were compared with the claim.
    pub compared_on: u64,
}

/// Lets `algorithm` plan `task`, verifies the schedule, and reports each step to `listeners`.
///
/// If delivery is verified only for one node of each orbit, the claimed symmetry is compared with
/// the plans of other nodes.
pub fn plan<'a>(
    algorithm: &Algorithm,
    params: &[(String, String)],
    task: &'a Task,
    inputs: PlanInputs,
    limit: Option<&PlanLimit>,
    listeners: Vec<&'a mut dyn Listener>,
) -> Planned {
    // Plan the task and verify the schedule.
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
    // Compare a claimed symmetry with the plans of other nodes. Do so even if the schedule has a
    // fault, because a wrong claim can cause any fault.
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
            // Keep the fault of the first plan, which is more specific than a fault in a repeated
            // plan.
            (Err(_), _) => {}
        }
    }
    let outcome = match outcome {
        // This fault already names the wrong send, so no block needs to be traced.
        Outcome::Invalid(fault @ Fault::WrongSymmetry(_)) => Outcome::Invalid(fault),
        // Repeat the plan for all nodes to trace a lost block. If the schedule claims a symmetry,
        // this may be far more expensive than the first plan, so it is done only on few nodes.
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

/// Maximum number of nodes for which the plan of a schedule that claims a symmetry is repeated to
/// add details to a fault. All other plans are repeated on any number of nodes.
const FEW_NODES: u64 = 4096;

/// The arguments of a plan. They are kept because the plan may be repeated.
#[derive(Clone, Copy)]
struct PlanCall<'a> {
    algorithm: &'a Algorithm,
    params: &'a [(String, String)],
    task: &'a Task,
    inputs: PlanInputs,
    /// The time limit for the plan together with the plans of other nodes that are compared with
    /// it. The repetition that adds details to a fault gets the whole limit again.
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
        // The outcome of the repetition is ignored. If the plugin behaves differently this time,
        // the trace is empty.
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

    /// Calls `supports` of the plugin, then begins a simulation and calls `plan`. Returns the
    /// simulation.
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
    /// The simulation of the schedule; `None` during `supports`, which has no schedule.
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
    /// In a repeated plan, the place where the label of each send is stored for the trace.
    labels: Option<Rc<RefCell<String>>>,
    /// The time limit. It is only checked when the plugin makes a call, so it does not stop a
    /// plugin that makes no calls.
    limit: Option<PlanLimit>,
    late: bool,
    has_reported_error: bool,
    calls_after_error: u64,
    calls: u32,
    claims_symmetry: bool,
    relies_on_symmetry: bool,
    links: Option<calls::LinkTable>,
    /// Whether the schedule has placed a node. From then on it must not define another grid, which
    /// would discard the embedding.
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
    /// Calls a function of the plugin. Returns `None` if it succeeds or does not exist, and
    /// otherwise the outcome of the case.
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
        // A reason that consists of white space counts as no reason.
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
