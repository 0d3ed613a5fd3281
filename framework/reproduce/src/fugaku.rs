//! Compares measurements on Fugaku and LUMI with the predictions of several models. The
//! measurements are medians of repeated runs. They come from PICO, a benchmark of collectives.

mod folding;
mod judge;
mod lumi;
mod models;

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::report::{Kind, Table, Verdict, number};
use folding::Folding;
use judge::{Comparison, error_factors, ordered_pairs, regret};
use models::{Model, fitted_costs, preset_has};
use std::collections::BTreeMap;
use swapmeet_bridges::import::{COUNTERPARTS, Counterpart};
use swapmeet_results::read_records;

const MEASURED: &str = include_str!("../../../results/measured/fugaku.csv");

/// The shapes of the tori on which PICO measured, in the order of the tables.
const SHAPES: [&str; 5] = ["2x2x2", "4x4x4", "8x8x8", "64x64", "32x256"];

/// A median time that PICO measured, and the case to which it belongs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Median {
    /// On Fugaku, the sides of the torus, such as `4x4x4`. On LUMI, the spec of the network.
    pub shape: String,
    pub collective: String,
    pub algorithm: String,
    pub workload: String,
    /// The size of the larger of a rank's two buffers (send and receive), in bytes.
    pub buffer_bytes: u64,
    pub time_us: f64,
}

impl Median {
    /// Returns whether parameters are fitted to this median. They are fitted to the algorithms of
    /// the MPI library, for every second size on the shapes 4x4x4 and 8x8x8.
    pub(crate) fn is_fitted(&self) -> bool {
        self.is_judged() && self.has_fitted_size() && self.is_of_library()
    }

    /// Returns whether this is one of the sizes to which parameters are fitted.
    fn has_fitted_size(&self) -> bool {
        // The sizes are 4 * 8^i bytes. Parameters are fitted to the sizes with an even i.
        let index = (self.buffer_bytes / 4).max(1).ilog2() / 3;
        index.is_multiple_of(2)
    }

    /// Returns whether this is an algorithm of the MPI library. The Bine algorithms are in a
    /// separate program. Their times include work that no model represents: for each call, the
    /// program calculates trees and copies all blocks.
    fn is_of_library(&self) -> bool {
        !self.algorithm.starts_with("bine-")
    }

    /// Returns whether this median is judged ([`Median::is_judged`]) and has a size to which no
    /// parameters are fitted. Of these medians, those of the algorithms of the MPI library are
    /// compared with the targets for accuracy, which [`targets`] defines.
    fn is_other_size(&self) -> bool {
        self.is_judged() && !self.has_fitted_size()
    }

    /// Returns whether the models are judged on the shape of this median. On these two shapes,
    /// parameters are fitted to some of the sizes, and the predictions for the other sizes are
    /// compared with the targets for accuracy ([`targets`]).
    fn is_judged(&self) -> bool {
        ["4x4x4", "8x8x8"].contains(&&*self.shape)
    }

    fn topology(&self) -> String {
        format!("torus:{}", self.shape)
    }
}

/// Reads the medians from the text of a CSV file in the format of result rows. All topologies in
/// the file begin with `family`; the rest of the topology is the shape.
fn read_medians(
    file: &'static str,
    text: &str,
    family: &str,
) -> Result<Vec<Median>, ReproduceError> {
    let wrong = |message: String| ReproduceError::Data { paper: "fugaku", message };
    let rows = read_records(file, text).map_err(|e| wrong(e.to_string()))?;
    let median = |row: &swapmeet_results::Record| {
        let shape = row.topology.strip_prefix(family)?.to_owned();
        let block = row.block_bytes?;
        let is_whole = ["broadcast", "reduce", "allreduce"].contains(&&*row.collective);
        Some(Median {
            shape,
            collective: row.collective.clone(),
            algorithm: row.algorithm.clone(),
            workload: row.workload.clone(),
            buffer_bytes: if is_whole { block } else { block * row.nodes },
            time_us: row.time_us?,
        })
    };
    let medians: Option<Vec<Median>> = rows.iter().map(median).collect();
    medians.ok_or_else(|| wrong(format!("{file}: a row has no `{family}`, block size or time")))
}

