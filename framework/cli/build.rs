//! Makes the linker accept that each bundled plugin defines the same entry symbol.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg=-Wl,-z,muldefs");
    }
}
