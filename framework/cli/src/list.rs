//! `swapmeet list` prints algorithms, networks, workloads, machines, systems, plugins and columns.

mod tables;

use crate::args::{Format, Kind, ListArgs};
use crate::describe;
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::say::say;
use crate::{output, run};
use serde_json::{Value, json};
use swapmeet_core::cost::machine::{Machine, presets};
use swapmeet_core::cost::settings::Origin;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, COLLECTIVES, PERMUTATION, of_bits};
use swapmeet_core::network::topology::families;
use swapmeet_core::spec::near_matches;
use swapmeet_core::system::systems;
use swapmeet_core::text::escaped_path;
use swapmeet_results::{Record, Status, column_infos, csv_table};
use swapmeet_runner::case::spec_error;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::plugin::{Algorithm, PAPERS, Param};
use swapmeet_runner::registry::Registry;
use swapmeet_runner::topology::parse as parse_topology;
use swapmeet_workloads::{generators, own_syntax};

struct List {
    title: &'static str,
    header: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

pub(crate) fn list(args: &ListArgs) -> Result<ExitStatus, Failure> {
    let written = |text: &str| output::print(&format!("{}\n", text.trim_end()));
    if let Some(spec) = &args.describe {
        let described = match args.kind {
            None | Some(Kind::Topologies) => describe::topology(spec, args.format)?,
            Some(Kind::Machines) => describe::machine(spec, args.format)?,
            Some(
                Kind::Algorithms | Kind::Workloads | Kind::Systems | Kind::Plugins | Kind::Columns,
            ) => {
                return Err(Failure::Usage(
                    "--describe: describes a topology or a machine, expected `list topologies --describe SPEC` or `list machines --describe SPEC`"
                        .to_owned(),
                ));
            }
        };
        written(&described)?;
        return Ok(SUCCESS);
    }
    let kinds = match args.kind {
        Some(kind) => vec![kind],
        None if args.format == Format::Csv => {
            return Err(Failure::Usage(
                "--format csv: each kind has columns of its own, expected one of algorithms, topologies, workloads, machines, systems, plugins, columns, as in \
                 `list machines --format csv`"
                    .to_owned(),
            ));
        }
        None => vec![
            Kind::Algorithms,
            Kind::Topologies,
            Kind::Workloads,
            Kind::Machines,
            Kind::Systems,
            Kind::Plugins,
        ],
    };
    let registry = run::registry(&args.plugins)?;
    let mut lists: Vec<List> = kinds.iter().map(|kind| make(*kind, &registry)).collect();
    if let Some(word) = &args.collective {
        keep_collective(&mut lists, word)?;
    }
    if let Some(topology) = &args.topology {
        keep_supported(&mut lists, topology, args, &registry)?;
    }
    if let (false, [list]) = (args.names.is_empty(), &mut lists[..]) {
        let named = |name: &String| {
            let is_algorithm = list.title == "algorithms";
            let algorithm = is_algorithm.then(|| registry.algorithm(name).ok()).flatten();
            algorithm.map_or_else(|| name.clone(), |algorithm| algorithm.name.clone())
        };
        let names: Vec<String> = args.names.iter().map(named).collect();
        keep_entries(list, &names)?;
    }
    let text = match args.format {
        Format::Table => tables::render(&lists, &registry, args),
        Format::Csv => as_csv(&lists).map_err(Failure::output)?,
        Format::Json => as_json(&lists, &registry).map_err(Failure::output)?,
    };
    written(&text)?;
    // The error message of a plugin that cannot be loaded may explain a missing algorithm.
    if kinds.contains(&Kind::Plugins) || registry.plugins().is_empty() {
        for line in registry.log() {
            say!("{line}");
        }
    }
    Ok(SUCCESS)
}

fn keep_collective(lists: &mut [List], word: &str) -> Result<(), Failure> {
    let [List { title: "algorithms", rows, .. }] = lists else {
        return Err(Failure::Usage(
            "--collective: selects algorithms, expected `list algorithms --collective WORD`"
                .to_owned(),
        ));
    };
    let words = COLLECTIVES.iter().map(|kind| kind.word);
    let near = near_matches(word, words.clone());
    if words.clone().all(|known| known != word) {
        let words: Vec<&str> = if near.is_empty() {
            words.collect()
        } else {
            near.iter().map(String::as_str).collect()
        };
        return Err(Failure::Usage(format!(
            "--collective: unknown collective `{word}`, expected {}",
            words.join(" or ")
        )));
    }
    rows.retain(|row| row[1].split(' ').any(|collective| collective == word));
    Ok(())
}

/// Keeps the algorithms that run on a topology. Each algorithm plans the workload on a machine with
/// one port, because some algorithms refuse a case only while they plan.
fn keep_supported(
    lists: &mut [List],
    topology: &str,
    args: &ListArgs,
    registry: &Registry,
) -> Result<(), Failure> {
    /// If an algorithm plans for longer than this, it has not refused the case, and is listed.
    const MOST_SECONDS: f64 = 2.0;
    let [List { title: "algorithms", rows, .. }] = lists else {
        return Err(Failure::Usage(
            "--topology: selects algorithms, expected `list algorithms --topology SPEC`".to_owned(),
        ));
    };
    let at = Text::flag("--topology", topology);
    let workload = match (&args.workload, &args.collective) {
        (None, Some(word)) => {
            let network = parse_topology(&at.value).map_err(|e| spec_error(&at, &e))?;
            Some(default_workload(word, network.nodes()))
        }
        (given, _) => given.clone(),
    };
    let experiment = Experiment {
        topologies: vec![at],
        workloads: workload.iter().map(|spec| Text::flag("--workload", spec)).collect(),
        machines: vec![Text::flag("--machine", "free")],
        timeout_secs: Some(MOST_SECONDS),
        ..Experiment::default()
    };
    let cases = run::cases_of_all_algorithms(experiment, registry)?;
    let Some(records) = run::collect(&cases, None, &args.plugins)? else {
        return Err(Failure::Output("interrupted".to_owned()));
    };
    // An algorithm that several plugins have is listed as `PLUGIN/ALGORITHM`.
    let name = |record: &Record| registry.spec_name(&record.algorithm, &record.plugin);
    let of_status = |wanted: fn(Status) -> bool| -> Vec<String> {
        records.iter().filter(|record| wanted(record.status)).map(name).collect()
    };
    let late = of_status(|status| status == Status::Timeout);
    let runs = of_status(|status| matches!(status, Status::Ok | Status::Timeout));
    rows.retain(|row| runs.contains(&row[0]));
    if !late.is_empty() {
        say!("remark: not done after {MOST_SECONDS} s, but not refused: {}", late.join(", "));
    }
    Ok(())
}

/// Returns a workload with blocks of 1 KiB. If it has tokens, each node has one expert.
fn default_workload(word: &str, nodes: u64) -> String {
    let kind = COLLECTIVES.into_iter().find(|kind| kind.word == word);
    let kind = kind.unwrap_or_else(|| unreachable!("`{word}` was checked"));
    if kind.has_tokens {
        return format!("{word}/moe:experts={nodes},top={},tokens=16,bytes=1KiB", nodes.min(2));
    }
    let first = generators(kind).next();
    let first = first.unwrap_or_else(|| unreachable!("each collective has a workload"));
    format!("{word}/{}:1KiB", first.name)
}

/// Keeps the entries with these names, in the user's order. Errors suggest similar names.
fn keep_entries(list: &mut List, names: &[String]) -> Result<(), Failure> {
    let entry = |name: &String| {
        let rows = list.rows.iter().filter(|row| row[0] == *name).cloned().collect::<Vec<_>>();
        if rows.is_empty() { Err(no_entry(list, name)) } else { Ok(rows) }
    };
    list.rows = names.iter().map(entry).collect::<Result<Vec<_>, _>>()?.concat();
    Ok(())
}

fn no_entry(list: &List, name: &str) -> Failure {
    let near = near_matches(name, list.rows.iter().map(|row| row[0].as_str()));
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    let help = match near.is_empty() {
        true => format!("`swapmeet list {}` prints all names", list.title),
        false => format!("did you mean {}?", near.join(" or ")),
    };
    Failure::Usage(format!("{}: no entry `{name}`; {help}", list.title))
}

fn make(kind: Kind, registry: &Registry) -> List {
    let texts = |row: &[&str]| row.iter().map(|s| (*s).to_owned()).collect::<Vec<String>>();
    match kind {
        Kind::Algorithms => List {
            title: "algorithms",
            header: &["name", "collectives", "title", "accepts", "parameters", "paper", "plugin"],
            rows: in_groups(registry)
                .into_iter()
                .map(|(_, a)| {
                    texts(&[
                        &registry.spec_name(&a.name, &a.plugin.name),
                        &collectives(a),
                        &a.title,
                        &a.accepts,
                        &params(a),
                        &a.paper,
                        &a.plugin.name,
                    ])
                })
                .collect(),
        },
        Kind::Topologies => List {
            title: "topologies",
            header: &["name", "spec", "what it is"],
            rows: families().iter().map(|f| texts(&[f.name, f.syntax, f.help])).collect(),
        },
        // Generators for all-to-all have their own name, other workloads that of their collective.
        Kind::Workloads => List {
            title: "workloads",
            header: &["name", "spec", "what it is"],
            rows: generators(&ALL_TO_ALL)
                .map(|g| texts(&[g.name, g.syntax, g.help]))
                .chain(COLLECTIVES.into_iter().map(|kind| {
                    let spec = format!("{}/..{}", kind.word, own_syntax(kind));
                    texts(&[kind.word, &spec, kind.help])
                }))
                .chain(generators(&PERMUTATION).map(|g| {
                    texts(&[g.name, &format!("{}/{}", PERMUTATION.word, g.syntax), g.help])
                }))
                .collect(),
        },
        // The list has one row for each parameter of each preset, with the source of the value.
        Kind::Machines => List {
            title: "machines",
            header: &["name", "parameter", "value", "meaning", "source"],
            rows: presets()
                .iter()
                .filter_map(|preset| Machine::parse(preset.name).ok())
                .flat_map(|machine| {
                    let row = |value: swapmeet_core::cost::machine::ParameterValue| {
                        let source =
                            if let Origin::Preset(source) = value.origin { source } else { "" };
                        let parameter = value.parameter;
                        texts(&[
                            machine.name(),
                            parameter.key(),
                            &value.text,
                            parameter.meaning(),
                            source,
                        ])
                    };
                    machine.values().into_iter().map(row).collect::<Vec<_>>()
                })
                .collect(),
        },
        Kind::Systems => List {
            title: "systems",
            header: &[
                "name",
                "system",
                "gpus_per_host",
                "ports_per_host",
                "gpus_per_domain",
                "inside_gbps",
                "port_gbps",
                "fabric",
                "measured",
                "example",
                "topology",
                "machine",
            ],
            rows: systems()
                .iter()
                .map(|system| {
                    let numbers =
                        [system.gpus_per_host, system.ports_per_host, system.gpus_per_domain];
                    let rates = [system.inside_gbps, system.port_gbps].map(|x| x.to_string());
                    let numbers = numbers.map(|x| x.to_string());
                    let gpus = system.gpus_per_domain;
                    let texts = [
                        system.fabric.name().to_owned(),
                        system.measured.to_owned(),
                        system.example(),
                        system.topology(2, gpus),
                        system.machine(2),
                    ];
                    let names = [system.name, system.title].map(str::to_owned);
                    names.into_iter().chain(numbers).chain(rates).chain(texts).collect()
                })
                .collect(),
        },
        // Paths may contain any bytes, so unprintable characters are escaped.
        Kind::Plugins => List {
            title: "plugins",
            header: &["name", "version", "abi", "licence", "algorithms", "file", "origin"],
            rows: registry
                .origins()
                .map(|(p, origin)| {
                    let algorithms: Vec<&str> =
                        p.algorithms.iter().map(|a| a.name.as_str()).collect();
                    let abi = format!("{}.{}", p.abi.0, p.abi.1);
                    let file = escaped_path(&p.path);
                    texts(&[
                        &p.name,
                        &p.version,
                        &abi,
                        &p.licence,
                        &algorithms.join(" "),
                        &file,
                        &origin.to_string(),
                    ])
                })
                .collect(),
        },
        Kind::Columns => List {
            title: "columns",
            header: &["name", "type", "description"],
            rows: column_infos().map(|c| texts(&[c.name, c.kind, c.meaning.trim()])).collect(),
        },
    }
}

/// Returns algorithms with their groups: papers in `PAPERS`, other plugins, reconstructions.
fn in_groups(registry: &Registry) -> Vec<(String, &Algorithm)> {
    const RECONSTRUCTIONS: &str = "reconstructions from descriptions, without the paper's text";
    let group = |a: &Algorithm| match a.main_paper() {
        Some(index) => (index, PAPERS[index].1.to_owned()),
        None if a.paper.contains("a reconstruction") => {
            (PAPERS.len() + 1, RECONSTRUCTIONS.to_owned())
        }
        None => (PAPERS.len(), format!("plugin {}", a.plugin.name)),
    };
    let mut algorithms: Vec<_> = registry.algorithms().map(|a| (group(a), &**a)).collect();
    algorithms.sort_by(|(a, _), (b, _)| a.cmp(b));
    algorithms.into_iter().map(|((_, title), a)| (title, a)).collect()
}

fn collectives(algorithm: &Algorithm) -> String {
    let words: Vec<&str> = of_bits(algorithm.collectives).map(|kind| kind.word).collect();
    words.join(" ")
}

fn params(algorithm: &Algorithm) -> String {
    let one = |p: &Param| match p.default.as_str() {
        // A default that depends on the problem is empty here. The help text explains it.
        "" => format!("{}=.. ({})", p.key, p.help),
        default => format!("{}={default} ({})", p.key, p.help),
    };
    algorithm.params.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn as_csv(lists: &[List]) -> Result<String, csv::Error> {
    let header = |list: &List| list.header.iter().map(|name| (*name).to_owned()).collect();
    let rows = |list: &List| [&[header(list)][..], &list.rows].concat();
    lists.iter().map(|list| csv_table(rows(list))).collect()
}

fn as_json(lists: &[List], registry: &Registry) -> Result<String, serde_json::Error> {
    let object = |list: &List| -> Value {
        let row = |row: &Vec<String>| -> Value {
            list.header
                .iter()
                .zip(row)
                .map(|(h, v)| ((*h).to_owned(), Value::from(v.as_str())))
                .collect()
        };
        let mut rows: Vec<Value> = list.rows.iter().map(row).collect();
        if list.title == "plugins" {
            for (row, plugin) in rows.iter_mut().zip(registry.plugins()) {
                row["algorithms"] = plugin.algorithms.iter().map(|a| in_full(a)).collect();
            }
        }
        Value::from(rows)
    };
    let value = match lists {
        [list] => object(list),
        lists => lists.iter().map(|list| (list.title.to_owned(), object(list))).collect(),
    };
    serde_json::to_string_pretty(&value)
}

fn in_full(a: &Algorithm) -> Value {
    let params: Vec<Value> = a
        .params
        .iter()
        .map(|p| json!({"key": p.key, "default": p.default, "help": p.help}))
        .collect();
    json!({
        "name": a.name,
        "title": a.title,
        "paper": a.paper,
        "accepts": a.accepts,
        "collectives": collectives(a).split(' ').collect::<Vec<_>>(),
        // In a plugin, the port count 0 means "not stated", and the largest count "all links".
        "ports": match a.ports {
            0 => Value::Null,
            u64::MAX => Value::from("all"),
            n => Value::from(n),
        },
        "parameters": params,
    })
}