/// Groups the medians by schedule: by shape and algorithm.
fn by_schedule(medians: &[Median]) -> BTreeMap<(usize, [&str; 2]), Vec<&Median>> {
    let mut groups: BTreeMap<_, Vec<&Median>> = BTreeMap::new();
    for median in medians {
        let Median { shape, algorithm, .. } = median;
        let position = SHAPES.iter().position(|known| known == shape).unwrap_or(SHAPES.len());
        groups.entry((position, [shape.as_str(), algorithm])).or_default().push(median);
    }
    groups
}

/// Returns the distinct workloads of these medians.
fn workloads(medians: &[&Median]) -> Vec<String> {
    let mut all: Vec<String> = medians.iter().map(|median| median.workload.clone()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A median, and the time of its case on each of several machines; `None` if the case has no time
/// on a machine.
type TimedMedian<'a> = (&'a Median, Vec<Option<f64>>);

/// Runs the case of each median on the machines that `machines` returns for the median. Returns
/// each median with the times on these machines. `topology` returns the network of a median.
/// Machines and network must be the same for all medians of a schedule.
fn times<'a>(
    bench: &Bench<'_>,
    medians: &'a [Median],
    machines: &dyn Fn(&Median) -> Vec<String>,
    topology: &dyn Fn(&Median) -> String,
) -> Result<Vec<TimedMedian<'a>>, ReproduceError> {
    let mut all = Vec::new();
    for group in by_schedule(medians).into_values() {
        let (workloads, machines) = (workloads(&group), machines(group[0]));
        let topology = topology(group[0]);
        let rows = bench.run(&topology, &group[0].algorithm, &workloads, &machines)?.rows;
        for median in group {
            let workload = workloads.iter().position(|workload| *workload == median.workload);
            let at = workload.unwrap_or_default() * machines.len();
            let times = rows[at..at + machines.len()].iter().map(|row| row.time_us);
            all.push((median, times.collect()));
        }
    }
    Ok(all)
}

/// Predicts the time of each median with each model that is run for this median. `topology` returns
/// the network of a median.
fn comparisons(
    bench: &Bench<'_>,
    medians: &[Median],
    models: &[Model],
    topology: &dyn Fn(&Median) -> String,
) -> Result<Vec<Comparison>, ReproduceError> {
    let run = |median: &Median| {
        models.iter().filter(|model| (model.runs)(median)).map(|m| m.machine.clone()).collect()
    };
    let comparison = |(median, times): TimedMedian<'_>| {
        let mut times = times.into_iter();
        let predicted = models.iter().map(|m| (m.runs)(median).then(|| times.next()?).flatten());
        Comparison { median: median.clone(), predicted_us: predicted.collect() }
    };
    Ok(times(bench, medians, &run, topology)?.into_iter().map(comparison).collect())
}

/// A function that summarises the predictions of the model with a given index; `None` if there is
/// nothing to summarise.
type Summary = fn(&[Comparison], usize) -> Option<String>;

/// A line of the summary tables, and the medians that it covers.
struct Scope {
    name: String,
    covers: Box<dyn Fn(&Median) -> bool>,
}

/// Returns the lines of the summary tables. Three lines cover the shapes 4x4x4 and 8x8x8: the
/// fitted sizes, the other sizes, and the other sizes with the Bine algorithms. Then there is a
/// line for each other shape, and a line for each algorithm. The lines of algorithms cover the
/// sizes of 4x4x4 and 8x8x8 to which no parameters are fitted.
fn scopes(medians: &[Median]) -> Vec<Scope> {
    let scope =
        |name: &str, covers: Box<dyn Fn(&Median) -> bool>| Scope { name: name.to_owned(), covers };
    let mut all = vec![
        scope("4x4x4 and 8x8x8, fitted sizes", Box::new(Median::is_fitted)),
        scope("4x4x4 and 8x8x8, other sizes", Box::new(|m| m.is_other_size() && m.is_of_library())),
        scope("4x4x4 and 8x8x8, other sizes, with Bine", Box::new(Median::is_other_size)),
    ];
    for shape in ["2x2x2", "64x64", "32x256"] {
        all.push(scope(shape, Box::new(move |m| m.shape == shape)));
    }
    let algorithms: BTreeMap<(&str, &str), ()> =
        medians.iter().map(|m| ((m.collective.as_str(), m.algorithm.as_str()), ())).collect();
    for (collective, algorithm) in algorithms.into_keys() {
        let name = format!("{collective} {algorithm}, other sizes");
        let (collective, algorithm) = (collective.to_owned(), algorithm.to_owned());
        all.push(scope(
            &name,
            Box::new(move |m| {
                m.is_other_size() && (&m.collective, &m.algorithm) == (&collective, &algorithm)
            }),
        ));
    }
    all
}

