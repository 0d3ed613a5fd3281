//! Communicators that are listed in a file (`over=file:F`). Each line has the ranks of a
//! communicator, in the order of its members. A rank is in at most one communicator.

use crate::InputDigest;
use crate::file::read_regular;
use std::collections::HashMap;
use std::path::Path;
use swapmeet_core::text::excerpt;

#[derive(Debug)]
pub(crate) struct Listed {
    pub communicators: Vec<Vec<u32>>,
    pub input: InputDigest,
}

impl Listed {
    /// Reads the file. Numbers are separated by spaces or commas, and text after a `#` is ignored.
    /// `Err` is the reason why the file is not valid.
    pub(crate) fn read(file: &str) -> Result<Self, String> {
        /// The maximum size of the file, which can then have ten million ranks.
        const MOST: u64 = 128 << 20;
        let expected = "a line of ranks for each communicator";
        let content = read_regular(Path::new(file), MOST, expected)?;
        let communicators = parse(&content)?;
        Ok(Self { communicators, input: InputDigest::new(file, &content) })
    }
}

fn parse(content: &str) -> Result<Vec<Vec<u32>>, String> {
    let (mut communicators, mut lines) = (Vec::new(), HashMap::new());
    for (number, line) in (1..).zip(content.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words = line.split(|c: char| c.is_whitespace() || c == ',');
        let mut members = Vec::new();
        for word in words.filter(|word| !word.is_empty()) {
            let rank: u32 = word.parse().map_err(|_| {
                format!("line {number}: `{}` is not a rank, expected a number", excerpt(word))
            })?;
            if let Some(first) = lines.insert(rank, number) {
                return Err(format!(
                    "line {number}: rank {rank} is also in line {first}, expected at most one communicator for each rank"
                ));
            }
            members.push(rank);
        }
        if !members.is_empty() {
            communicators.push(members);
        }
    }
    if communicators.is_empty() {
        return Err("no communicator, expected a line of ranks for each".to_owned());
    }
    Ok(communicators)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_communicator() {
        assert_eq!(
            parse("0 2,4 # even\n\n5\n3, 1\n").unwrap(),
            [vec![0, 2, 4], vec![5], vec![3, 1]]
        );
    }

    #[test]
    fn invalid_files_are_explained() {
        let error = |content| parse(content).unwrap_err();
        assert_eq!(error("0 1\n2 x\n"), "line 2: `x` is not a rank, expected a number");
        assert_eq!(error("0 -1\n"), "line 1: `-1` is not a rank, expected a number");
        assert_eq!(
            error("0 1\n2 1\n"),
            "line 2: rank 1 is also in line 1, expected at most one communicator for each rank"
        );
        assert_eq!(
            error("3 3\n"),
            "line 1: rank 3 is also in line 1, expected at most one communicator for each rank"
        );
        assert_eq!(error("# none\n"), "no communicator, expected a line of ranks for each");
    }
}
