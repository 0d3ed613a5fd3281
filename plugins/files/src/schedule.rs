//! `schedule:file=X.json`: a schedule in the format of `trace --format json`, written by Swapmeet
//! or any other program (`docs/trace.md`). Each event is passed to the host as it is read. Messages
//! between virtual nodes of the same node are ignored.

use crate::numbers::Numbers;
use std::fs::File;
use std::io::BufReader;
use swapmeet_interchange::schedule::{
    DocumentEvent, EventHandler, HandlerError, Header, Layout, Runs, Send, distinct_sums, read,
};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Route, Schedule, Set, Stop,
    bit_words,
};

const FILE: ParamInfo =
    ParamInfo::file("file", "the schedule, as `swapmeet trace --format json` prints one");

pub(crate) struct FromSchedule;

impl Algorithm for FromSchedule {
    fn about(&self) -> About {
        About {
            name: "schedule",
            title: "A schedule from a JSON file",
            accepts: "as many nodes as the file has",
            collectives: &Collective::ALL,
            params: &[FILE],
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let path = problem
            .given::<String>("file")?
            .ok_or_else(|| Stop::unsupported("needs a file, as in schedule:file=X.json"))?;
        let content = File::open(&path).map_err(|e| Stop::failed(format!("{path}: {e}")))?;
        let mut reader =
            FileReader { problem, schedule, waiting: 0, segments: 0, step: 0, stop: None };
        let outcome = read(BufReader::new(content), &mut reader);
        // If the host has refused a call, report its error unchanged, not as an error in the
        // format.
        if let Some(stop) = reader.stop {
            return Err(stop);
        }
        outcome.map(|_| ()).map_err(|e| Stop::failed(format!("{path}: {e}")))
    }
}

struct FileReader<'a, 'p, 's> {
    problem: &'a Problem<'p>,
    schedule: &'a mut Schedule<'s>,
    waiting: u64,
    /// The number of segments of a block, or 0 before the grid is set.
    segments: u64,
    step: u64,
    stop: Option<Stop>,
}

impl EventHandler for FileReader<'_, '_, '_> {
    fn head(&mut self, head: Header) -> Result<(), HandlerError> {
        let nodes = self.problem.topology().nodes();
        let word = self.problem.collective().word();
        let stop = if head.nodes != nodes {
            Some(Stop::unsupported(format!(
                "the file's schedule is for {} nodes, but the topology has {nodes}",
                head.nodes
            )))
        } else if head.collective != word {
            Some(Stop::unsupported(format!(
                "the file's schedule does `{}`, not `{word}`",
                head.collective
            )))
        } else if head.root.is_some_and(|root| root != self.problem.root()) {
            Some(Stop::unsupported(format!(
                "the file's schedule has its root at {}",
                head.root.unwrap_or_default()
            )))
        } else {
            None
        };
        Ok(stop.map_or(Ok(()), |stop| self.refuse(stop))?)
    }

    fn event(&mut self, event: DocumentEvent) -> Result<(), HandlerError> {
        match event {
            DocumentEvent::Layout(layout) => {
                if self.segments > 0 {
                    return Err("`layout` is repeated, or after the first send".into());
                }
                Ok(self.lay_out(&layout)?)
            }
            DocumentEvent::Phase(name) => {
                let result = self.schedule.phase(&name);
                Ok(self.check(result)?)
            }
            DocumentEvent::Rearrange => {
                if self.segments == 0 {
                    self.waiting += 1;
                    return Ok(());
                }
                let result = self.schedule.rearrange();
                Ok(self.check(result)?)
            }
            DocumentEvent::Send(send) => Ok(self.send(&send)?),
            DocumentEvent::EndOfStep => Ok(()),
            DocumentEvent::Redistribute(_) => {
                Err("it redistributes byte counts: only schedules of blocks are supported".into())
            }
        }
    }
}