/// Returns all tables of this reproduction.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let words: PaperTexts = read("fugaku", include_str!("../papers/fugaku.toml"))?;
    let medians = read_medians("fugaku.csv", MEASURED, "torus:")?;
    let [costs, extended] = fitted_costs(bench, &medians)?;
    let models = Model::all(&costs, &extended);
    let comparisons = comparisons(bench, &medians, &models, &Median::topology)?;

    // Add the tables of counterparts and parameters.
    let counterparts = counterparts(words.table("Counterparts"), &COUNTERPARTS);
    let mut parameters = words.table("Parameters");
    for model in &models {
        parameters.add_ours((model.name, ""), &model.machine);
    }

    let has_values = preset_has(&extended);
    let verdict = Verdict::holds(has_values);
    parameters.add(("the preset `fugaku` has the values of `extended`", ""), "", "", verdict);

    // Add the summary tables. A row is a scope, and a column is a model.
    let summaries: [(&str, Summary); 3] = [
        ("Error factors", |cells, model| error_factors(cells, model).map(number)),
        ("Ordered pairs", |cells, model| {
            ordered_pairs(cells, model).map(|(right, all)| format!("{right} of {all}"))
        }),
        ("Regret", |cells, model| {
            regret(cells, model).map(|(mean, max)| format!("{}, {}", number(mean), number(max)))
        }),
    ];
    let scopes = scopes(&medians);
    let mut tables = vec![counterparts, parameters];
    for (id, summary) in summaries {
        let mut table = words.table(id);
        for scope in &scopes {
            let covered = covered(&comparisons, scope);
            table.kind = if covered.iter().all(|cell| cell.median.is_fitted()) {
                Kind::Fitted
            } else {
                Kind::Independent
            };
            for (model, Model { name, .. }) in models.iter().enumerate() {
                if let Some(text) = summary(&covered, model) {
                    table.add_ours((&scope.name, name), text);
                }
            }
        }
        tables.push(table);
    }
    // Add the tables of foldings (measured tori on networks of Fugaku) and of targets.
    let extended = models.iter().position(|model| model.name == "extended");
    let foldings =
        extended.map(|model| Folding::all(bench, &medians, (&models[model], model), &comparisons));
    let foldings = foldings.transpose()?.unwrap_or_default();
    tables.push(folding::table(words.table("Foldings"), &foldings));
    let judged = covered(&comparisons, &scopes[1]);
    tables.push(targets(words.table("Targets"), &judged, &models, &foldings));

    // Add a table of predictions and measurements for each shape.
    for shape in SHAPES {
        let title = format!("Medians in us, and predictions for torus:{shape}.");
        let mut table = Table::new(shape, &title, Kind::Independent);
        for cell in comparisons.iter().filter(|cell| cell.median.shape == shape) {
            let Median { algorithm, workload, time_us, .. } = &cell.median;
            table.kind = if cell.median.is_fitted() { Kind::Fitted } else { Kind::Independent };
            for (model, predicted) in models.iter().zip(&cell.predicted_us) {
                let Some(predicted) = predicted else { continue };
                let verdict = Verdict::measured(*time_us, *predicted, 1);
                let row = format!("{algorithm}, {workload}");
                let printed = [*time_us, *predicted].map(|us| format!("{us:.1}"));
                table.add((&row, model.name), &printed[0], &printed[1], verdict);
            }
        }
        tables.push(table);
    }
    tables.extend(lumi::tables(bench, &words)?);
    tables.push(words.left_out());
    Ok(tables)
}

