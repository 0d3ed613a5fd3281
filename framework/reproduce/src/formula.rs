//! Formulas in the notation of papers, such as `2 log(2q+1, n/4q) + 1`. They are parsed from text.
//!
//! Adjacent factors are multiplied. This multiplication binds tighter than division, as in print:
//! `n/4q` is n divided by 4q. A name before a parenthesis is a function: `log(base, x)`, `max`,
//! `min`, `floor`, `up`, `sqrt`. Any other name is a variable. It consists of letters, digits and
//! `_`.

use serde::Deserialize;

/// A function that rounds the value of a logarithm. [`as_printed`] does not round it, like the
/// formulas as printed. [`up`] rounds it up, because a schedule needs a whole number of steps.
pub(crate) type Round = fn(f64) -> f64;

pub(crate) fn as_printed(x: f64) -> f64 {
    x
}

/// Rounds up to an integer that is at least 0. A value that exceeds an integer only by a rounding
/// error becomes that integer, not the next one.
pub(crate) fn up(x: f64) -> f64 {
    (x - 1e-9).ceil().max(0.0)
}

/// A function that returns the value of a variable, or `None` if the variable is unknown. If a
/// formula defines the variable, the second argument rounds the logarithms in that formula.
pub(crate) type Variables<'a> = &'a dyn Fn(&str, Round) -> Option<f64>;

/// A parsed formula. The values of its variables are given later.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Formula {
    text: String,
    root: Node,
}

#[derive(Debug, Clone)]
enum Node {
    Number(f64),
    Variable(String),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy)]
enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Log,
    Max,
    Min,
    Floor,
    Up,
    Sqrt,
}

impl TryFrom<String> for Formula {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let root = reader.sum().filter(|_| reader.peek().is_none());
        match root {
            Some(root) => Ok(Self { text, root }),
            None => Err(format!("`{text}` is no formula from character {} on", reader.at + 1)),
        }
    }
}

impl Formula {
    /// Returns the text from which the formula was parsed.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the value of the formula. Logarithms are not rounded.
    pub(crate) fn at(&self, variables: Variables<'_>) -> f64 {
        self.rounded(variables, as_printed)
    }

    /// Returns the value of the formula with rounded logarithms. The value is NaN if a variable is
    /// unknown.
    pub(crate) fn rounded(&self, variables: Variables<'_>, round: Round) -> f64 {
        self.root.value(variables, round)
    }
}

impl Node {
    fn value(&self, variables: Variables<'_>, round: Round) -> f64 {
        let (function, arguments) = match self {
            Self::Number(x) => return *x,
            Self::Variable(name) => return variables(name, round).unwrap_or(f64::NAN),
            Self::Call(function, arguments) => (function, arguments),
        };
        let x = arguments.first().map_or(f64::NAN, |node| node.value(variables, round));
        let y = arguments.get(1).map_or(f64::NAN, |node| node.value(variables, round));
        match function {
            Function::Add => x + y,
            Function::Subtract => x - y,
            Function::Multiply => x * y,
            Function::Divide => x / y,
            Function::Power => x.powf(y),
            Function::Log => round(y.ln() / x.ln()),
            Function::Max => x.max(y),
            Function::Min => x.min(y),
            Function::Floor => x.floor(),
            Function::Up => up(x),
            Function::Sqrt => x.sqrt(),
        }
    }
}

