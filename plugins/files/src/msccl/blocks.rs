//! Blocks: which of them a message takes. Where in a GPU's buffers they lie is no matter of the
//! network.

use super::execution::{Act, Execution};
use super::shape::Shape;
use super::{at_home, products};
use std::collections::HashMap;
use swapmeet_interchange::msccl::Collective;
use swapmeet_sdk::{Blocks, Schedule, Stop};

pub(super) fn hand_on(
    shape: &Shape,
    execution: &Execution,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let segments = u32::try_from(shape.segments).unwrap_or(u32::MAX);
    schedule.layout(&[shape.gpus], segments)?;
    let (has_origins, has_destinations, copies) = match shape.collective {
        Collective::AllToAll => (true, true, false),
        Collective::Scatter => (false, true, false),
        Collective::Gather => (true, false, false),
        Collective::AllGather => (true, false, true),
        Collective::Broadcast
        | Collective::Reduce
        | Collective::ReduceScatter
        | Collective::AllReduce => (false, false, true),
    };
    // How often a GPU is still to send a block: what it sends for the last time it no longer has.
    let mut to_come: HashMap<(u64, u64), u32> = HashMap::new();
    for act in &execution.acts {
        if let Act::Message { sender, chunks, .. } = act {
            for passed in chunks {
                *to_come.entry((sender.gpu, execution.values[passed.sent].what)).or_default() += 1;
            }
        }
    }
    let mut now = 0;
    for act in &execution.acts {
        let Act::Message { step, sender, receiver, chunks } = act else { continue };
        if *step > now {
            now = *step;
            schedule.step()?;
        }
        let (mut once, mut again) = (Vec::new(), Vec::new());
        for what in chunks.iter().map(|passed| execution.values[passed.sent].what) {
            let left = to_come.entry((sender.gpu, what)).or_default();
            *left -= 1;
            if copies || *left > 0 { &mut again } else { &mut once }.push(what);
        }
        let label = format!("{sender}, line {}", sender.line);
        for (whats, keeps) in [(once, false), (again, true)] {
            for [origins, destinations, segments] in products(shape, whats.into_iter()) {
                let (mut o, mut d) = (Vec::new(), Vec::new());
                let mut send = Blocks::new(sender.gpu, receiver.gpu)
                    .segments(segments.axis())
                    .strict()
                    .label(&label);
                if has_origins {
                    send = send.origins(at_home(&origins, 1, &mut o));
                }
                if has_destinations {
                    send = send.destinations(at_home(&destinations, 1, &mut d));
                }
                schedule.send(&if keeps { send.copy() } else { send })?;
            }
        }
    }
    Ok(())
}
