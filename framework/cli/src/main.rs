fn main() -> std::process::ExitCode {
    swapmeet::main()
}
