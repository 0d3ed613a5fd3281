//! The scale of an axis, and its ticks.

use crate::marks::text::width;
use swapmeet_results::units::Unit;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub log: bool,
    pub low: f64,
    pub high: f64,
    pub ends: (f64, f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Ten,
    Two,
}

impl Base {
    pub(crate) fn for_unit(unit: Unit) -> Self {
        match unit {
            Unit::Bytes => Self::Two,
            Unit::Time | Unit::Number => Self::Ten,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    /// The label; empty for a minor tick.
    pub label: String,
}

/// No axis extends beyond these values. Larger values in row files would overflow.
const LEAST: f64 = 1e-290;
const MOST: f64 = 1e290;

/// Returns the logarithm of `a / b`, even if the quotient itself overflows.
fn ln_of_quotient(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if quotient.is_normal() { quotient.ln() } else { a.ln() - b.ln() }
}

impl Scale {
    /// Returns a scale that covers all values between 1e-290 and 1e290, with a margin at both ends.
    pub(crate) fn around(values: impl Iterator<Item = f64>, log: bool, margin: f64) -> Self {
        let (least, most) =
            values.fold((f64::MAX, f64::MIN), |(least, most), v| (least.min(v), most.max(v)));
        let (low, high) = match most - least {
            // If all values are equal, a logarithmic axis covers a factor of four around the value.
            // Any other axis is as long as the value, but at least 1.
            0.0 if log => (least / 2.0, most * 2.0),
            0.0 => (least - 0.5 * least.abs().max(1.0), most + 0.5 * most.abs().max(1.0)),
            _ if log => {
                let factor = (margin * ln_of_quotient(most, least)).exp();
                (least / factor, most * factor)
            }
            // If the smallest value is close to 0, the axis begins at 0.
            range if least >= 0.0 && least < 0.25 * most => (0.0, most + margin * range),
            range => (least - margin * range, most + margin * range),
        };
        let low = low.clamp(if log { LEAST } else { -MOST }, MOST / 2.0);
        let mut scale = Self { log, low, high: high.min(MOST), ends: (0.0, 1.0) };
        if log && scale.high <= low {
            scale.high = 2.0 * low;
        }
        scale
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            ln_of_quotient(value, self.low) / ln_of_quotient(self.high, self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.ends.0 + (self.ends.1 - self.ends.0) * share
    }

    pub(crate) fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns ticks for a horizontal axis, with labels of the font size `size`. They are far apart
    /// if there is room for three labels at this distance, otherwise closer.
    pub(crate) fn horizontal_ticks(
        &self,
        base: Base,
        size: f64,
        text: impl Fn(f64, usize) -> String,
    ) -> Vec<Tick> {
        let fits = |gap: f64| move |ticks: &[Tick]| self.has_room(ticks, size, gap * size);
        most_labels([1.0, 0.4], |gap| self.ticks(base, fits(gap), &text))
    }

    /// Returns whether the distance of horizontal labels is at least `gap`.
    pub(crate) fn has_room(&self, ticks: &[Tick], size: f64, gap: f64) -> bool {
        let x = self.shortened(ticks, size);
        let half = |tick: &Tick| width(&tick.label, size) / 2.0;
        ticks.windows(2).all(|pair| {
            let (left, right) = (&pair[0], &pair[1]);
            x.at(left.value) + half(left) + gap < x.at(right.value) - half(right)
        })
    }

    /// Shortens the axis, so that the label of its last tick has room beyond the end of the axis.
    pub(crate) fn shortened(&self, ticks: &[Tick], size: f64) -> Self {
        let end = |tick: &Tick| self.at(tick.value) + width(&tick.label, size) / 2.0;
        let beyond = ticks.iter().map(|tick| end(tick) - self.ends.1).fold(0.0, f64::max);
        Self { ends: (self.ends.0, self.ends.1 - beyond), ..*self }
    }

    /// Returns ticks for a vertical axis, chosen as in [`Self::horizontal_ticks`].
    pub(crate) fn vertical_ticks(
        &self,
        base: Base,
        size: f64,
        text: impl Fn(f64, usize) -> String,
    ) -> Vec<Tick> {
        let fits = |least: f64| {
            move |ticks: &[Tick]| {
                let apart = |pair: &[Tick]| self.at(pair[0].value) - self.at(pair[1].value);
                ticks.windows(2).all(|pair| apart(pair) >= least * size)
            }
        };
        most_labels([2.9, 1.3], |gap| self.ticks(base, fits(gap), &text))
    }

    /// Returns ticks for which `fits` is true. The first choice with at least three labels, which
    /// cover the axis, is used, otherwise the choice with the most labels. `text` formats a value
    /// with a number of digits.
    pub(crate) fn ticks(
        &self,
        base: Base,
        fits: impl Fn(&[Tick]) -> bool,
        text: impl Fn(f64, usize) -> String,
    ) -> Vec<Tick> {
        let mut best: Vec<Tick> = Vec::new();
        for (named, minor) in self.choices(base) {
            let ticks = labelled(named, &text);
            if !fits(&ticks) {
                continue;
            }
            let is_good = ticks.len() >= 3 && self.is_covered_by(&ticks);
            if is_good || ticks.len() > best.len() {
                best = ticks;
                best.extend(minor.into_iter().map(|value| Tick { value, label: String::new() }));
            }
            if is_good {
                break;
            }
        }
        best
    }

    /// Returns whether the ticks extend over at least half of the axis.
    fn is_covered_by(&self, ticks: &[Tick]) -> bool {
        let (first, last) = (self.at(ticks[0].value), self.at(ticks[ticks.len() - 1].value));
        (last - first).abs() >= 0.5 * (self.ends.1 - self.ends.0).abs()
    }

    /// If a logarithmic axis of base ten has fewer than three round numbers (1, 2 or 5 times a
    /// power of ten), widens it to the next round number at each end. Short axes have evenly spaced
    /// ticks and are not widened.
    pub(crate) fn rounded(self, base: Base) -> Self {
        /// An axis is short if the ratio of its ends is at most this.
        const SHORT: f64 = 3.0;
        let is_wide = self.log && base == Base::Ten && self.high / self.low > SHORT;
        if !is_wide || self.round_numbers().len() >= 3 {
            return self;
        }
        let wider = Self { low: self.low / 10.0, high: self.high * 10.0, ..self }.round_numbers();
        let low = wider.iter().copied().filter(|value| *value <= self.low).fold(self.low, |_, v| v);
        let high = wider.into_iter().find(|value| *value >= self.high).unwrap_or(self.high);
        Self { low, high, ..self }
    }

    fn round_numbers(&self) -> Vec<f64> {
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        self.multiples(&powers.collect::<Vec<_>>(), &[1.0, 2.0, 5.0])
    }

    /// Returns the choices of ticks, the best one first. A choice consists of the values with
    /// labels and the values without labels. Values with labels are 1, 2 or 5 times a power of ten,
    /// or powers of two, or have such a number as their distance.
    fn choices(&self, base: Base) -> Vec<(Vec<f64>, Vec<f64>)> {
        const LARGE: i32 = 32;
        let mut choices: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        if self.log {
            let factor = if base == Base::Ten { 10.0_f64 } else { 2.0 };
            let (first, last) = (self.low.log(factor), self.high.log(factor));
            // A power at an end of the axis must be included despite rounding errors.
            let powers: Vec<i32> =
                ((first - 1e-9).ceil() as i32..=(last + 1e-9).floor() as i32).collect();
            let whole: Vec<i32> = (first.floor() as i32..=last.ceil() as i32).collect();
            let value = |power: &i32| factor.powi(*power);
            // Every power, every second one, etc. has a label. Multiples of the step come first.
            for step in 1..=(powers.len() as i32 / 2).max(1) {
                // If the axis has hundreds of powers, only multiples of the step are tried.
                for rest in 0..if step > LARGE { 1 } else { step } {
                    let is_named = |power: &&i32| power.rem_euclid(step) == rest;
                    let named: Vec<f64> = powers.iter().filter(is_named).map(value).collect();
                    let others = powers.iter().filter(|power| !is_named(power));
                    let mut minor: Vec<f64> = others.map(value).collect();
                    if step == 1 && base == Base::Ten {
                        let between = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
                        minor.extend(self.multiples(&whole, &between));
                    }
                    choices.push((named, minor));
                }
            }
            // The next choices label multiples of powers of ten: all of them, every second one,
            // etc.
            if base == Base::Ten && self.high / self.low >= 4.0 {
                let round = self.multiples(&whole, &[1.0, 2.0, 5.0]);
                let minor = self.multiples(&whole, &[3.0, 4.0, 6.0, 7.0, 8.0, 9.0]);
                choices.push((round.clone(), minor));
                for step in 2..=(round.len() / 2).min(LARGE as usize) {
                    for start in 0..step {
                        let named = round.iter().skip(start).step_by(step).copied().collect();
                        choices.push((named, Vec::new()));
                    }
                }
            }
            choices.retain(|(named, _)| named.len() >= 3);
        }
        choices.extend((2..=12).rev().map(|most| (self.even(base, most), Vec::new())));
        // The last choices label every second value, if no distance leaves room for three labels.
        for (most, start) in (5..=12).rev().flat_map(|most| [(most, 0), (most, 1)]) {
            let values = self.even(base, most).into_iter();
            choices.push((values.skip(start).step_by(2).collect(), Vec::new()));
        }
        choices.dedup();
        choices
    }

    fn multiples(&self, powers: &[i32], of: &[f64]) -> Vec<f64> {
        let all = powers
            .iter()
            .flat_map(|power| of.iter().map(move |times| times * 10.0_f64.powi(*power)));
        let mut all: Vec<f64> = all.filter(|value| self.holds(*value)).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    fn even(&self, base: Base, most: usize) -> Vec<f64> {
        let least = (self.high - self.low) / most as f64;
        let step = match base {
            Base::Two if least >= 1.0 => least.log2().ceil().exp2(),
            Base::Two | Base::Ten => {
                let power = 10.0_f64.powf(least.log10().floor());
                [1.0, 2.0, 5.0, 10.0]
                    .map(|times| times * power)
                    .into_iter()
                    .find(|s| *s >= least)
                    .unwrap_or(least)
            }
        };
        if !step.is_normal() {
            return Vec::new();
        }
        let (first, last) =
            ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        (first..=last).take(most + 2).map(|count| count as f64 * step).collect()
    }
}

/// Returns the ticks for the first distance or, without three labels, for the second one.
fn most_labels(distances: [f64; 2], ticks: impl Fn(f64) -> Vec<Tick>) -> Vec<Tick> {
    let ticks = distances.map(ticks);
    let has_three =
        |ticks: &&Vec<Tick>| ticks.iter().filter(|tick| !tick.label.is_empty()).count() >= 3;
    ticks.iter().find(has_three).unwrap_or(&ticks[1]).clone()
}

/// All labels have the same number of digits: at least three, and as many as they need to differ.
fn labelled(values: Vec<f64>, text: impl Fn(f64, usize) -> String) -> Vec<Tick> {
    let written =
        |digits: usize| values.iter().map(|value| text(*value, digits)).collect::<Vec<_>>();
    let differ = |labels: &Vec<String>| labels.windows(2).all(|pair| pair[0] != pair[1]);
    let labels = (3..12).map(written).find(differ).unwrap_or_else(|| written(12));
    values.into_iter().zip(labels).map(|(value, label)| Tick { value, label }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_results::units::{number_to, size_to, tick_duration};

    fn scale(log: bool, low: f64, high: f64) -> Scale {
        Scale { log, low, high, ends: (0.0, 100.0) }
    }

    fn labels(scale: Scale, base: Base, text: fn(f64, usize) -> String) -> String {
        let ticks = scale.ticks(base, |ticks| ticks.len() <= 6, text);
        ticks
            .iter()
            .map(|tick| tick.label.as_str())
            .filter(|label| !label.is_empty())
            .collect::<Vec<_>>()
            .join(" | ")
    }

    #[test]
    fn values_are_placed_on_the_axis() {
        assert_eq!(
            (scale(false, 2.0, 6.0).at(3.0), scale(true, 1.0, 100.0).at(10.0)),
            (25.0, 50.0)
        );
        let around = Scale::around([1.0, 3.0].into_iter(), false, 0.1);
        assert_eq!((around.low, around.high), (0.8, 3.2));
        assert!(Scale::around([5.0].into_iter(), true, 0.1).holds(5.0));
    }

    #[test]
    fn an_axis_of_extreme_values_has_a_bounded_number_of_ticks() {
        let extremes = [5e-324, 1e-300, 1.0, 2e3, 1e150, 1e300, f64::MAX];
        for (i, least) in extremes.into_iter().enumerate() {
            for most in &extremes[i..] {
                for (log, base) in
                    [(true, Base::Ten), (true, Base::Two), (false, Base::Ten), (false, Base::Two)]
                {
                    let mut scale = Scale::around([least, *most].into_iter(), log, 0.05);
                    scale.ends = (0.0, 100.0);
                    let context = format!("{least:e} to {most:e}: {scale:?}");
                    assert!(scale.low < scale.high && scale.high.is_finite(), "{context}");
                    assert!([least, *most].iter().all(|v| scale.at(*v).is_finite()), "{context}");
                    let ticks: usize = scale
                        .choices(base)
                        .iter()
                        .map(|(named, minor)| named.len() + minor.len())
                        .sum();
                    assert!(ticks < 3_000_000, "{ticks} ticks, {context}");
                }
            }
        }
    }

    #[test]
    fn labels_are_round_and_few() {
        assert_eq!(
            labels(scale(true, 80.0, 2e5), Base::Ten, tick_duration),
            "100 µs | 1 ms | 10 ms | 100 ms"
        );
        assert_eq!(
            labels(scale(true, 0.8, 2e4), Base::Two, size_to),
            "1 B | 8 B | 64 B | 512 B | 4 KiB"
        );
        assert_eq!(labels(scale(true, 0.9, 7.0), Base::Ten, number_to), "1 | 2 | 5");
        assert_eq!(labels(scale(false, 0.9, 2.2), Base::Ten, number_to), "1 | 1.5 | 2");
        assert_eq!(
            labels(scale(false, 0.0, 70_000.0), Base::Two, size_to),
            "0 B | 16 KiB | 32 KiB | 48 KiB | 64 KiB"
        );
    }

    #[test]
    fn labels_of_close_values_differ() {
        assert_eq!(
            labels(scale(true, 10_000.0, 10_004.0), Base::Ten, tick_duration),
            "10 ms | 10.001 ms | 10.002 ms | 10.003 ms | 10.004 ms"
        );
        assert_eq!(
            labels(scale(true, 1024.0, 1028.0), Base::Two, size_to),
            "1 KiB | 1.001 KiB | 1.002 KiB | 1.003 KiB | 1.004 KiB"
        );
    }

    /// A reader complained about the ticks 0.9 | 0.52 | 0.3, and 53 ms | 3 ms | 170 µs. Ticks, or
    /// their distances, must be 1, 2 or 5 times a power of ten.
    #[test]
    fn ticks_are_numbers_that_a_person_would_choose() {
        let read = |least: f64, most: f64, room: usize| {
            let scale = Scale::around([least, most].into_iter(), true, 0.06).rounded(Base::Ten);
            let scale = Scale { ends: (0.0, 100.0), ..scale };
            let ticks = scale.ticks(Base::Ten, |ticks| ticks.len() <= room, tick_duration);
            let named = ticks.into_iter().filter(|tick| !tick.label.is_empty());
            named.map(|tick| tick.label).collect::<Vec<_>>().join(" | ")
        };
        assert_eq!(read(0.3e6, 0.9e6, 4), "200 ms | 500 ms | 1 s");
        assert_eq!(read(170.0, 53e3, 3), "200 µs | 2 ms | 20 ms");
        assert_eq!(read(0.61e6, 1.5e6, 4), "600 ms | 1 s | 1.4 s");
        assert_eq!(read(3.6e3, 12.6e3, 4), "2 ms | 5 ms | 10 ms | 20 ms");
        for (least, most) in
            (1..60).map(|i| (f64::from(i), f64::from(i) * (1.0 + f64::from(i * i) / 20.0)))
        {
            let labels = read(least, most, 4);
            assert!(labels.split(" | ").count() >= 3, "{least} {most}: {labels}");
        }
    }
}
