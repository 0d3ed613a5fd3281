//! Formulas in data files, and texts that contain formulas. A formula has the notation of papers,
//! such as `2 log(2q+1, n/4q) + 1`. A text with formulas is, for instance, `{steps} of {all}`.
//! Adjacent factors are multiplied. As in print, they are multiplied before a division, so `n/4q`
//! is n divided by 4q. A name in [`FUNCTIONS`] is a function. If a name contains a point and a
//! parenthesis follows, as in `net.degree(spec)`, it is a calculation in Rust. Any other name is a
//! variable. In an aggregate such as `sum(x in list, x^2)`, the formula is evaluated for each
//! element of the list.

use crate::bench::ReproduceError;
use crate::report::{number, same};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A value in the data of a paper, or the value of a formula. True is 1, and false is 0.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

impl Value {
    pub(crate) fn number(&self) -> Result<f64, String> {
        if let Self::Number(x) = self { Ok(*x) } else { Err(format!("{self:?} is no number")) }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Number(x) => x.to_string(),
            Self::Text(text) => text.clone(),
            other => format!("{other:?}"),
        }
    }

    pub(crate) fn map<const N: usize>(keys: [(&str, Self); N]) -> Self {
        Self::Map(keys.map(|(key, value)| (key.to_owned(), value)).into())
    }

    pub(crate) fn list(&self) -> Result<&[Self], String> {
        if let Self::List(all) = self { Ok(all) } else { Err(format!("{self:?} is no list")) }
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(all: Vec<T>) -> Self {
        Self::List(all.into_iter().map(T::into).collect())
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<u64> for Value {
    fn from(x: u64) -> Self {
        Self::Number(x as f64)
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Number(f64::from(u8::from(yes)))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

pub(crate) trait Names {
    fn variable(&self, name: &str) -> Result<Option<Value>, ReproduceError>;
    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, ReproduceError>;
    /// Evaluates a formula in which one additional variable has this value.
    fn with(&self, name: &str, value: Value, formula: &Node) -> Result<Value, ReproduceError>;
}

/// If this variable is set, logarithms are rounded up. Its name contains a space, so that no
/// formula can contain it.
const ROUNDED: &str = "rounded logarithms";

/// Rounds up to an integer that is at least 0. A rounding error above an integer is ignored.
fn up(x: f64) -> f64 {
    (x - 1e-9).ceil().max(0.0)
}

/// The functions, each with its number of arguments, where 0 means any number.
/// - `if(c, x, y)` evaluates only one of x and y. `not(c)` is 1 if c is 0.
/// - `up` and `down` round a number, but ignore rounding errors. `floor` does not ignore them.
/// - `same(x, y)` compares, but ignores rounding errors.
/// - `range(n)` is the list of 0 to n - 1, and `range(a, b)` that of a to b.
/// - `at(list, i)` is the element i of a list, counted from 0. `at(map, key)` is the value of a
///   key. Both are an empty text if there is no such element. `index(list, x)` is the position of
///   an element.
/// - `join(x, ..)` joins values to a text, and `joined(list, ', ')` joins all texts in a list that
///   are not empty. `numbers('4x8')` is the list of the integers in a text. `decimal(x, n)` is a
///   text with n decimals, and `brief(x)` a text with at most two.
/// - `value(text)` evaluates a formula in the data. `has(x)` is 1 if there is a variable x.
/// - `rounded(x)` is x if logarithms are rounded up, because a schedule has whole steps.
const FUNCTIONS: [(&str, usize); 24] = [
    ("log", 2),
    ("max", 2),
    ("min", 2),
    ("floor", 1),
    ("up", 1),
    ("down", 1),
    ("sqrt", 1),
    ("abs", 1),
    ("mod", 2),
    ("if", 3),
    ("not", 1),
    ("same", 2),
    ("range", 0),
    ("at", 2),
    ("index", 2),
    ("len", 1),
    ("join", 0),
    ("joined", 2),
    ("numbers", 1),
    ("decimal", 2),
    ("brief", 1),
    ("value", 1),
    ("has", 1),
    ("rounded", 1),
];

/// Functions that evaluate a formula for each element of a list, as in `count(x in list, x > 2)`.
/// `each` is the list of the values, and `all` is this list without inner brackets. If an element
/// is a map, its keys are variables, too. `with(x = 2, x^2)` evaluates the formula once, with this
/// value of the variable.
const AGGREGATES: [&str; 9] =
    ["sum", "product", "mean", "most", "least", "count", "each", "all", "with"];

/// A parsed formula. The values of its variables are given when it is evaluated.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Formula(Node);

#[derive(Debug, Clone)]
pub(crate) enum Node {
    Number(f64),
    Text(String),
    Variable(String),
    /// The name of a function or an operator, and its arguments.
    Function(&'static str, Vec<Node>),
    /// The name of an aggregate, its variable, and two formulas: of the list, and of each value.
    Aggregate(&'static str, String, Box<[Node; 2]>),
    Call(String, Vec<Node>),
}

impl TryFrom<String> for Formula {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let root = reader.operators(0).filter(|_| reader.peek().is_none());
        match root {
            Some(root) => Ok(Self(root)),
            None => Err(format!("`{text}` is no formula from character {} on", reader.at + 1)),
        }
    }
}

impl Formula {
    pub(crate) fn value(&self, names: &dyn Names) -> Result<Value, ReproduceError> {
        self.0.value(names)
    }

    pub(crate) fn number(&self, names: &dyn Names) -> Result<f64, ReproduceError> {
        Ok(self.value(names)?.number()?)
    }
}

impl Node {
    pub(crate) fn value(&self, names: &dyn Names) -> Result<Value, ReproduceError> {
        Ok(match self {
            Self::Number(x) => Value::Number(*x),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Variable(name) => {
                names.variable(name)?.ok_or_else(|| format!("there is no variable `{name}`"))?
            }
            Self::Call(name, arguments) => {
                let arguments = arguments.iter().map(|node| node.value(names));
                names.call(name, &arguments.collect::<Result<Vec<_>, _>>()?)?
            }
            Self::Aggregate(name, variable, parts) => {
                let list = parts[0].value(names)?;
                if *name == "with" {
                    return names.with(variable, list, &parts[1]);
                }
                let elements = list.list()?.iter().cloned();
                let values = elements.map(|element| names.with(variable, element, &parts[1]));
                aggregate(name, values.collect::<Result<_, _>>()?)?
            }
            Self::Function(name, nodes) => Self::function(name, nodes, names)?,
        })
    }

    fn function(name: &str, nodes: &[Self], names: &dyn Names) -> Result<Value, ReproduceError> {
        let argument = |i: usize| match nodes.get(i) {
            Some(node) => node.value(names),
            None => Err(format!("`{name}` has too few arguments").into()),
        };
        let of = |i: usize| argument(i).and_then(|value| Ok(value.number()?));
        Ok(match name {
            "if" => return argument(if of(0)? == 0.0 { 2 } else { 1 }),
            "and" => (of(0)? != 0.0 && of(1)? != 0.0).into(),
            "or" => (of(0)? != 0.0 || of(1)? != 0.0).into(),
            "=" => (argument(0)? == argument(1)?).into(),
            "has" => match nodes {
                [Self::Variable(name)] => names.variable(name)?.is_some().into(),
                _ => return Err("`has` needs a variable".to_owned().into()),
            },
            "rounded" => return names.with(ROUNDED, true.into(), &nodes[0]),
            "value" => {
                let formula = Formula::try_from(argument(0)?.text())?;
                return formula.value(names);
            }
            "list" => Value::List((0..nodes.len()).map(argument).collect::<Result<_, _>>()?),
            "join" => {
                let texts = (0..nodes.len()).map(|i| Ok(argument(i)?.text()));
                Value::Text(texts.collect::<Result<String, ReproduceError>>()?)
            }
            "joined" => {
                let texts = argument(0)?.list()?.iter().map(Value::text).collect::<Vec<_>>();
                let texts = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
                Value::Text(texts.join(&argument(1)?.text()))
            }
            "numbers" => {
                let text = argument(0)?.text();
                let numbers =
                    text.split(|c: char| !c.is_ascii_digit()).filter_map(|t| t.parse().ok());
                numbers.collect::<Vec<f64>>().into()
            }
            "decimal" => Value::Text(format!("{:.*}", of(1)? as usize, of(0)?)),
            "brief" => Value::Text(number(argument(0)?.number()?)),
            "range" => {
                let (from, to) = match nodes.len() {
                    1 => (0, of(0)? as i64 - 1),
                    _ => (of(0)? as i64, of(1)? as i64),
                };
                (from..=to).map(|i| i as f64).collect::<Vec<_>>().into()
            }
            "len" => (argument(0)?.list()?.len() as f64).into(),
            "index" => {
                let (list, wanted) = (argument(0)?, argument(1)?);
                let found = list.list()?.iter().position(|value| *value == wanted);
                (found.ok_or_else(|| format!("{wanted:?} is in no list"))? as f64).into()
            }
            "at" => match (argument(0)?, argument(1)?) {
                (Value::List(all), Value::Number(i)) => {
                    all.into_iter().nth(i as usize).unwrap_or_else(|| "".into())
                }
                (Value::Map(mut all), key) => all.remove(&key.text()).unwrap_or_else(|| "".into()),
                (Value::Text(none), _) if none.is_empty() => "".into(),
                (from, key) => return Err(format!("{from:?} has no {key:?}").into()),
            },
            _ => Value::from(match (name, of(0)?) {
                ("floor", x) => x.floor(),
                ("up", x) => up(x),
                ("down", x) => (x + 1e-9).floor(),
                ("sqrt", x) => x.sqrt(),
                ("abs", x) => x.abs(),
                ("not", x) => f64::from(u8::from(x == 0.0)),
                ("+", x) => x + of(1)?,
                ("-", x) => x - of(1)?,
                ("", x) => x * of(1)?,
                ("/", x) => x / of(1)?,
                ("^", x) => x.powf(of(1)?),
                ("mod", x) => x.rem_euclid(of(1)?),
                ("max", x) => x.max(of(1)?),
                ("min", x) => x.min(of(1)?),
                ("same", x) => f64::from(u8::from(same(x, of(1)?))),
                ("<", x) => f64::from(u8::from(x < of(1)?)),
                ("<=", x) => f64::from(u8::from(x <= of(1)?)),
                ("log", base) => {
                    let log = of(1)?.ln() / base.ln();
                    if names.variable(ROUNDED)?.is_some() { up(log) } else { log }
                }
                _ => return Err(format!("there is no function `{name}`").into()),
            }),
        })
    }
}

fn aggregate(name: &str, values: Vec<Value>) -> Result<Value, String> {
    match name {
        "each" => return Ok(Value::List(values)),
        "all" => {
            let inner = values.iter().map(Value::list).collect::<Result<Vec<_>, _>>()?;
            return Ok(Value::List(inner.concat()));
        }
        _ => {}
    }
    let numbers = values.iter().map(Value::number).collect::<Result<Vec<f64>, _>>()?;
    let sum: f64 = numbers.iter().sum();
    Ok(Value::Number(match name {
        "sum" | "count" => sum,
        "product" => numbers.into_iter().product(),
        "mean" => sum / numbers.len() as f64,
        "most" => numbers.into_iter().fold(f64::NEG_INFINITY, f64::max),
        _ => numbers.into_iter().fold(f64::INFINITY, f64::min),
    }))
}

/// A parser that reads from left to right. Its methods return `None` if there is a syntax error.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

/// The binary operators, the weakest first. Those in an entry are evaluated from left to right.
const OPERATORS: [&[&str]; 5] =
    [&["or "], &["and "], &["<=", "<", "=", ">=", ">"], &["+", "-"], &["/"]];

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.peek();
        let found = self.text[self.at..].starts_with(wanted.as_bytes());
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    /// Reads and returns the next characters, as long as `belongs` is true for them.
    fn piece(&mut self, belongs: fn(&u8) -> bool) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let piece: Vec<u8> = rest.iter().copied().take_while(belongs).collect();
        self.at += piece.len();
        String::from_utf8_lossy(&piece).into_owned()
    }

    fn operators(&mut self, level: usize) -> Option<Node> {
        let Some(operators) = OPERATORS.get(level) else { return self.product() };
        let mut left = self.operators(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let right = self.operators(level + 1)?;
            left = match operator.trim_end() {
                ">" => Node::Function("<", vec![right, left]),
                ">=" => Node::Function("<=", vec![right, left]),
                operator => Node::Function(operator, vec![left, right]),
            };
        }
        Some(left)
    }

    fn product(&mut self) -> Option<Node> {
        let mut product = self.power()?;
        let is_operator =
            |rest: &[u8]| [&b"or "[..], b"and "].iter().any(|word| rest.starts_with(word));
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == b'(')
            && !is_operator(&self.text[self.at..])
        {
            product = Node::Function("", vec![product, self.power()?]);
        }
        Some(product)
    }

    fn power(&mut self) -> Option<Node> {
        let base = self.atom()?;
        Some(if self.take("^") { Node::Function("^", vec![base, self.power()?]) } else { base })
    }

    fn atom(&mut self) -> Option<Node> {
        match self.peek()? {
            b'(' => {
                self.at += 1;
                let inside = self.operators(0)?;
                self.take(")").then_some(inside)
            }
            b'\'' => {
                self.at += 1;
                let text = self.piece(|c| *c != b'\'');
                self.take("'").then_some(Node::Text(text))
            }
            b'0'..=b'9' => {
                self.piece(|c| c.is_ascii_digit() || *c == b'.').parse().ok().map(Node::Number)
            }
            c if c.is_ascii_alphabetic() => {
                let name = self.piece(|c| c.is_ascii_alphanumeric() || b"_.".contains(c));
                if let Some(aggregate) = AGGREGATES.into_iter().find(|known| *known == name) {
                    self.take("(").then_some(())?;
                    self.peek();
                    let variable = self.piece(|c| c.is_ascii_alphanumeric() || *c == b'_');
                    self.take(if aggregate == "with" { "=" } else { "in " }).then_some(())?;
                    let list = self.operators(0)?;
                    self.take(",").then_some(())?;
                    let parts = Box::new([list, self.operators(0)?]);
                    return self.take(")").then_some(Node::Aggregate(aggregate, variable, parts));
                }
                let function = FUNCTIONS.into_iter().find(|known| known.0 == name);
                let is_call = name.contains('.') && self.text.get(self.at) == Some(&b'(');
                match function {
                    None if !is_call => Some(Node::Variable(name)),
                    None => Some(Node::Call(name, self.arguments("(", ")", 0)?)),
                    Some((function, count)) => {
                        Some(Node::Function(function, self.arguments("(", ")", count)?))
                    }
                }
            }
            b'[' if self.take("[]") => Some(Node::Function("list", Vec::new())),
            b'[' => Some(Node::Function("list", self.arguments("[", "]", 0)?)),
            _ => None,
        }
    }

    /// Reads `count` arguments. If `count` is 0, there can be any number of arguments.
    fn arguments(&mut self, open: &str, close: &str, count: usize) -> Option<Vec<Node>> {
        self.take(open).then_some(())?;
        let mut arguments = vec![self.operators(0)?];
        while count == 0 || arguments.len() < count {
            if !self.take(",") {
                (count == 0).then_some(())?;
                break;
            }
            arguments.push(self.operators(0)?);
        }
        self.take(close).then_some(arguments)
    }
}

/// A text with formulas, such as `{steps} of {all}`. `{x:.2}` has two decimals, and `{x:n}` has at
/// most two. In `{x:.digits}`, the variable `digits` determines the number of decimals.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Template(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Plain(Formula),
    Short(Formula),
    Fixed(Formula, Formula),
}

#[derive(Debug, Default)]
pub(crate) struct Rendered {
    pub text: String,
    pub value: Option<Value>,
    pub decimals: Option<usize>,
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut pieces = Vec::new();
        for (i, part) in text.split('{').enumerate() {
            let Some((inside, rest)) = part.split_once('}').filter(|_| i > 0) else {
                pieces.push(Piece::Text(part.to_owned()));
                continue;
            };
            let formula = |text: &str| Formula::try_from(text.to_owned());
            pieces.push(match inside.rsplit_once(':') {
                Some((inside, "n")) => Piece::Short(formula(inside)?),
                Some((inside, format)) if format.starts_with('.') => {
                    Piece::Fixed(formula(inside)?, formula(&format[1..])?)
                }
                _ => Piece::Plain(formula(inside)?),
            });
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }
}

impl Template {
    pub(crate) fn text(&self, names: &dyn Names) -> Result<String, ReproduceError> {
        Ok(self.rendered(names)?.text)
    }

    pub(crate) fn rendered(&self, names: &dyn Names) -> Result<Rendered, ReproduceError> {
        let mut all = Rendered::default();
        for piece in &self.0 {
            let (formula, decimals) = match piece {
                Piece::Text(text) => {
                    all.text += text;
                    continue;
                }
                Piece::Plain(formula) | Piece::Short(formula) => (formula, None),
                Piece::Fixed(formula, decimals) => {
                    (formula, Some(decimals.value(names)?.number()? as usize))
                }
            };
            let value = formula.value(names)?;
            all.text += &match (piece, decimals) {
                (_, Some(decimals)) => format!("{:.decimals$}", value.number()?),
                (Piece::Short(_), None) => number(value.number()?),
                _ => value.text(),
            };
            all.decimals = all.decimals.or(decimals);
            all.value = all.value.or(Some(value));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known(Vec<(String, Value)>);

    impl Names for Known {
        fn variable(&self, name: &str) -> Result<Option<Value>, ReproduceError> {
            let found = self.0.iter().rev().find(|(known, _)| known == name);
            Ok(found.map(|(_, value)| value.clone()))
        }

        fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, ReproduceError> {
            Err(format!("{name} of {arguments:?}").into())
        }

        fn with(&self, name: &str, value: Value, formula: &Node) -> Result<Value, ReproduceError> {
            let mut all = self.0.clone();
            all.push((name.to_owned(), value));
            formula.value(&Self(all))
        }
    }

    fn known() -> Known {
        let numbers = [("n", 36.0), ("q", 2.0), ("n_0", 8.0), ("m", 26.0)];
        Known(numbers.map(|(name, x)| (name.to_owned(), x.into())).into())
    }

    fn value(text: &str) -> f64 {
        let formula = Formula::try_from(text.to_owned()).unwrap();
        formula.value(&known()).unwrap().number().unwrap()
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
        assert_eq!(value("rounded(2 log(2q+1, m))"), 6.0);
        assert!((value("2 log(2q+1, m)") - 2.0 * 26_f64.ln() / 5_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn conditions_and_lists_have_values() {
        assert_eq!(value("if(n > 35 and q <= 2, at([1, 7], 1), 0)"), 7.0);
        assert_eq!(value("count(i in range(1, 4), mod(i, 2) = 0 or i = 1)"), 3.0);
        assert_eq!(value("sum(i in range(3), mean(j in [i, n], j))"), 55.5);
        assert_eq!(value("len(all(i in [1, 2], [i, i])) index(['a', 'b'], 'b')"), 4.0);
        assert_eq!(value("has(q) + has(z)"), 1.0);
        assert_eq!(value("value('2 q') most(i in [3, 5], i) - least(i in [3, 5], i)"), 17.0);
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
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let formula = Formula::try_from("z + 1".to_owned()).unwrap();
        let error = formula.value(&known()).unwrap_err().to_string();
        assert!(error.contains("there is no variable `z`"), "{error}");
    }

    #[test]
    fn a_text_contains_values_in_a_format() {
        let rendered = |text: &str| {
            let template = Template::try_from(text.to_owned()).unwrap();
            template.rendered(&known()).unwrap()
        };
        let found = rendered("{q} of {n:n}, {n/7:.q}, {n/8:n}");
        assert_eq!(found.text, "2 of 36, 5.14, 4.5");
        assert_eq!((found.value, found.decimals), (Some(2.0.into()), Some(2)));
        assert_eq!(rendered("none").value, None);
    }
}
