use super::{Interval, Summary, t_quantile, welch_freedom};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratio {
    pub value: f64,
    /// The 95 % confidence interval of the ratio; `None` if a sample has only one value.
    pub interval: Option<Interval>,
}

/// Returns the ratio of the means of two samples. Returns `None` if a mean is not positive, or if
/// the ratio exceeds the range of a double.
///
/// The logarithm of the ratio has a confidence interval by the delta method, `ln(a/b) ± t
/// sqrt(sa²/(na a²) + sb²/(nb b²))`. The variance is that of Hedges, Gurevitch & Curtis (Ecology
/// 80, 1999), and the degrees of freedom are those of Welch and Satterthwaite. The interval of the
/// ratio follows from that of the logarithm. So it is positive, and the ends of the interval of
/// `b/a` are the reciprocals. Fieller's interval is exact for normal samples. But if `b` is
/// uncertain, it can be unbounded, or consist of two ranges.
pub fn ratio(a: &Summary, b: &Summary) -> Option<Ratio> {
    let value = a.mean / b.mean;
    if a.mean <= 0.0 || b.mean <= 0.0 || !value.is_normal() {
        return None;
    }
    let (Some(sa), Some(sb)) = (a.standard_error(), b.standard_error()) else {
        return Some(Ratio { value, interval: None });
    };
    let (ra, rb) = (sa / a.mean, sb / b.mean);
    let half = match ra.hypot(rb) {
        0.0 => 0.0,
        both => t_quantile(welch_freedom((ra, a.n), (rb, b.n))) * both,
    };
    Some(Ratio {
        value,
        interval: Some(Interval { low: value * (-half).exp(), high: value * half.exp() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::tests::assert_near;

    const A: [f64; 5] = [12.1, 11.8, 12.6, 12.0, 12.3];
    const B: [f64; 4] = [13.4, 13.9, 13.1, 14.2];

    /// The values were computed with numpy by the formula of [`ratio`], and scipy's quantile.
    #[test]
    fn the_interval_is_that_of_the_logarithm() {
        let (a, b) = (Summary::of(&A).unwrap(), Summary::of(&B).unwrap());
        let r = ratio(&a, &b).unwrap();
        let i = r.interval.unwrap();
        assert_near(r.value, 0.890_842_490_8);
        assert_near(i.low, 0.843_927_274_4);
        assert_near(i.high, 0.940_365_796_1);
        let back = ratio(&b, &a).unwrap().interval.unwrap();
        assert_near(back.low, 1.0 / i.high);
        assert_near(back.high, 1.0 / i.low);
    }

    #[test]
    fn an_interval_needs_two_values_and_a_spread() {
        let [same, other] = [(0.1, 7), (0.2, 3)].map(|(v, n)| Summary::of(&vec![v; n]).unwrap());
        assert_eq!(
            ratio(&same, &other),
            Some(Ratio { value: 0.5, interval: Some(Interval { low: 0.5, high: 0.5 }) })
        );
        let one = Summary::of(&[5.0]).unwrap();
        assert_eq!(ratio(&one, &same).unwrap().interval, None);
    }

    #[test]
    fn a_spread_in_one_sample_is_enough_for_an_interval() {
        let (a, same) = (Summary::of(&A).unwrap(), Summary::of(&[6.0; 3]).unwrap());
        let i = ratio(&a, &same).unwrap().interval.unwrap();
        // As the second sample has no spread, t has 4 degrees of freedom.
        let half = 2.776_445_105_2 * a.sd.unwrap() / 5.0_f64.sqrt() / a.mean;
        assert_near(i.high / i.low, (2.0 * half).exp());
    }

    #[test]
    fn a_ratio_to_zero_is_undefined() {
        let (zero, some) = (Summary::of(&[0.0, 0.0]).unwrap(), Summary::of(&A).unwrap());
        assert_eq!(
            (ratio(&some, &zero), ratio(&zero, &some), ratio(&zero, &zero)),
            (None, None, None)
        );
        let [small, large] = [1e-300, 1e300].map(|v| Summary::of(&[v]).unwrap());
        assert_eq!((ratio(&small, &large), ratio(&large, &small)), (None, None));
    }
}
