//! The grammar of all specs: `name`, `name:args` or `name:key=value,..`, which can be nested in
//! parentheses. The parser stores byte offsets, so that errors that are found later, such as an
//! unknown key, have a position.

use crate::limits::{DIMENSIONS, NODES};
use crate::text::is_unsafe;
use std::fmt;

/// An error in a spec, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// The kind of spec, such as `topology` or `machine`.
    pub what: &'static str,
    /// The whole spec, as the user wrote it.
    pub text: String,
    /// The offset of the invalid text in bytes.
    pub at: usize,
    /// The length of the invalid text in bytes.
    pub len: usize,
    /// A description of the error and of the text that was expected.
    pub message: String,
    /// Known names that are similar to the unknown name.
    pub near: Vec<String>,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`: {}", self.what, self.text, self.message)?;
        match self.near.as_slice() {
            [] => Ok(()),
            near => {
                let names: Vec<String> = near.iter().map(|n| format!("`{n}`")).collect();
                write!(f, "; did you mean {}?", names.join(" or "))
            }
        }
    }
}

impl std::error::Error for SpecError {}

/// A parsed spec such as `name:value,key=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    what: &'static str,
    text: String,
    name: String,
    args: Vec<Arg>,
}

/// One argument: a word, or a key with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    key: Option<String>,
    value: String,
    at: usize,
    value_at: usize,
}

impl Arg {
    /// Returns the key, if there is one.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the word or, if there is a key, the value after the equals sign.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns the offset of the argument in the spec, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the offset of the value in the spec, in bytes.
    pub fn value_at(&self) -> usize {
        self.value_at
    }

    /// Returns the length of the whole argument in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a length in a text, not of a collection")]
    pub fn len(&self) -> usize {
        self.value_at + self.value.len() - self.at
    }
}

impl Spec {
    /// Parses a spec. `what` is the kind of spec, which errors name.
    pub fn parse(what: &'static str, text: &str) -> Result<Self, SpecError> {
        let mut spec = Self { what, text: text.to_owned(), name: String::new(), args: Vec::new() };
        // Specs are written to rows, file names and terminals, so unsafe characters are refused.
        if let Some((at, c)) = text.char_indices().find(|(_, c)| is_unsafe(*c)) {
            let message = format!("`{}`, expected no control characters", c.escape_default());
            return Err(spec.error(at, c.len_utf8(), &message));
        }
        let name_len = text.find(':').unwrap_or(text.len());
        let name = &text[..name_len];
        if name.is_empty() {
            return Err(spec.error(
                0,
                1,
                "the name is missing, expected `name` or `name:arguments`",
            ));
        }
        if let Some(at) = name.find(|c: char| !(c.is_ascii_alphanumeric() || "-_/.".contains(c))) {
            let c = name[at..].chars().next().unwrap_or(' ');
            return Err(spec.error(at, c.len_utf8(), &format!("unexpected `{c}` in the name")));
        }
        spec.name = name.to_owned();
        if name_len == text.len() {
            return Ok(spec);
        }
        let start = name_len + 1;
        if start == text.len() {
            return Err(spec.error(name_len, 1, "nothing after the colon, expected arguments"));
        }
        for (at, piece) in
            split_outside_parentheses(text, start).map_err(|(at, m)| spec.error(at, 1, m))?
        {
            if piece.is_empty() {
                return Err(spec.error(at.min(text.len() - 1), 1, "an argument is missing"));
            }
            // An equals sign within parentheses belongs to a nested spec.
            let depth_0 = piece.find('(').unwrap_or(piece.len());
            let arg = match piece[..depth_0].find('=') {
                Some(0) => return Err(spec.error(at, 1, "the key before `=` is missing")),
                Some(i) if i + 1 == piece.len() => {
                    return Err(spec.error(at, piece.len(), "the value after `=` is missing"));
                }
                Some(i) => Arg {
                    key: Some(piece[..i].to_owned()),
                    value: piece[i + 1..].to_owned(),
                    at,
                    value_at: at + i + 1,
                },
                None => Arg { key: None, value: piece.to_owned(), at, value_at: at },
            };
            if let Some(key) = arg.key()
                && spec.args.iter().any(|a| a.key() == Some(key))
            {
                return Err(spec.error(at, key.len(), &format!("`{key}` is given twice")));
            }
            spec.args.push(arg);
        }
        Ok(spec)
    }

    /// Returns the name before the colon.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments in the given order.
    pub fn args(&self) -> &[Arg] {
        &self.args
    }

    /// Creates an error about `len` bytes from byte `at` on.
    pub fn error(&self, at: usize, len: usize, message: &str) -> SpecError {
        SpecError {
            what: self.what,
            text: self.text.clone(),
            at,
            len,
            message: message.to_owned(),
            near: Vec::new(),
        }
    }

    /// Turns an error in a nested spec, which starts at byte `at`, into an error in the whole spec.
    pub(crate) fn nested(&self, at: usize, error: SpecError) -> SpecError {
        SpecError { near: error.near, ..self.error(at + error.at, error.len, &error.message) }
    }

