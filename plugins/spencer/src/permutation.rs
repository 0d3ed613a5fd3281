//! Permutations (chapter 4): collection, the permutation, distribution. In d dimensions (2
//! log_(2q+1)(M/q) + 1) alpha + (D + M/q - 1) delta + (M + (M/q - 1)/d) m beta, where M = n/4
//! adjacent diagonals share a link and D is the farthest way, d n/2 for a reflection (4.17);
//! another round and M more blocks where two transpositions can't be one (4.19, 4.23, 4.26, 4.27).
//! With one port log_(q+1), and d = 1 in the last term.
//!
//! Any permutation of the axes with signs, translation or shear: which, is read off the
//! destinations. Axes of different sizes are permuted one size after another, as diagonals are of
//! one size. A rotation by 90 degrees has a form of its own.

use crate::cost::{Cost, Prices};
use crate::torus::{Torus, Variant};
use crate::{Collected, ONE_AND_ALL, TORUS, VARIANT};
use affine::Affine;
use rotation::Rotation;
use shift::Directions;
use stage::Stage;
use swapmeet_sdk::{About, Collective, ParamInfo, Problem, Schedule, Stop, Symmetry, words};

mod affine;
mod combined;
mod mirrors;
mod rotation;
mod sections;
mod shift;
mod stage;

/// Which way of doing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Of those below that collect first and, with one port, the direct one, the cheapest on the
    /// machine.
    Best,
    /// Diagonals are collected; rotations by 90 degrees are two transpositions.
    Standard,
    /// A rotation by 90 degrees on balanced cycles.
    Balanced,
    /// Appendix A's, in which collection and transposition are combined.
    Combined,
    /// A transposition without collection.
    Direct,
}

/// What users call the forms.
const FORMS: [(&str, Form); 4] = [
    ("standard", Form::Standard),
    ("balanced", Form::Balanced),
    ("combined", Form::Combined),
    ("direct", Form::Direct),
];
const WAYS: [(&str, Directions); 2] =
    [("forward", Directions::Forward), ("both", Directions::Both)];

const FORM: ParamInfo = ParamInfo::choice(
    "form",
    &words(&FORMS),
    "",
    "standard; balanced: of a rotation by 90 degrees, on cycles about the centre and the corner; combined: Appendix A's, direct: Fraigniaud and Peters's, without collection, both of a single 1- or 2-dimensional transposition; when not given, standard, balanced or with one port direct, the cheapest",
);
const DIRECTIONS: ParamInfo = ParamInfo::choice(
    "directions",
    &words(&WAYS),
    "",
    "of a translation or shear: forward, the shorter way only; both; when not given, the one of fewer rounds",
);

pub(crate) const PERMUTATION: Collected = Collected {
    about: About {
        name: "torus-permutation",
        title: "Permutations on circuits: collect diagonals, permute, distribute",
        collectives: &[Collective::Permutation],
        accepts: "torus or ring; for permutations of the axes, dimensions of an even number of nodes",
        params: &[VARIANT, FORM, DIRECTIONS],
        ..TORUS
    },
    variants: &ONE_AND_ALL,
    check,
    plan,
};

/// What the user chose.
struct Choice {
    form: Form,
    directions: Directions,
}

impl Choice {
    fn of(problem: &Problem<'_>) -> Result<Self, Stop> {
        let form = problem.given_choice("form", &FORMS)?.unwrap_or(Form::Best);
        let directions = problem.given_choice("directions", &WAYS)?.unwrap_or(Directions::Best);
        Ok(Self { form, directions })
    }
}

/// Whether there is a schedule, but for what a look at every destination shows.
fn check(problem: &Problem<'_>) -> Result<(), Stop> {
    Choice::of(problem).map(|_| ())
}

/// The schedule of a permutation.
fn plan(problem: &Problem<'_>, torus: &Torus, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let choice = Choice::of(problem)?;
    let affine = Affine::of(problem, torus)?;
    let nodes = problem.topology().nodes();
    let rotation = match choice.form {
        Form::Combined => return combined::plan(torus, &affine, nodes, schedule),
        Form::Standard | Form::Direct => None,
        Form::Best | Form::Balanced => Rotation::of(torus, &affine),
    };
    if choice.form == Form::Balanced {
        let rotation = rotation.ok_or_else(|| {
            Stop::unsupported("`form=balanced` is for a rotation by 90 degrees of two axes of an even number of nodes")
        })?;
        return rotation.plan(torus, nodes, schedule);
    }
    let stages = stages(problem, torus, &affine, &choice)?;
    if let Some(rotation) = rotation {
        let standard: Option<Cost> = stages.iter().map(|stage| stage.cost(torus)).sum();
        if Prices::of(problem).prefer(rotation.cost(torus), standard) {
            return rotation.plan(torus, nodes, schedule);
        }
    }
    let parts =
        stages.iter().map(Stage::parts).fold(1, |parts, own| lcm(parts.into(), own.into()) as u32);
    schedule.layout(&torus.dims, parts)?;
    // A stage's period divides the axis, and so does what several have in common.
    let period = |axis| stages.iter().map(|stage| stage.period(torus, axis)).fold(1, lcm);
    let planned = schedule.symmetric(
        &(0..torus.dims.len()).map(|axis| Symmetry::shift(period(axis))).collect::<Vec<_>>(),
    )?;
    for (i, stage) in stages.iter().enumerate() {
        stage.plan(torus, parts, &stages[..i], &planned, schedule)?;
    }
    Ok(())
}

/// A stage for each size of the axes that are moved.
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
                even(torus.dims[first])?;
                mirrored(torus, &axes, &map, choice.form, Prices::of(problem))?
            } else {
                return Err(Stop::unsupported(
                    "permutes axes and moves on along them at once, which the thesis doesn't",
                ));
            },
        );
    }
    Ok(stages)
}

/// Axes exchanged or turned round, in the form that was asked for.
fn mirrored(
    torus: &Torus,
    axes: &[usize],
    map: &Affine,
    form: Form,
    prices: Prices,
) -> Result<Stage, Stop> {
    let direct = match form {
        Form::Direct => Stage::direct(torus, axes, map)?,
        Form::Best if torus.variant == Variant::OnePort => Stage::direct(torus, axes, map)?,
        Form::Best | Form::Standard | Form::Balanced | Form::Combined => None,
    };
    if form == Form::Direct {
        let other = || {
            Stop::unsupported(
                "`form=direct` is for 1- or 2-dimensional transpositions, one in axes of a size",
            )
        };
        return direct.ok_or_else(other);
    }
    let standard = Stage::of_mirrors(torus, axes, map, prices)?;
    let cheaper = direct.filter(|direct| prices.prefer(direct.cost(torus), standard.cost(torus)));
    Ok(cheaper.unwrap_or(standard))
}

/// Mirrors between nodes, on both sides of a cycle, want an even number of them.
fn even(n: u64) -> Result<(), Stop> {
    if n.is_multiple_of(2) {
        return Ok(());
    }
    Err(Stop::unsupported(format!(
        "takes dimensions of an even number of nodes, as the thesis does; one has {n}"
    )))
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
