//! Parameters of algorithms: their declaration and their values.

use std::str::FromStr;
use swapmeet_abi::{SWM_PARAM_CHOICE, SWM_PARAM_FILE, SWM_PARAM_NUMBER, SWM_PARAM_TEXT};

/// A parameter of an algorithm, such as `fan` in `tree:fan=3`. The host refuses parameters that are
/// not declared.
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
///         ParamInfo::number("fan", "1", "number of nodes that a node sends to in a step, at least 1"),
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
    /// The parameter `group`, which [`Problem::group`](crate::Problem::group) reads.
    pub const GROUP: Self = Self::number(
        "group",
        "",
        "number of consecutive ranks of a group; by default the size of the last of several dimensions, or all ranks",
    );

    /// Declares a parameter with a text as its value. `default` applies if the user gives no value.
    /// Leave it empty if the default depends on the problem, and explain it in `help`, a line with
    /// the meaning and the possible values.
    pub const fn text(key: &'static str, default: &'static str, help: &'static str) -> Self {
        Self { key, kind: SWM_PARAM_TEXT, default, help, values: &[] }
    }

    /// Declares a parameter as [`ParamInfo::text`] does. Its value is a whole number, at least 0.
    pub const fn number(key: &'static str, default: &'static str, help: &'static str) -> Self {
        Self { kind: SWM_PARAM_NUMBER, ..Self::text(key, default, help) }
    }

    /// Declares a parameter whose value is the path of a regular file that the algorithm reads. If
    /// the user gives no path, the algorithm should return
    /// [`Stop::unsupported`](crate::Stop::unsupported). The host writes the digest of the file to
    /// the row.
    pub const fn file(key: &'static str, help: &'static str) -> Self {
        Self { kind: SWM_PARAM_FILE, ..Self::text(key, "", help) }
    }

    /// Declares a parameter whose value is one of these words. `swapmeet check` tests each of them.
    pub const fn choice(
        key: &'static str,
        values: &'static [&'static str],
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self { kind: SWM_PARAM_CHOICE, values, ..Self::text(key, default, help) }
    }

    /// Returns the key: the text before the equals sign in a spec.
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// Returns the words of a choice; empty for parameters of other types.
    pub const fn values(&self) -> &'static [&'static str] {
        self.values
    }
}

/// Returns the words of a table of choices. The table can then be used both for
/// [`ParamInfo::choice`] and for [`Problem::choice`](crate::Problem::choice).
pub const fn words<T, const N: usize>(choices: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = choices[i].0;
        i += 1;
    }
    words
}

/// A type of the values that [`Problem::param`](crate::Problem::param) returns. A plugin can
/// implement it for its own types.
pub trait ParamValue: FromStr {
    /// Returns a description of the valid values, such as "a whole number", for the error message
    /// about the invalid text `given`.
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
