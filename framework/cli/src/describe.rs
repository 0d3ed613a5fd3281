//! `swapmeet list topologies --describe SPEC` and `list machines --describe SPEC`.

use crate::args::Format;
use crate::failure::Failure;
use crate::table;
use serde_json::{Value, json};
use swapmeet_core::cost::machine::{self, Machine};
use swapmeet_core::network::survey::Survey;
use swapmeet_core::network::topology::Network;
use swapmeet_reproduce::Published;
use swapmeet_results::csv_table;
use swapmeet_runner::case::{drawn, spec_error};
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::topology;

/// The cells of a row. For a property of a network, they are its name, the computed value, the
/// source of the formula and the value in the paper. For a parameter of a machine, they are its
/// name, its value, its meaning and the source of the value.
type Row = [String; 4];

pub(crate) fn topology(spec: &str, format: Format) -> Result<String, Failure> {
    let topology =
        topology::parse(spec).map_err(|e| spec_error(&Text::flag("--describe", spec), &e))?;
    // Random links and placements are drawn with the same seed as in the first repetition of `run`.
    let topology = drawn(&topology, Experiment::default().seed);
    let rows = rows(topology.as_ref())?;
    let links = links(topology.placed_on().as_ref().unwrap_or(&topology));
    let header = ["figure", &topology.spec(), "how", "Li, Peng & Chu"];
    match format {
        Format::Table => {
            let published = rows.iter().any(|row| !row[3].is_empty());
            let columns = if published { 4 } else { 3 };
            let rows =
                rows.into_iter().map(|row| row.into_iter().take(columns).collect()).collect();
            Ok(table::plain(&header[..columns], &[], rows) + &link_list(&links))
        }
        Format::Csv => csv(header, rows),
        Format::Json => {
            let links: Vec<_> = links
                .iter()
                .map(|((from, to), bandwidth)| json!({ "from": from, "to": to, "bandwidth": bandwidth }))
                .collect();
            let figures: Vec<_> = rows
                .iter()
                .map(|[name, value, how, paper]| json!({ "figure": name, "value": value, "how": how, "paper": paper }))
                .collect();
            pretty(&json!({ "topology": topology.spec(), "figures": figures, "links": links }))
        }
    }
}

/// The two vertices of a directed link, and its bandwidth divided by the machine's bandwidth.
type Link = ((u64, u64), f64);

/// Returns the links. If the topology has more than 2^22 link numbers, the list is empty.
fn links(network: &Network) -> Vec<Link> {
    const MAX: u64 = 1 << 22;
    let slots = if network.link_slots() <= MAX { network.link_slots() } else { 0 };
    let link = |link| Some((network.link_ends(link)?, network.bandwidth(link)));
    let mut links: Vec<Link> = (0..slots).filter_map(link).collect();
    links.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    links
}

fn link_list(links: &[Link]) -> String {
    const MAX: usize = 1024;
    const WIDTH: usize = 100;
    // Two links in opposite directions between the same vertices are one item of the list.
    let items: Vec<String> = links
        .iter()
        .filter_map(|((a, b), bandwidth)| {
            let opposite = |link: &Link| link.0.cmp(&(*b, *a)).then(link.1.total_cmp(bandwidth));
            let is_two_way = links.binary_search_by(opposite).is_ok();
            let speed = if *bandwidth == 1.0 { String::new() } else { format!(":{bandwidth}") };
            match is_two_way {
                true if a < b => Some(format!("{a}-{b}{speed}")),
                true => None,
                false => Some(format!("{a}~{b}{speed}")),
            }
        })
        .collect();
    let head = "\n\nlinks (A-B both directions, A~B from A to B, :F has F times the bandwidth):\n";
    if items.len() > MAX {
        return format!("\n\n{} links; `--format json` lists them", items.len());
    }
    let (mut text, mut column) = (head.to_owned(), 0);
    for item in &items {
        let space = usize::from(column > 0);
        if column + space + item.len() > WIDTH {
            text.push('\n');
            column = 0;
        } else if space > 0 {
            text.push(' ');
            column += 1;
        }
        text += item;
        column += item.len();
    }
    if items.is_empty() { String::new() } else { text }
}

