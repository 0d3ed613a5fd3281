//! Least squares for T = steps alpha + L beta S, with S the sum over steps of max(1, f / 2), weighted by 1/t: unweighted, the one cell of 13.6 s would
//! decide alone and make alpha negative.

/// One measured time: steps, L S in bytes, seconds.
pub type Sample = (f64, f64, f64);

/// (alpha in us, beta in us a byte).
pub fn alpha_beta(samples: &[Sample]) -> (f64, f64) {
    // normal equations of rows (steps / t, bytes / t) against 1
    let (mut ss, mut sb, mut bb, mut s1, mut b1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (steps, bytes, seconds) in samples {
        let (s, b) = (steps / seconds, bytes / seconds);
        ss += s * s;
        sb += s * b;
        bb += b * b;
        s1 += s;
        b1 += b;
    }
    let determinant = ss * bb - sb * sb;
    ((s1 * bb - b1 * sb) / determinant * 1e6, (b1 * ss - s1 * sb) / determinant * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_made_from_two_figures_give_them_back() {
        let samples: Vec<Sample> = (1..6)
            .map(|i| (f64::from(i), f64::from(i * i), (f64::from(i) * 100.0 + f64::from(i * i) * 0.25) / 1e6))
            .collect();
        let (alpha, beta) = alpha_beta(&samples);
        assert!((alpha - 100.0).abs() < 1e-6 && (beta - 0.25).abs() < 1e-9, "{alpha} {beta}");
    }
}
