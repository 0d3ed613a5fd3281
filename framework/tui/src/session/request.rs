//! Requests of panels, which the session or, if they concern the screen, the application carries
//! out.

use super::Session;
use super::chosen::ListKind;
use super::packed::CaseKey;
use super::recording::FrameSelection;
use super::suggestions::ExperimentFile;
use super::trial::Changes;
use crate::filter::Filter;
use swapmeet_core::delivery::collective::CollectiveKind;
use swapmeet_results::units;
use swapmeet_runner::experiment::{OwnMachine, Setting};

pub(crate) type Requests = Vec<Request>;

#[derive(Debug, Clone)]
pub(crate) enum Request {
    /// Ask the user for a text, given a title and the initial text.
    Ask(String, String),
    Details,
    Say(String),
    Warn(String),
    Select(CaseKey),
    /// Select the next case of the queue (1) or the previous one (-1).
    SelectNext(isize),
    /// Select the fastest case of a group.
    SelectGroup(usize),
    ChooseCollective(&'static CollectiveKind),
    Deselect(ListKind),
    Toggle(ListKind, usize),
    ToggleAll(ListKind, Filter),
    /// Add a spec to its list, or replace the one at an index.
    Put(ListKind, String, Option<usize>),
    Remove(ListKind, usize),
    Set(&'static Setting, String),
    Load(ExperimentFile),
    /// Choose this workload, and deselect those that no chosen algorithm supports.
    FitWorkloads(String),
    RunFitting,
    Record(FrameSelection),
    WantSchedule,
    WantRanks,
    ToggleKept,
    ShowKeptStep(usize),
    Try(Changes),
    /// Add a machine with its definition.
    AddMachine(OwnMachine, String),
}

impl Session {
    /// Carries out a request, or returns it if it concerns the screen.
    pub(crate) fn carry_out(&mut self, request: Request) -> Option<Request> {
        match request {
            Request::Ask(..) | Request::Details => return Some(request),
            Request::Say(text) => self.show_message(&text, false),
            Request::Warn(text) => self.show_message(&text, true),
            Request::Select(case) => self.select(case),
            Request::SelectNext(by) => self.select_next(by),
            Request::SelectGroup(group) => self.select_group(group),
            Request::ChooseCollective(kind) => {
                self.chosen.choose_collective(kind, &self.registry);
                let count = self.chosen.selected(ListKind::Algorithms).count();
                let algorithms = units::count(count, "algorithm");
                let text = format!("{}: {algorithms} that may fit; R runs them", kind.word);
                self.show_message(&text, false);
            }
            Request::Deselect(kind) => self.chosen.deselect(kind),
            Request::Toggle(kind, index) => self.chosen.toggle(kind, index),
            Request::ToggleAll(kind, filter) => {
                let (count, is_on) = self.chosen.toggle_all(kind, &filter);
                let text = match (count, is_on) {
                    (0, _) => "nothing to select here".to_owned(),
                    (_, true) => format!("selected {}", units::count(count, "line")),
                    (_, false) => format!("deselected {}", units::count(count, "line")),
                };
                self.show_message(&text, false);
            }
            Request::Put(kind, spec, instead) => drop(self.chosen.put(kind, spec, instead)),
            Request::Remove(kind, index) => self.chosen.remove(kind, index),
            Request::Set(setting, text) => {
                if let Err(error) = self.chosen.set(setting, &text) {
                    self.show_message(&error.message, true);
                }
            }
            Request::Load(file) => self.load(&file),
            Request::FitWorkloads(workload) => self.chosen.fit_workloads(workload, &self.registry),
            Request::RunFitting => self.run_fitting(),
            Request::Record(frames) => self.record(frames),
            Request::WantSchedule => self.want_schedule(),
            Request::WantRanks => self.want_ranks(),
            Request::ToggleKept => self.toggle_kept(),
            Request::ShowKeptStep(step) => self.show_kept_step(step),
            Request::Try(changes) => self.trial.changes = changes,
            Request::AddMachine(own, definition) => {
                let name = own.name.value.clone();
                match self.chosen.add_machine(own) {
                    Ok(()) => self.show_message(
                        &format!(
                            "[machine.{name}] is {definition}; selected: a runs it, S saves it"
                        ),
                        false,
                    ),
                    Err(why) => self.show_message(&why, true),
                }
            }
        }
        None
    }
}