    /// Creates an error about the name of the spec, which is not one of `known`.
    pub fn unknown_name<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> SpecError {
        let known: Vec<&str> = known.into_iter().collect();
        let near = near_matches(&self.name, known.iter().copied());
        let list = if near.is_empty() {
            format!(", expected one of {}", known.join(", "))
        } else {
            String::new()
        };
        SpecError {
            near,
            ..self.error(0, self.name.len(), &format!("unknown name `{}`{list}", self.name))
        }
    }

    /// Creates an error about the value of an argument.
    pub fn bad_value(&self, arg: &Arg, expected: &str) -> SpecError {
        let found = arg.value();
        let subject = arg.key().map(|k| format!("{k}: ")).unwrap_or_default();
        self.error(
            arg.value_at(),
            found.len(),
            &format!("{subject}expected {expected}, found `{found}`"),
        )
    }

    /// Creates an error about the key of an argument, which is not one of `known`.
    pub fn unknown_key<'a>(
        &self,
        arg: &Arg,
        known: impl IntoIterator<Item = &'a str>,
    ) -> SpecError {
        let known: Vec<&str> = known.into_iter().collect();
        let word = arg.key().unwrap_or(arg.value());
        let near = near_matches(word, known.iter().copied());
        let what = match (arg.key(), known.as_slice()) {
            (_, []) => format!("`{}` takes no such argument: `{word}`", self.name),
            (None, _) => {
                format!("expected key=value, found `{word}`; keys are {}", known.join(", "))
            }
            (Some(_), _) if near.is_empty() => {
                format!("unknown key `{word}`, expected one of {}", known.join(", "))
            }
            (Some(_), _) => format!("unknown key `{word}`"),
        };
        SpecError { near, ..self.error(arg.at(), word.len(), &what) }
    }

    pub(crate) fn dims(&self, arg: &Arg) -> Result<Vec<u64>, SpecError> {
        parse_dims(arg.value())
            .map_err(|(at, len, what)| self.error(arg.value_at() + at, len, &what))
    }

    pub(crate) fn dims_array<const N: usize>(
        &self,
        arg: &Arg,
        expected: &str,
    ) -> Result<[u64; N], SpecError> {
        self.dims(arg)?.try_into().map_err(|_| self.bad_value(arg, expected))
    }

    pub(crate) fn only_word(&self, expected: &str) -> Result<&Arg, SpecError> {
        match self.args.as_slice() {
            [] => Err(self.error(0, self.text.len(), &format!("expected {expected}"))),
            [arg] if arg.key.is_none() => Ok(arg),
            [arg] => Err(self.error(arg.at, arg.len(), &format!("expected {expected}"))),
            [_, extra, ..] => Err(self.error(
                extra.at,
                extra.len(),
                &format!("one argument too many, expected {expected}"),
            )),
        }
    }
}

/// The maximum depth of parentheses. In a dual-net, each level squares the number of nodes.
const MAX_NESTED: usize = 8;
const TOO_DEEP: &str = "parentheses nested more than 8 deep, expected at most 8 levels";

fn split_outside_parentheses(
    text: &str,
    start: usize,
) -> Result<Vec<(usize, &str)>, (usize, &'static str)> {
    let mut pieces = Vec::new();
    let (mut open, mut from) = (Vec::new(), start);
    for (i, c) in text[start..].char_indices() {
        let at = start + i;
        match c {
            '(' if open.len() == MAX_NESTED => return Err((at, TOO_DEEP)),
            '(' => open.push(at),
            ')' if open.pop().is_none() => {
                return Err((at, "a closing parenthesis without an opening one"));
            }
            ',' if open.is_empty() => {
                pieces.push((from, &text[from..at]));
                from = at + 1;
            }
            _ => {}
        }
    }
    if let Some(at) = open.pop() {
        return Err((at, "the parenthesis is never closed"));
    }
    pieces.push((from, &text[from..]));
    Ok(pieces)
}

const UNITS: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Parses a size: a number of bytes, or a number with the unit `B`, `KiB`, `MiB` or `GiB`. An error
/// is a description of the expected form.
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

/// Parses a decimal number. Returns `None` if the number is positive but too small for an `f64`,
/// such as `1e-400`, because it would become 0 without notice.
pub fn parse_decimal(text: &str) -> Option<f64> {
    let number = text.parse::<f64>().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.contains(|c: char| matches!(c, '1'..='9'));
    (number != 0.0 || is_zero).then_some(number)
}

/// Formats a size with the largest unit of which it is a multiple, otherwise as a number of bytes.
pub fn format_size(bytes: u64) -> String {
    match UNITS.iter().skip(1).rev().find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor))
    {
        Some((unit, factor)) => format!("{}{unit}", bytes / factor),
        None => bytes.to_string(),
    }
}

/// Parses sizes such as `4x8`. An error is a byte offset, a length and a message.
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

/// Returns at most three names in `known` that are similar to `word`, the most similar one first.
/// Two names are similar if they differ by few edits, or if one begins with the other.
pub fn near_matches<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let word = word.to_lowercase();
    let most = (word.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let edits = strsim::osa_distance(&word, name);
            let begins =
                word.chars().count() >= 3 && (name.starts_with(&word) || word.starts_with(name));
            // Two edits change much of a short word, so they count as similar only if the words
            // have the same beginning.
            let shared = word.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
            let is_near = edits <= most || edits == 2 && shared >= 3;
            (is_near || begins).then_some((edits, name))
        })
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests;
