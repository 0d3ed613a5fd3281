//! Which case a row is of: the one answer for all who keep rows, join them, compare them or draw
//! them.
//!
//! A case is a setting, an implementation that is tried there, and a repetition. Texts are owned
//! (`CaseId`) or a row's own (`CaseId<&str>`), so that a million rows can be told apart without a
//! copy of each.

use crate::record::Record;
use serde::{Deserialize, Serialize};

macro_rules! texts {
    ($(#[$about:meta])+ $type:ident { $($(#[$doc:meta])* $name:ident),+ $(,)? }) => {
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        pub struct $type<T = String> {
            $($(#[$doc])* pub $name: T,)+
        }

        impl $type {
            /// The same, without a copy of its texts.
            pub fn borrowed(&self) -> $type<&str> {
                $type { $($name: &self.$name),+ }
            }
        }

        impl $type<&str> {
            /// The same, with texts of its own.
            pub fn owned(&self) -> $type {
                $type { $($name: self.$name.to_owned()),+ }
            }
        }

        impl<'a> $type<&'a str> {
            pub fn of(record: &'a Record) -> Self {
                Self { $($name: &record.$name),+ }
            }

            /// Its columns, by name.
            fn columns(self) -> Vec<(&'static str, &'a str)> {
                vec![$((stringify!($name), self.$name)),+]
            }
        }

        impl $type {
            fn label(self, record: &mut Record) {
                $(record.$name = self.$name;)+
            }
        }
    };
}

texts! {
    /// Where, what and at which prices. Cases of one setting can be compared with each other.
    Setting {
        topology,
        /// What is to reach whom.
        collective,
        workload,
        /// What the files said that topology, workload, algorithm and machine name: see
        /// [`inputs_column`].
        inputs,
        machine,
        /// What an experiment's own machine stands for, as a spec of presets; empty for a preset.
        machine_definition,
        /// The model that prices it.
        model,
    }
}

texts! {
    /// An algorithm, and the code that it is. Two builds of a plugin are two implementations of its
    /// algorithms.
    Implementation {
        /// The algorithm, with its parameters.
        algorithm,
        plugin,
        plugin_version,
        /// The digest of the plugin's file.
        plugin_digest,
        /// The version of the program that verified and priced it.
        swapmeet_version,
    }
}

/// A case: what all rows that say the same of it have in common, and no other row has.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct CaseId<T = String> {
    /// Where, what, at which prices.
    pub setting: Setting<T>,
    /// How, by whose code.
    pub implementation: Implementation<T>,
    /// Which repetition, from 0.
    pub repetition: u32,
    pub seed: u64,
}

impl CaseId {
    /// The same, without a copy of its texts.
    pub fn borrowed(&self) -> CaseId<&str> {
        let Self { setting, implementation, repetition, seed } = self;
        let (setting, implementation) = (setting.borrowed(), implementation.borrowed());
        CaseId { setting, implementation, repetition: *repetition, seed: *seed }
    }

    /// A row that says which case it is and nothing else.
    pub fn row_without_outcome(self) -> Record {
        let mut record =
            Record { repetition: self.repetition, seed: self.seed, ..Record::default() };
        self.setting.label(&mut record);
        self.implementation.label(&mut record);
        record
    }
}

impl<'a> CaseId<&'a str> {
    /// The same, with texts of its own.
    pub fn owned(&self) -> CaseId {
        let (setting, implementation) = (self.setting.owned(), self.implementation.owned());
        CaseId { setting, implementation, repetition: self.repetition, seed: self.seed }
    }

    /// The columns in which two cases differ, and what each has there.
    pub fn differences(&self, other: &CaseId<&'a str>) -> Vec<Difference> {
        let texts = |case: &Self| [case.setting.columns(), case.implementation.columns()].concat();
        let number = |column, ours: u64, theirs: u64| Difference {
            column,
            ours: ours.to_string(),
            theirs: theirs.to_string(),
        };
        let texts =
            texts(self).into_iter().zip(texts(other)).map(|((column, ours), (_, theirs))| {
                Difference { column, ours: ours.to_owned(), theirs: theirs.to_owned() }
            });
        let numbers = [
            number("repetition", self.repetition.into(), other.repetition.into()),
            number("seed", self.seed, other.seed),
        ];
        texts.chain(numbers).filter(|d| d.ours != d.theirs).collect()
    }

    /// In what it differs from the one of `cases` that is most like it, in words.
    pub fn difference_from_nearest(&self, cases: impl IntoIterator<Item = CaseId>) -> String {
        let differences =
            cases.into_iter().map(|case| self.differences(&case.borrowed())).min_by_key(Vec::len);
        let Some(mut differences) = differences else { return "there are no cases".to_owned() };
        // Of another plugin these say nothing.
        if differences.iter().any(|d| d.column == "plugin") {
            differences.retain(|d| !matches!(d.column, "plugin_version" | "plugin_digest"));
        }
        let words =
            |d: Difference| format!("its {} is `{}`, here `{}`", d.column, d.ours, d.theirs);
        differences.into_iter().map(words).collect::<Vec<_>>().join(", ")
    }

    /// The case in words, for a message.
    pub fn in_words(&self) -> String {
        let Setting { topology, workload, machine, .. } = self.setting;
        let (algorithm, repetition) = (self.implementation.algorithm, self.repetition);
        format!("{algorithm} on {topology}, {workload}, {machine}, repetition {repetition}")
    }
}

/// A column in which two cases differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub column: &'static str,
    /// What the one asked has there.
    pub ours: String,
    /// What the other has.
    pub theirs: String,
}

impl Record {
    /// Which case the row is of.
    pub fn case(&self) -> CaseId<&str> {
        let (setting, implementation) = (Setting::of(self), Implementation::of(self));
        CaseId { setting, implementation, repetition: self.repetition, seed: self.seed }
    }
}

/// The column `inputs` of files and their digests: `FILE=sha256:..`, with commas between. No spec
/// can name a file with a comma or an equals sign.
pub fn inputs_column<'a>(inputs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    inputs
        .into_iter()
        .map(|(file, digest)| format!("{file}={digest}"))
        .collect::<Vec<_>>()
        .join(",")
}