impl FileReader<'_, '_, '_> {
    fn refuse(&mut self, stop: Stop) -> Result<(), String> {
        let reason = stop.to_string();
        self.stop = Some(stop);
        Err(reason)
    }

    fn check(&mut self, result: Result<(), Stop>) -> Result<(), String> {
        result.or_else(|stop| self.refuse(stop))
    }

    fn lay_out(&mut self, layout: &Layout) -> Result<(), String> {
        let segments = layout.segments.max(1);
        let split = u32::try_from(segments)
            .map_err(|_| format!("{segments} segments, expected at most 2^32 - 1"))?;
        self.segments = segments;
        let grid = [self.problem.topology().nodes()];
        // The segments of tokens are their classes. The host knows these, so blocks need not be
        // split here.
        let has_tokens =
            matches!(self.problem.collective(), Collective::Dispatch | Collective::Combine);
        let split = if has_tokens { 1 } else { split };
        let result = match layout.in_parts {
            true => self.schedule.layout_in_parts(&grid, split),
            false => self.schedule.layout(&grid, split),
        };
        self.check(result)?;
        for _ in 0..std::mem::take(&mut self.waiting) {
            let result = self.schedule.rearrange();
            self.check(result)?;
        }
        Ok(())
    }

    fn send(&mut self, send: &Send) -> Result<(), String> {
        let Some(blocks) = &send.blocks else {
            return Err("it sends byte counts: only schedules of blocks are supported".to_owned());
        };
        if self.segments == 0 {
            self.lay_out(&Layout::default())?;
        }
        if send.step < self.step {
            return Err(format!("step {} comes after step {}", send.step, self.step));
        }
        if send.step > self.step {
            self.step = send.step;
            let result = self.schedule.step();
            self.check(result)?;
        }
        let in_switch = send.reducer > 0 || send.multicaster > 0;
        if send.from == send.to && !in_switch {
            return Ok(());
        }
        let label = match &send.label {
            Some(label) => label.clone(),
            None => format!("step {} of the file", send.step),
        };
        // If a send takes the topology's own route, no route is requested, because the host could
        // refuse a random route or one over switches.
        let path = if send.own_route { &[] } else { send.path.get(1..).unwrap_or_default() };
        let route = Route::path_with_signs(path, &send.signs);
        let sums = matches!(
            self.problem.collective(),
            Collective::Reduce
                | Collective::ReduceScatter
                | Collective::AllReduce
                | Collective::Combine
        );
        if sums && send.is_virtual {
            return Err(
                "it comes from a virtual node with a separate sum, which a file cannot place"
                    .to_owned(),
            );
        }
        let sets = if sums { distinct_sums(blocks, self.segments) } else { blocks.clone() };
        for set in &sets {
            let nodes = self.problem.topology().nodes();
            let origins = coordinates(&set.origins, nodes, "an origin")?;
            let destinations = coordinates(&set.destinations, nodes, "a destination")?;
            let segments = coordinates(&set.segments, self.segments, "a segment")?;
            let (o, d) = ([axis(&origins)], [axis(&destinations)]);
            let mut moved =
                Blocks::new(send.from, send.to).segments(axis(&segments)).strict().label(&label);
            moved = moved.reducer(send.reducer).multicaster(send.multicaster);
            if set.origins.is_some() {
                moved = moved.origins(Set::product(&o));
            }
            if set.destinations.is_some() {
                moved = moved.destinations(Set::product(&d));
            }
            if send.copy {
                moved = moved.copy();
            }
            if send.combine {
                moved = moved.combine();
            }
            if !path.is_empty() {
                moved = moved.route(&route);
            }
            let result = self.schedule.send(&moved);
            self.check(result)?;
        }
        Ok(())
    }
}

/// Returns the coordinates that a set selects on an axis. `None` means all coordinates.
fn coordinates(runs: &Option<Runs>, radix: u64, what: &str) -> Result<Option<Numbers>, String> {
    let Some(runs) = runs else { return Ok(None) };
    if let Some((first, last)) = runs.iter().find(|(first, last)| first > last || *last >= radix) {
        return Err(format!(
            "a run from {first} to {last}, expected {what} below {radix}, the last not below the first"
        ));
    }
    let members = runs.iter().flat_map(|(first, last)| *first..=*last);
    Ok(Some(match runs.as_slice() {
        [(first, last)] => Numbers::Run(*first, last - first + 1),
        _ => Numbers::Bits(bit_words(radix, members)),
    }))
}

fn axis(numbers: &Option<Numbers>) -> Axis<'_> {
    numbers.as_ref().map_or(Axis::ALL, Numbers::axis)
}
