//! Makes cargo notice new fact files: the embedding macro only tracks files it has already seen.

fn main() {
    println!("cargo:rerun-if-changed=facts");
}
