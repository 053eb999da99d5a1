//! `perfxpert completions`: a shell's completion script from the real option tables.

use clap::{ArgMatches, Command};
use clap_complete::Shell;

use crate::App;
use crate::failure::Failure;
use crate::options::{self, Values};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "powershell", "elvish"];

/// The table of `completions`.
pub fn table() -> Command {
    let examples = [
        "perfxpert completions bash > ~/.local/share/bash-completion/completions/perfxpert",
        "perfxpert completions zsh > ~/.zfunc/_perfxpert",
    ];
    options::command("completions", "Print a completion script for a shell", examples).arg(
        clap::Arg::new("shell")
            .value_name("SHELL")
            .help(format!("The shell: {}", SHELLS.join(", ")))
            .required(true)
            .value_parser(clap::builder::PossibleValuesParser::new(SHELLS))
            .hide_possible_values(true),
    )
}

/// Prints the script.
///
/// # Errors
/// `output` when standard output cannot be written.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let shell = match values.text("shell").unwrap_or_default() {
        "zsh" => Shell::Zsh,
        "fish" => Shell::Fish,
        "powershell" => Shell::PowerShell,
        "elvish" => Shell::Elvish,
        _ => Shell::Bash,
    };
    let mut script = Vec::new();
    let root = super::root();
    // The generators of these shells pass over the words of a positional argument, but not over actions.
    let mut root = if matches!(shell, Shell::Bash | Shell::Zsh) { root } else { words_as_actions(root) };
    clap_complete::generate(shell, &mut root, "perfxpert", &mut script);
    app.terminal.product(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Turns the words that a positional argument accepts into actions of its command, at every level.
fn words_as_actions(command: Command) -> Command {
    let words: Vec<String> = command
        .get_positionals()
        .flat_map(clap::Arg::get_possible_values)
        .map(|word| word.get_name().to_owned())
        .collect();
    command.mut_subcommands(words_as_actions).subcommands(words.into_iter().map(Command::new))
}
