//! Slim flies: networks of 2 q^2 routers, any two of which are at most two hops apart (M. Besta, T.
//! Hoefler, *Slim Fly: A Cost Effective Low-Diameter Network Topology*, SC 2014). The graphs are
//! those of McKay, Miller and Siran.
//!
//! q is a prime power of the form 4 w - 1, 4 w or 4 w + 1. There are two kinds of routers, (0, x,
//! y) and (1, m, c), with coordinates in the field of q elements and row-major numbers. Routers of
//! the same kind with the same x (or m) form a column. There are three rules for links:
//!
//! - (0, x, y) is linked to (0, x, y') if y - y' is in the set X.
//! - (1, m, c) is linked to (1, m, c') if c - c' is in the set X'.
//! - (0, x, y) is linked to (1, m, c) if y = m x + c.
//!
//! X and X' consist of powers of a primitive element (section II of the paper). The first ports of
//! a router lead to routers of its own column, with one port for each element of X or X' in the
//! order of powers. The other ports lead to routers of the other kind, sorted by x or m.
//!
//! A route between two routers without a link has two hops. If the routers are of different kinds
//! and both orders of hops are possible, the first hop is within the first router's column.

use super::switched::{Fabric, FamilyArgs, Switched, nodes_argument};
use super::{AxisSymmetry, Parsed};
use crate::spec::Spec;
use std::sync::Arc;

#[derive(Debug)]
struct SlimFly {
    field: Field,
    sets: [Generators; 2],
}

/// The set X or X': the differences between the positions of linked routers in a column.
#[derive(Debug)]
struct Generators {
    elements: Vec<u64>,
    /// For each difference of two positions in a column, the port of the first hop. If the
    /// difference is in `elements`, it is the port of this element. Otherwise, it is the port of
    /// one of the two elements whose sum is the difference.
    ports: Vec<u64>,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    /// The largest q. A router has about one and a half times as many ports.
    const MAX: u64 = 1024;
    const EXPECTED: &str = "a prime power q, as in `slim-fly:19`";
    let words = FamilyArgs::of(spec, EXPECTED, &["nodes"])?;
    let wrong = |expected: &str| spec.bad_value(words.word, expected);
    let q: u64 = words.word.value().parse().map_err(|_| wrong(EXPECTED))?;
    if !(3..=MAX).contains(&q) || q % 4 == 2 {
        return Err(wrong(&format!(
            "a prime power q from 3 to {MAX}, of the form 4w - 1, 4w or 4w + 1"
        )));
    }
    let field = Field::of(q)
        .ok_or_else(|| wrong(&format!("a prime power q (near: {})", Field::near(q))))?;
    let nodes_each = words.nodes_each(2 * q * q)?;
    let (arguments, radices) = (q.to_string() + &nodes_argument(nodes_each), [2, q, q, nodes_each]);
    let fabric = SlimFly::new(field);
    Ok(Arc::new(Switched::new(fabric, "slim-fly", &arguments, radices.to_vec(), nodes_each)))
}

impl SlimFly {
    fn new(field: Field) -> Self {
        let q = field.size();
        // The exponents of the elements of X or X': every second number. For `q = 4 w - 1`, the
        // numbers in the second half are shifted by one.
        let halves = |first: u64| -> Vec<u64> {
            match q % 4 {
                3 => {
                    let w = q.div_ceil(4);
                    (first..2 * w)
                        .step_by(2)
                        .chain((2 * w - 1 + first..4 * w - 2 + first).step_by(2))
                        .collect()
                }
                0 => (first..q - 1 + first).step_by(2).collect(),
                _ => (first..q - 1).step_by(2).collect(),
            }
        };
        let sets = [0, 1].map(|first| Generators::new(&field, halves(first)));
        Self { field, sets }
    }

    fn split(&self, switch: u64) -> (usize, u64, u64) {
        let q = self.field.size();
        ((switch / (q * q)) as usize, switch / q % q, switch % q)
    }

    fn join(&self, kind: usize, column: u64, place: u64) -> u64 {
        let q = self.field.size();
        (kind as u64 * q + column) * q + place
    }