/// A parser that reads from left to right. Its methods return `None` if there is a syntax error.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// Skips spaces and returns the next character without consuming it.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// Consumes and returns the following characters as long as `belongs` is true for them.
    fn piece(&mut self, belongs: fn(&u8) -> bool) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let piece: Vec<u8> = rest.iter().copied().take_while(belongs).collect();
        self.at += piece.len();
        String::from_utf8_lossy(&piece).into_owned()
    }

    fn sum(&mut self) -> Option<Node> {
        let mut sum = self.quotient()?;
        loop {
            let function = match self.peek() {
                Some(b'+') => Function::Add,
                Some(b'-') => Function::Subtract,
                _ => return Some(sum),
            };
            self.at += 1;
            sum = Node::Call(function, vec![sum, self.quotient()?]);
        }
    }

    fn quotient(&mut self) -> Option<Node> {
        let mut quotient = self.product()?;
        while self.take(b'/') {
            quotient = Node::Call(Function::Divide, vec![quotient, self.product()?]);
        }
        Some(quotient)
    }

    fn product(&mut self) -> Option<Node> {
        let mut product = self.power()?;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == b'(') {
            product = Node::Call(Function::Multiply, vec![product, self.power()?]);
        }
        Some(product)
    }

    fn power(&mut self) -> Option<Node> {
        let base = self.atom()?;
        Some(if self.take(b'^') {
            Node::Call(Function::Power, vec![base, self.power()?])
        } else {
            base
        })
    }

    fn atom(&mut self) -> Option<Node> {
        match self.peek()? {
            b'(' => {
                self.at += 1;
                let inside = self.sum()?;
                self.take(b')').then_some(inside)
            }
            b'0'..=b'9' => {
                self.piece(|c| c.is_ascii_digit() || *c == b'.').parse().ok().map(Node::Number)
            }
            c if c.is_ascii_alphabetic() => {
                let name = self.piece(|c| c.is_ascii_alphanumeric() || *c == b'_');
                let (function, count) = match name.as_str() {
                    "log" => (Function::Log, 2),
                    "max" => (Function::Max, 2),
                    "min" => (Function::Min, 2),
                    "floor" => (Function::Floor, 1),
                    "up" => (Function::Up, 1),
                    "sqrt" => (Function::Sqrt, 1),
                    _ => return Some(Node::Variable(name)),
                };
                let mut arguments = Vec::new();
                for i in 0..count {
                    if !self.take(if i == 0 { b'(' } else { b',' }) {
                        return None;
                    }
                    arguments.push(self.sum()?);
                }
                self.take(b')').then_some(Node::Call(function, arguments))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let formula = Formula::try_from(text.to_owned()).unwrap();
        formula.at(&|name, _| match name {
            "n" => Some(36.0),
            "q" => Some(2.0),
            "n_0" => Some(8.0),
            _ => None,
        })
    }

    #[test]
    fn adjacent_factors_are_multiplied_before_division() {
        assert_eq!(value("n/4q"), 36.0 / 8.0);
        assert_eq!(value("2n/4 + 1"), 19.0);
        assert_eq!(value("3 q n/4 - 2 - 1"), 51.0);
        assert_eq!(value("(q+4)(n+4)/(2q + 2)"), 40.0);
        assert_eq!(value("2 n_0^2 q^(1+1)/2/2"), 128.0);
        assert_eq!(value("2^3^2"), 512.0);
    }

    #[test]
    fn functions_are_called_by_name() {
        assert_eq!(value("max(n/4q - 1, 0) + min(q, 9)"), 5.5);
        assert_eq!(value("floor(n/8) up(n/8) sqrt(n)"), 4.0 * 5.0 * 6.0);
        let logarithm = Formula::try_from("2 log(2q+1, n)".to_owned()).unwrap();
        let at =
            |name: &str, _: Round| (name == "n").then_some(26.0).or((name == "q").then_some(2.0));
        assert_eq!(logarithm.rounded(&at, up), 6.0);
        assert!((logarithm.at(&at) - 2.0 * 26_f64.ln() / 5_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn integer_logarithms_are_not_rounded_up() {
        for (base, power) in
            [(3.0_f64, 27.0_f64), (5.0, 25.0), (3.0, 9.0), (7.0, 343.0), (3.0, 243.0)]
        {
            let log = power.ln() / base.ln();
            assert_eq!(up(log), log.round());
        }
        assert_eq!((up(1.1), up(0.0), up(-0.4)), (2.0, 0.0, 0.0));
    }

    #[test]
    fn syntax_errors_give_their_position() {
        for (text, at) in
            [("", 1), ("n +", 4), ("(n", 3), ("n)", 2), ("log(2)", 6), ("2 * n", 3), ("sqrt n", 6)]
        {
            let error = Formula::try_from(text.to_owned()).unwrap_err();
            assert_eq!(error, format!("`{text}` is no formula from character {at} on"));
        }
        assert!(value("m + 1").is_nan());
    }
}
