//! Uses the core as a library: simulates an all-to-all, verifies it, and compares its time with a
//! lower bound.
//!
//! `cargo run -p swapmeet-examples --example library -- torus:8x8 paragon`

use std::error::Error;
use swapmeet_core::cost::bound::Traffic;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::model::PricingContext;
use swapmeet_core::delivery::boxes::NodeSet;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, Collective};
use swapmeet_core::delivery::exchange::Rule;
use swapmeet_core::network::topology;
use swapmeet_core::simulation::{Simulation, Task};

const BLOCK_BYTES: f64 = 64.0;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let spec = |index: usize, default| args.get(index).map_or(default, String::as_str);
    let network = topology::parse(spec(0, "torus:8x8"))?;
    let machine = Machine::parse(spec(1, "paragon"))?;
    let task = Task::new(network.clone(), Collective::of(&ALL_TO_ALL));

    // The evaluator computes the predicted time while the schedule is simulated.
    let mut evaluator = machine.evaluator(PricingContext::new(&network, BLOCK_BYTES));
    let mut simulation = Simulation::new(task.clone(), vec![evaluator.as_mut()])?;
    let nodes = network.nodes();
    for distance in 1..nodes {
        simulation.step()?;
        for from in 0..nodes {
            // Each node holds one block for `to`, and sends it directly to `to`.
            let to = (from + distance) % nodes;
            let (origins, destinations) = (NodeSet::One(from), NodeSet::One(to));
            let rule = Rule { origins, destinations, strict: true, ..Rule::new(from, to) };
            simulation.send(&rule, None)?;
        }
    }
    // `finish` returns an error if any block has not reached its destination.
    let totals = simulation.finish()?;

    let time_us = evaluator.cost()?.parts.total();
    let traffic = Traffic::of(&task).in_bytes(BLOCK_BYTES);
    let bound_us = machine.lower_bound(network.as_ref(), &traffic).total_us();
    let ratio = time_us / bound_us;
    let (steps, messages) = (totals.steps, totals.messages);
    println!("{steps} steps, {messages} messages: {time_us:.1} us, {ratio:.2} times the bound");
    Ok(())
}
