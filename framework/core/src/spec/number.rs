//! Numbers in specs: sizes with units, and dimensions joined by `x`.

use crate::limits::{DIMENSIONS, NODES};

const UNITS: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Parses a size, in bytes or with `B`, `KiB`, `MiB` or `GiB`. `Err` has the expected form.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start();
    let factor =
        match UNITS.iter().find(|(name, _)| unit.is_empty() || name.eq_ignore_ascii_case(unit)) {
            Some((_, factor)) => *factor,
            None => {
                let meant = match unit.to_ascii_lowercase().as_str() {
                    "k" | "kb" => ": sizes count in powers of 1024, write KiB",
                    "m" | "mb" => ": sizes count in powers of 1024, write MiB",
                    "g" | "gb" => ": sizes count in powers of 1024, write GiB",
                    _ => "",
                };
                return Err(format!("a size such as 64, 64B, 4KiB or 1MiB{meant}"));
            }
        };
    let expected = || "a size such as 64, 64B, 4KiB or 1MiB".to_owned();
    if number.is_empty() {
        return Err(expected());
    }
    let too_large = || format!("a size of at most {} bytes", u64::MAX);
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).ok_or_else(too_large)
}

/// Parses a decimal number. Returns `None` for a positive number that is too small for an `f64`,
/// such as `1e-400`, because the number would become 0 without a warning.
pub fn parse_decimal(text: &str) -> Option<f64> {
    let number = text.parse::<f64>().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.contains(|c: char| matches!(c, '1'..='9'));
    (number != 0.0 || is_zero).then_some(number)
}

/// Formats a size in canonical form: with the largest unit that divides the size, or as a number of
/// bytes without a unit.
pub fn format_size(bytes: u64) -> String {
    match UNITS.iter().skip(1).rev().find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor))
    {
        Some((unit, factor)) => format!("{}{unit}", bytes / factor),
        None => bytes.to_string(),
    }
}

/// Parses dimensions such as `16x16`. `Err` has the byte offset and the length of the error, and a
/// message.
pub(crate) fn parse_dims(text: &str) -> Result<Vec<u64>, (usize, usize, String)> {
    let (mut dims, mut at, mut product) = (Vec::new(), 0, 1_u64);
    for part in text.split('x') {
        let number = dims.len() + 1;
        let wrong = |what: String| (at, part.len(), format!("dimension {number} {what}"));
        if part.is_empty() {
            return Err((
                at.min(text.len().saturating_sub(1)),
                1,
                format!("dimension {number} is missing"),
            ));
        }
        if !part.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong(format!("is `{part}`, expected a whole number from 1 on")));
        }
        let dim: u64 = part.parse().map_err(|_| wrong("is too large".to_owned()))?;
        if dim == 0 {
            return Err(wrong("is 0, expected a whole number from 1 on".to_owned()));
        }
        product = product.checked_mul(dim).filter(|n| *n <= NODES).ok_or_else(|| {
            (0, text.len(), format!("over {NODES} nodes, the most that a topology may have"))
        })?;
        dims.push(dim);
        if dims.len() as u64 > DIMENSIONS {
            return Err((
                0,
                text.len(),
                format!("over {DIMENSIONS} dimensions, the most that a topology may have"),
            ));
        }
        at += part.len() + 1;
    }
    Ok(dims)
}
