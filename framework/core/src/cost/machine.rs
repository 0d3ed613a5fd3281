//! Machines: a model and its parameters.
//!
//! A machine starts from one of the [`presets`], whose every figure has its source, and is changed
//! by settings. What a setting is called and how it is read says the
//! [`parameter`](super::parameter) that it sets; which parameters there are say planning and the
//! [`models`].

use super::background::Background;
use super::bound::{Bound, Traffic};
use super::model::time_space::TimeSpace;
use super::model::{Cost, Evaluator, Model, ModelKind, PricingContext, models};
use super::parameter::{DefaultValue, Parameter, ParameterError, TypedParameter, parse_word};
use super::settings::{Origin, Preset, Setting, Settings};
use crate::network::topology::Topology;
use crate::simulation::listener::{Detail, Interests, Listener, ScheduleEvent};
use crate::spec::{Spec, SpecError, near_matches};
use std::fmt;
use std::sync::Arc;

mod planning;
mod presets;

pub use planning::Planning;
pub use presets::presets;

static MODEL: TypedParameter<&'static ModelKind> = TypedParameter {
    key: "model",
    meaning: "which model prices a schedule",
    symbols: "",
    default: DefaultValue::Text("wormhole"),
    read: |text| {
        parse_word(text, &models().iter().map(|kind| (kind.name, *kind)).collect::<Vec<_>>())
    },
};

/// All parameters: the model, those that models read, those that planning reads.
pub fn parameters() -> Vec<&'static dyn Parameter> {
    let mut all: Vec<&'static dyn Parameter> = vec![&MODEL];
    for parameter in models().iter().flat_map(|kind| kind.parameters).chain(Planning::PARAMETERS) {
        if !all.iter().any(|other| other.key() == parameter.key()) {
            all.push(*parameter);
        }
    }
    all
}

/// Who reads a parameter, in words.
pub fn readers(parameter: &dyn Parameter) -> String {
    let reads = |list: &[&dyn Parameter]| list.iter().any(|other| other.key() == parameter.key());
    let by = models().iter().filter(|kind| reads(kind.parameters)).map(|kind| kind.name);
    let mut readers: Vec<&str> = by.collect();
    if readers.len() == models().len() || parameter.key() == MODEL.key {
        readers = vec!["every model"];
    }
    if reads(Planning::PARAMETERS) {
        readers.push("planning");
    }
    readers.join(", ")
}

/// A value of a machine.
#[derive(Debug, Clone)]
pub struct ParameterValue {
    /// What it is the value of.
    pub parameter: &'static dyn Parameter,
    /// The value in canonical form, as specs print it.
    pub text: String,
    /// Where it is from.
    pub origin: Origin,
}

/// A machine: a model and its parameters. Times are in microseconds.
#[derive(Debug, Clone)]
pub struct Machine {
    name: String,
    /// What a name of the user's own stands for, as a spec of presets.
    stands_for: Option<String>,
    settings: Settings,
    /// Which model prices schedules on it.
    pub model: &'static ModelKind,
    priced_by: Arc<dyn Model>,
    planning: Planning,
    background: Option<Arc<Background>>,
}

impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        (self.to_string(), &self.stands_for) == (other.to_string(), &other.stands_for)
    }
}

impl Machine {
    /// Reads a spec: a preset, then what differs, as in `paragon:startup_us=220`.
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

