//! The identity of a case, for all code that stores, joins, compares or plots rows. An identity
//! consists of a setting, an implementation and a repetition. Its texts are owned (`CaseId`) or
//! borrowed from a row (`CaseId<&str>`), so that a million rows can be distinguished without
//! copying texts.

use crate::changed_defaults::remark_on_versions;
use crate::record::Record;
use crate::specs::short_machine;
use indexmap::{Equivalent, IndexSet};
use serde::{Deserialize, Serialize};

macro_rules! texts {
    ($(#[$about:meta])+ $type:ident { $($(#[$doc:meta])* $name:ident),+ $(,)? }) => {
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        pub struct $type<T = String> {
            $($(#[$doc])* pub $name: T,)+
        }

        impl<T> $type<T> {
            pub fn map<U>(self, convert: impl Fn(T) -> U) -> $type<U> {
                $type { $($name: convert(self.$name)),+ }
            }
        }

        impl $type {
            pub fn borrowed(&self) -> $type<&str> {
                $type { $($name: &self.$name),+ }
            }
        }

        impl Equivalent<$type> for $type<&str> {
            fn equivalent(&self, stored: &$type) -> bool {
                *self == stored.borrowed()
            }
        }

        impl $type<&str> {
            pub fn owned(&self) -> $type {
                $type { $($name: self.$name.to_owned()),+ }
            }
        }

        impl<'a> $type<&'a str> {
            pub fn of(record: &'a Record) -> Self {
                Self { $($name: &record.$name),+ }
            }

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
    /// A case without algorithm and repetition. Only cases with the same setting are compared.
    Setting {
        topology,
        collective,
        workload,
        inputs,
        machine,
        /// A preset with the value of each parameter. Rows of versions before 0.3, which lack some
        /// of the values, are completed when they are read.
        machine_definition,
        model,
        /// Other jobs that run at the same time, with relative starts; empty before version 0.3.
        together,
    }
}

texts! {
    /// Two builds of a plugin are two implementations of its algorithms.
    Implementation {
        algorithm,
        plugin,
        plugin_version,
        plugin_digest,
        /// The version of the program that verified and priced the schedule.
        swapmeet_version,
    }
}

/// The identity of a case. Two rows are of the same case if and only if their identities are equal.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct CaseId<T = String> {
    pub setting: Setting<T>,
    pub implementation: Implementation<T>,
    pub repetition: u32,
    pub seed: u64,
}

impl CaseId {
    pub fn borrowed(&self) -> CaseId<&str> {
        let Self { setting, implementation, repetition, seed } = self;
        let (setting, implementation) = (setting.borrowed(), implementation.borrowed());
        CaseId { setting, implementation, repetition: *repetition, seed: *seed }
    }

    pub fn row_without_outcome(self) -> Record {
        let mut record =
            Record { repetition: self.repetition, seed: self.seed, ..Record::default() };
        self.setting.label(&mut record);
        self.implementation.label(&mut record);
        record
    }
}

impl<'a> CaseId<&'a str> {
    pub fn owned(&self) -> CaseId {
        let (setting, implementation) = (self.setting.owned(), self.implementation.owned());
        CaseId { setting, implementation, repetition: self.repetition, seed: self.seed }
    }

    /// Returns the columns in which two cases differ, with the values of both cases.
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
        let mut differences: Vec<Difference> = texts
            .chain(numbers)
            .filter(|d| d.ours != d.theirs && !is_same_digest(&d.ours, &d.theirs))
            .collect();
        for d in differences.iter_mut().filter(|d| d.column == "machine_definition") {
            (d.ours, d.theirs) =
                (short_machine(&d.ours).into_owned(), short_machine(&d.theirs).into_owned());
        }
        differences
    }

    /// Describes how this case differs from the case in `cases` that is most similar to it.
    pub fn difference_from_nearest(&self, cases: impl IntoIterator<Item = CaseId>) -> String {
        let differences =
            cases.into_iter().map(|case| self.differences(&case.borrowed())).min_by_key(Vec::len);
        let Some(mut differences) = differences else { return "there are no cases".to_owned() };
        // If the plugins differ, their versions and digests give no further information.
        if differences.iter().any(|d| d.column == "plugin") {
            differences.retain(|d| !matches!(d.column, "plugin_version" | "plugin_digest"));
        }
        let words = |d: Difference| {
            let changed = match d.column {
                "swapmeet_version" => remark_on_versions(&d.ours, &d.theirs),
                _ => String::new(),
            };
            format!("its {} is `{}`, here `{}`{changed}", d.column, d.ours, d.theirs)
        };
        differences.into_iter().map(words).collect::<Vec<_>>().join(", ")
    }

    pub fn in_words(&self) -> String {
        let Setting { topology, workload, machine, together, .. } = self.setting;
        let (algorithm, repetition) = (self.implementation.algorithm, self.repetition);
        let together = match together {
            "" => String::new(),
            others => format!(", together with {others}"),
        };
        format!(
            "{algorithm} on {topology}, {workload}, {machine}{together}, repetition {repetition}"
        )
    }
}

/// Stores each setting and each implementation once, so that a case is only a [`CaseKey`].
#[derive(Debug, Default)]
pub(crate) struct CaseTable {
    pub(crate) settings: IndexSet<Setting>,
    pub(crate) implementations: IndexSet<Implementation>,
}

/// A case in a [`CaseTable`]. Keys of a table are equal if and only if their cases are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CaseKey {
    pub(crate) setting: u32,
    pub(crate) implementation: u32,
    pub(crate) repetition: u32,
    pub(crate) seed: u64,
}

impl CaseTable {
    pub(crate) fn insert(&mut self, case: &CaseId<&str>) -> CaseKey {
        self.key(case).unwrap_or_else(|| {
            let CaseId { setting, implementation, repetition, seed } = *case;
            let setting = index(self.settings.insert_full(setting.owned()).0);
            let implementation = index(self.implementations.insert_full(implementation.owned()).0);
            CaseKey { setting, implementation, repetition, seed }
        })
    }

    /// Returns `None` if no case of the table has this setting, or none has this implementation.
    pub(crate) fn key(&self, case: &CaseId<&str>) -> Option<CaseKey> {
        let CaseId { setting, implementation, repetition, seed } = *case;
        Some(CaseKey {
            setting: index(self.settings.get_index_of(&setting)?),
            implementation: index(self.implementations.get_index_of(&implementation)?),
            repetition,
            seed,
        })
    }

    pub(crate) fn case(&self, key: CaseKey) -> CaseId<&str> {
        CaseId {
            setting: self.settings[key.setting as usize].borrowed(),
            implementation: self.implementations[key.implementation as usize].borrowed(),
            repetition: key.repetition,
            seed: key.seed,
        }
    }
}

#[expect(clippy::expect_used, reason = "so many entries do not fit into memory")]
pub(crate) fn index(number: usize) -> u32 {
    u32::try_from(number).expect("a table has less than 2^32 entries")
}

const DIGEST: &str = "sha256:";

/// Shortens each digest in a text to twelve digits, as versions up to 0.2 wrote digests.
fn shortened(text: &str) -> String {
    const DIGITS: usize = 12;
    let mut pieces = text.split(DIGEST);
    let mut short = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(piece.len());
        short = short + DIGEST + &piece[..end.min(DIGITS)] + &piece[end..];
    }
    short
}

/// Returns whether two texts are equal. They are also equal if their only difference is that an old
/// version has shortened the digests in one of them.
fn is_same_digest(a: &str, b: &str) -> bool {
    let (short_a, short_b) = (shortened(a), shortened(b));
    short_a == short_b && (short_a == a || short_b == b)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub column: &'static str,
    pub ours: String,
    pub theirs: String,
}

impl Record {
    pub fn case(&self) -> CaseId<&str> {
        let (setting, implementation) = (Setting::of(self), Implementation::of(self));
        CaseId { setting, implementation, repetition: self.repetition, seed: self.seed }
    }
}

/// Formats the column `inputs`, in which entries such as `FILE=sha256:...` are separated by commas.
pub fn inputs_column<'a>(inputs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    inputs
        .into_iter()
        .map(|(file, digest)| format!("{file}={digest}"))
        .collect::<Vec<_>>()
        .join(",")
}

