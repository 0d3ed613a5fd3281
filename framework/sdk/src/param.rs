//! Parameters: what an algorithm declares, and how it reads what was given.

use std::str::FromStr;
use swapmeet_abi::{SWM_PARAM_CHOICE, SWM_PARAM_FILE, SWM_PARAM_NUMBER, SWM_PARAM_TEXT};

/// A parameter that an algorithm takes, as in `tree:fan=3`; any other is refused before the
/// algorithm sees it.
///
/// ```
/// # use swapmeet_sdk::{About, ParamInfo, words};
/// #[derive(Clone, Copy)]
/// enum Order {
///     Rows,
///     Columns,
/// }
///
/// const ORDERS: [(&str, Order); 2] = [("rows", Order::Rows), ("columns", Order::Columns)];
///
/// const ABOUT: About = About {
///     name: "by-lines",
///     params: &[
///         ParamInfo::number("fan", "1", "to how many others a node sends in a step, from 1 on"),
///         ParamInfo::choice("order", &words(&ORDERS), "rows", "which lines come first"),
///     ],
///     ..About::DEFAULT
/// };
/// // In `plan`: let fan: u64 = problem.param("fan")?;
/// //            let order = problem.choice("order", &ORDERS)?;
/// # assert_eq!(ABOUT.params[1].values(), ["rows", "columns"]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ParamInfo {
    pub(crate) key: &'static str,
    pub(crate) kind: u32,
    pub(crate) default: &'static str,
    pub(crate) help: &'static str,
    pub(crate) values: &'static [&'static str],
}

impl ParamInfo {
    /// Any text. `default` is what it is when not given, empty if that depends on the problem, as
    /// `help` then says; `help` is one line: meaning, values.
    pub const fn text(key: &'static str, default: &'static str, help: &'static str) -> Self {
        Self { key, kind: SWM_PARAM_TEXT, default, help, values: &[] }
    }

    /// A whole number, from 0 on. Texts as in [`ParamInfo::text`].
    pub const fn number(key: &'static str, default: &'static str, help: &'static str) -> Self {
        Self { kind: SWM_PARAM_NUMBER, ..Self::text(key, default, help) }
    }

    /// The path of a regular file, which the algorithm reads (as text with
    /// `std::fs::read_to_string`); without one it says that it is
    /// [`Stop::unsupported`](crate::Stop::unsupported). A row says which content the file had.
    pub const fn file(key: &'static str, help: &'static str) -> Self {
        Self { kind: SWM_PARAM_FILE, ..Self::text(key, "", help) }
    }

    /// One of these words, which users are offered and `swapmeet check` tries one after another.
    /// Texts as in [`ParamInfo::text`].
    pub const fn choice(
        key: &'static str,
        values: &'static [&'static str],
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self { kind: SWM_PARAM_CHOICE, values, ..Self::text(key, default, help) }
    }

    /// Its key: what users type before the equals sign.
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// The words that it may be, where it is a choice.
    pub const fn values(&self) -> &'static [&'static str] {
        self.values
    }
}

/// The words of a table of choices, for [`ParamInfo::choice`]: one table, declared and read.
pub const fn words<T, const N: usize>(choices: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = choices[i].0;
        i += 1;
    }
    words
}

/// What a parameter can be read as ([`Problem::param`](crate::Problem::param)); a plugin can make
/// types of its own such values.
pub trait ParamValue: FromStr {
    /// What a text that doesn't parse should have been, in words: "a whole number".
    fn expected(given: &str) -> String;
}

macro_rules! whole_numbers {
    ($($type:ty)+) => {
        $(impl ParamValue for $type {
            fn expected(given: &str) -> String {
                match given.parse::<i128>() {
                    Ok(_) => format!("a whole number from {} to {}", Self::MIN, Self::MAX),
                    Err(_) => "a whole number".to_owned(),
                }
            }
        })+
    };
}

macro_rules! other_values {
    ($($type:ty: $expected:literal;)+) => {
        $(impl ParamValue for $type {
            fn expected(_: &str) -> String {
                $expected.to_owned()
            }
        })+
    };
}

whole_numbers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

other_values! {
    f32: "a number";
    f64: "a number";
    bool: "true or false";
    char: "one character";
    String: "a text";
}
