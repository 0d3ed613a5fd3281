#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swapmeet_tests::fuzz::graph(data));
