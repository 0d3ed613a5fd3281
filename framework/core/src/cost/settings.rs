//! What a machine says of each parameter: its preset, its own name's meaning and its spec, one over
//! the other.
//!
//! Who reads parameters names them once, with `parameters!`: the list makes the struct that holds
//! the values, so that a model can't read what it doesn't have, and what it has and never reads is
//! dead code to the compiler.

use super::parameter::{DefaultValue, Parameter, ParameterError, TypedParameter};
use std::fmt::{self, Debug, Display};

/// A machine by name.
#[derive(Debug)]
pub struct Preset {
    /// What users type before the colon of a machine's spec.
    pub name: &'static str,
    /// The machine and its paper, for lists.
    pub title: &'static str,
    /// Its parameters, as far as they are not as usual: (key, value, source).
    pub values: &'static [(&'static str, &'static str, &'static str)],
}

/// A parameter's key and its value in canonical form.
pub(super) type Setting = (&'static str, String);

/// Where a value is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Set in the spec.
    User,
    /// Set where the machine's own name was given a meaning.
    Own,
    /// The preset says so, with this source.
    Preset(&'static str),
    /// Nobody says so: it is what the parameter is by default.
    Default,
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("set by the user"),
            Self::Own => f.write_str("set in the experiment"),
            Self::Preset("") => f.write_str("preset"),
            Self::Preset(source) => write!(f, "preset: {source}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// What is said of each parameter, and where.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(super) preset: &'static Preset,
    /// What a name of the user's own adds to the preset.
    pub(super) own: Vec<Setting>,
    /// What the spec adds to that.
    pub(super) set: Vec<Setting>,
}

impl Settings {
    /// The value of a parameter, read.
    pub(super) fn value<T: Display + Debug>(
        &self,
        parameter: &TypedParameter<T>,
    ) -> Result<T, ParameterError> {
        parameter.value(self.get(parameter).0)
    }

    /// The value of a parameter, and where it is from.
    pub(super) fn get(&self, parameter: &dyn Parameter) -> (String, Origin) {
        let given = |list: &[Setting]| {
            list.iter().find(|(key, _)| *key == parameter.key()).map(|(_, text)| text.clone())
        };
        let set = given(&self.set).map(|text| (text, Origin::User));
        set.unwrap_or_else(|| self.inherited(parameter))
    }

    /// The same without what the spec sets.
    pub(super) fn inherited(&self, parameter: &dyn Parameter) -> (String, Origin) {
        let key = parameter.key();
        if let Some((_, text)) = self.own.iter().find(|(own, _)| *own == key) {
            return (text.clone(), Origin::Own);
        }
        if let Some((_, text, source)) =
            self.preset.values.iter().find(|(figure, ..)| *figure == key)
        {
            return ((*text).to_owned(), Origin::Preset(source));
        }
        match parameter.default() {
            DefaultValue::Text(text) => (text.to_owned(), Origin::Default),
            DefaultValue::SameAs(other) => (self.get(other).0, Origin::Default),
        }
    }

    pub(super) fn put(&mut self, key: &'static str, text: String) {
        self.set.retain(|(other, _)| *other != key);
        self.set.push((key, text));
    }
}

/// Declares a struct with a field for each parameter of a machine that its owner reads, in the
/// order in which specs print them.
macro_rules! parameters {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident: $type:ty = $parameter:path,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        $vis struct $name {
            $($field: $type,)*
        }

        impl $name {
            /// The parameters that it reads, in the order in which specs print them.
            $vis const PARAMETERS: &'static [&'static dyn $crate::cost::parameter::Parameter] = &[$(&$parameter,)*];

            /// As a machine sets them.
            $vis fn of(
                settings: &$crate::cost::settings::Settings,
            ) -> Result<Self, $crate::cost::parameter::ParameterError> {
                Ok(Self { $($field: settings.value(&$parameter)?,)* })
            }
        }
    };
}
pub(crate) use parameters;
