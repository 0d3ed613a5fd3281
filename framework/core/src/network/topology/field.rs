//! Finite fields with few elements. Operations use tables.
//!
//! An element is a number below `q = p^k`. Its digits in base p are the coefficients of a
//! polynomial, the lowest one first. Products are calculated with logarithms to a primitive
//! element, which is found by trial.

#[derive(Debug)]
pub(super) struct Field {
    p: u64,
    q: u64,
    /// The q - 1 powers of the primitive element.
    powers: Vec<u64>,
    /// The logarithm of each element except 0.
    logs: Vec<u64>,
}

impl Field {
    /// Creates the field of q elements; `None` if q is not a prime power.
    pub(super) fn of(q: u64) -> Option<Self> {
        let p = (2..=q).find(|p| q.is_multiple_of(*p))?;
        let degree = (1..).find(|k| p.pow(*k) >= q)?;
        if p.pow(degree) != q {
            return None;
        }
        // Search for a polynomial `tail` such that x is a primitive element modulo `x^k - tail`. In
        // a prime field, where k is 1, the primitive element is then the number `tail`.
        let tail = (1..q).find(|tail| Self::powers(p, q, *tail).is_some())?;
        let powers = Self::powers(p, q, tail)?;
        let mut logs = vec![0; q as usize];
        (0..).zip(&powers).for_each(|(log, element)| logs[*element as usize] = log);
        Some(Self { p, q, powers, logs })
    }

    /// Returns all powers of x modulo `x^k - tail`. Returns `None` if these are not all elements
    /// except 0.
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

    /// Returns, as text, the nearest sizes below and above q of fields for which a slim fly exists.
    pub(super) fn near(q: u64) -> String {
        let fits = |q: &u64| *q >= 3 && q % 4 != 2 && Self::of(*q).is_some();
        let found = [(3..q).rev().find(fits), (q + 1..2 * q).find(fits)];
        found.iter().flatten().map(u64::to_string).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn size(&self) -> u64 {
        self.q
    }

    pub(super) fn power(&self, exponent: u64) -> u64 {
        self.powers[(exponent % (self.q - 1)) as usize]
    }

    pub(super) fn plus(&self, a: u64, b: u64) -> u64 {
        if self.p == self.q { (a + b) % self.q } else { add(self.p, a, b) }
    }

    pub(super) fn minus(&self, a: u64, b: u64) -> u64 {
        if self.p == self.q {
            return (a + self.q - b) % self.q;
        }
        let minus_b = digits(self.p, b, |digit| (self.p - digit) % self.p);
        add(self.p, a, minus_b)
    }

    pub(super) fn times(&self, a: u64, b: u64) -> u64 {
        if a == 0 || b == 0 { 0 } else { self.power(self.logs[a as usize] + self.logs[b as usize]) }
    }

    /// Returns the quotient of two elements. The divisor must not be 0.
    pub(super) fn over(&self, a: u64, b: u64) -> u64 {
        if a == 0 {
            0
        } else {
            self.power(self.logs[a as usize] + self.q - 1 - self.logs[b as usize])
        }
    }
}

/// Returns the sum of two elements. Their digits in base p are added without carries.
fn add(p: u64, mut a: u64, mut b: u64) -> u64 {
    let (mut sum, mut place) = (0, 1);
    while a > 0 || b > 0 {
        sum += (a % p + b % p) % p * place;
        (a, b, place) = (a / p, b / p, place * p);
    }
    sum
}

/// Applies a function to each digit of an element.
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

    /// Checks the axioms of a field with all pairs and triples of elements.
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