    /// As [`Machine::parse`], with machines of the user's own, which hide presets of the same name.
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
        Self::made(
            preset.name.to_owned(),
            None,
            Settings { preset, own: Vec::new(), set: Vec::new() },
        )
    }

    fn made(
        name: String,
        stands_for: Option<String>,
        settings: Settings,
    ) -> Result<Self, ParameterError> {
        let model = settings.value(&MODEL)?;
        let (priced_by, planning) = ((model.prepare)(&settings)?, Planning::of(&settings)?);
        Ok(Self { name, stands_for, settings, model, priced_by, planning, background: None })
    }

    /// With parameters changed, (key, value) each, in any order; `Err` says which of them can't be
    /// set, and why.
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
        let mut machine =
            Self::made(self.name.clone(), self.stands_for.clone(), settings).map_err(|e| (0, e))?;
        // Only now it is known which model all of them are for.
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

    /// What is set, in the one way to say it: in the order of the parameters, without what means
    /// what is inherited.
    fn canonical(&self) -> Vec<Setting> {
        let set = |p: &&'static dyn Parameter| {
            let (text, origin) = self.settings.get(*p);
            (origin == Origin::User && text != self.settings.inherited(*p).0)
                .then(|| (p.key(), text))
        };
        self.parameters().iter().filter_map(set).collect()
    }

    /// The parameters that it has: what its model and planning read.
    pub fn parameters(&self) -> Vec<&'static dyn Parameter> {
        let mut all: Vec<&'static dyn Parameter> = vec![&MODEL];
        all.extend(self.model.parameters);
        let more = Planning::PARAMETERS
            .iter()
            .filter(|p| !self.model.parameters.iter().any(|q| q.key() == p.key()));
        all.extend(more);
        all
    }

    /// Every parameter that the machine's model or planning reads, with its value and where that is
    /// from.
    pub fn values(&self) -> Vec<ParameterValue> {
        self.values_of(self.parameters())
    }

    /// Values that it inherits and that its model doesn't read.
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

    /// A value that is a number.
    pub fn number(&self, key: &str) -> Option<f64> {
        let parameter = self.parameters().into_iter().find(|p| p.key() == key)?;
        self.settings.get(parameter).0.parse().ok()
    }

    /// What is said of each parameter.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What planning may know of it.
    pub fn planning(&self) -> Planning {
        self.planning
    }

    /// Whether its model needs arrivals to be followed.
    pub fn follows_arrivals(&self) -> bool {
        self.priced_by.follows_arrivals()
    }

    /// How much of a schedule its model reads.
    pub fn detail(&self) -> Detail {
        self.priced_by.detail()
    }

    /// What prices a schedule on it.
    pub fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        if context.topology.node_network().is_some() && !self.bounds_by_links() {
            return Box::new(NoNodes(self.model.name));
        }
        self.priced_by
            .evaluator(PricingContext { background: self.background.as_deref(), ..context })
    }

    /// The file of background traffic that it names, if it does.
    pub fn background_file(&self) -> Option<&str> {
        self.priced_by.background_file()
    }

    /// With what that file says.
    #[must_use]
    pub fn with_background(self, background: Background) -> Self {
        Self { background: Some(Arc::new(background)), ..self }
    }

    /// What no schedule can beat on it.
    pub fn lower_bound(&self, topology: &dyn Topology, traffic: &Traffic) -> Bound {
        // What moves nothing takes no time, whatever the model.
        if traffic.peers == 0 {
            Bound::default()
        } else {
            self.priced_by.lower_bound(topology, traffic)
        }
    }

    /// Whether [`Machine::lower_bound`] looks at what links must carry.
    pub fn bounds_by_links(&self) -> bool {
        self.priced_by.bounds_by_links()
    }

    /// Under a name of the user's own, which stands for all that was set so far.
    #[must_use]
    pub fn renamed(mut self, name: &str) -> Self {
        self.stands_for = Some(self.in_presets());
        name.clone_into(&mut self.name);
        let set = std::mem::take(&mut self.settings.set);
        self.settings.own.retain(|(key, _)| !set.iter().any(|(other, _)| other == key));
        self.settings.own.extend(set);
        self
    }

    /// What a name of the user's own stands for: a spec that means the same without the user's
    /// file.
    pub fn stands_for(&self) -> Option<&str> {
        self.stands_for.as_deref()
    }

    /// The same machine as a spec of presets, where its name is the user's own: what the name
    /// stands for, and what was set besides.
    pub fn definition(&self) -> Option<String> {
        self.stands_for.as_ref().map(|_| self.in_presets())
    }

    fn in_presets(&self) -> String {
        let Settings { preset, own, set } = &self.settings;
        let mut settings = Settings { preset, own: Vec::new(), set: own.clone() };
        set.iter().for_each(|(key, text)| settings.put(key, text.clone()));
        let mut machine = Self { name: preset.name.to_owned(), settings, ..self.clone() };
        machine.settings.set = machine.canonical();
        machine.to_string()
    }

    /// Whether what messages take is drawn at random, so that repetitions differ.
    pub fn is_noisy(&self) -> bool {
        self.number("noise").is_some_and(|cv| cv > 0.0)
    }

    /// The name, without what was set.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Refuses ranks that share a node, on behalf of a model of this name.
struct NoNodes(&'static str);

impl Listener for NoNodes {
    fn interests(&self) -> Interests {
        Interests::FACTS
    }

    fn notify(&mut self, _: ScheduleEvent<'_>) {}
}

impl Evaluator for NoNodes {
    fn cost(&mut self) -> Result<Cost, String> {
        Err(format!(
            "the model `{}` knows no nodes that several ranks share: it needs ranks=1",
            self.0
        ))
    }

    /// Its ranks have time of their own; why there is none here, the cost says.
    fn record_time_space(&mut self, _: TimeSpace) -> Result<(), TimeSpace> {
        Ok(())
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

#[cfg(test)]
mod tests;
