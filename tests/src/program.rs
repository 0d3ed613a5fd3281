//! The program `swapmeet`, for the tests and benchmarks of this package.

fn main() -> std::process::ExitCode {
    swapmeet::main()
}
