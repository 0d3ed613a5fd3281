//! The steps of sliders.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use swapmeet_core::cost::machine::{Machine, presets};
use swapmeet_core::cost::model::models;
use swapmeet_core::cost::parameter::Parameter;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepSize {
    Small,
    Large,
}

/// Returns the values of a parameter in the presets, with their names, in ascending order. They are
/// computed once, because every slider needs them in every frame.
pub(crate) fn presets_of(parameter: &dyn Parameter) -> &'static [(String, &'static str)] {
    type Values = BTreeMap<&'static str, Vec<(String, &'static str)>>;
    static PRESET_VALUES: OnceLock<Values> = OnceLock::new();
    let all = || {
        let mut known = Values::new();
        let machines = presets()
            .iter()
            .filter_map(|preset| Some((preset.name, Machine::parse(preset.name).ok()?)));
        for (name, value) in machines
            .flat_map(|(name, machine)| machine.values().into_iter().map(move |v| (name, v)))
        {
            known.entry(value.parameter.key()).or_default().push((value.text, name));
        }
        let number = |text: &str| text.parse().unwrap_or(f64::INFINITY);
        known
            .values_mut()
            .for_each(|values| values.sort_by(|(a, _), (b, _)| number(a).total_cmp(&number(b))));
        known
    };
    PRESET_VALUES.get_or_init(all).get(parameter.key()).map_or(&[], Vec::as_slice)
}

/// Returns the next value of a parameter; `None` at the end of its range.
pub(crate) fn next_value(
    parameter: &dyn Parameter,
    text: &str,
    up: bool,
    size: StepSize,
) -> Option<String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => number_after(parameter, number, up, size),
        Ok(_) | Err(_) => word_after(parameter, text, up),
    }
}

fn number_after(
    parameter: &dyn Parameter,
    number: f64,
    up: bool,
    size: StepSize,
) -> Option<String> {
    /// The smallest value above 0.
    const FIRST: f64 = 0.001;
    // 20 small steps are a factor of 10.
    let factor = match size {
        StepSize::Small => 10_f64.powf(0.05),
        StepSize::Large => 10.0,
    };
    let scaled = match (up, number > 0.0) {
        (true, false) => FIRST,
        (true, true) => number * factor,
        (false, true) if number / factor < FIRST / 2.0 => 0.0,
        (false, _) => number / factor,
    };
    let whole =
        if up { scaled.round().max(number + 1.0) } else { scaled.round().min(number - 1.0) };
    // Some parameters accept only whole numbers, and some start at 1.
    let candidates = [three_digits(scaled), three_digits(whole), number.floor()];
    let now = parameter.canonical(&number.to_string()).ok();
    candidates.iter().find_map(|value| {
        parameter.canonical(&value.to_string()).ok().filter(|text| Some(text) != now.as_ref())
    })
}

fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Returns the word after `text` among those that a parameter accepts, or before it.
fn word_after(parameter: &dyn Parameter, text: &str, up: bool) -> Option<String> {
    let mut words = values_of(parameter);
    if !words.iter().any(|word| word == text) {
        words.push(text.to_owned());
    }
    let at = words.iter().position(|word| word == text)?;
    let next = if up { at + 1 } else { at + words.len() - 1 } % words.len();
    (next != at).then(|| words[next].clone())
}

/// Returns the known values of a parameter.
pub(crate) fn values_of(parameter: &dyn Parameter) -> Vec<String> {
    const TRIED: [&str; 11] = [
        "1",
        "2",
        "all",
        "declared",
        "packed",
        "count",
        "free",
        "step",
        "data",
        "blocking",
        "nonblocking",
    ];
    let of_presets = presets_of(parameter).iter().map(|(text, _)| text.clone());
    let words = models().iter().map(|model| model.name).chain(TRIED);
    let mut values: Vec<String> = Vec::new();
    for value in of_presets.chain(words.filter_map(|word| parameter.canonical(word).ok())) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(key: &str) -> &'static dyn Parameter {
        swapmeet_core::cost::machine::parameters().into_iter().find(|p| p.key() == key).unwrap()
    }

    fn moved(key: &str, from: &str, up: bool, size: StepSize) -> Option<String> {
        next_value(parameter(key), from, up, size)
    }

    #[test]
    fn sliders_move_logarithmically_down_to_zero() {
        assert_eq!(moved("startup_us", "100", true, StepSize::Small).as_deref(), Some("112"));
        assert_eq!(moved("startup_us", "100", false, StepSize::Large).as_deref(), Some("10"));
        assert_eq!(moved("startup_us", "0", true, StepSize::Small).as_deref(), Some("0.001"));
        assert_eq!(moved("startup_us", "0.001", false, StepSize::Large).as_deref(), Some("0"));
        assert_eq!(moved("startup_us", "0", false, StepSize::Small), None);
    }

    #[test]
    fn sliders_respect_whole_numbers_words_and_minimums() {
        assert_eq!(moved("virtual_channels", "2", true, StepSize::Small).as_deref(), Some("3"));
        assert_eq!(moved("virtual_channels", "1", false, StepSize::Small), None);
        assert_eq!(moved("free_contention", "1", false, StepSize::Large), None);
        for [from, to] in [["declared", "packed"], ["packed", "exchanges"]] {
            assert_eq!(moved("rearrangement", from, true, StepSize::Small).as_deref(), Some(to));
        }
        let circuit = moved("model", "wormhole", true, StepSize::Small).unwrap();
        assert_ne!(circuit, "wormhole");
    }
}