/// Fills a table that names, for each measured algorithm, the algorithm of this project that sends
/// the same messages.
fn counterparts(mut table: Table, all: &[Counterpart]) -> Table {
    for row in all {
        let verdict = if row.ours.is_some() { Verdict::NotGiven } else { Verdict::NotRebuilt };
        let ours = row.ours.unwrap_or_default();
        table.add((row.collective, ""), row.library, ours, verdict).because(row.why);
    }
    table
}

/// Returns the comparisons that a scope covers.
fn covered(comparisons: &[Comparison], scope: &Scope) -> Vec<Comparison> {
    comparisons.iter().filter(|cell| (scope.covers)(&cell.median)).cloned().collect()
}

/// Compares the predictions with the targets, for the sizes to which no parameters were fitted.
fn targets(
    mut table: Table,
    cells: &[Comparison],
    models: &[Model],
    foldings: &[Folding],
) -> Table {
    /// The targets: the largest allowed error factor, the smallest allowed fraction of ordered
    /// pairs, and the largest allowed mean regret. The module `judge` defines these measures.
    const TARGETS: (f64, f64, f64) = (1.2, 0.93, 1.05);
    /// The largest allowed error factor for a folded shape (see [`Folding`]).
    const FOLDED: f64 = 1.3;
    for (model, Model { name, .. }) in models.iter().enumerate().filter(|(_, m)| m.is_synchronous())
    {
        let (factor, share, most) = TARGETS;
        let why = |verdict| match (verdict, *name) {
            (Verdict::BeyondBound, "tofu-d") => "published values, fitted to no collective",
            (Verdict::BeyondBound, "wormhole") => {
                "it has no message protocols, and all algorithms are charged for packing"
            }
            _ => "",
        };
        if let Some(ours) = error_factors(cells, model) {
            let verdict = Verdict::at_most(factor, ours);
            let ours = format!("{ours:.3}");
            table.add((name, "error factor, at most"), factor, ours, verdict).because(why(verdict));
        }
        if let Some((right, all)) = ordered_pairs(cells, model) {
            let ours = right as f64 / all as f64;
            let verdict = Verdict::at_least(share, ours);
            let ours = format!("{ours:.3}");
            table
                .add((name, "ordered pairs, at least"), share, ours, verdict)
                .because(why(verdict));
        }
        if let Some((ours, _)) = regret(cells, model) {
            let verdict = Verdict::at_most(most, ours);
            let ours = format!("{ours:.3}");
            table.add((name, "mean regret, at most"), most, ours, verdict).because(why(verdict));
        }
    }
    // The network of each shape was selected by its predictions for the fitted sizes. Therefore,
    // only the other sizes are compared with the target.
    for shape in ["64x64", "32x256"] {
        let Some(best) = folding::best(foldings, shape) else { continue };
        let cells = best.cells(false);
        let Some(ours) = error_factors(&cells, 0) else { continue };
        let name = format!("extended, {shape} on {}", best.network);
        let verdict = Verdict::at_most(FOLDED, ours);
        let ours = format!("{ours:.3}");
        let why = match verdict {
            Verdict::BeyondBound => without_worst(cells).unwrap_or_default(),
            _ => String::new(),
        };
        table.add((&name, "error factor, at most"), FOLDED, ours, verdict).because(&why);
    }
    table
}

/// Describes the comparison with the largest error, and the error factor of all other comparisons.
fn without_worst(mut cells: Vec<Comparison>) -> Option<String> {
    let count = cells.len();
    let error = |cell: &Comparison| error_factors(std::slice::from_ref(cell), 0).unwrap_or(1.0);
    let worst = (0..count).max_by(|a, b| error(&cells[*a]).total_cmp(&error(&cells[*b])))?;
    let worst = cells.remove(worst);
    let Median { algorithm, workload, time_us, .. } = &worst.median;
    let predicted = worst.predicted_us[0]?;
    let rest = error_factors(&cells, 0)?;
    Some(format!(
        "the worst of {count} medians is that of {algorithm} with {workload}: measured {time_us:.0} us, predicted {predicted:.0} us; without it, the error factor would be {rest:.2}"
    ))
}
