//! Tells the linker to accept duplicate symbols. All bundled plugins are linked into the program,
//! and each defines the entry symbol of plugin files, which the program does not use.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg=-Wl,-z,muldefs");
    }
}
