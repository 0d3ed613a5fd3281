//! Bundled plugins are linked in, and each exports the one symbol by which a plugin file is
//! entered. Nothing in the program refers to it, so any will do.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg=-Wl,-z,muldefs");
    }
}