    /// Returns the position of the router in column `other` of the other kind to which a router is
    /// linked. It is `c = y - m x` for router (0, x, y), and `y = m x + c` for router (1, m, c).
    fn facing(&self, kind: usize, column: u64, place: u64, other: u64) -> u64 {
        let product = self.field.times(column, other);
        if kind == 0 { self.field.minus(place, product) } else { self.field.plus(place, product) }
    }

    fn cross(&self, kind: usize, column: u64) -> u64 {
        self.sets[kind].elements.len() as u64 + column
    }
}

impl Generators {
    fn new(field: &Field, exponents: Vec<u64>) -> Self {
        let elements: Vec<u64> = exponents.into_iter().map(|e| field.power(e)).collect();
        let mut ports = vec![0; field.size() as usize];
        for (port, a) in elements.iter().enumerate().rev() {
            elements.iter().for_each(|b| ports[field.plus(*a, *b) as usize] = port as u64);
        }
        (0..).zip(&elements).for_each(|(port, element)| ports[*element as usize] = port);
        Self { elements, ports }
    }

    fn has(&self, difference: u64) -> bool {
        self.elements[self.ports[difference as usize] as usize] == difference
    }
}

impl Fabric for SlimFly {
    fn switches(&self) -> u64 {
        2 * self.field.size() * self.field.size()
    }

    fn radix(&self) -> u64 {
        self.cross(0, self.field.size())
    }

    fn neighbour(&self, switch: u64, port: u64) -> Option<u64> {
        let (kind, column, place) = self.split(switch);
        match port.checked_sub(self.cross(kind, 0)) {
            None => {
                let element = self.sets[kind].elements[port as usize];
                Some(self.join(kind, column, self.field.plus(place, element)))
            }
            Some(other) => {
                Some(self.join(1 - kind, other, self.facing(kind, column, place, other)))
            }
        }
    }

    fn next_port(&self, at: u64, to: u64) -> u64 {
        let ((kind, column, place), (last_kind, last_column, last_place)) =
            (self.split(at), self.split(to));
        let set = &self.sets[kind];
        let field = &self.field;
        if kind != last_kind {
            // The receiver has one neighbour in this column. Use the link to it, if there is one.
            let facing = self.facing(last_kind, last_column, last_place, column);
            let difference = field.minus(facing, place);
            return if difference != 0 && set.has(difference) {
                set.ports[difference as usize]
            } else {
                self.cross(kind, last_column)
            };
        }
        if column == last_column {
            return set.ports[field.minus(last_place, place) as usize];
        }
        // Two routers of the same kind have one common neighbour, which is of the other kind. The
        // neighbour of (0, x, y) and (0, x', y') is in column m with `y - m x = y' - m x'`. The
        // neighbour of (1, m, c) and (1, m', c') is in column x with `m x + c = m' x + c'`.
        let rise = field.minus(place, last_place);
        let run = if kind == 0 {
            field.minus(column, last_column)
        } else {
            field.minus(last_column, column)
        };
        self.cross(kind, field.over(rise, run))
    }

    fn symmetry_period(&self) -> u64 {
        1
    }

    /// If q is a prime, adding a number to the last coordinate of all routers preserves links and
    /// routes. Otherwise, addition in the field does not rotate the numbers of the elements, so no
    /// symmetry is used.
    fn axes(&self) -> Vec<AxisSymmetry> {
        let q = self.field.size();
        let is_prime = (2..q).take_while(|p| p * p <= q).all(|p| !q.is_multiple_of(p));
        let places = if is_prime { AxisSymmetry::Rotations } else { AxisSymmetry::Fixed };
        vec![AxisSymmetry::Fixed, AxisSymmetry::Fixed, places]
    }

    fn distances(&self, _: u64) -> (u64, u64) {
        (2, 2 * (self.switches() - 1) - self.radix())
    }
}

/// A finite field. An element is a number below `q = p^k`, whose digits in base p are the
/// coefficients of a polynomial. Products use logarithms to a primitive element.
#[derive(Debug)]
struct Field {
    p: u64,
    q: u64,
    powers: Vec<u64>,
    logs: Vec<u64>,
}

