//! Machines. A machine is a cost model together with values for the parameters of the model.
//!
//! A machine starts as one of the [`presets`], which give a source for every value. Settings then
//! change single values. Each of the [`models`] declares the [`parameters`](super::parameter) that
//! it reads. Plugins can read the parameters of [`Planning`].

use super::background::Background;
use super::bound::{Bound, Traffic};
use super::model::{Evaluator, Model, ModelKind, NetworkRates, PricingContext, Refused, models};
use super::parameter::{
    DefaultValue, PORTS, Parameter, ParameterError, PortLimit, TypedParameter, VIRTUAL_CHANNELS,
    parse_word,
};
use super::settings::{Origin, Preset, Setting, Settings, parameters};
use crate::network::topology::Network;
use crate::simulation::listener::Detail;
use crate::spec::{Spec, SpecError, near_matches};
use std::fmt;
use std::sync::{Arc, LazyLock};

mod launch;
mod presets;

use launch::Launch;
pub use presets::{fitted_on, presets};

static MODEL: TypedParameter<&'static ModelKind> = TypedParameter {
    key: "model",
    meaning: "the model that computes completion times",
    symbols: "",
    default: DefaultValue::Text("wormhole"),
    read: |text| {
        parse_word(text, &models().iter().map(|kind| (kind.name, *kind)).collect::<Vec<_>>())
    },
};

/// Returns all parameters: `model`, those of all models, those for the launch of a collective, and
/// those of [`Planning`].
pub fn parameters() -> Vec<&'static dyn Parameter> {
    // The list is built only once, because every parsed value needs it, and many duplicates have to
    // be removed.
    static ALL: LazyLock<Vec<&'static dyn Parameter>> = LazyLock::new(|| {
        let mut all: Vec<&'static dyn Parameter> = vec![&MODEL];
        let of_models = models().iter().flat_map(|kind| kind.parameters);
        for parameter in of_models.chain(Launch::PARAMETERS).chain(Planning::PARAMETERS) {
            if !all.iter().any(|other| other.key() == parameter.key()) {
                all.push(*parameter);
            }
        }
        all
    });
    ALL.clone()
}

/// Returns the names of the models that read a parameter, and `planning` if plugins can read it.
pub fn readers(parameter: &dyn Parameter) -> String {
    let reads = |list: &[&dyn Parameter]| list.iter().any(|other| other.key() == parameter.key());
    let names = models().iter().filter(|kind| reads(kind.parameters)).map(|kind| kind.name);
    let mut readers: Vec<&str> = names.collect();
    let is_of_all = parameter.key() == MODEL.key || reads(Launch::PARAMETERS);
    if readers.len() == models().len() || is_of_all {
        readers = vec!["every model"];
    }
    if reads(Planning::PARAMETERS) {
        readers.push("planning");
    }
    readers.join(", ")
}

/// A parameter of a machine with its value.
#[derive(Debug, Clone)]
pub struct ParameterValue {
    /// The parameter.
    pub parameter: &'static dyn Parameter,
    /// The value in canonical form.
    pub text: String,
    /// The origin of the value, such as the preset or the machine's spec.
    pub origin: Origin,
}

/// A machine: a model and the values of its parameters. Times are in microseconds.
#[derive(Debug, Clone)]
pub struct Machine {
    name: String,
    stands_for: Option<String>,
    settings: Settings,
    /// The model that computes completion times.
    pub model: &'static ModelKind,
    pricing: Arc<dyn Model>,
    launch: Launch,
    planning: Planning,
    background: Option<Arc<Background>>,
}

impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        (self.to_string(), &self.stands_for) == (other.to_string(), &other.stands_for)
    }
}

