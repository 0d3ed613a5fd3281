//! Adapts the linking of the programs of the tests.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // All bundled plugins are linked into the program, and each of them defines the entry symbol
        // of plugin files. The program does not use that symbol, so it does not matter which of the
        // duplicate definitions the linker keeps.
        println!("cargo::rustc-link-arg=-Wl,-z,muldefs");
        // Tests start the program thousands of times. If the program is linked for a fixed address,
        // its 60,000 pointers are not relocated at the start. This saves a third of the time and of
        // the page faults of a start.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
