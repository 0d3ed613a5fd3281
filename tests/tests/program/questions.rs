//! Questions of users. For each, the default command and the command of a careful study must give
//! the same answer, which `tests/fixtures/questions/questions.toml` states.

use crate::support::{swapmeet, words};
use serde::Deserialize;
use swapmeet_results::read_records;
use swapmeet_tests::project;

#[derive(Deserialize)]
struct Questions {
    question: Vec<Question>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    question: String,
    default: String,
    careful: String,
    answer: Vec<String>,
    shows: Option<String>,
}

fn output(command: &str, more: &[&str]) -> (String, String) {
    let file = |name: &str| project(name).display().to_string();
    let command = command
        .replace("NETWORK", &file("tests/fixtures/questions/network.txt"))
        .replace("PETERSEN", &file("workloads/graphs/petersen.txt"));
    let output = swapmeet(&[&words(&command)[..], more].concat()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, messages) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{command}: {messages}");
    (out, messages)
}

fn winners(command: &str) -> Vec<String> {
    let (csv, _) = output(command, &["--out", "-"]);
    let mut cells: Vec<((String, String), f64, String)> = Vec::new();
    for row in read_records("rows.csv", &csv).unwrap() {
        let time = row.time_us.unwrap_or_else(|| panic!("{}: {}", row.algorithm, row.reason));
        let name = row.algorithm.split(':').next().unwrap().to_owned();
        let cell = (row.topology, row.workload);
        match cells.iter_mut().find(|(of, ..)| *of == cell) {
            Some((_, least, winner)) if time < *least => (*least, *winner) = (time, name),
            Some(_) => {}
            None => cells.push((cell, time, name)),
        }
    }
    cells.into_iter().map(|(.., winner)| winner).collect()
}

/// Returns whether a schedule reaches the optimum: once by the interval, and once by the table of
/// algorithms.
fn reaches_optimum(command: &str) -> [Vec<String>; 2] {
    let (json, _) = output(command, &["--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    let number = |key: &str| answer[key].as_f64().unwrap();
    let ratios = answer["algorithms"].as_array().unwrap().iter();
    let least = ratios.filter_map(|row| row["bytes_ratio"].as_f64()).fold(f64::INFINITY, f64::min);
    [number("upper_us") / number("lower_us"), least].map(|ratio| {
        // If the ratio were smaller, it would contradict the proof of the lower end.
        assert!(ratio >= 0.98, "{command}: {ratio}");
        vec![if ratio <= 1.02 { "reached" } else { "open" }.to_owned()]
    })
}

#[test]
fn defaults_answer_as_a_careful_study_does() {
    let text = std::fs::read_to_string(project("tests/fixtures/questions/questions.toml")).unwrap();
    let Questions { question: questions } = toml::from_str(&text).unwrap();
    assert!(questions.len() >= 12);
    for Question { question, default, careful, answer, shows } in &questions {
        for command in [careful, default] {
            let answers = match command.starts_with("optimum") {
                true => reaches_optimum(command).to_vec(),
                false => vec![winners(command)],
            };
            for found in answers {
                assert_eq!(found, *answer, "{question}: {command}");
            }
        }
        assert_ne!(default, careful, "{question}");
        if let Some(shows) = shows {
            let (table, messages) = output(default, &[]);
            assert!((table.clone() + &messages).contains(shows), "{question}: {table}{messages}");
        }
    }
}