/// The files and digests of a column `inputs`.
pub(crate) fn inputs(column: &str) -> impl Iterator<Item = (&str, &str)> {
    column.split(',').filter_map(|entry| entry.rsplit_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;

    #[test]
    fn a_case_is_told_by_every_column_of_its_own_and_by_no_other() {
        let record = row("pex", 0, 1.0);
        let others = [
            Record { topology: "ring:4".to_owned(), ..record.clone() },
            Record { inputs: "g.txt=sha256:aa".to_owned(), ..record.clone() },
            Record { machine_definition: "paragon:startup_us=2".to_owned(), ..record.clone() },
            Record { plugin_digest: "sha256:bb".to_owned(), ..record.clone() },
            Record { swapmeet_version: "9.0.0".to_owned(), ..record.clone() },
            Record { repetition: 1, ..record.clone() },
            Record { seed: 1, ..record.clone() },
        ];
        let columns: Vec<_> = others
            .iter()
            .flat_map(|o| o.case().differences(&record.case()))
            .map(|d| d.column)
            .collect();
        assert_eq!(
            columns,
            [
                "topology",
                "inputs",
                "machine_definition",
                "plugin_digest",
                "swapmeet_version",
                "repetition",
                "seed"
            ]
        );
        let later = Record {
            note: "in turns".to_owned(),
            time_us: Some(2.0),
            experiment: "e".to_owned(),
            ..record.clone()
        };
        assert_eq!(later.case(), record.case());
    }

    #[test]
    fn a_blank_row_is_of_its_case() {
        let case = row("pex", 3, 1.0).case().owned();
        assert_eq!(case.clone().row_without_outcome().case().owned(), case);
    }

    #[test]
    fn files_with_spaces_and_semicolons_are_inputs_as_others_are() {
        let column = inputs_column([("a; b.csv", "sha256:aa"), ("g is.txt", "sha256:bb")]);
        assert_eq!(
            inputs(&column).collect::<Vec<_>>(),
            [("a; b.csv", "sha256:aa"), ("g is.txt", "sha256:bb")]
        );
        assert_eq!(inputs("").count(), 0);
    }
}
