//! The placement of experts on nodes, and tokens that are read from a file.

use super::matrix::Matrix;
use super::{Generator, Pattern};
use crate::args::{Args, CurveAxis, WORD};
use crate::digest::InputDigest;
use crate::file::read_regular;
use std::path::Path;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, Tokens};
use swapmeet_core::spec::{SpecError, format_size};
use swapmeet_core::text::excerpt;

pub(super) const MAX_EXPERTS: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpertPlacement {
    /// The first experts are on node 0, the next ones on node 1, etc.
    Block,
    /// Expert e is on node e modulo the number of nodes.
    Cyclic,
}

impl ExpertPlacement {
    pub(super) fn read(args: &mut Args<'_>) -> Result<Self, SpecError> {
        match args.take("experts_at") {
            None => Ok(Self::Block),
            Some(arg) => match arg.value() {
                "block" => Ok(Self::Block),
                "cyclic" => Ok(Self::Cyclic),
                _ => Err(args.spec.bad_value(arg, "block or cyclic")),
            },
        }
    }

    pub(super) fn argument(self) -> Option<(&'static str, String)> {
        (self == Self::Cyclic).then(|| ("experts_at", "cyclic".to_owned()))
    }

    pub(super) fn node_of(self, expert: u64, experts: u64, nodes: u64) -> u64 {
        match self {
            // There are at most 2^20 experts and 2^31 nodes, so the product fits in 64 bits.
            Self::Block => expert * nodes / experts,
            Self::Cyclic => expert % nodes,
        }
    }
}

pub(super) const TOKENS: Generator = Generator {
    name: "tokens",
    syntax: "tokens:FILE,bytes=SIZE,experts=E,experts_at=WORD",
    help: "a file with a line for each token: its node, then its experts, separated by spaces or commas; `#` starts a comment; each token has SIZE bytes. Without E, there is one expert on each node; experts_at=block (the first E / N at node 0, ..) or cyclic",
    keys: &[WORD, "bytes", "experts", "experts_at"],
    axes: &[(CurveAxis::BlockSize, "bytes")],
    sized_by_pair: true,
    sized_by_node: false,
    has_tokens: true,
    random: false,
    read,
};

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    /// The maximum size of a file, which can then have some million tokens.
    const MAX_TEXT: u64 = 256 << 20;
    let arg = args.word("a file, as in `tokens:routing.txt,bytes=7KiB`")?;
    let bytes = args.require("bytes")?;
    let bytes = args.whole_elements(bytes)?;
    let experts = args.take("experts").map(|arg| args.whole(arg, 1..=MAX_EXPERTS)).transpose()?;
    let placement = ExpertPlacement::read(args)?;
    let name = arg.value();
    let refused = |message: String| args.spec.error(arg.value_at(), name.len(), &message);
    let content = read_regular(Path::new(name), MAX_TEXT, "a file of tokens").map_err(refused)?;
    let lines = parse(&content, experts)
        .map_err(|(line, message)| refused(format!("{name}:{line}: {message}")))?;
    if lines.is_empty() {
        let expected = "expected a line for each token: its node, then its experts";
        return Err(refused(format!("`{name}` has no tokens, {expected}")));
    }
    let input = InputDigest::new(name, &content);
    Ok(Arc::new(TokensFile { lines, input, bytes, experts, placement }))
}

#[derive(Debug)]
struct Token {
    line: usize,
    node: u64,
    experts: Vec<u64>,
}

/// Parses the tokens of a file. An error has the number of its line. `experts` is the number of
/// experts, or `None` if this is not known.
fn parse(content: &str, experts: Option<u64>) -> Result<Vec<Token>, (usize, String)> {
    let parsed = (1..).zip(content.lines()).map(|(line, text)| {
        let numbers = parse_line(text, experts).map_err(|message| (line, message))?;
        let token = numbers.split_first();
        Ok(token.map(|(node, experts)| Token { line, node: *node, experts: experts.to_vec() }))
    });
    parsed.filter_map(Result::transpose).collect()
}

/// Parses a line. The result is empty if the line has no token.
fn parse_line(line: &str, experts: Option<u64>) -> Result<Vec<u64>, String> {
    let data = line.split('#').next().unwrap_or_default();
    let words = data.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    let numbers = words.map(|word| {
        let number = word.parse().ok().filter(|number| *number < MAX_EXPERTS);
        number.ok_or_else(|| {
            format!(
                "{} is not a number below {MAX_EXPERTS}, expected a node and its experts",
                excerpt(word)
            )
        })
    });
    let numbers = numbers.collect::<Result<Vec<u64>, String>>()?;
    let of_token = numbers.get(1..).unwrap_or_default();
    if !numbers.is_empty() && of_token.is_empty() {
        return Err("is a token without experts, expected at least one".to_owned());
    }
    let unknown = of_token.iter().find(|expert| experts.is_some_and(|count| **expert >= count));
    if let (Some(expert), Some(experts)) = (unknown, experts) {
        return Err(format!("names expert {expert}, expected an expert from 0 to {}", experts - 1));
    }
    let mut sorted = of_token.to_vec();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let expert = pair[0];
        return Err(format!("names expert {expert} twice, expected each expert of a token once"));
    }
    Ok(numbers)
}

#[derive(Debug)]
struct TokensFile {
    lines: Vec<Token>,
    input: InputDigest,
    bytes: u64,
    /// The number of experts. `None` stands for one expert on each node.
    experts: Option<u64>,
    placement: ExpertPlacement,
}

