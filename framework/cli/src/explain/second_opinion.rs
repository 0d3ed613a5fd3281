//! NCCL's own prediction, next to ours. A log has it with `NCCL_DEBUG_SUBSYS=TUNING`.

use super::log::Log;
use super::prediction::Place;
use super::{EXPECTED, LARGE, LOW, Line, decisive, in_words};
use swapmeet_bridges::import::{Communicator, Opinion, Tuning};
use swapmeet_core::spec::format_size;
use swapmeet_results::duration;

/// For each part of a GPU's name in nccl-tests, the compute capability times ten.
const CAPABILITIES: [(&str, u64); 10] = [
    ("P100", 60),
    ("V100", 70),
    ("T4", 75),
    ("A100", 80),
    ("A800", 80),
    ("H100", 90),
    ("H200", 90),
    ("H800", 90),
    ("B200", 100),
    ("B300", 100),
];

/// Returns the communicator for NCCL's model. An unknown GPU has the compute capability of A100.
pub(super) fn communicator(log: &Log, place: &Place) -> Communicator {
    let gpu = log.gpus.first().map_or("", String::as_str);
    let known = CAPABILITIES.iter().find(|(name, _)| gpu.contains(name));
    Communicator {
        ranks: place.members(),
        nodes: place.communicator().map_or(1, |(_, domains, _)| domains),
        compute_capability: known.map_or(80, |(_, capability)| *capability),
        // GB200 and similar GPUs have Arm processors.
        is_x86: !gpu.contains("GB"),
    }
}

pub(super) fn cell(opinion: Option<&Opinion>) -> String {
    let Some(Opinion { algorithm, protocol, us, .. }) = opinion else { return String::new() };
    let time = us.map_or(String::new(), |us| format!("{} ", duration(us)));
    format!("{time}{algorithm}/{protocol}")
}

pub(super) fn remarks(
    tuning: &Tuning,
    collective: &str,
    place: &Place,
    lines: &[Line],
) -> Vec<String> {
    let version =
        tuning.version.map_or(String::new(), |[major, minor]| format!(" {major}.{minor}"));
    if lines.iter().all(|line| line.nccl.is_none()) {
        let why = match tuning {
            Tuning { is_rccl: true, .. } => {
                "RCCL multiplies the bandwidths of its table by factors of each kind of GPU"
                    .to_owned()
            }
            _ if !tuning.has_table() || collective == "alltoall" => {
                format!("it has no line for {collective}")
            }
            _ => format!("the factors of NCCL{version} are unknown: expected NCCL 2.10 or later"),
        };
        return vec![format!(
            "the lines of NCCL_DEBUG_SUBSYS=TUNING give no second opinion: {why}"
        )];
    }
    let timed = |line: &Line| line.nccl.as_ref().and_then(|opinion| opinion.us);
    let all = || lines.iter().filter_map(|line| line.nccl.as_ref());
    let source = match all().any(|opinion| !opinion.is_printed) {
        true => "the latency plus the bytes by the bandwidth of its table (ncclTopoGetAlgoTime)",
        false if all().any(|opinion| opinion.us.is_none()) => "the choices that it printed",
        false => "the choices that it printed, with its times",
    };
    let mut remarks =
        vec![format!("the column `NCCL` is what NCCL{version} itself expects: {source}")];
    let decisive = decisive(lines).filter(|line| line.bytes >= LARGE);
    remarks.extend(decisive.and_then(|line| {
        let opinion = line.nccl.as_ref()?;
        let theirs = opinion.us? / line.measured_us;
        let gbps = tuning.gbps(collective, opinion);
        let table = gbps.map_or(String::new(), |gbps| format!(", {gbps} GB/s in its table"));
        let ours = line.ratio();
        let is_closer = ours.ln().abs() <= theirs.ln().abs();
        let judgement = match (ours < LOW, theirs < LOW) {
            (true, true) => {
                "it also finds the time low: the links are slower than NCCL believes"
            }
            (true, false) => {
                "it expects no more, so NCCL did not find all links of this system, or does not use them: see NCCL_DEBUG_SUBSYS=INIT,GRAPH"
            }
            _ if (EXPECTED[0]..=EXPECTED[1]).contains(&theirs) => "it agrees with the measured time",
            _ if is_closer => "it disagrees, and our expectation is closer to the measured time",
            _ => "it disagrees, and is closer to the measured time than our expectation",
        };
        Some(format!(
            "at {}, the speed is {} of what NCCL expects ({}{table}): {judgement}",
            format_size(line.bytes),
            in_words(theirs),
            cell(Some(opinion)),
        ))
    }));
    // NCCL's model has no least time, so its predictions for small sizes always differ from ours.
    let large = lines.iter().filter(|line| line.bytes >= LARGE);
    let factors: Vec<(u64, f64)> =
        large.filter_map(|line| Some((line.bytes, timed(line)? / line.prediction.us))).collect();
    let list = |distance: fn(f64) -> f64| {
        let far = factors.iter().filter_map(|(bytes, factor)| {
            let far = distance(*factor);
            (far > EXPECTED[1]).then(|| format!("{} ({far:.1} times)", format_size(*bytes)))
        });
        far.collect::<Vec<_>>().join(", ")
    };
    let (longer, shorter) = (list(|factor| factor), list(|factor| 1.0 / factor));
    if !longer.is_empty() {
        remarks.push(format!(
            "NCCL expects longer times than we do: {longer}: it found less bandwidth than {} has, or prefers a slower algorithm",
            place.name
        ));
    }
    if !shorter.is_empty() {
        remarks.push(format!(
            "NCCL expects shorter times than we do: {shorter}: it found more bandwidth than {} has, or its model is wrong here",
            place.name
        ));
    }
    let wrong = lines.iter().filter_map(|line| {
        let chosen = line.nccl.as_ref()?.algorithm;
        let factor = line.prediction.of_library.get(chosen)? / line.prediction.us;
        (factor > EXPECTED[1])
            .then(|| format!("{} ({chosen}, {factor:.1} times)", format_size(line.bytes)))
    });
    let wrong: Vec<String> = wrong.collect();
    if !wrong.is_empty() {
        remarks.push(format!(
            "by our prediction, NCCL's choice takes longer than its best algorithm at {}",
            wrong.join(", ")
        ));
    }
    remarks
}
