//! Makes the tables of a paper from its data file in `papers/`.
//! A file has experiments (`[run.NAME]`) and tables (`[[table]]`). Each entry `[[table.lines]]` can
//! loop over lists in the data (`each`). Each pass of the loop adds cells. A cell has the value of
//! the paper, our value, and the expected kind of agreement (see [`verdict`]). All texts are
//! templates. Their formulas can name:
//! - the variables of the loops (`each`): an element, its keys if it is a map, and its position
//!   `NAME_index`,
//! - the formulas in `let`, whose variables have the values that they have where `let`'s formula is
//!   used, and the formulas in `once`,
//! - all other keys of the file,
//! - the columns of a run, such as `NAME.time_us`, and the facts of its steps, such as
//!   `NAME.max_hops(0)`,
//! - the calculations in the Rust module of the paper, such as `net.degree(spec)`.

use crate::bench::{Bench, ReproduceError, Run};
use crate::formula::{Formula, Names, Node, Rendered, Template, Value};
use crate::networks::{PROPERTIES, machine_parameter, network_property, survey};
use crate::report::{Kind, Report, Table, Verdict};
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use swapmeet_core::simulation::step::StepFacts;
use swapmeet_results::Record;

#[derive(Debug)]
pub struct Paper {
    pub name: &'static str,
    pub title: &'static str,
    pub(crate) data: &'static str,
    /// The function that evaluates the calculations in Rust which the paper's formulas name.
    pub(crate) call: fn(&Engine<'_>, &str, &[Value]) -> Result<Value, ReproduceError>,
}

impl Paper {
    pub fn run(&self, bench: &Bench<'_>) -> Result<Report, ReproduceError> {
        let tables = Engine::new(self, Some(bench))?.tables()?;
        Ok(Report { paper: self.name, title: self.title, tables })
    }
}

#[derive(Debug, Deserialize)]
struct Contents {
    #[serde(default)]
    run: BTreeMap<String, RunData>,
    #[serde(default)]
    r#let: BTreeMap<String, Formula>,
    /// Formulas that use no variables of loops. Each of them is evaluated only once.
    #[serde(default)]
    once: BTreeMap<String, Formula>,
    #[serde(default)]
    table: Vec<TableData>,
    #[serde(default)]
    erratum: Vec<Erratum>,
    #[serde(default)]
    left_out: Vec<Omission>,
    #[serde(flatten)]
    data: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunData {
    topology: Template,
    algorithm: Template,
    workload: Template,
    machine: Template,
    /// The number of seeds; 1 by default. The variable `seed` selects one of them, from 0 on.
    seeds: Option<Formula>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableData {
    #[serde(default)]
    each: Vec<Axis>,
    id: Template,
    title: Template,
    /// The [`Kind`] of cells, unless lines or cells state another one; `independent` by default.
    kind: Option<Template>,
    /// Whether the cells are only in the CSV file, and not on the page of the paper.
    #[serde(default)]
    csv: bool,
    #[serde(default)]
    lines: Vec<Lines>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    #[serde(default)]
    each: Vec<Axis>,
    when: Option<Formula>,
    #[serde(default)]
    r#let: BTreeMap<String, Formula>,
    /// The names of runs that are made for all passes together, so that they share schedules.
    #[serde(default)]
    batch: Vec<String>,
    kind: Option<Template>,
    #[serde(default)]
    row: Template,
    cells: Vec<CellData>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellData {
    #[serde(default)]
    each: Vec<Axis>,
    when: Option<Formula>,
    kind: Option<Template>,
    row: Option<Template>,
    #[serde(default)]
    column: Template,
    #[serde(default)]
    paper: Template,
    #[serde(default)]
    ours: Template,
    /// The kind of agreement that is expected (see [`verdict`]); `no figure` by default.
    is: Option<Template>,
    /// The digits to which a printed value must agree; by default, those that the cell shows.
    digits: Option<Formula>,
    holds: Option<Formula>,
    /// The value that is compared. By default, it is the value of the first formula in `ours`.
    compared: Option<Formula>,
    /// Reasons and remarks. Those without a condition, or with a true condition, are joined.
    #[serde(default)]
    why: Vec<Note>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Note {
    Always(Template),
    If {
        /// The condition. It can name `verdict`, `off` (the verdict's percentage), `paper` and
        /// `ours`.
        when: Formula,
        text: Template,
    },
}

/// A loop over a list, such as `x in [1, 2]`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Axis {
    name: String,
    list: Formula,
}

impl TryFrom<String> for Axis {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (name, list) = text.split_once(" in ").ok_or_else(|| format!("`{text}` has no in"))?;
        Ok(Self { name: name.to_owned(), list: Formula::try_from(list.to_owned())? })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Erratum {
    at: String,
    paper: String,
    /// The corrected text. Our runs confirm it.
    ours: String,
    #[serde(default)]
    why: String,
}

/// A value or formula of the paper that is not compared with a value of ours.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Omission {
    what: String,
    why: String,
    /// Whether the paper does not state what the reproduction needs here ([`Verdict::Unknown`]). In
    /// this case, `why` is an assumption.
    #[serde(default)]
    unknown: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Specs {
    pub topology: String,
    pub algorithm: String,
    pub workload: String,
    pub machine: String,
    pub seeds: u32,
}

/// The rows of an experiment, one for each seed, and the facts of each step of its schedule.
type Outcome = (Vec<Record>, Rc<Vec<StepFacts>>);

pub(crate) struct Engine<'a> {
    paper: &'a Paper,
    contents: Contents,
    bench: Option<&'a Bench<'a>>,
    outcomes: RefCell<BTreeMap<Specs, Rc<Outcome>>>,
    results: RefCell<BTreeMap<String, Value>>,
}

impl<'a> Engine<'a> {
    /// Reads the data file of a paper. If `bench` is `None`, nothing can be run.
    pub(crate) fn new(
        paper: &'a Paper,
        bench: Option<&'a Bench<'a>>,
    ) -> Result<Self, ReproduceError> {
        // Without JSON values in between, this would take a third of this crate's compile time.
        let values: serde_json::Value = toml::from_str(paper.data).map_err(|e| e.to_string())?;
        let contents = Contents::deserialize(values).map_err(|e| e.to_string())?;
        Ok(Self {
            paper,
            contents,
            bench,
            outcomes: RefCell::default(),
            results: RefCell::default(),
        })
    }

    pub(crate) fn bench(&self) -> &Bench<'a> {
        self.bench.expect("formulas that are evaluated without a bench name no runs")
    }

    pub(crate) fn scope(&self, variables: &[(&str, Value)]) -> Scope<'_> {
        let bound = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Scope {
            engine: self,
            outer: None,
            bound: bound.collect(),
            lets: Some(&self.contents.r#let),
        }
    }

    pub(crate) fn tables(&self) -> Result<Vec<Table>, ReproduceError> {
        let mut tables = Vec::new();
        for data in &self.contents.table {
            self.scope(&[]).each(&data.each, &mut |scope| {
                tables.push(self.table(data, scope)?);
                Ok(())
            })?;
        }
        Ok(tables)
    }

    fn table(&self, data: &TableData, scope: &Scope<'_>) -> Result<Table, ReproduceError> {
        let kind = scope.kind(&[data.kind.as_ref()])?;
        let mut table = Table::new(&data.id.text(scope)?, &data.title.text(scope)?, kind);
        table.in_csv = data.csv;
        for lines in &data.lines {
            let scope = Scope { lets: Some(&lines.r#let), ..scope.inner(BTreeMap::new()) };
            let added = self.prepare(lines, &scope).and_then(|()| {
                scope.each(&lines.each, &mut |scope| {
                    if scope.is_true(lines.when.as_ref())? {
                        for cell in &lines.cells {
                            scope.each(&cell.each, &mut |scope| {
                                cell.add(&mut table, [&lines.kind, &data.kind], &lines.row, scope)
                            })?;
                        }
                    }
                    Ok(())
                })
            });
            added.map_err(|error| match error {
                ReproduceError::Data(message) => {
                    let Table { id, cells, .. } = &table;
                    format!("table {id}, after {} cells: {message}", cells.len()).into()
                }
                other => other,
            })?;
        }
        table.kind = kind;
        if table.id == "Errata" {
            for Erratum { at, paper, ours, why } in &self.contents.erratum {
                table.add((at, ""), paper, ours, Verdict::Differs).because(why);
            }
        }
        if table.id == "Left out" {
            for Omission { what, why, unknown } in &self.contents.left_out {
                let verdict = if *unknown { Verdict::Unknown } else { Verdict::NotRebuilt };
                table.add((what, ""), "", "", verdict).because(why);
            }
        }
        Ok(table)
    }

    /// Runs the experiments of all passes of these lines, those with the same schedule together.
    fn prepare(&self, lines: &Lines, scope: &Scope<'_>) -> Result<(), ReproduceError> {
        let mut all = BTreeSet::new();
        for name in &lines.batch {
            scope.each(&lines.each, &mut |scope| {
                if scope.is_true(lines.when.as_ref())? {
                    all.insert(scope.specs(name)?);
                }
                Ok(())
            })?;
        }
        self.run_all(all)
    }

    pub(crate) fn run_all(
        &self,
        all: impl IntoIterator<Item = Specs>,
    ) -> Result<(), ReproduceError> {
        // Each experiment is run once, together with those that differ only in the workload.
        let mut machines: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for specs in all {
            if !self.outcomes.borrow().contains_key(&specs) {
                let Specs { topology, algorithm, workload, machine, seeds } = specs;
                let case = (topology, algorithm, seeds, workload);
                machines.entry(case).or_default().insert(machine);
            }
        }
        let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for ((topology, algorithm, seeds, workload), machines) in machines {
            let machines = machines.into_iter().collect::<Vec<_>>();
            groups.entry((topology, algorithm, seeds, machines)).or_default().push(workload);
        }
        for ((topology, algorithm, seeds, machines), workloads) in groups {
            let Run { rows, steps } =
                self.bench().run(&topology, &algorithm, &workloads, &machines, seeds)?;
            let (cases, steps) = (workloads.len() * machines.len(), Rc::new(steps));
            for (i, (workload, machine)) in
                workloads.iter().flat_map(|w| machines.iter().map(move |m| (w, m))).enumerate()
            {
                let [topology, algorithm, workload, machine] =
                    [&topology, &algorithm, workload, machine].map(Clone::clone);
                let of_case = rows.iter().skip(i).step_by(cases).cloned().collect();
                let specs = Specs { topology, algorithm, workload, machine, seeds };
                self.outcomes.borrow_mut().insert(specs, Rc::new((of_case, steps.clone())));
            }
        }
        Ok(())
    }

    fn once(
        &self,
        key: &str,
        calculate: impl FnOnce() -> Result<Value, ReproduceError>,
    ) -> Result<Value, ReproduceError> {
        if let Some(known) = self.results.borrow().get(key) {
            return Ok(known.clone());
        }
        let result = calculate()?;
        self.results.borrow_mut().insert(key.to_owned(), result.clone());
        Ok(result)
    }

    /// Stores a row as the outcome of an experiment, so that the experiment is not run.
    #[cfg(test)]
    pub(crate) fn suppose(&self, specs: Specs, row: Record) {
        self.outcomes.borrow_mut().insert(specs, Rc::new((vec![row], Rc::default())));
    }

    pub(crate) fn outcome(&self, specs: &Specs) -> Result<Rc<Outcome>, ReproduceError> {
        self.run_all([specs.clone()])?;
        Ok(self.outcomes.borrow()[specs].clone())
    }
}

impl CellData {
    fn add(
        &self,
        table: &mut Table,
        [of_lines, of_table]: [&Option<Template>; 2],
        row: &Template,
        scope: &Scope<'_>,
    ) -> Result<(), ReproduceError> {
        if !scope.is_true(self.when.as_ref())? {
            return Ok(());
        }
        table.kind = scope.kind(&[self.kind.as_ref(), of_lines.as_ref(), of_table.as_ref()])?;
        let [paper, mut ours] = [self.paper.rendered(scope)?, self.ours.rendered(scope)?];
        if let Some(compared) = &self.compared {
            ours.value = Some(compared.value(scope)?);
        }
        let is = self.is.as_ref().map_or(Ok("no figure".to_owned()), |is| is.text(scope))?;
        let digits = self.digits.as_ref().map(|digits| digits.number(scope));
        let digits = digits.transpose()?.map(|digits| digits as usize);
        let verdict = match self.holds.as_ref().filter(|_| is == "claim") {
            Some(holds) => Verdict::holds(scope.is_true(Some(holds))?),
            None => verdict(&is, &paper, &ours, digits)?,
        };
        let word = if let Verdict::Off(_) = verdict { "off" } else { &verdict.text() };
        let mut bound = BTreeMap::from([("verdict".to_owned(), Value::from(word))]);
        for (name, value) in [("paper", &paper.value), ("ours", &ours.value)] {
            bound.extend(value.clone().map(|value| (name.to_owned(), value)));
        }
        let inner = scope.inner(bound);
        let mut notes = Vec::new();
        for note in &self.why {
            let text = match note {
                Note::Always(text) => text.text(&inner)?,
                Note::If { when, text } if inner.is_true(Some(when))? => text.text(&inner)?,
                Note::If { .. } => continue,
            };
            notes.extend(Some(text).filter(|text| !text.is_empty()));
        }
        let [row, column] = [self.row.as_ref().unwrap_or(row), &self.column];
        let names = (&*row.text(scope)?, &*column.text(scope)?);
        table.add(names, paper.text, ours.text, verdict).because(&notes.join("; "));
        Ok(())
    }
}

/// Returns the verdict for a kind of agreement:
/// - `formula`: equal except for rounding errors; `printed`: equal in the digits that the cell
///   shows; `exact`: equal as texts,
/// - `at most`, `at least`: the paper's value is a bound,
/// - `declared` (by the algorithm) and all other kinds: not compared.
///
/// A claim has no kind of agreement: its verdict follows from the key `holds` of its cell.
fn verdict(
    is: &str,
    paper: &Rendered,
    ours: &Rendered,
    digits: Option<usize>,
) -> Result<Verdict, ReproduceError> {
    let numbers = || -> Result<(f64, f64), String> {
        let of = |rendered: &Rendered| rendered.value.as_ref().ok_or("no value")?.number();
        Ok((of(paper)?, of(ours)?))
    };
    let (a, b) = match is {
        "formula" | "printed" | "at most" | "at least" => numbers()?,
        _ => (0.0, 0.0),
    };
    Ok(match is {
        "formula" => Verdict::computed(a, b),
        "printed" => {
            Verdict::measured(a, b, digits.or(paper.decimals).ok_or("no digits".to_owned())?)
        }
        "exact" => Verdict::exactly(&paper.text, &ours.text),
        "at most" => Verdict::at_most(a, b),
        "at least" => Verdict::at_least(a, b),
        "declared" => Verdict::Declared,
        "no figure" => Verdict::NotGiven,
        "keeps the bound" => Verdict::WithinBound,
        "breaks the bound" => Verdict::BeyondBound,
        "not rebuilt" => Verdict::NotRebuilt,
        "differs" => Verdict::Differs,
        _ => return Err(format!("`{is}` is no kind of agreement").into()),
    })
}

pub(crate) struct Scope<'a> {
    pub(crate) engine: &'a Engine<'a>,
    outer: Option<&'a Scope<'a>>,
    bound: BTreeMap<String, Value>,
    lets: Option<&'a BTreeMap<String, Formula>>,
}

impl<'a> Scope<'a> {
    fn inner(&self, bound: BTreeMap<String, Value>) -> Scope<'_> {
        Scope { engine: self.engine, outer: Some(self), bound, lets: None }
    }

    fn each(
        &self,
        axes: &[Axis],
        visit: &mut dyn FnMut(&Scope<'_>) -> Result<(), ReproduceError>,
    ) -> Result<(), ReproduceError> {
        let Some((Axis { name, list }, rest)) = axes.split_first() else { return visit(self) };
        for (i, element) in list.value(self)?.list()?.iter().enumerate() {
            let mut bound = variables(name, element.clone());
            bound.insert(format!("{name}_index"), (i as f64).into());
            self.inner(bound).each(rest, visit)?;
        }
        Ok(())
    }

    fn is_true(&self, condition: Option<&Formula>) -> Result<bool, ReproduceError> {
        Ok(condition.map_or(Ok(1.0), |formula| formula.number(self))? != 0.0)
    }

    fn kind(&self, templates: &[Option<&Template>]) -> Result<Kind, ReproduceError> {
        let Some(first) = templates.iter().flatten().next() else { return Ok(Kind::Independent) };
        let name = first.text(self)?;
        Ok(Kind::named(&name).ok_or_else(|| format!("`{name}` is no kind of cells"))?)
    }

    pub(crate) fn value(&self, formula: &str) -> Result<Value, ReproduceError> {
        Formula::try_from(formula.to_owned())?.value(self)
    }

    pub(crate) fn number(&self, formula: &str) -> Result<f64, ReproduceError> {
        Formula::try_from(formula.to_owned())?.number(self)
    }

    fn specs(&self, run: &str) -> Result<Specs, ReproduceError> {
        let data = self.engine.contents.run.get(run);
        let data = data.ok_or_else(|| format!("there is no run `{run}`"))?;
        let seeds = data.seeds.as_ref().map_or(Ok(1.0), |seeds| seeds.number(self))?;
        Ok(Specs {
            topology: data.topology.text(self)?,
            algorithm: data.algorithm.text(self)?,
            workload: data.workload.text(self)?,
            machine: data.machine.text(self)?,
            seeds: seeds as u32,
        })
    }

    fn column(&self, run: &str, column: &str) -> Result<Value, ReproduceError> {
        let seed = self.variable("seed")?.map_or(Ok(0.0), |seed| seed.number())?;
        let outcome = self.engine.outcome(&self.specs(run)?)?;
        let row = &outcome.0[seed as usize];
        let text = row.field(column).ok_or_else(|| format!("there is no column `{column}`"))?;
        Ok(match row.number(column).or_else(|| text.parse().ok()) {
            Some(x) => x.into(),
            None if text.is_empty() => 0.0.into(),
            None => Value::Text(text),
        })
    }
}

/// Returns the variables of an element: itself and, if it is a map, one for each key.
fn variables(name: &str, element: Value) -> BTreeMap<String, Value> {
    let mut all = if let Value::Map(keys) = &element { keys.clone() } else { BTreeMap::new() };
    all.insert(name.to_owned(), element);
    all
}

impl Names for Scope<'_> {
    fn variable(&self, name: &str) -> Result<Option<Value>, ReproduceError> {
        let mut scope = Some(self);
        while let Some(Scope { bound, lets, outer, .. }) = scope {
            if let Some(value) = bound.get(name) {
                return Ok(Some(value.clone()));
            }
            if let Some(formula) = lets.and_then(|lets| lets.get(name)) {
                return formula.value(self).map(Some);
            }
            scope = *outer;
        }
        let Contents { data, run, once, .. } = &self.engine.contents;
        if let Some(value) = data.get(name) {
            return Ok(Some(value.clone()));
        }
        if let Some(formula) = once.get(name) {
            return self.engine.once(name, || formula.value(&self.engine.scope(&[]))).map(Some);
        }
        match name.split_once('.') {
            Some((of, column)) if run.contains_key(of) => self.column(of, column).map(Some),
            Some((map, key)) => Ok(match self.variable(map)? {
                Some(Value::Map(keys)) => keys.get(key).cloned(),
                _ => None,
            }),
            None => Ok(None),
        }
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, ReproduceError> {
        if let Some((run, fact)) = name.split_once('.')
            && self.engine.contents.run.contains_key(run)
        {
            let outcome = self.engine.outcome(&self.specs(run)?)?;
            let step = arguments.first().map_or(Ok(0.0), Value::number)? as usize;
            let facts = outcome.1.get(step).ok_or_else(|| format!("{run} has no step {step}"))?;
            return Ok(match fact {
                "max_hops" => facts.max_hops.into(),
                "max_link_messages" => facts.max_link_messages.into(),
                _ => return Err(format!("there is no fact `{fact}` of steps").into()),
            });
        }
        if let (Some(("net", property)), [spec]) = (name.split_once('.'), arguments)
            && !PROPERTIES.contains(&property)
        {
            let spec = spec.text();
            let survey = self.engine.once(&format!("survey {spec}"), || survey(&spec))?;
            let Value::Map(values) = survey else { unreachable!("a survey is a map") };
            let value = values.get(property).cloned();
            return Ok(value.ok_or_else(|| format!("networks have no property `{property}`"))?);
        }
        self.engine.once(&format!("{name} {arguments:?}"), || {
            match (name.split_once('.'), arguments) {
                (Some(("net", property)), [spec]) => network_property(property, &spec.text()),
                (Some(("machine", "parameter")), [spec, parameter]) => {
                    machine_parameter(&spec.text(), &parameter.text())
                }
                _ => (self.engine.paper.call)(self.engine, name, arguments),
            }
        })
    }

    fn with(&self, name: &str, value: Value, formula: &Node) -> Result<Value, ReproduceError> {
        formula.value(&self.inner(variables(name, value)))
    }
}
