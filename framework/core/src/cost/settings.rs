//! The settings of a machine: values of parameters from its preset, its definition in the
//! experiment, or its spec. The spec has precedence over the experiment, and the experiment over
//! the preset.
//!
//! Each model lists its parameters in the macro `parameters!`, which generates a struct with a
//! field for each of them. So a model can only read listed parameters, and the compiler warns about
//! parameters that it never reads.

use super::parameter::{DefaultValue, Parameter, ParameterError, TypedParameter};
use std::fmt::{self, Debug, Display};

/// A predefined machine.
#[derive(Debug)]
pub struct Preset {
    /// The name, as in a machine's spec.
    pub name: &'static str,
    /// The machine and its source, for lists.
    pub title: &'static str,
    /// The values that differ from the defaults: (key, value, source of the value).
    pub values: &'static [(&'static str, &'static str, &'static str)],
}

pub(super) type Setting = (&'static str, String);

/// The origin of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The machine's spec.
    User,
    /// The definition of a machine in the experiment.
    Experiment,
    /// The preset, with the source that it gives for the value.
    Preset(&'static str),
    /// The default value of the parameter.
    Default,
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("set by the user"),
            Self::Experiment => f.write_str("set in the experiment"),
            Self::Preset("") => f.write_str("preset"),
            Self::Preset(source) => write!(f, "preset: {source}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The values of a machine's parameters, listed separately for each origin.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(super) preset: &'static Preset,
    pub(super) defined: Vec<Setting>,
    pub(super) set: Vec<Setting>,
}

impl Settings {
    pub(super) fn value<T: Display + Debug>(
        &self,
        parameter: &TypedParameter<T>,
    ) -> Result<T, ParameterError> {
        parameter.value(self.get(parameter).0)
    }

    pub(super) fn get(&self, parameter: &dyn Parameter) -> (String, Origin) {
        let given = |list: &[Setting]| {
            list.iter().find(|(key, _)| *key == parameter.key()).map(|(_, text)| text.clone())
        };
        let set = given(&self.set).map(|text| (text, Origin::User));
        set.unwrap_or_else(|| self.inherited(parameter))
    }

    pub(super) fn inherited(&self, parameter: &dyn Parameter) -> (String, Origin) {
        let key = parameter.key();
        if let Some((_, text)) = self.defined.iter().find(|(other, _)| *other == key) {
            return (text.clone(), Origin::Experiment);
        }
        if let Some((_, text, source)) = self.preset.values.iter().find(|(other, ..)| *other == key)
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

pub(crate) const fn total(lists: &[&[&dyn Parameter]]) -> usize {
    let (mut sum, mut list) = (0, 0);
    while list < lists.len() {
        sum += lists[list].len();
        list += 1;
    }
    sum
}

/// `N` must be the total length of the lists, the first of which is not empty.
pub(crate) const fn joined<const N: usize>(
    lists: &[&'static [&'static dyn Parameter]],
) -> [&'static dyn Parameter; N] {
    let (mut all, mut next, mut list) = ([lists[0][0]; N], 0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            all[next] = lists[list][index];
            (next, index) = (next + 1, index + 1);
        }
        list += 1;
    }
    all
}

/// Declares a struct with a field for each parameter that a model reads, in the order in which
/// specs print them. A field `..name: Type` stands for all parameters of another such struct.
macro_rules! parameters {
    (
        $(#[$doc:meta])* $vis:vis struct $name:ident {
            $($(#[$field_doc:meta])* $field_vis:vis $field:ident: $type:ty = $parameter:path,)*
            $(..$group:ident: $group_type:ident, $($more:ident: $more_type:ty = $more_parameter:path,)*)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        $vis struct $name {
            $($(#[$field_doc])* $field_vis $field: $type,)*
            $($group: $group_type, $($more: $more_type,)*)?
        }

        impl $name {
            /// The parameters, in the order in which they are printed in specs.
            $vis const PARAMETERS: &'static [&'static dyn $crate::cost::parameter::Parameter] = {
                const LISTS: &[&[&dyn $crate::cost::parameter::Parameter]] = &[
                    &[$(&$parameter,)*],
                    $($group_type::PARAMETERS, &[$(&$more_parameter,)*],)?
                ];
                &$crate::cost::settings::joined::<{ $crate::cost::settings::total(LISTS) }>(LISTS)
            };

            /// Reads the values from the settings of a machine.
            $vis fn of(
                settings: &$crate::cost::settings::Settings,
            ) -> Result<Self, $crate::cost::parameter::ParameterError> {
                Ok(Self {
                    $($field: settings.value(&$parameter)?,)*
                    $($group: $group_type::of(settings)?, $($more: settings.value(&$more_parameter)?,)*)?
                })
            }
        }
    };
}
pub(crate) use parameters;

macro_rules! word_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)*];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $word,)* })
            }
        }
    };
}
pub(crate) use word_enum;
