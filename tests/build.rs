//! Tells the linker to accept duplicate symbols. All bundled plugins are linked into the program,
//! and each of them defines the entry symbol of plugin files. The program does not use that symbol,
//! so it does not matter which of the definitions the linker keeps.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg=-Wl,-z,muldefs");
    }
}
