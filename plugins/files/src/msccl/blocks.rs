//! Passes the messages of an algorithm without reductions to the host. Positions in buffers are
//! left out, because they do not affect the network.

use super::buffers::Buffers;
use super::execution::{Action, Execution};
use super::{home_set, products};
use std::collections::HashMap;
use swapmeet_interchange::msccl::Collective;
use swapmeet_sdk::{Blocks, Schedule, Stop};

pub(super) fn pass_on(
    buffers: &Buffers,
    execution: &Execution,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let segments = u32::try_from(buffers.segments).unwrap_or(u32::MAX);
    schedule.layout(&[buffers.gpus], segments)?;
    let (has_origins, has_destinations, copies) = match buffers.collective {
        Collective::AllToAll => (true, true, false),
        Collective::Scatter => (false, true, false),
        Collective::Gather => (true, false, false),
        Collective::AllGather => (true, false, true),
        Collective::Broadcast
        | Collective::Reduce
        | Collective::ReduceScatter
        | Collective::AllReduce => (false, false, true),
    };
    // A GPU keeps a copy of a block until its last send of this block.
    let mut sends_left: HashMap<(u64, u64), u32> = HashMap::new();
    for action in &execution.actions {
        if let Action::Message { sender, chunks, .. } = action {
            for passed in chunks {
                *sends_left.entry((sender.gpu, execution.values[passed.sent].what)).or_default() +=
                    1;
            }
        }
    }
    let mut now = 0;
    for action in &execution.actions {
        let Action::Message { step, sender, receiver, chunks } = action else { continue };
        if *step > now {
            now = *step;
            schedule.step()?;
        }
        let (mut last, mut kept) = (Vec::new(), Vec::new());
        for what in chunks.iter().map(|passed| execution.values[passed.sent].what) {
            let left = sends_left.entry((sender.gpu, what)).or_default();
            *left -= 1;
            if copies || *left > 0 { &mut kept } else { &mut last }.push(what);
        }
        let label = format!("{sender}, line {}", sender.line);
        for (ids, keeps) in [(last, false), (kept, true)] {
            for [origins, destinations, segments] in products(buffers, ids.into_iter()) {
                let (mut o, mut d) = (Vec::new(), Vec::new());
                let mut send = Blocks::new(sender.gpu, receiver.gpu)
                    .segments(segments.axis())
                    .strict()
                    .label(&label);
                if has_origins {
                    send = send.origins(home_set(&origins, 1, &mut o));
                }
                if has_destinations {
                    send = send.destinations(home_set(&destinations, 1, &mut d));
                }
                schedule.send(&if keeps { send.copy() } else { send })?;
            }
        }
    }
    Ok(())
}
