//! Figures for reading.

/// A time with a unit that suits it, four figures.
///
/// ```
/// assert_eq!(swapmeet_results::duration(10_394.2), "10.39 ms");
/// ```
pub fn duration(us: f64) -> String {
    let (value, unit) = if us < 1e3 {
        (us, "us")
    } else if us < 1e6 {
        (us / 1e3, "ms")
    } else {
        (us / 1e6, "s")
    };
    let decimals = match value {
        v if v < 10.0 => 3,
        v if v < 100.0 => 2,
        v if v < 1000.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}