/// Lists the parameters that the cost model or the planning uses, then the other parameters.
pub(crate) fn machine(spec: &str, format: Format) -> Result<String, Failure> {
    let machine =
        Machine::parse(spec).map_err(|e| spec_error(&Text::flag("--describe", spec), &e))?;
    let row = |read: bool| {
        move |machine::ParameterValue { parameter, text, origin }: machine::ParameterValue| {
            let from =
                if read { origin.to_string() } else { format!("not read by the model; {origin}") };
            [parameter.key().to_owned(), text, parameter.meaning().to_owned(), from]
        }
    };
    let rows: Vec<Row> = machine
        .values()
        .into_iter()
        .map(row(true))
        .chain(machine.unused().into_iter().map(row(false)))
        .collect();
    let name = machine.to_string();
    let header = ["parameter", &name, "meaning", "from"];
    match format {
        Format::Table => Ok(table::plain(&header, &[], rows.into_iter().map(Vec::from).collect())),
        Format::Csv => csv(header, rows),
        Format::Json => {
            let value = |read: bool| {
                move |v: machine::ParameterValue| {
                    json!({
                        "parameter": v.parameter.key(), "value": v.text, "from": v.origin.to_string(), "meaning": v.parameter.meaning(), "read": read,
                    })
                }
            };
            let values: Vec<_> = machine
                .values()
                .into_iter()
                .map(value(true))
                .chain(machine.unused().into_iter().map(value(false)))
                .collect();
            pretty(&json!({ "machine": name, "parameters": values }))
        }
    }
}

fn csv(header: [&str; 4], rows: Vec<Row>) -> Result<String, Failure> {
    csv_table(std::iter::once(header.map(str::to_owned)).chain(rows)).map_err(Failure::output)
}

fn pretty(value: &Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(Failure::output)
}

fn rows(topology: &Network) -> Result<Vec<Row>, Failure> {
    // The values that this program computes precede the values in the network's paper.
    let survey = Survey::of(topology);
    let spec = topology.spec();
    let Published { theorem_1, table_1, ratio } = Published::of(&spec).map_err(Failure::usage)?;
    let published = |column: usize| {
        let of_theorem = theorem_1.map(|figures| format!("{} (Theorem 1)", figures[column]));
        let of_table =
            table_1.and_then(|figures| Some(format!("{} (Table I)", figures.get(column)?)));
        of_theorem.into_iter().chain(of_table).collect::<Vec<_>>().join(", ")
    };
    let row = |name: &str, value: Option<(String, String)>, paper: String| {
        let (value, how) = value.unwrap_or_else(|| ("not known".to_owned(), String::new()));
        [name.to_owned(), value, how, paper]
    };
    let known = |value: String, how: &str| Some((value, how.to_owned()));
    let range = |(least, most): (f64, f64)| known(format!("{least} to {most}"), "as listed");
    let none = String::new;
    let links = survey.links.map(|(links, how)| (links.to_string(), how.to_string()));
    let degree = survey.degree.map(|(least, most, how)| match least == most {
        true => (most.to_string(), how.to_string()),
        false => (format!("{least} to {most}"), how.to_string()),
    });
    let (diameter, how) = &survey.diameter;
    let diameter = known(diameter.to_string(), &how.to_string());
    let mean = survey.mean_hops.map(|(mean, how)| (format!("{mean:.3}"), how.to_string()));
    let bisection = survey.bisection.map(|(links, side, how)| match side {
        half if half == survey.nodes / 2 => (links.to_string(), how.to_string()),
        side => (format!("{links} around {side} nodes"), how.to_string()),
    });
    let cost = survey.cost_ratio().map(|ratio| (format!("{ratio:.2}"), "of these".to_owned()));
    let paper_cost = ratio.map_or(String::new(), |ratio| format!("{ratio:.2} (Table I)"));
    let mut rows = vec![
        row("nodes", known(survey.nodes.to_string(), ""), published(0)),
        row("directed links", links, none()),
        row("degree", degree, published(1)),
        row("diameter, hops", diameter, published(2)),
        row("mean distance, hops", mean, none()),
        row("bisection, links one way", bisection, published(3)),
    ];
    if cost.is_some() {
        rows.push(row("cost ratio, (degree + diameter) / lg nodes", cost, paper_cost));
    }
    if topology.shares_nodes() {
        rows.insert(0, row("ranks", known(topology.nodes().to_string(), ""), none()));
    }
    if let Some(bandwidths) = topology.bandwidths() {
        rows.push(row("bandwidths, of the machine's", range(bandwidths), none()));
    }
    if let Some(damage) = topology.damage().filter(|damage| !damage.drawn().is_empty()) {
        let how = match topology.sample(0) {
            Some(_) => "the first repetition of `run`; each repetition draws its own",
            None => "drawn from the seed of the topology",
        };
        rows.push(row("links drawn at random", known(damage.drawn().to_owned(), how), none()));
    }
    if let Some(latencies) = topology.latencies() {
        rows.push(row("hops, of the machine's", range(latencies), none()));
    }
    Ok(rows)
}
