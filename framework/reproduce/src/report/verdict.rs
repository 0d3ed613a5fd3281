/// The relation of our value to the value of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The values are equal in all digits that the paper prints.
    Agrees,
    /// Our value differs from the paper's by this percentage.
    Off(f64),
    /// The values differ, but a percentage has no meaning. The cell states the reason.
    Differs,
    /// Our value satisfies a bound in the paper, but is not equal to it.
    WithinBound,
    BeyondBound,
    Holds,
    Fails,
    /// Our value is not measured, but declared by the algorithm.
    Declared,
    /// Usually, the cell has a value of ours, but the paper has no value to compare it with.
    NotGiven,
    /// This project has no schedule for the value of the paper. The cell states the reason.
    NotRebuilt,
    /// The reproduction needs something that the paper does not state. The cell has an assumption.
    Unknown,
}

pub(crate) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * a.abs().max(1.0)
}

/// Formats a value with at most two decimals.
pub(crate) fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Verdict {
    /// Returns the verdict on a measured value, which the paper prints with `decimals` decimals.
    pub fn measured(paper: f64, ours: f64, decimals: usize) -> Self {
        let printed = |x: f64| format!("{x:.decimals$}");
        if printed(paper) == printed(ours) { Self::Agrees } else { Self::off(paper, ours) }
    }

    pub fn computed(paper: f64, ours: f64) -> Self {
        if same(paper, ours) { Self::Agrees } else { Self::off(paper, ours) }
    }

    fn off(paper: f64, ours: f64) -> Self {
        if paper == 0.0 { Self::Differs } else { Self::Off(100.0 * (ours / paper - 1.0)) }
    }

    pub fn exactly<T: PartialEq + ?Sized>(paper: &T, ours: &T) -> Self {
        if paper == ours { Self::Agrees } else { Self::Differs }
    }

    pub fn at_most(bound: f64, ours: f64) -> Self {
        match same(bound, ours) {
            true => Self::Agrees,
            false if ours < bound => Self::WithinBound,
            false => Self::BeyondBound,
        }
    }

    pub fn at_least(bound: f64, ours: f64) -> Self {
        Self::at_most(ours, bound)
    }

    pub fn holds(yes: bool) -> Self {
        if yes { Self::Holds } else { Self::Fails }
    }

    pub(crate) fn text(self) -> String {
        let Self::Off(percent) = self else { return WORDS[self.category()].0.to_owned() };
        // The percentage has one decimal. If it would then be shown as 0, it has more decimals.
        let decimals = (-percent.abs().log10()).ceil().clamp(1.0, 12.0) as usize;
        let decimals = if percent.abs() < 0.05 { decimals } else { 1 };
        format!("{percent:+.decimals$} %")
    }

    pub(super) fn category(self) -> usize {
        match self {
            Self::Agrees => 0,
            // The printed percentage decides: 10.04 % is "within 10 %", because 10.0 % is printed.
            Self::Off(percent) if (percent * 10.0).round().abs() <= 100.0 => 1,
            Self::Off(_) => 2,
            Self::Differs => 3,
            Self::WithinBound => 4,
            Self::BeyondBound => 5,
            Self::Holds => 6,
            Self::Fails => 7,
            Self::Declared => 8,
            Self::NotGiven => 9,
            Self::NotRebuilt => 10,
            Self::Unknown => 11,
        }
    }
}

/// The text of each verdict except `Off`, and the category in which a summary counts it.
pub(super) const WORDS: [(&str, &str); 12] = [
    ("agrees", "agree"),
    ("", "within 10 %"),
    ("", "further off"),
    ("differs", "differ"),
    ("keeps the bound", "keep a bound"),
    ("breaks the bound", "break a bound"),
    ("holds", "claims hold"),
    ("does not hold", "claims don't"),
    ("declared", "declared, not measured"),
    ("no figure", "without a figure in the paper"),
    ("not rebuilt", "not rebuilt"),
    ("unknown", "unknown"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_value_agrees_to_the_printed_digits() {
        assert_eq!(Verdict::measured(0.004, 0.003_51, 3), Verdict::Agrees);
        assert_eq!(Verdict::measured(0.004, 0.004_49, 3), Verdict::Agrees);
        assert_eq!(Verdict::measured(0.004, 0.003_4, 3).text(), "-15.0 %");
        assert_eq!(Verdict::measured(13.61, 13.613, 2), Verdict::Agrees);
        assert_eq!(Verdict::measured(13.61, 13.62, 2).text(), "+0.1 %");
    }

    #[test]
    fn a_small_difference_is_not_printed_as_zero() {
        assert_eq!(Verdict::computed(33_925.0, 33_927.0).text(), "+0.006 %");
        let text = |percent: f64| Verdict::Off(percent).text();
        assert_eq!(
            [0.05, -0.049, 0.01, -0.0099].map(text),
            ["+0.1 %", "-0.05 %", "+0.01 %", "-0.010 %"]
        );
    }

    #[test]
    fn exact_values_agree_or_differ() {
        assert_eq!(Verdict::computed(15.0, 15.0), Verdict::Agrees);
        assert_eq!(Verdict::computed(15.0, 16.0).text(), "+6.7 %");
        assert_eq!(Verdict::computed(0.0, 16.0), Verdict::Differs);
        assert_eq!(
            (Verdict::exactly("a", "a"), Verdict::exactly("a", "b")),
            (Verdict::Agrees, Verdict::Differs)
        );
    }

    /// In a summary, bounds that are satisfied, violated or exactly reached are counted separately.
    #[test]
    fn a_bound_is_kept_broken_or_reached() {
        let verdicts = [65536.0, 1087.0, 1000.0].map(|bound| Verdict::at_most(bound, 1087.0));
        assert_eq!(verdicts, [Verdict::WithinBound, Verdict::Agrees, Verdict::BeyondBound]);
        assert_eq!([2.0, 3.0, 4.0].map(|bound| Verdict::at_least(bound, 3.0)), verdicts);
    }

    /// A claim that is not confirmed must not count as an agreement.
    #[test]
    fn a_claim_holds_or_does_not() {
        assert_eq!([true, false].map(|yes| Verdict::holds(yes).text()), ["holds", "does not hold"]);
    }
}
