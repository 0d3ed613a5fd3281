//! Slim flies: 2 q^2 routers, of which any two are at most two hops apart (M. Besta, T. Hoefler,
//! *Slim Fly: A Cost Effective Low-Diameter Network Topology*, SC 2014). They are the graphs of
//! McKay, Miller and Siran.
//!
//! q is a prime power of the form 4 w - 1, 4 w or 4 w + 1. There are two kinds of routers, (0, x,
//! y) and (1, m, c). Their coordinates are elements of the field of q elements, and routers are
//! numbered in row-major order. Routers of the same kind with the same x (or m) form a column.
//! There are three rules for links:
//!
//! - (0, x, y) is linked to (0, x, y') if y - y' is in the set X.
//! - (1, m, c) is linked to (1, m, c') if c - c' is in the set X'.
//! - (0, x, y) is linked to (1, m, c) if y = m x + c.
//!
//! X and X' consist of powers of a primitive element, as in section II of the paper. The first
//! ports of a router lead to its own column, one for each element of X or X' in the order of
//! powers. The remaining ports lead to routers of the other kind, sorted by x or m.
//!
//! A route between two routers without a link has two hops. Between routers of different kinds
//! there may be several routes of two hops. If the first hop of one of them stays within the first
//! router's column, this route is used.

use super::field::Field;
use super::switched::{Fabric, FamilyArgs, Switched, nodes_argument};
use super::{AxisSymmetry, Parsed};
use crate::spec::Spec;
use std::sync::Arc;

#[derive(Debug)]
struct SlimFly {
    field: Field,
    /// The sets X and X'.
    sets: [Generators; 2],
}

/// The set X or X': the differences between the positions of linked routers in a column.
#[derive(Debug)]
struct Generators {
    /// The elements, one for each port.
    elements: Vec<u64>,
    /// The port of the first hop between two routers of a column, for each difference of their
    /// coordinates in the column. If the difference is one of `elements`, the first hop uses the
    /// port of this element. Otherwise the difference is the sum of two elements, and the first hop
    /// uses the port of one of them.
    ports: Vec<u64>,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    /// The maximum number of elements of a field. Routers have one and a half times as many ports.
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
        // The exponents of the elements of a set: every second exponent from `first` on. For `q = 4
        // w - 1`, the exponents in the second half are shifted by one.
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

    /// Returns the position of the router that is linked to this router, in column `other` of the
    /// other kind. For router (0, x, y), this position is `c = y - m x`. For router (1, m, c), it
    /// is `y = m x + c`.
    fn facing(&self, kind: usize, column: u64, place: u64, other: u64) -> u64 {
        let product = self.field.times(column, other);
        if kind == 0 { self.field.minus(place, product) } else { self.field.plus(place, product) }
    }

    /// Returns the port to a column of the other kind.
    fn cross(&self, kind: usize, column: u64) -> u64 {
        self.sets[kind].elements.len() as u64 + column
    }
}

impl Generators {
    fn new(field: &Field, exponents: Vec<u64>) -> Self {
        let elements: Vec<u64> = exponents.into_iter().map(|e| field.power(e)).collect();
        let mut ports = vec![0; field.size() as usize];
        // Write the elements last, so that they replace sums: one hop is better than two.
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
            // If a link within this column leads to a neighbour of the receiver, use it. Otherwise
            // the first hop crosses to the receiver's column.
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
        // Two routers of the same kind have one common neighbour of the other kind. If they are (0,
        // x, y) and (0, x', y'), it is in column m with `y - m x = y' - m x'`. If they are (1, m,
        // c) and (1, m', c'), it is in column x with `m x + c = m' x + c'`.
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

    /// If q is a prime, adding a number to the last coordinate of all routers preserves the three
    /// rules for links, and the differences on which routes depend. If q is not a prime, addition
    /// in the field does not rotate the numbers of its elements.
    fn axes(&self) -> Vec<AxisSymmetry> {
        let q = self.field.size();
        let is_prime = (2..q).take_while(|p| p * p <= q).all(|p| !q.is_multiple_of(p));
        let places = if is_prime { AxisSymmetry::Rotations } else { AxisSymmetry::Fixed };
        vec![AxisSymmetry::Fixed, AxisSymmetry::Fixed, places]
    }

    /// Neighbours are one hop away, and all other routers are two hops away.
    fn distances(&self, _: u64) -> (u64, u64) {
        (2, 2 * (self.switches() - 1) - self.radix())
    }
}
