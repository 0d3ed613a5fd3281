//! Permutations (chapter 4) in three phases: collection, permutation, distribution.
//!
//! The time in d dimensions with all ports is the sum of three terms:
//! * start-ups: `(2 log_(2q+1)(M/q) + 1) alpha`;
//! * switching: `(D + M/q - 1) delta`;
//! * transfers: `(M + (M/q - 1)/d) m beta`.
//!
//! Symbols in addition to those of the crate are:
//! * m beta is the time of one block on a link (L tau in the thesis);
//! * D is the longest distance of a block, in links: d n/2 for a reflection (formula 4.17);
//! * M is the number of adjacent diagonals whose data uses the same link: n/4. On a diagonal, the
//!   sum of coordinates, each times its sign, is the same.
//!
//! Some permutations are two transpositions that cannot be joined in one round. They take one more
//! round, and the factor of m beta is larger by M (formulas 4.19, 4.23, 4.26, 4.27). With one port,
//! the logarithm has the base q+1, and the divisor d in the last term is 1. The plugin finds the
//! kind of the permutation (of axes with reflections, translation or shear) from the destinations.
//! Axes of different sizes are permuted in different stages, because diagonals need axes of equal
//! size. A rotation by 90 degrees can also use balanced cycles instead of diagonals.

use crate::cost::{Cost, MachineTimes};
use crate::torus::{Torus, Variant};
use crate::{CircuitCollective, PORT_VARIANTS, TORUS, VARIANT};
use affine::Affine;
use rotation::Rotation;
use shift::Directions;
use stage::Stage;
use swapmeet_sdk::{About, Collective, ParamInfo, Problem, Schedule, Stop, Symmetry, words};

mod affine;
mod combined;
pub mod mirrors;
mod rotation;
pub mod sections;
pub mod shift;
mod stage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The cheapest of `Standard`, `Balanced` and, with one port, `Direct`.
    Best,
    /// Data is collected along diagonals. A rotation by 90 degrees is done as two transpositions.
    Standard,
    /// A rotation by 90 degrees along balanced cycles (crate `balanced-rotation`).
    Balanced,
    /// Appendix A: the transposition begins during the collection.
    Combined,
    Direct,
}

const FORMS: [(&str, Form); 4] = [
    ("standard", Form::Standard),
    ("balanced", Form::Balanced),
    ("combined", Form::Combined),
    ("direct", Form::Direct),
];
const DIRECTION_CHOICES: [(&str, Directions); 2] =
    [("forward", Directions::Forward), ("both", Directions::Both)];

const FORM: ParamInfo = ParamInfo::choice(
    "form",
    &words(&FORMS),
    "",
    "balanced is for rotations by 90 degrees; combined (Appendix A) and direct (without collection) are for single transpositions; by default the cheapest of standard, balanced and, with one port, direct",
);
const DIRECTIONS: ParamInfo = ParamInfo::choice(
    "directions",
    &words(&DIRECTION_CHOICES),
    "",
    "for a translation or shear: forward (only the shorter direction) or both; by default the one with fewer rounds",
);

pub const PERMUTATION: CircuitCollective = CircuitCollective {
    about: About {
        name: "torus-permutation",
        title: "Permutations on circuits, with collection of diagonals",
        collectives: &[Collective::Permutation],
        accepts: "tori and rings; permutations of the axes need an even number of nodes in each dimension",
        params: &[VARIANT, FORM, DIRECTIONS],
        ..TORUS
    },
    variants: &PORT_VARIANTS,
    check,
    plan,
};

struct Choice {
    form: Form,
    directions: Directions,
}

impl Choice {
    fn read(problem: &Problem<'_>) -> Result<Self, Stop> {
        let form = problem.given_choice("form", &FORMS)?.unwrap_or(Form::Best);
        let directions =
            problem.given_choice("directions", &DIRECTION_CHOICES)?.unwrap_or(Directions::Best);
        Ok(Self { form, directions })
    }
}

/// A permutation that is not supported is only detected in `plan`, which reads all destinations.
fn check(problem: &Problem<'_>) -> Result<(), Stop> {
    Choice::read(problem).map(|_| ())
}

/// Circuits are stated as paths of nodes, so nodes with adjacent coordinates must be neighbours.
/// With `place=`, they may not be.
fn check_neighbours(problem: &Problem<'_>, torus: &Torus) -> Result<(), Stop> {
    // The links of large networks cannot be read, so this reads them only with `place=`.
    if !problem.topology().spec().contains("place=") {
        return Ok(());
    }
    for node in 0..torus.nodes() {
        let is_neighbour = |to: u64| {
            let mut cycles = torus.cycles.iter();
            cycles.any(|dim| {
                [true, false].map(|plus| torus.neighbour(node, *dim, plus)).contains(&to)
            })
        };
        if problem.links(node)?.iter().any(|link| !is_neighbour(link.to)) {
            return Err(Stop::unsupported(format!(
                "needs ranks that are placed in the order of the torus (`place=block`); this topology is `{}`",
                problem.topology().spec()
            )));
        }
    }
    Ok(())
}

