//! Formats times, sizes, numbers and counts for reading.

use swapmeet_core::delivery::fault::Count;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    Time,
    Bytes,
    /// A count or a ratio.
    Number,
}

impl Unit {
    pub fn of_column(name: &str) -> Self {
        match name {
            _ if name.ends_with("_us") => Self::Time,
            _ if name.ends_with("bytes") => Self::Bytes,
            _ => Self::Number,
        }
    }

    /// Returns the unit in which the value is shortest: its size in stored units, and its name.
    ///
    /// ```
    /// use swapmeet_results::units::Unit;
    /// assert_eq!(Unit::Time.suiting(1500.0), (1e3, "ms"));
    /// assert_eq!(Unit::Bytes.suiting(1500.0), (1024.0, "KiB"));
    /// ```
    pub fn suiting(self, value: f64) -> (f64, &'static str) {
        match self {
            Self::Time => match value.abs() {
                us if us < 1e3 => (1.0, "µs"),
                us if us < 1e6 => (1e3, "ms"),
                _ => (1e6, "s"),
            },
            Self::Bytes => {
                const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
                let power = (value.abs().max(1.0).log2() / 10.0).floor().min(5.0);
                ((power * 10.0).exp2(), UNITS[power as usize])
            }
            Self::Number => (1.0, ""),
        }
    }

    pub fn text(self, value: f64) -> String {
        self.text_to(value, 3)
    }

    pub fn text_to(self, value: f64, digits: usize) -> String {
        match self {
            Self::Time => tick_duration(value, digits),
            Self::Bytes => size_to(value, digits),
            Self::Number => number_to(value, digits),
        }
    }
}

/// Formats a time in a suitable unit, with four digits.
///
/// ```
/// assert_eq!(swapmeet_results::units::duration(10_394.2), "10.39 ms");
/// ```
pub fn duration(us: f64) -> String {
    let (divisor, unit) = Unit::Time.suiting(us);
    let value = us / divisor;
    let decimals = match value.abs() {
        v if v < 10.0 => 3,
        v if v < 100.0 => 2,
        v if v < 1000.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// Formats a time for an axis, with at most `digits` digits.
///
/// ```
/// use swapmeet_results::units::tick_duration;
/// assert_eq!([0.0, 0.5, 200.0, 1e3, 2.5e6].map(|us| tick_duration(us, 3)), ["0", "0.5 µs", "200 µs", "1 ms", "2.5 s"]);
/// ```
pub fn tick_duration(us: f64, digits: usize) -> String {
    if us == 0.0 {
        return "0".to_owned();
    }
    let (divisor, unit) = Unit::Time.suiting(us);
    format!("{} {unit}", number_to(us / divisor, digits))
}

/// Formats bytes in the largest suitable unit (powers of 1024), with at most three digits.
///
/// ```
/// use swapmeet_results::units::size;
/// assert_eq!([64.0, 1536.0, 17_700.5, 3.2e6].map(size), ["64 B", "1.5 KiB", "17.3 KiB", "3.05 MiB"]);
/// ```
pub fn size(bytes: f64) -> String {
    size_to(bytes, 3)
}

pub fn size_to(bytes: f64, digits: usize) -> String {
    let (divisor, unit) = Unit::Bytes.suiting(bytes);
    format!("{} {unit}", number_to(bytes / divisor, digits))
}

/// Three significant digits, or all of the integer part if these are more, without final zeros.
///
/// ```
/// use swapmeet_results::units::number;
/// assert_eq!([16384.0, 1.25, 1.0 / 3.0, 0.0].map(number), ["16384", "1.25", "0.333", "0"]);
/// ```
pub fn number(value: f64) -> String {
    number_to(value, 3)
}

/// Returns two decimals, or more if a factor other than 1 would otherwise be shown as 1.
pub fn factor(value: f64) -> String {
    let digits = |digits: usize| format!("{value:.digits$}");
    (2..=6)
        .map(digits)
        .find(|text| value == 1.0 || text.parse() != Ok(1.0))
        .unwrap_or_else(|| digits(6))
}

pub fn number_to(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let decimals = (digits as i32 - before).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Formats a number with exactly three significant digits, or with all digits of its integer part
/// if these are more, so that the numbers in a table have the same precision.
///
/// ```
/// use swapmeet_results::units::three_digits;
/// assert_eq!([0.01814, 1.5, 9.996, 1866.2].map(three_digits), ["0.0181", "1.50", "10.0", "1866"]);
/// ```
pub fn three_digits(value: f64) -> String {
    let rounded = format!("{value:.2e}");
    let power: i32 = rounded.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let decimals = (2 - power).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

/// Formats a count. In the plural, `thing` gets an s.
///
/// ```
/// use swapmeet_results::units::count;
/// assert_eq!((count(1, "row"), count(2, "row")), ("1 row".to_owned(), "2 rows".to_owned()));
/// ```
pub fn count(n: usize, thing: &'static str) -> String {
    Count(n as u64, thing).to_string()
}
