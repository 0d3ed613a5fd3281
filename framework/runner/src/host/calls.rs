//! The calls of a plugin. Each call that the host may refuse is checked here or in the modules that
//! read its data.

use super::Host;
use super::network::{LinkTable, demand_of, vertices_of, write};
use crate::defect;
use crate::group_clock::PlanLimit;
use crate::plugin::text;
use crate::process::shared::record_step;
use smallvec::SmallVec;
use swapmeet_abi::hosting::{self, Claim, Passed, Room, Text, Unreadable};
use swapmeet_abi::{
    SWM_BYTE_COUNTS, SWM_FIXED, SWM_IN_PARTS, SWM_LOG_NOTE, SWM_LOG_WARN, SWM_SHIFT, SWM_XOR,
    SwmBlocks, SwmBucket, SwmByteCount, SwmBytes, SwmLayout, SwmLink, SwmRedistribution,
};
use swapmeet_core::delivery::byte_counts::{ByteCountUnits, Redistribution};
use swapmeet_core::delivery::exchange::Division;
use swapmeet_core::delivery::fault::Fault;
use swapmeet_core::limits;
use swapmeet_core::network::symmetry::Symmetry;

/// Defines functions that return an input of the plan, and record that the plugin requests it.
macro_rules! inputs {
    ($($name:ident -> $type:ty, request $request:ident;)+) => {$(
        fn $name(&mut self) -> $type {
            self.requested.$request = true;
            self.inputs.$name
        }
    )+};
}