impl Field {
    fn of(q: u64) -> Option<Self> {
        let p = (2..=q).find(|p| q.is_multiple_of(*p))?;
        let degree = (1..).find(|k| p.pow(*k) >= q)?;
        if p.pow(degree) != q {
            return None;
        }
        // The field consists of polynomials modulo `x^k - tail`. The number `tail` is chosen so
        // that x is a primitive element. For k = 1, x is `tail` itself.
        let tail = (1..q).find(|tail| Self::powers(p, q, *tail).is_some())?;
        let powers = Self::powers(p, q, tail)?;
        let mut logs = vec![0; q as usize];
        (0..).zip(&powers).for_each(|(log, element)| logs[*element as usize] = log);
        Some(Self { p, q, powers, logs })
    }

    /// Returns all powers of x modulo `x^k - tail`, or `None` if an element except 0 is no power of
    /// x.
    fn powers(p: u64, q: u64, tail: u64) -> Option<Vec<u64>> {
        let mut powers = Vec::with_capacity(q as usize);
        let mut at = 1;
        loop {
            powers.push(at);
            let top = q / p;
            let (leading, rest) = (at / top, at % top);
            at = (0..leading).fold(rest * p % q, |sum, _| add(p, sum, tail));
            if at <= 1 {
                break;
            }
            if powers.len() as u64 >= q - 1 {
                return None;
            }
        }
        (at == 1 && powers.len() as u64 == q - 1).then_some(powers)
    }

    fn near(q: u64) -> String {
        let fits = |q: &u64| *q >= 3 && q % 4 != 2 && Self::of(*q).is_some();
        let found = [(3..q).rev().find(fits), (q + 1..2 * q).find(fits)];
        found.iter().flatten().map(u64::to_string).collect::<Vec<_>>().join(", ")
    }

    fn size(&self) -> u64 {
        self.q
    }

    fn power(&self, exponent: u64) -> u64 {
        self.powers[(exponent % (self.q - 1)) as usize]
    }

    fn plus(&self, a: u64, b: u64) -> u64 {
        if self.p == self.q { (a + b) % self.q } else { add(self.p, a, b) }
    }

    fn minus(&self, a: u64, b: u64) -> u64 {
        if self.p == self.q {
            return (a + self.q - b) % self.q;
        }
        let minus_b = digits(self.p, b, |digit| (self.p - digit) % self.p);
        add(self.p, a, minus_b)
    }

    fn times(&self, a: u64, b: u64) -> u64 {
        if a == 0 || b == 0 { 0 } else { self.power(self.logs[a as usize] + self.logs[b as usize]) }
    }

    fn over(&self, a: u64, b: u64) -> u64 {
        if a == 0 {
            0
        } else {
            self.power(self.logs[a as usize] + self.q - 1 - self.logs[b as usize])
        }
    }
}

fn add(p: u64, mut a: u64, mut b: u64) -> u64 {
    let (mut sum, mut place) = (0, 1);
    while a > 0 || b > 0 {
        sum += (a % p + b % p) % p * place;
        (a, b, place) = (a / p, b / p, place * p);
    }
    sum
}

fn digits(p: u64, mut a: u64, change: impl Fn(u64) -> u64) -> u64 {
    let (mut changed, mut place) = (0, 1);
    while a > 0 {
        changed += change(a % p) * place;
        (a, place) = (a / p, place * p);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_add_and_multiply_as_in_a_field() {
        for q in [2, 3, 4, 5, 7, 8, 9, 16, 19, 25, 27] {
            let f = Field::of(q).unwrap();
            for (a, b) in (0..q).flat_map(|a| (0..q).map(move |b| (a, b))) {
                assert_eq!(f.minus(f.plus(a, b), b), a, "{q}: {a} + {b}");
                assert!(b == 0 || f.over(f.times(a, b), b) == a, "{q}: {a} * {b}");
                assert_eq!(f.times(a, b), f.times(b, a));
                for c in 0..q {
                    assert_eq!(
                        f.times(a, f.plus(b, c)),
                        f.plus(f.times(a, b), f.times(a, c)),
                        "{q}: {a} ({b} + {c})"
                    );
                }
            }
        }
    }

    #[test]
    fn only_prime_powers_are_sizes_of_fields() {
        let sizes: Vec<u64> = (2..33).filter(|q| Field::of(*q).is_some()).collect();
        assert_eq!(sizes, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]);
        assert_eq!((Field::near(15), Field::near(21)), ("13, 16".to_owned(), "19, 23".to_owned()));
    }
}
