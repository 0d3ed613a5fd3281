//! An expected value is evidence for a schedule only if corrupted versions of the schedule are
//! refused or have a different value. Each schedule is exported, read back with the same row, and
//! then corrupted in one place.

use crate::support::{rows, swapmeet};
use serde_json::{Value, json};
use swapmeet_results::{Record, Status};
use tempfile::tempdir;

#[derive(Clone, Copy)]
pub(super) struct Planned<'a> {
    pub topology: &'a str,
    pub algorithm: &'a str,
    pub workload: &'a str,
    pub machine: &'a str,
}

type Events = Vec<Value>;

/// A description, the function that corrupts the events, and whether the schedule may stay valid.
type Corruption = (&'static str, fn(&mut Events), bool);

const CORRUPTIONS: [Corruption; 4] = [
    ("without its last send", leave_out, false),
    ("with its first send to another node", misdirect, false),
    ("with data forwarded in the step in which it arrives", advance, false),
    ("with a circuit that crosses its first link twice", detour, true),
];

fn sends(events: &mut Events) -> impl DoubleEndedIterator<Item = &mut Value> {
    events.iter_mut().filter(|event| event["step"].is_u64())
}

fn leave_out(events: &mut Events) {
    let last = events.iter().rposition(|event| event["step"].is_u64()).unwrap();
    events.remove(last);
}

fn misdirect(events: &mut Events) {
    let first = sends(events).next().unwrap();
    let (from, to) = (first["from"].as_u64().unwrap(), first["to"].as_u64().unwrap());
    let other = (0..).find(|node| *node != from && *node != to).unwrap();
    first["to"] = json!(other);
    first.as_object_mut().unwrap().remove("path");
}

/// Moves the first step in which a node forwards new data, and all later steps, one step earlier.
fn advance(events: &mut Events) {
    let forwards =
        |event: &Value| event["after"].as_u64().is_some_and(|after| event["step"] == after + 1);
    let Some(first) = events.iter().position(forwards) else { return };
    let step = events[first]["step"].as_u64();
    for send in sends(events).filter(|send| send["step"].as_u64() >= step) {
        send["step"] = json!(send["step"].as_u64().unwrap() - 1);
    }
    let end = events[..first].iter().rposition(|event| event["end_of_step"].is_u64()).unwrap();
    let between: Events = events.drain(end..first).filter(|event| event["step"].is_u64()).collect();
    events.splice(end..end, between);
}

/// Makes the longest circuit of the first step cross its first link, return, and cross it again.
fn detour(events: &mut Events) {
    let first = sends(events).next().unwrap()["step"].clone();
    let of_first = sends(events).filter(|send| send["step"] == first);
    let longest = of_first.max_by_key(|send| send["path"].as_array().map_or(0, Vec::len)).unwrap();
    let path = longest["path"].as_array_mut().unwrap();
    let there_and_back = [path[0].clone(), path[1].clone()];
    path.splice(0..0, there_and_back);
    // Remove `own_route`, so that the route is requested. Otherwise, the topology would choose the
    // route.
    longest.as_object_mut().unwrap().remove("own_route");
}

/// Asserts that the row of the exported schedule has a property, and that the row of no corrupted
/// schedule has it.
pub(super) fn only_the_right_schedule_does(
    planned: Planned<'_>,
    has_property: impl Fn(&Record) -> bool,
) {
    let Planned { topology, algorithm, workload, machine } = planned;
    let place = ["--topology", topology, "--workload", workload, "--machine", machine];
    let args = [&["trace", "--format", "json", "--algorithm", algorithm], &place[..]].concat();
    let document: Value =
        serde_json::from_slice(&swapmeet(&args).output().unwrap().stdout).unwrap();
    let dir = tempdir().unwrap();
    let file = dir.path().join("schedule.json");
    let run = |document: &Value| {
        let text =
            format!("{{\"schedule\":{},\"events\":{}}}", document["schedule"], document["events"]);
        std::fs::write(&file, text).unwrap();
        let algorithm = format!("schedule:file={}", file.display());
        rows(&[&["--algorithm", &algorithm], &place[..]].concat()).remove(0)
    };
    let right = run(&document);
    assert!(
        right.status == Status::Ok && has_property(&right),
        "{algorithm} on {topology}, read back: {}",
        right.reason
    );
    for (what, corrupt, may_deliver) in CORRUPTIONS {
        let mut wrong = document.clone();
        corrupt(wrong["events"].as_array_mut().unwrap());
        if wrong == document {
            continue;
        }
        let row = run(&wrong);
        let case = format!("{algorithm} on {topology} {what}: {} {}", row.status, row.reason);
        if may_deliver {
            assert!(row.status == Status::Ok && !has_property(&row), "{case}");
        } else {
            assert_eq!(row.status, Status::Invalid, "{case}");
        }
    }
}
