//! Runs the fuzz targets on the stored corpus: no target may panic.

use std::time::{Instant, SystemTime, UNIX_EPOCH};
use swapmeet_tests::cases;
use swapmeet_tests::fuzz::{TARGETS, corpus};

#[test]
fn the_corpus_of_the_fuzzer_passes() {
    for (name, target) in TARGETS {
        let files: Vec<_> =
            std::fs::read_dir(corpus(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= 5, "{name}: {} cases", files.len());
        for file in files {
            // Print the name first, because it would be lost if the target panics.
            println!("{}", file.display());
            target(&std::fs::read(&file).unwrap());
        }
    }
}

/// Returns an input that differs from one of the stored inputs: bytes are changed, inserted,
/// removed or repeated, numbers become very large, or the ends of two inputs are exchanged.
fn mutated(corpus: &[Vec<u8>], random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    const WORDS: [&str; 12] = [
        "0",
        "-1",
        "1e300",
        "NaN",
        "4294967296",
        "9223372036854775808",
        "18446744073709551616",
        "null",
        "[]",
        ",",
        "\n",
        " ",
    ];
    let mut input = corpus[random(corpus.len())].clone();
    for _ in 0..=random(6) {
        let at = random(input.len() + 1);
        let end = (at + random(9)).min(input.len());
        match random(6) {
            0 => input.truncate(at),
            1 => drop(input.splice(at..end, WORDS[random(WORDS.len())].bytes())),
            2 => drop(input.drain(at..end)),
            3 => {
                let part = input[at..end].to_vec();
                let at = random(input.len() + 1);
                input.splice(at..at, part);
            }
            4 if at < input.len() => input[at] = random(256) as u8,
            _ => {
                let other = &corpus[random(corpus.len())];
                input.truncate(at);
                input.extend_from_slice(&other[random(other.len() + 1)..]);
            }
        }
    }
    input
}

/// The fuzzer changes inputs in the same way, but needs a compiler. `SWAPMEET_FUZZ_SECONDS=120
/// SWAPMEET_FUZZ_TARGET=graph` runs one target for two minutes, with other inputs each time.
#[test]
fn changes_of_the_corpus_pass() {
    let variable = |name: &str| std::env::var(name).ok();
    let seconds = variable("SWAPMEET_FUZZ_SECONDS").map(|text| text.parse::<u64>().unwrap());
    let only = variable("SWAPMEET_FUZZ_TARGET");
    let is_chosen = |name: &str| only.as_ref().is_none_or(|only| only == name);
    for (name, target) in TARGETS.into_iter().filter(|(name, _)| is_chosen(name)) {
        let files = std::fs::read_dir(corpus(name)).unwrap();
        let mut corpus: Vec<Vec<u8>> =
            files.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
        corpus.sort();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let mut state = if seconds.is_some() { now } else { 1 };
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let (start, mut count) = (Instant::now(), 0);
        while match seconds {
            Some(seconds) => start.elapsed().as_secs() < seconds,
            None => count < cases(50),
        } {
            let input = mutated(&corpus, &mut random);
            let passes = std::panic::catch_unwind(|| target(&input));
            assert!(passes.is_ok(), "{name}: {}", input.escape_ascii());
            count += 1;
        }
        println!("{name}: {count} inputs");
    }
}
