//! A sentence that compares the algorithms of a group with the optimum.

use super::single_line;
use crate::compare::{ComparisonLine, Group, LineOptimum};

/// Returns a sentence that compares the algorithms of a group with the optimum; `None` if no row
/// has an optimum.
pub(super) fn sentence(group: &Group) -> Option<String> {
    /// The maximum number of algorithms that are named.
    const NAMED: usize = 5;
    /// The sentence mentions the interval of the optimum if its relative width is at least this
    /// value.
    const WIDE: f64 = 0.1;
    let known = || group.lines.iter().filter_map(|line| Some((line, line.optimum?)));
    let gap = known().map(|(_, optimum)| optimum.gap).reduce(f64::max)?;
    let named = known().take(NAMED).enumerate();
    let mut parts: Vec<String> =
        named.map(|(i, (line, optimum))| in_words(line, optimum, i == 0)).collect();
    let others = known().skip(NAMED).count();
    if others > 0 {
        parts.push(format!("{others} other algorithms take longer"));
    }
    let wide = if gap >= WIDE {
        format!(" The optimum is known only within {:.0} %.", gap * 100.0)
    } else {
        String::new()
    };
    Some(format!("{}.{wide}", parts.join("; ")))
}

/// Compares one algorithm with the optimum. The first comparison of a sentence always names the
/// optimum.
fn in_words(line: &ComparisonLine, optimum: LineOptimum, is_first: bool) -> String {
    let (name, than) =
        (single_line(&line.algorithm), if is_first { " as the optimum" } else { "" });
    match optimum.ratio {
        ratio if ratio < 1.0005 => format!("`{name}` reaches the optimum"),
        ratio if ratio < 1.1 => {
            format!("`{name}` is within {:.1} % of the optimum", (ratio - 1.0) * 100.0)
        }
        ratio if ratio < 2.0 => format!("`{name}` takes {ratio:.2} times as long{than}"),
        ratio => format!("`{name}` takes {ratio:.1} times as long{than}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{failed, files, row};
    use crate::record::{Record, Status};

    fn sentence_of(rows: Vec<Record>) -> Option<String> {
        sentence(&compare(&files(rows), None).unwrap().groups[0])
    }

    fn with_optimum(algorithm: &str, time_us: f64, optimum_gap: f64) -> Record {
        let (optimum_us, optimum_gap) = (Some(10.0), Some(optimum_gap));
        Record { optimum_us, optimum_gap, ..row(algorithm, 0, time_us) }
    }

    #[test]
    fn each_algorithm_is_compared_with_the_optimum() {
        assert_eq!(sentence_of(vec![row("a", 0, 10.0), row("b", 0, 20.0)]), None);
        let rows = vec![
            with_optimum("suh-shin", 30.0, 0.01),
            with_optimum("pex", 10.4, 0.01),
            with_optimum("dim-rotation", 10.0, 0.01),
            failed("odd", 0, Status::Unsupported, "an odd side"),
        ];
        assert_eq!(
            sentence_of(rows).as_deref(),
            Some(
                "`dim-rotation` reaches the optimum; `pex` is within 4.0 % of the optimum; `suh-shin` takes 3.0 times as long."
            )
        );
        let many = (0..7).map(|i| with_optimum(&format!("a{i}"), 15.0 + f64::from(i), 0.5));
        assert_eq!(
            sentence_of(many.collect()).as_deref(),
            Some(
                "`a0` takes 1.50 times as long as the optimum; `a1` takes 1.60 times as long; `a2` takes 1.70 times as long; `a3` takes 1.80 times as long; `a4` takes 1.90 times as long; 2 other algorithms take longer. The optimum is known only within 50 %."
            )
        );
    }
}