impl TokensFile {
    /// Returns, for each node and each of its tokens, the nodes of the token's experts. A node with
    /// several of these experts is listed several times. Errors if a node or an expert does not
    /// exist.
    fn placed(&self, nodes: u64) -> Result<Vec<Vec<Vec<u32>>>, String> {
        let experts = self.experts.unwrap_or(nodes);
        let mut placed = vec![Vec::new(); nodes as usize];
        for Token { line, node, experts: of_token } in &self.lines {
            let place = format_args!("{}:{line}", self.input.file);
            if *node >= nodes {
                return Err(format!(
                    "has a token of node {node} at {place}, expected a node from 0 to {}",
                    nodes - 1
                ));
            }
            if let Some(expert) = of_token.iter().find(|expert| **expert >= experts) {
                return Err(format!(
                    "has a token for expert {expert} at {place}, expected an expert from 0 to {} (one for each node; experts=E sets another number)",
                    experts - 1
                ));
            }
            let at = |expert: &u64| self.placement.node_of(*expert, experts, nodes) as u32;
            placed[*node as usize].push(of_token.iter().map(at).collect());
        }
        Ok(placed)
    }
}

impl Pattern for TokensFile {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        let mut arguments =
            vec![(WORD, self.input.file.clone()), ("bytes", format_size(self.bytes))];
        arguments.extend(self.experts.map(|experts| ("experts", experts.to_string())));
        arguments.extend(self.placement.argument());
        arguments
    }

    fn sizes(&self, nodes: u64, _: u64, _: u64) -> Result<Arc<dyn BlockSizes>, String> {
        let placed = self.placed(nodes)?;
        let matrix = Matrix::from_rows(nodes, |node, row| {
            let receivers = placed[node as usize].iter().flatten();
            receivers.for_each(|to| row[*to as usize] += self.bytes);
        });
        Ok(Arc::new(matrix?))
    }

    fn tokens(&self, nodes: u64, _: u64) -> Result<Tokens, String> {
        let mut placed = self.placed(nodes)?;
        let sized = |receivers| (receivers, self.bytes);
        Ok(Tokens::new(nodes, |node| {
            std::mem::take(&mut placed[node as usize]).into_iter().map(sized).collect()
        }))
    }

    fn input(&self) -> Option<&InputDigest> {
        Some(&self.input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &str, experts: Option<u64>, placement: ExpertPlacement) -> TokensFile {
        let input = InputDigest::new("f", content);
        TokensFile { lines: parse(content, experts).unwrap(), input, bytes: 10, experts, placement }
    }

    #[test]
    fn each_line_is_a_token() {
        let tokens = file("# a trace\n0 1,2\n\n2\t0 # hot\n0 2 1\n", None, ExpertPlacement::Block);
        let drawn = tokens.tokens(3, 0).unwrap();
        assert_eq!((drawn.bytes(0), drawn.receivers(0, 0)), (&[20][..], &[1, 2][..]));
        assert_eq!((drawn.bytes(2), drawn.receivers(2, 0)), (&[10][..], &[0][..]));
        let sizes = tokens.sizes(3, 1, 0).unwrap();
        assert_eq!(
            [(0, 1), (0, 2), (2, 0), (1, 0)].map(|(o, d)| sizes.bytes(o, d)),
            [20, 20, 10, 0]
        );
    }

    /// If a token has two experts on one node, the node receives one copy in a dispatch, and two in
    /// an all-to-all.
    #[test]
    fn experts_of_one_node_share_a_token() {
        let tokens = file("0 2 3", Some(4), ExpertPlacement::Block);
        assert_eq!(tokens.tokens(2, 0).unwrap().receivers(0, 0), [1]);
        assert_eq!(tokens.sizes(2, 1, 0).unwrap().bytes(0, 1), 20);
        let cyclic = file("0 2 3", Some(4), ExpertPlacement::Cyclic);
        assert_eq!(cyclic.tokens(2, 0).unwrap().receivers(0, 0), [0, 1]);
    }

    #[test]
    fn a_file_without_tokens_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokens.txt");
        for content in ["", "# nothing\n\n"] {
            std::fs::write(&path, content).unwrap();
            let spec = format!("dispatch/tokens:{},bytes=8", path.display());
            let error = crate::Workload::parse(&spec).unwrap_err().to_string();
            let expected =
                "has no tokens, expected a line for each token: its node, then its experts";
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn bad_lines_are_refused() {
        let refused = |content: &str| parse(content, Some(8)).unwrap_err();
        assert_eq!(
            refused("0 1\n1"),
            (2, "is a token without experts, expected at least one".to_owned())
        );
        assert_eq!(refused("0 x").0, 1);
        assert_eq!(
            refused("# pairs\n0 1 0\n2 3 1 3"),
            (3, "names expert 3 twice, expected each expert of a token once".to_owned())
        );
        assert_eq!(
            refused("0 8"),
            (1, "names expert 8, expected an expert from 0 to 7".to_owned())
        );
        let error =
            |content: &str| file(content, None, ExpertPlacement::Block).tokens(3, 0).unwrap_err();
        assert_eq!(
            error("0 1\n\n3 0"),
            "has a token of node 3 at f:3, expected a node from 0 to 2"
        );
        assert_eq!(
            error("0 1\n1 5"),
            "has a token for expert 5 at f:2, expected an expert from 0 to 2 (one for each node; experts=E sets another number)"
        );
    }
}