impl Machine {
    /// Parses a spec: the name of a preset, then changes.
    ///
    /// ```
    /// use swapmeet_core::cost::machine::Machine;
    /// let machine = Machine::parse("paragon:startup_us=220").unwrap();
    /// assert_eq!(machine.number("startup_us"), Some(220.0));
    /// assert_eq!(machine.number("byte_us"), Some(0.011));
    /// assert_eq!(machine.to_string(), "paragon:startup_us=220");
    /// ```
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        Self::parse_with(text, &[])
    }

    /// Parses a spec like [`Machine::parse`]. The spec may also start from one of the experiment's
    /// machines (`own`), which have precedence over presets of the same name.
    pub fn parse_with(text: &str, own: &[Self]) -> Result<Self, SpecError> {
        let spec = Spec::parse("machine", text)?;
        let known = own.iter().find(|m| m.name == spec.name()).cloned();
        let preset = || presets().iter().find(|p| p.name == spec.name()).map(Self::of);
        let Some(base) = known.map(Ok).or_else(preset) else {
            let names = own.iter().map(|m| m.name.as_str()).chain(presets().iter().map(|p| p.name));
            return Err(spec.unknown_name(names));
        };
        let base = base.map_err(|e| spec.error(0, spec.name().len(), &e.to_string()))?;
        let unknown = |arg| spec.unknown_key(arg, parameters().iter().map(|p| p.key()));
        let given: Result<Vec<_>, _> = spec
            .args()
            .iter()
            .map(|arg| arg.key().map(|key| (key, arg.value())).ok_or_else(|| unknown(arg)))
            .collect();
        base.with(&given?).map_err(|(index, error)| {
            let arg = &spec.args()[index];
            match error {
                ParameterError::Unknown { .. } => unknown(arg),
                ParameterError::Bad { expected, .. } => spec.bad_value(arg, &expected),
                ParameterError::Unread { key, .. } => {
                    spec.error(arg.at(), key.len(), &error.to_string())
                }
            }
        })
    }

    fn of(preset: &'static Preset) -> Result<Self, ParameterError> {
        Self::build(
            preset.name.to_owned(),
            None,
            Settings { preset, defined: Vec::new(), set: Vec::new() },
        )
    }

    fn build(
        name: String,
        stands_for: Option<String>,
        settings: Settings,
    ) -> Result<Self, ParameterError> {
        let model = settings.value(&MODEL)?;
        let (pricing, launch) = ((model.prepare)(&settings)?, Launch::of(&settings)?);
        let planning = Planning::of(&settings)?;
        Ok(Self { name, stands_for, settings, model, pricing, launch, planning, background: None })
    }

    /// Returns this machine with changed parameters. An error has the index of the invalid change.
    pub fn with(&self, given: &[(&str, &str)]) -> Result<Self, (usize, ParameterError)> {
        let mut settings = self.settings.clone();
        let mut keys = Vec::new();
        for (index, (key, text)) in given.iter().enumerate() {
            let parameter = find(key).map_err(|error| (index, error))?;
            let bad = |expected| ParameterError::Bad {
                key: parameter.key(),
                expected,
                found: (*text).to_owned(),
            };
            settings.put(
                parameter.key(),
                parameter.canonical(text).map_err(|expected| (index, bad(expected)))?,
            );
            keys.push(parameter.key());
        }
        let mut machine = Self::build(self.name.clone(), self.stands_for.clone(), settings)
            .map_err(|e| (0, e))?;
        // Keys are checked last, because one of the changes may select another model.
        let has: Vec<&str> = machine.parameters().iter().map(|p| p.key()).collect();
        if let Some(index) = keys.iter().position(|key| !has.contains(key)) {
            return Err((
                index,
                ParameterError::Unread { key: keys[index], model: machine.model.name, has },
            ));
        }
        machine.settings.set = machine.canonical();
        Ok(machine)
    }

    /// Returns the settings of the spec in canonical order, without those that change nothing.
    fn canonical(&self) -> Vec<Setting> {
        let set = |p: &&'static dyn Parameter| {
            let (text, origin) = self.settings.get(*p);
            (origin == Origin::User && text != self.settings.inherited(*p).0)
                .then(|| (p.key(), text))
        };
        self.parameters().iter().filter_map(set).collect()
    }

    /// Returns the parameters of this machine: those of its model, and those that all machines
    /// have.
    pub fn parameters(&self) -> Vec<&'static dyn Parameter> {
        let mut all: Vec<&'static dyn Parameter> = vec![&MODEL];
        all.extend(self.model.parameters);
        let more = Launch::PARAMETERS
            .iter()
            .chain(Planning::PARAMETERS)
            .filter(|p| !self.model.parameters.iter().any(|q| q.key() == p.key()));
        all.extend(more);
        all
    }

    /// Returns the values of all parameters of the machine.
    pub fn values(&self) -> Vec<ParameterValue> {
        self.values_of(self.parameters())
    }

    /// Returns the values that the preset or the experiment sets, but the model does not read.
    pub fn unused(&self) -> Vec<ParameterValue> {
        let has = self.parameters();
        let others = parameters().into_iter().filter(|p| !has.iter().any(|q| q.key() == p.key()));
        let mut values = self.values_of(others.collect());
        values.retain(|value| value.origin != Origin::Default);
        values
    }

    fn values_of(&self, parameters: Vec<&'static dyn Parameter>) -> Vec<ParameterValue> {
        let value = |parameter: &'static dyn Parameter| {
            let (text, origin) = self.settings.get(parameter);
            ParameterValue { parameter, text, origin }
        };
        parameters.into_iter().map(value).collect()
    }

    /// Returns the value of the parameter `key`, if the machine has it and it is a number.
    pub fn number(&self, key: &str) -> Option<f64> {
        let parameter = self.parameters().into_iter().find(|p| p.key() == key)?;
        self.settings.get(parameter).0.parse().ok()
    }

    /// Returns the values of the machine's parameters, with their origins.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the parameters that plugins can read.
    pub fn planning(&self) -> Planning {
        self.planning
    }

    /// Returns the time of a message without data. Algorithms use it to choose a number of
    /// segments.
    pub fn message_us(&self) -> f64 {
        self.pricing.message_us().or_else(|| self.number("startup_us")).unwrap_or(0.0)
    }

    /// Returns whether a message crosses all of its links at once. If so, it gains nothing if nodes
    /// on its route receive and forward it.
    pub fn shares_routes(&self) -> bool {
        self.pricing.shares_routes()
    }

    /// Returns whether the model needs the step in which each message's data arrived at its sender.
    pub fn follows_arrivals(&self) -> bool {
        self.pricing.follows_arrivals()
    }

    /// Returns how much detail of a schedule the model needs.
    pub fn detail(&self) -> Detail {
        self.pricing.detail()
    }

    /// Returns an evaluator of one schedule. It reports an error if the network is not supported.
    pub fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        if !self.bounds_by_links() {
            // Without links in the model, shared nodes and damaged links would have no effect.
            let refused = match context.topology {
                topology if topology.shares_nodes() => "several ranks per node: it needs ranks=1",
                topology if topology.damage().is_some() => "failed or slow links: it has no links",
                _ => "",
            };
            if !refused.is_empty() {
                let why = format!("the model `{}` does not support {refused}", self.model.name);
                return Box::new(Refused(why));
            }
        }
        if context.topology.has_reducing_switches() && !self.pricing.has_reducing_switches() {
            return Box::new(Refused(format!(
                "the model `{}` does not support switches that add and copy data (`reduce=switch`): wormhole, fluid and pipelined do",
                self.model.name
            )));
        }
        if !context.starts.is_empty()
            && let Err(why) = self.check_jobs()
        {
            return Box::new(Refused(why));
        }
        let context = PricingContext { background: self.background.as_deref(), ..context };
        self.launch.evaluator(self.pricing.evaluator(context))
    }

    /// Errors if the model does not price jobs that run at the same time.
    pub fn check_jobs(&self) -> Result<(), String> {
        if self.pricing.runs_jobs() {
            return Ok(());
        }
        Err(format!(
            "the model `{}` runs no jobs together, because the steps of different schedules have no common end: `fluid` does, without barriers",
            self.model.name
        ))
    }

    /// Errors if the model does not price communicators with different schedules.
    pub fn check_unequal_communicators(&self) -> Result<(), String> {
        if !self.pricing.has_stages() {
            return Ok(());
        }
        Err(format!(
            "the model `{}` ends each stage of a schedule with a barrier of all ranks, but communicators that differ have different stages",
            self.model.name
        ))
    }

    /// Returns the name of the file with background traffic, if there is one.
    pub fn background_file(&self) -> Option<&str> {
        self.pricing.background_file()
    }

    /// Returns the machine with background traffic from the file [`Machine::background_file`].
    #[must_use]
    pub fn with_background(self, background: Background) -> Self {
        Self { background: Some(Arc::new(background)), ..self }
    }

    /// Returns the background traffic, if it was read.
    pub fn background(&self) -> Option<&Background> {
        self.background.as_deref()
    }

    /// Returns the ranks that enter late, each with the time in µs at which it enters. Errors if a
    /// rank does not exist.
    pub fn late_ranks(&self, nodes: u64, seed: u64) -> Result<Vec<(usize, f64)>, String> {
        self.pricing.late_ranks(nodes, seed)
    }

    /// Returns a lower bound on the completion time of any schedule.
    pub fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound {
        if traffic.peers == 0 {
            Bound::default()
        } else {
            self.launch.bound(self.pricing.lower_bound(topology, traffic))
        }
    }

    /// Returns upper limits on the speed of data, if they are constant and the model has links.
    pub fn network_rates(&self) -> Option<NetworkRates> {
        self.pricing.network_rates()
    }

    /// Returns whether [`Machine::lower_bound`] depends on the loads of links.
    pub fn bounds_by_links(&self) -> bool {
        self.pricing.bounds_by_links()
    }

    /// Returns this machine with its current settings as a machine that the experiment defines
    /// under another name.
    #[must_use]
    pub fn renamed(mut self, name: &str) -> Self {
        self.stands_for = Some(self.in_presets());
        name.clone_into(&mut self.name);
        let set = std::mem::take(&mut self.settings.set);
        self.settings.defined.retain(|(key, _)| !set.iter().any(|(other, _)| other == key));
        self.settings.defined.extend(set);
        self
    }

    /// If the experiment defines this machine, returns the definition as a spec that is valid
    /// without the experiment. It has no settings of the machine's own spec, such as `ports=2` in
    /// `mine:ports=2`.
    pub fn stands_for(&self) -> Option<&str> {
        self.stands_for.as_deref()
    }

    /// Returns [`Machine::stands_for`] together with the settings of the machine's own spec.
    pub fn definition(&self) -> Option<String> {
        self.stands_for.as_ref().map(|_| self.in_presets())
    }

    /// Returns a spec with the values of all parameters, so that later changes of presets have no
    /// effect.
    pub fn full_spec(&self) -> String {
        let values = self.values();
        let values = values.iter().map(|value| format!("{}={}", value.parameter.key(), value.text));
        format!("{}:{}", self.settings.preset.name, values.collect::<Vec<_>>().join(","))
    }

    fn in_presets(&self) -> String {
        let Settings { preset, defined, set } = &self.settings;
        let mut settings = Settings { preset, defined: Vec::new(), set: defined.clone() };
        set.iter().for_each(|(key, text)| settings.put(key, text.clone()));
        let mut machine = Self { name: preset.name.to_owned(), settings, ..self.clone() };
        machine.settings.set = machine.canonical();
        machine.to_string()
    }

    /// Returns whether repetitions of a case differ, because of `noise` or random late ranks
    /// (`late`).
    pub fn is_noisy(&self) -> bool {
        let is_drawn = |parameter: &&'static dyn Parameter| {
            parameter.key() == "late" && self.settings.get(*parameter).0.starts_with("random")
        };
        self.number("noise").is_some_and(|cv| cv > 0.0) || self.parameters().iter().any(is_drawn)
    }

    /// Returns the name of the preset or of the experiment's machine, without settings.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn find(key: &str) -> Result<&'static dyn Parameter, ParameterError> {
    let all = parameters();
    all.iter().find(|p| p.key() == key).copied().ok_or_else(|| ParameterError::Unknown {
        key: key.to_owned(),
        near: near_matches(key, all.iter().map(|p| p.key())),
    })
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, (key, value)) in self.settings.set.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

parameters! {
    /// The parameters that plugins can read, which all machines have.
    #[derive(Copy)]
    pub struct Planning {
        ports: PortLimit = PORTS,
        virtual_channels: u64 = VIRTUAL_CHANNELS,
    }
}

impl Planning {
    /// Returns the limit on the messages that a node sends, or receives, at the same time.
    pub fn ports(&self) -> PortLimit {
        self.ports
    }

    /// Returns the number of circuits that a directed link carries at the same time.
    pub fn virtual_channels(&self) -> u64 {
        self.virtual_channels
    }
}

#[cfg(test)]
mod tests;
