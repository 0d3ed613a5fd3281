//! The program `swapmeet`.

fn main() -> std::process::ExitCode {
    swapmeet::main()
}