impl hosting::Host for Host<'_> {
    type Refusal = Fault;

    /// If an assertion fails in `work`, records it. The panic must not unwind into the plugin, which
    /// has not caused it.
    fn guard<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> Option<R> {
        let result = defect::catch(|| work(self));
        result.map_err(|defect| self.defect.get_or_insert(defect)).ok()
    }

    fn answer(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Fault>) -> bool {
        const CALLS: u32 = 4096;
        self.calls = (self.calls + 1) % CALLS;
        if self.calls == 0 && self.limit.as_ref().is_some_and(PlanLimit::is_exceeded) {
            self.late = true;
        }
        if self.late || self.fault.is_some() || self.defect.is_some() {
            self.calls_after_error += u64::from(self.has_reported_error);
            self.has_reported_error = true;
            return false;
        }
        match work(self) {
            Ok(()) => true,
            Err(fault) => {
                self.fault = Some(fault);
                self.has_reported_error = true;
                false
            }
        }
    }

    fn extend(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Fault>) -> bool {
        self.answer(|host| match host.simulation {
            Some(_) => work(host),
            None => Err(Fault::OutOfOrder(
                "the plugin gives a schedule where it is only requested whether it can run",
            )),
        })
    }

    fn fail(&mut self, reason: Text<'_>) {
        self.reason = Some(text(reason).unwrap_or_else(|why| format!("its reason {why}")));
    }

    fn log(&mut self, level: u32, line: Text<'_>) {
        let line = text(line).unwrap_or_else(|why| format!("a line {why}"));
        if level == SWM_LOG_NOTE {
            self.notes.push(line.clone());
        }
        let word = if level == SWM_LOG_WARN { "warning: " } else { "" };
        self.log.push(format!("{word}{line}"));
    }

    inputs! {
        block_bytes -> u64, request bytes;
        ports -> u64, request ports;
        virtual_channels -> u64, request virtual_channels;
        startup_us -> f64, request startup_us;
        hop_us -> f64, request hop_us;
        byte_us -> f64, request byte_us;
        shares_routes -> bool, request shares_routes;
    }

    fn element_bytes(&mut self) -> u64 {
        self.inputs.element_bytes
    }

    fn pair_bytes(&mut self, from: u64, to: u64) -> u64 {
        self.requested.bytes = true;
        let nodes = self.task.topology.nodes();
        if from >= nodes || to >= nodes {
            return 0;
        }
        self.task.sizes.as_ref().map_or(self.inputs.block_bytes, |sizes| sizes.bytes(from, to))
    }

    fn destination(&mut self, from: u64) -> u64 {
        let images = self.task.collective.images().unwrap_or_default();
        let image = usize::try_from(from).ok().and_then(|from| images.get(from));
        image.map_or(from, |to| u64::from(*to))
    }

    fn vertices(&mut self) -> u64 {
        vertices_of(self.task.topology.as_ref())
    }

    fn uniform(&mut self) -> bool {
        self.task.sizes.is_none()
    }

    fn links(&mut self, vertex: u64, links: Room<'_, SwmLink>) -> Result<(), Fault> {
        let table = match self.links.take() {
            Some(table) => table,
            None => LinkTable::new(self.task.topology.as_ref())?,
        };
        let listed = self.links.insert(table).of_vertex(vertex);
        let listed = listed.ok_or(Fault::OutOfOrder(
            "the plugin reads the links of a vertex that does not exist",
        ))?;
        let null = "the plugin reads links, but gives null for them or for their number";
        write(links, listed, null)
    }

    fn demand(&mut self, from: u64, demand: Room<'_, SwmByteCount>) -> Result<(), Fault> {
        self.requested.bytes = true;
        if from >= self.task.topology.nodes() {
            return Err(Fault::OutOfOrder(
                "the plugin reads the demand of a node that does not exist",
            ));
        }
        let null = "the plugin reads demand, but gives null for it or for its length";
        write(demand, &demand_of(self.task, self.inputs.block_bytes, from), null)
    }

    fn token_bytes(&mut self, node: u64, bytes: Room<'_, u64>) -> Result<(), Fault> {
        self.requested.bytes = true;
        if node >= self.task.topology.nodes() {
            return Err(Fault::OutOfOrder(
                "the plugin reads the tokens of a node that does not exist",
            ));
        }
        let listed = self.task.collective.tokens().map_or(&[][..], |t| t.bytes(node));
        let null = "the plugin reads tokens, but gives null for them or for their number";
        write(bytes, listed, null)
    }

    fn token_receivers(
        &mut self,
        node: u64,
        class: u64,
        receivers: Room<'_, u64>,
    ) -> Result<(), Fault> {
        self.requested.bytes = true;
        let tokens = self.task.collective.tokens();
        let tokens = tokens
            .filter(|tokens| node < tokens.nodes() && class < tokens.classes(node).into())
            .ok_or(Fault::OutOfOrder(
                "the plugin reads the receivers of a class of tokens that does not exist",
            ))?;
        let listed = tokens.receivers(node, class as u32);
        let listed: Vec<u64> = listed.iter().map(|receiver| (*receiver).into()).collect();
        let null = "the plugin reads receivers, but gives null for them or their number";
        write(receivers, &listed, null)
    }

    fn layout(&mut self, layout: Passed<'_, *const SwmLayout>) -> Result<(), Fault> {
        if layout.is_null() {
            return Err(Fault::BadGrid("the plugin gives none".to_owned()));
        }
        if self.placed {
            return Err(Fault::OutOfOrder("the schedule sets its grid after it has placed a node"));
        }
        let Ok(layout) = layout.read() else {
            return Err(Fault::BadGrid(
                "its `size` is below 24: set it to sizeof(SwmLayout)".to_owned(),
            ));
        };
        let radices = layout.radices();
        if radices.count() > limits::AXES {
            return Err(Fault::BadGrid(format!(
                "it has {} axes, expected at most {}",
                radices.count(),
                limits::AXES
            )));
        }
        if radices.is_null() && radices.count() > 0 {
            return Err(Fault::BadGrid(format!(
                "it has null for the radices of {} axes",
                radices.count()
            )));
        }
        if layout.flags & !(SWM_BYTE_COUNTS | SWM_IN_PARTS) != 0 {
            return Err(Fault::BadGrid("it has flags that this program does not know".to_owned()));
        }
        let byte_counts = (layout.flags & SWM_BYTE_COUNTS != 0).then(|| {
            // The number of elements in a bucket depends on the block size, so the plan depends on
            // it too.
            self.requested.bytes = true;
            ByteCountUnits {
                block_bytes: self.inputs.block_bytes,
                element_bytes: self.inputs.element_bytes,
            }
        });
        let division =
            Division { in_parts: layout.flags & SWM_IN_PARTS != 0, segments: layout.segments };
        let radices: SmallVec<[u64; 8]> = radices.iter().collect();
        self.schedule().layout(&radices, division, byte_counts)
    }

    fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), Fault> {
        self.placed = true;
        self.schedule().place(node, physical, home)
    }

    fn symmetric(&mut self, claim: Claim<'_>) -> Result<(), Fault> {
        let bad = |what: &str| Fault::BadSymmetry(what.to_owned());
        if claim.axes().count() > limits::AXES {
            return Err(bad("it is one of over 64 axes"));
        }
        let null = "the plugin passes null for its axes or for the limits of the nodes to plan";
        if claim.lacks_list() {
            return Err(bad(null));
        }
        let symmetries = claim.axes().iter().map(|axis| match axis.kind {
            SWM_FIXED => Ok(Symmetry::Fixed),
            SWM_SHIFT => Ok(Symmetry::Shift(axis.unit)),
            SWM_XOR => Ok(Symmetry::Xor(axis.unit)),
            other => Err(bad(&format!("an axis is of kind {other}, expected 0 to 2"))),
        });
        let symmetries: Vec<Symmetry> = symmetries.collect::<Result<_, _>>()?;
        self.claims_symmetry |= symmetries.iter().any(|symmetry| *symmetry != Symmetry::Fixed);
        let ranges = self.schedule().symmetric(&symmetries, claim.can_start_anywhere())?;
        self.relies_on_symmetry |= self.schedule().relies_on_symmetry();
        claim.write(ranges).map_err(|_| bad(null))
    }

    fn phase(&mut self, name: Text<'_>) -> Result<(), Fault> {
        let bad = |_| {
            Fault::OutOfOrder(
                "the schedule names a phase with text that is null, not UTF-8, or longer than 1 MiB",
            )
        };
        self.schedule().phase(&text(name).map_err(bad)?)
    }

    fn step(&mut self) -> Result<(), Fault> {
        let simulation = self.schedule();
        simulation.step()?;
        record_step(simulation.step_number());
        Ok(())
    }

    fn send_blocks(&mut self, send: Passed<'_, *const SwmBlocks>) -> Result<(), Fault> {
        const SMALL: &str = "the plugin's send has a `size` below 136: set it to sizeof(SwmBlocks)";
        self.add_blocks(&send.read().map_err(|why| bad_send(why, SMALL))?)
    }

    fn send_bucket(&mut self, send: Passed<'_, *const SwmBucket>) -> Result<(), Fault> {
        const SMALL: &str = "the plugin's send has a `size` below 40: set it to sizeof(SwmBucket)";
        self.add_bucket(&send.read().map_err(|why| bad_send(why, SMALL))?)
    }

    fn send_bytes(&mut self, send: Passed<'_, *const SwmBytes>) -> Result<(), Fault> {
        const SMALL: &str = "the plugin's send has a `size` below 48: set it to sizeof(SwmBytes)";
        self.add_bytes(&send.read().map_err(|why| bad_send(why, SMALL))?)
    }

    fn redistribute(
        &mut self,
        redistribution: Passed<'_, *const SwmRedistribution>,
    ) -> Result<(), Fault> {
        let raw = redistribution.read().map_err(|why| {
            Fault::OutOfOrder(match why {
                Unreadable::Null => "the plugin redistributes null",
                Unreadable::Small(_) => {
                    "the plugin's redistribution has a `size` below 64: set it to sizeof(SwmRedistribution)"
                }
            })
        })?;
        if raw.node_count > limits::BYTE_COUNTS {
            return Err(Fault::OutOfOrder(
                "the plugin's redistribution is for over 134217728 destinations",
            ));
        }
        let (starts, firsts) = (raw.starts(), raw.firsts());
        if !starts.is_aligned() || !firsts.is_aligned() {
            return Err(Fault::OutOfOrder(
                "the plugin's redistribution has a table at an address that is not a multiple of 4",
            ));
        }
        self.schedule().redistribute(&Redistribution {
            node: raw.node,
            buckets: raw.buckets,
            cycle: raw.cycle,
            first: raw.first,
            starts: starts.slice().unwrap_or_default(),
            firsts: firsts.slice().unwrap_or_default(),
        })
    }

    fn rearrange(&mut self) -> Result<(), Fault> {
        self.schedule().rearrange()
    }
}

/// Returns the fault of a send that cannot be read. `small` is the text if its size is too small.
fn bad_send(why: Unreadable, small: &'static str) -> Fault {
    Fault::OutOfOrder(match why {
        Unreadable::Null => "the plugin sends null",
        Unreadable::Small(_) => small,
    })
}
