//! A machine's times that exported files contain, and what SimGrid cannot express.

use swapmeet_bridges::schedule::Timing;
use swapmeet_core::cost::parameter::Barrier;
use swapmeet_runner::case::Case;

/// Returns the times of the case's machine. Errors if it names a late rank that does not exist.
pub(super) fn of(case: &Case) -> Result<Timing, String> {
    let (machine, nodes) = (&case.machine, case.topology.nodes());
    let number = |key| machine.number(key).unwrap_or(0.0);
    let factor = |key| machine.number(key).filter(|factor| *factor != 1.0);
    // As in the cost model, ranks wait at a barrier if it takes time or if `order` is `barrier`.
    let barrier = value(case, "barrier_us").map(|text| Barrier::read(&text)).transpose()?;
    let barrier_us = barrier.map_or(0.0, |barrier| barrier.us(nodes));
    let waits = barrier_us > 0.0 || value(case, "order").is_some_and(|order| order == "barrier");
    let late = machine.late_ranks(nodes, case.seed)?;
    Ok(Timing {
        startup_us: number("startup_us"),
        rendezvous_bytes: number("rendezvous_bytes"),
        rendezvous_us: number("rendezvous_us"),
        eager_byte_us: number("eager_byte_us"),
        hop_us: number("hop_us"),
        injection_byte_us: number("injection_byte_us"),
        reduce_byte_us: number("reduce_byte_us"),
        barrier_us: waits.then_some(barrier_us),
        late: late.into_iter().map(|(rank, us)| (rank as u64, us)).collect(),
        weight_bytes: number("weight_bytes"),
        latency_factor: factor("latency_factor"),
        bandwidth_factor: factor("bandwidth_factor"),
    })
}

/// Returns the properties of a case that SimGrid cannot express. If there are none, the time in
/// SimGrid is that of the case.
pub(super) fn not_in_simgrid(case: &Case) -> Vec<String> {
    let model = case.machine.model.name;
    if model != "fluid" {
        let same = "it shares links as the model `fluid` does";
        return vec![format!("the model `{model}` ({same})")];
    }
    let number = |key| case.machine.number(key).unwrap_or(0.0);
    let is = |key, word: &str| value(case, key).is_some_and(|value| value == word);
    let has_latencies = number("hop_us") > 0.0;
    let least = case.topology.latencies().map_or(1.0, |(least, _)| least);
    [
        (is("order", "data"), "`order=data` (the exported program works step by step)"),
        (number("noise") > 0.0, "`noise`"),
        (is("grouped", "yes"), "`grouped=yes` (each message has a start-up of its own)"),
        (number("launch_us") > 0.0, "`launch_us`"),
        (number("floor_us") > 0.0, "`floor_us`"),
        (
            is("fairness", "equal") && has_latencies,
            "`fairness=equal` (messages have weights by their latency)",
        ),
        (
            has_latencies && least == 0.0,
            "routes without latency (they have a small weight beside others)",
        ),
        (
            number("weight_bytes") > 0.0 && number("injection_byte_us") > 0.0,
            "`weight_bytes` without the links of `injection_byte_us`",
        ),
    ]
    .into_iter()
    .filter(|(applies, _)| *applies)
    .map(|(_, what)| what.to_owned())
    .collect()
}

fn value(case: &Case, key: &str) -> Option<String> {
    let values = case.machine.values().into_iter();
    values.filter(|value| value.parameter.key() == key).map(|value| value.text).next()
}