pub fn inputs(column: &str) -> impl Iterator<Item = (&str, &str)> {
    column.split(',').filter_map(|entry| entry.rsplit_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;

    #[test]
    fn digests_of_old_versions_are_recognized() {
        let [old, new, other] = ["ba7816bf8f01", "ba7816bf8f01cfea4141", "ba7816bf8f01cfea4142"]
            .map(|digits| Record {
                inputs: format!("a.csv=sha256:{digits},b.csv=sha256:{digits}"),
                plugin_digest: format!("sha256:{digits}"),
                ..row("pex", 0, 1.0)
            });
        assert_eq!(old.case().differences(&new.case()), []);
        assert_eq!(new.case().differences(&old.case()), []);
        assert_eq!(new.case().differences(&other.case()).len(), 2);
    }

    #[test]
    fn a_case_is_identified_by_its_columns() {
        let record = row("pex", 0, 1.0);
        let others = [
            Record { topology: "ring:4".to_owned(), ..record.clone() },
            Record { inputs: "g.txt=sha256:aa".to_owned(), ..record.clone() },
            Record { machine_definition: "paragon:startup_us=2".to_owned(), ..record.clone() },
            Record { together: "gen uniform:64".to_owned(), ..record.clone() },
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
                "together",
                "plugin_digest",
                "swapmeet_version",
                "repetition",
                "seed"
            ]
        );
        let later = Record {
            note: "in rounds".to_owned(),
            time_us: Some(2.0),
            experiment: "e".to_owned(),
            ..record.clone()
        };
        assert_eq!(later.case(), record.case());
    }

    #[test]
    fn cases_of_a_table_have_equal_keys_if_they_are_equal() {
        let mut table = CaseTable::default();
        let rows = [row("pex", 0, 1.0), row("pex", 1, 1.0), row("gen", 0, 1.0)];
        let keys = rows.each_ref().map(|row| table.insert(&row.case()));
        assert_eq!((table.settings.len(), table.implementations.len()), (1, 2));
        for (row, key) in rows.iter().zip(keys) {
            assert_eq!((table.key(&row.case()), table.case(key)), (Some(key), row.case()));
            assert_eq!(keys.iter().filter(|other| **other == key).count(), 1);
        }
        assert_eq!(table.key(&Record { model: "flat".to_owned(), ..rows[0].clone() }.case()), None);
    }

    #[test]
    fn a_row_without_outcome_keeps_its_case() {
        let case = row("pex", 3, 1.0).case().owned();
        assert_eq!(case.clone().row_without_outcome().case().owned(), case);
    }

    #[test]
    fn input_files_may_have_spaces_and_semicolons() {
        let column = inputs_column([("a; b.csv", "sha256:aa"), ("g is.txt", "sha256:bb")]);
        assert_eq!(
            inputs(&column).collect::<Vec<_>>(),
            [("a; b.csv", "sha256:aa"), ("g is.txt", "sha256:bb")]
        );
        assert_eq!(inputs("").count(), 0);
    }
}
