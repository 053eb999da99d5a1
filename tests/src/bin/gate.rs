//! The one command that decides whether a change may land: formatting, lints, tests, documents, generated files.

use std::process::{Command, ExitCode};
use std::time::Instant;

/// A stage: its name, the command, and variables it needs.
struct Stage {
    name: &'static str,
    command: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

const STAGES: [Stage; 4] = [
    Stage { name: "format", command: &["cargo", "fmt", "--all", "--check"], variables: &[] },
    Stage {
        name: "lints",
        command: &["cargo", "clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
        variables: &[],
    },
    Stage { name: "tests", command: &["cargo", "test", "--workspace"], variables: &[] },
    Stage {
        name: "documents",
        command: &["cargo", "doc", "--workspace", "--no-deps", "--quiet"],
        variables: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let unknown = wanted.iter().find(|name| !STAGES.iter().any(|stage| stage.name == **name));
    if let Some(name) = unknown {
        let names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        eprintln!("gate: there is no stage {name:?}; the stages are {}", names.join(", "));
        return ExitCode::from(2);
    }
    let mut summary = Vec::new();
    let mut failed = false;
    for stage in
        STAGES.iter().filter(|stage| wanted.is_empty() || wanted.iter().any(|name| name == stage.name))
    {
        let started = Instant::now();
        let outcome = run(stage);
        failed |= matches!(outcome, Outcome::Failed(_));
        summary.push(format!(
            "  {:<14}{:>7.1} s  {}",
            stage.name,
            started.elapsed().as_secs_f64(),
            outcome.word()
        ));
    }
    println!("\ngate:\n{}", summary.join("\n"));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

enum Outcome {
    Passed,
    Failed(String),
}

impl Outcome {
    fn word(&self) -> String {
        match self {
            Self::Passed => "passed".to_owned(),
            Self::Failed(why) => format!("FAILED ({why})"),
        }
    }
}

fn run(stage: &Stage) -> Outcome {
    println!("gate: {} ({})", stage.name, stage.command.join(" "));
    let Some((program, arguments)) = stage.command.split_first() else {
        return Outcome::Failed("no command".to_owned());
    };
    match Command::new(program).args(arguments).envs(stage.variables.iter().copied()).status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(status.to_string()),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}
