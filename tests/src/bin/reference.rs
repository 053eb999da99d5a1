//! Writes the tool reference page.

use std::process::ExitCode;

fn main() -> ExitCode {
    let path = perfxpert_tests::workspace().join("docs/tools.md");
    match std::fs::write(&path, perfxpert_tests::reference::page()) {
        Ok(()) => {
            println!("wrote {}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