fn plan(problem: &Problem<'_>, torus: &Torus, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    check_neighbours(problem, torus)?;
    let choice = Choice::read(problem)?;
    let affine = Affine::read(problem, torus)?;
    let nodes = problem.topology().nodes();
    let rotation = match choice.form {
        Form::Combined => return combined::plan(torus, &affine, nodes, schedule),
        Form::Standard | Form::Direct => None,
        Form::Best | Form::Balanced => Rotation::new(torus, &affine),
    };
    if choice.form == Form::Balanced {
        let rotation = rotation.ok_or_else(|| {
            Stop::unsupported("`form=balanced` needs a rotation by 90 degrees of two axes with an even number of nodes")
        })?;
        return rotation.plan(torus, nodes, schedule);
    }
    let stages = stages(problem, torus, &affine, &choice)?;
    if let Some(rotation) = rotation {
        let standard: Option<Cost> = stages.iter().map(|stage| stage.cost(torus)).sum();
        if MachineTimes::read(problem).prefer(rotation.cost(torus), standard) {
            return rotation.plan(torus, nodes, schedule);
        }
    }
    let parts =
        stages.iter().map(Stage::parts).fold(1, |parts, own| lcm(parts.into(), own.into()) as u32);
    schedule.layout(&torus.dims, parts)?;
    // Each period divides the radix of the axis, so their least common multiple divides it too.
    let period = |axis| stages.iter().map(|stage| stage.period(torus, axis)).fold(1, lcm);
    let planned = schedule.symmetric(
        &(0..torus.dims.len()).map(|axis| Symmetry::shift(period(axis))).collect::<Vec<_>>(),
    )?;
    for (i, stage) in stages.iter().enumerate() {
        stage.plan(torus, parts, &stages[..i], &planned, schedule)?;
    }
    Ok(())
}

fn stages(
    problem: &Problem<'_>,
    torus: &Torus,
    affine: &Affine,
    choice: &Choice,
) -> Result<Vec<Stage>, Stop> {
    let mut stages = Vec::new();
    let mut left: Vec<usize> =
        torus.cycles.iter().copied().filter(|axis| affine.moves(*axis)).collect();
    if left == [0] && affine.terms[0].sheared > 0 {
        return Ok(vec![Stage::of_shear(torus, affine, choice.directions)]);
    }
    while let Some(&first) = left.first() {
        let (axes, rest): (Vec<usize>, Vec<usize>) =
            left.into_iter().partition(|axis| torus.dims[*axis] == torus.dims[first]);
        left = rest;
        let map = affine.only(&axes);
        let terms: Vec<_> = axes.iter().map(|axis| (*axis, affine.terms[*axis])).collect();
        let sheared = terms.iter().any(|(_, term)| term.sheared > 0);
        stages.push(
            if !sheared && terms.iter().all(|(axis, term)| term.axis == *axis && !term.negated) {
                Stage::of_translation(torus, &axes, map, choice.directions)
            } else if !sheared && terms.iter().all(|(_, term)| term.plus == 0) {
                check_even(torus.dims[first])?;
                mirrored(torus, &axes, &map, choice.form, MachineTimes::read(problem))?
            } else {
                return Err(Stop::unsupported(
                    "combines a permutation of axes with a translation, which the thesis does not cover",
                ));
            },
        );
    }
    Ok(stages)
}

fn mirrored(
    torus: &Torus,
    axes: &[usize],
    map: &Affine,
    form: Form,
    times: MachineTimes,
) -> Result<Stage, Stop> {
    let direct = match form {
        Form::Direct => Stage::direct(torus, axes, map)?,
        Form::Best if torus.variant == Variant::OnePort => Stage::direct(torus, axes, map)?,
        Form::Best | Form::Standard | Form::Balanced | Form::Combined => None,
    };
    if form == Form::Direct {
        let other = || {
            Stop::unsupported(
                "`form=direct` needs one 1- or 2-dimensional transposition for each size of axes",
            )
        };
        return direct.ok_or_else(other);
    }
    let standard = Stage::of_mirrors(torus, axes, map, times)?;
    let cheaper = direct.filter(|direct| times.prefer(direct.cost(torus), standard.cost(torus)));
    Ok(cheaper.unwrap_or(standard))
}

/// A mirror crosses a cycle at two opposite places between nodes, so n must be even.
fn check_even(n: u64) -> Result<(), Stop> {
    if n.is_multiple_of(2) {
        return Ok(());
    }
    Err(Stop::unsupported(format!(
        "needs an even number of nodes in each permuted dimension, not {n}"
    )))
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
