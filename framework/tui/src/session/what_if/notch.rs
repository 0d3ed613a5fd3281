//! Where a slider goes from a value: the next one that its parameter takes.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use swapmeet_core::cost::machine::{Machine, presets};
use swapmeet_core::cost::model::models;
use swapmeet_core::cost::parameter::Parameter;

/// How far a key moves a slider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notch {
    Small,
    Large,
}

/// The values that presets have of a parameter, each with whose it is; the smallest number first.
/// Every slider asks for them at every picture: they are looked up once.
pub(crate) fn presets_of(parameter: &dyn Parameter) -> &'static [(String, &'static str)] {
    type Values = BTreeMap<&'static str, Vec<(String, &'static str)>>;
    static KNOWN: OnceLock<Values> = OnceLock::new();
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
    KNOWN.get_or_init(all).get(parameter.key()).map_or(&[], Vec::as_slice)
}

/// The next value of a parameter, up or down; `None` where there is none.
pub(crate) fn next(
    parameter: &dyn Parameter,
    text: &str,
    up: bool,
    notch: Notch,
) -> Option<String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => number_after(parameter, number, up, notch),
        Ok(_) | Err(_) => word_after(parameter, text, up),
    }
}

fn number_after(parameter: &dyn Parameter, number: f64, up: bool, notch: Notch) -> Option<String> {
    /// Where a slider that stands at 0 goes to first.
    const FIRST: f64 = 0.001;
    // Twenty small notches a decade.
    let factor = match notch {
        Notch::Small => 10_f64.powf(0.05),
        Notch::Large => 10.0,
    };
    let scaled = match (up, number > 0.0) {
        (true, false) => FIRST,
        (true, true) => number * factor,
        (false, true) if number / factor < FIRST / 2.0 => 0.0,
        (false, _) => number / factor,
    };
    let whole =
        if up { scaled.round().max(number + 1.0) } else { scaled.round().min(number - 1.0) };
    // Some take whole numbers alone, and some begin at 1.
    let candidates = [three_digits(scaled), three_digits(whole), number.floor()];
    let now = parameter.canonical(&number.to_string()).ok();
    candidates.iter().find_map(|value| {
        parameter.canonical(&value.to_string()).ok().filter(|text| Some(text) != now.as_ref())
    })
}

/// With three digits: what nobody would have typed is not shown either.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Words in turn.
fn word_after(parameter: &dyn Parameter, text: &str, up: bool) -> Option<String> {
    let mut words = values_of(parameter);
    if !words.iter().any(|word| word == text) {
        words.push(text.to_owned());
    }
    let at = words.iter().position(|word| word == text)?;
    let next = if up { at + 1 } else { at + words.len() - 1 } % words.len();
    (next != at).then(|| words[next].clone())
}

/// Values that a parameter can have, each once: those of presets, models by their names, and a few
/// words that some take.
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

    fn moved(key: &str, from: &str, up: bool, notch: Notch) -> Option<String> {
        next(parameter(key), from, up, notch)
    }

    #[test]
    fn a_slider_goes_by_twentieths_of_a_decade_and_by_decades_and_down_to_nothing() {
        assert_eq!(moved("startup_us", "100", true, Notch::Small).as_deref(), Some("112"));
        assert_eq!(moved("startup_us", "100", false, Notch::Large).as_deref(), Some("10"));
        assert_eq!(moved("startup_us", "0", true, Notch::Small).as_deref(), Some("0.001"));
        assert_eq!(moved("startup_us", "0.001", false, Notch::Large).as_deref(), Some("0"));
        assert_eq!(moved("startup_us", "0", false, Notch::Small), None);
    }

    #[test]
    fn whole_numbers_stay_whole_words_come_in_turn_and_what_begins_at_one_stays_there() {
        assert_eq!(moved("virtual_channels", "2", true, Notch::Small).as_deref(), Some("3"));
        assert_eq!(moved("virtual_channels", "1", false, Notch::Small), None);
        assert_eq!(moved("free_contention", "1", false, Notch::Large), None);
        assert_eq!(
            moved("rearrangement", "declared", true, Notch::Small).as_deref(),
            Some("packed")
        );
        let circuit = moved("model", "wormhole", true, Notch::Small).unwrap();
        assert_ne!(circuit, "wormhole");
    }
}
