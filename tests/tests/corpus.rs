//! Runs the fuzz targets on the stored corpus: no target may panic.

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
