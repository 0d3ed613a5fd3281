/// Corrects p-values by Holm's method (Scandinavian Journal of Statistics 6, 1979). The method
/// ensures this: the probability that any comparison without a real difference has a corrected
/// p-value below 0.05 is at most 0.05. Missing p-values do not count as comparisons.
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut known: Vec<(usize, f64)> =
        p.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))).collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (mut corrected, mut so_far, count) = (vec![None; p.len()], 0.0_f64, known.len());
    for (rank, (index, p)) in known.into_iter().enumerate() {
        so_far = so_far.max(((count - rank) as f64 * p).min(1.0));
        corrected[index] = Some(so_far);
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::tests::assert_near;

    /// R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` gives 0.03, 0.06, 0.06, 0.02.
    #[test]
    fn the_correction_matches_r() {
        let corrected = holm(&[Some(0.01), Some(0.04), None, Some(0.03), Some(0.005)]);
        for (found, expected) in
            corrected.iter().zip([Some(0.03), Some(0.06), None, Some(0.06), Some(0.02)])
        {
            assert_eq!(found.is_some(), expected.is_some());
            assert_near(found.unwrap_or(1.0), expected.unwrap_or(1.0));
        }
        assert_eq!(holm(&[Some(0.7), Some(0.8)]), [Some(1.0), Some(1.0)]);
    }
}
