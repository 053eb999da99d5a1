//! `perfxpert mcp config|install|uninstall`: our entry in an MCP client's own file.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};
use perfxpert_schemas::ErrorKind;
use serde_json::Value;
use toml_edit::DocumentMut;

use crate::failure::Failure;
use crate::mcp_clients::json_file::JsonFile;
use crate::mcp_clients::{Client, Launcher, NAMES, Scope, launcher_of, program_name, tilde, toml_file};
use crate::options::{self, Absent, Values};
use crate::output::{Target, same_file};
use crate::{App, text};

/// Longest name of an entry.
const LONGEST_NAME: usize = 32;

/// The tables of the three actions.
pub fn tables() -> [Command; 3] {
    let client = || {
        Arg::new("client")
            .value_name("CLIENT")
            .help(format!("The client: {}", NAMES.join(", ")))
            .required(true)
            .value_parser(clap::builder::PossibleValuesParser::new(NAMES))
            .hide_possible_values(true)
    };
    let scope = || options::word("scope", &["user", "project"], "Whose file", Absent::is("by client"));
    let name = || options::value("name", "NAME", "Name of the entry", Absent::is("perfxpert"));
    let program = || options::value("command", "PROGRAM", "Program to start", Absent::is("this one"));
    let dry = || options::switch("dry-run", "Show the change as a diff; write nothing", None);
    let force = |help| options::switch("force", help, None);
    [
        options::command(
            "config",
            "Print the configuration a client needs",
            ["perfxpert mcp config cursor", "perfxpert mcp config codex --command /opt/perfxpert-mcp"],
        )
        .args([client(), scope(), program(), name()]),
        options::command(
            "install",
            "Add our entry to a client's file",
            ["perfxpert mcp install cursor", "perfxpert mcp install claude-code --dry-run"],
        )
        .args([
            client(),
            dry(),
            scope(),
            program(),
            name(),
            force("Replace another entry of that name"),
        ]),
        options::command(
            "uninstall",
            "Remove our entry from a client's file",
            ["perfxpert mcp uninstall cursor", "perfxpert mcp uninstall vscode --dry-run"],
        )
        .args([
            client(),
            dry(),
            scope(),
            name(),
            force("Remove an entry that starts another program"),
        ]),
    ]
}

/// What the options say.
struct Plan<'a> {
    app: &'a App,
    client: Client,
    name: String,
    launcher: Launcher,
    /// The client's file; `None` for the one that is told by a command of its own.
    file: Option<PathBuf>,
    dry: bool,
    force: bool,
}

/// Runs the action.
///
/// # Errors
/// `usage`, `config` for a file that cannot be parsed, `output` when the name is taken or nothing can be written.
pub fn run(app: &App, action: &str, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let plan = Plan::read(app, &values)?;
    let Some(file) = plan.file.clone() else {
        let verb = if action == "uninstall" { "remove" } else { "add" };
        let line = match verb {
            "add" => format!("claude mcp add --scope user {} -- {}", plan.name, plan.launcher.line()),
            _ => format!("claude mcp remove --scope user {}", plan.name),
        };
        app.terminal.product(&text::escape(&line))?;
        return Ok(0);
    };
    match action {
        "install" => plan.install(&file),
        "uninstall" => plan.uninstall(&file),
        _ => {
            app.terminal.product(&text::escape(&plan.snippet()?))?;
            app.terminal.note(&format!("goes into {}", tilde(&file, &app.environment)));
            Ok(0)
        }
    }
}

impl<'a> Plan<'a> {
    fn read(app: &'a App, values: &Values<'_>) -> Result<Self, Failure> {
        let client = Client::of(values.text("client").unwrap_or_default())?;
        let scope = match values.text("scope") {
            Some("user") => Scope::User,
            Some(_) => Scope::Project,
            None => client.default_scope(),
        };
        let name = values.text("name").unwrap_or("perfxpert");
        let valid = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !valid || name.is_empty() || name.len() > LONGEST_NAME {
            let message = format!("--name: '{name}' cannot be a server's name.");
            return Err(Failure::usage("--name", message, "Use 1 to 32 letters, digits, _ and -."));
        }
        let file = client.file(scope, &app.environment)?;
        if file.is_none() && client == Client::ClaudeDesktop {
            let message = "--scope: claude-desktop has no project file.";
            return Err(Failure::usage("--scope", message, "Leave --scope out."));
        }
        let program = match values.text("command") {
            Some("") => {
                return Err(Failure::usage(
                    "--command",
                    "--command: the program is empty.",
                    "Name a program.",
                ));
            }
            Some(program) => program.to_owned(),
            None => own_program(app, scope)?,
        };
        Ok(Self {
            app,
            client,
            name: name.to_owned(),
            launcher: Launcher::of(&program),
            file,
            dry: values.switch("dry-run"),
            force: values.switch("force"),
        })
    }

    fn snippet(&self) -> Result<String, Failure> {
        let empty = || Failure::internal("The entry could not be written.", "Report this.");
        if self.client.is_toml() {
            return toml_file::with(DocumentMut::new(), self.client.parent(), &self.name, &self.launcher)
                .ok_or_else(empty);
        }
        let file = JsonFile::read("").map_err(|_| empty())?;
        file.with(self.client.parent(), &self.name, &self.client.entry(&self.launcher)).map_err(|_| empty())
    }

    /// The file's text, whether it exists, and the entry it holds under our name.
    fn state(&self, file: &Path) -> Result<State, Failure> {
        let old = match fs::read(file) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| self.by_hand(file, "it is not UTF-8"))?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::output(&file.display().to_string(), error)),
        };
        let text = old.clone().unwrap_or_default();
        let entry = if self.client.is_toml() {
            let document = toml_file::read(&text)
                .map_err(|why| self.by_hand(file, &format!("it is not TOML ({why})")))?;
            let found = toml_file::entry(&document, self.client.parent(), &self.name);
            found.or_else(|| {
                toml_file::holds(&document, self.client.parent(), &self.name).then_some(Value::Null)
            })
        } else {
            let json = JsonFile::read(&text).map_err(|why| self.by_hand(file, &why.to_string()))?;
            json.entry(self.client.parent(), &self.name)
                .map_err(|why| self.by_hand(file, &why.to_string()))?
        };
        Ok(State { exists: old.is_some(), text, entry })
    }

    /// Refuses a file that we cannot edit, with what to add on standard output.
    fn by_hand(&self, file: &Path, why: &str) -> Failure {
        let shown = tilde(file, &self.app.environment);
        let snippet = self.snippet().unwrap_or_default();
        if let Err(failure) =
            self.app.terminal.product(&text::escape(&format!("add this by hand:\n{snippet}")))
        {
            return failure;
        }
        Failure::new(
            ErrorKind::Config,
            format!("{shown} was not changed: {why}."),
            "Add the entry on stdout by hand.",
        )
        .map(|error| error.path(&shown))
    }

    fn install(&self, file: &Path) -> Result<u8, Failure> {
        let state = self.state(file)?;
        let shown = tilde(file, &self.app.environment);
        if let Some(entry) = &state.entry {
            let there = launcher_of(entry);
            if there.as_ref() == Some(&self.launcher) {
                return self.done(&format!("already installed: {shown}"));
            }
            if !self.force {
                let there = there.map_or_else(|| "something else".to_owned(), |launcher| launcher.line());
                return Err(taken(format!(
                    "{shown} has another entry {}: it starts '{there}', ours would start '{}'.",
                    self.name,
                    self.launcher.line()
                )));
            }
        }
        let new = self
            .installed(&state.text)
            .ok_or_else(|| self.by_hand(file, "the place for the entry is taken"))?;
        let backup = backup_of(file);
        if state.exists && !self.dry && !backup.exists() {
            fs::copy(file, &backup).map_err(|error| Failure::output(&backup.display().to_string(), error))?;
        }
        self.apply(
            file,
            &state,
            &new,
            &format!("installed {} for {}: {shown}", self.name, self.client.name()),
        )
    }

    fn installed(&self, text: &str) -> Option<String> {
        if self.client.is_toml() {
            let document = toml_file::read(text).ok()?;
            return toml_file::with(document, self.client.parent(), &self.name, &self.launcher);
        }
        let entry = self.client.entry(&self.launcher);
        JsonFile::read(text).ok()?.with(self.client.parent(), &self.name, &entry).ok()
    }

    fn uninstall(&self, file: &Path) -> Result<u8, Failure> {
        let state = self.state(file)?;
        let shown = tilde(file, &self.app.environment);
        let Some(entry) = &state.entry else { return self.done(&format!("not installed: {shown}")) };
        let there = launcher_of(entry);
        let ours = there
            .as_ref()
            .is_some_and(|launcher| matches!(program_name(&launcher.program), "perfxpert" | "perfxpert-mcp"));
        if !ours && !self.force {
            let there = there.map_or_else(|| "something else".to_owned(), |launcher| launcher.line());
            return Err(taken(format!(
                "{shown} has an entry {} that is not ours: it starts '{there}'.",
                self.name
            )));
        }
        let new = match self.original(file, &state.text, there.as_ref()) {
            Some(original) => original,
            None if self.client.is_toml() => {
                let document = toml_file::read(&state.text).map_err(|why| self.by_hand(file, &why))?;
                toml_file::without(document, self.client.parent(), &self.name)
            }
            None => JsonFile::read(&state.text)
                .and_then(|json| json.without(self.client.parent(), &self.name))
                .map_err(|why| self.by_hand(file, &why.to_string()))?,
        };
        self.apply(
            file,
            &state,
            &new,
            &format!("uninstalled {} for {}: {shown}", self.name, self.client.name()),
        )
    }

    /// The text from before the installation, when the file is exactly what the installation made of it.
    fn original(&self, file: &Path, text: &str, launcher: Option<&Launcher>) -> Option<String> {
        let original = fs::read_to_string(backup_of(file)).ok()?;
        let again = Plan { launcher: launcher?.clone(), name: self.name.clone(), file: None, ..*self };
        (again.installed(&original)? == text).then_some(original)
    }

    fn apply(&self, file: &Path, state: &State, new: &str, said: &str) -> Result<u8, Failure> {
        if self.dry {
            self.app.terminal.product(&text::escape(&self.difference(file, state, new)))?;
            return Ok(0);
        }
        let target = Target::check(file, &[], true)?;
        target.write(new.as_bytes())?;
        self.done(said)?;
        self.app.terminal.note(&format!("to load it, {}", self.client.reload()));
        Ok(0)
    }

    fn difference(&self, file: &Path, state: &State, new: &str) -> String {
        let shown = tilde(file, &self.app.environment);
        let old_name = if state.exists { shown.clone() } else { "/dev/null".to_owned() };
        crate::text::unified_diff(&state.text, new, &old_name, &shown)
    }

    fn done(&self, said: &str) -> Result<u8, Failure> {
        // A dry run of nothing is an empty diff.
        if !self.dry {
            self.app.terminal.product(&text::escape(said))?;
        }
        Ok(0)
    }
}

struct State {
    exists: bool,
    text: String,
    entry: Option<Value>,
}

fn taken(message: String) -> Failure {
    Failure::new(ErrorKind::Output, message, "Use --force to change it, or --name for another name.").exits(1)
}

fn backup_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".perfxpert.bak");
    PathBuf::from(name)
}

/// This executable: by its full path, or in a project file, which may be committed, by its bare name where that is
/// enough.
fn own_program(app: &App, scope: Scope) -> Result<String, Failure> {
    let own = std::env::current_exe().map_err(|error| {
        Failure::internal("This program's own path is not known.", "Use --command.").cause(error)
    })?;
    if scope == Scope::Project {
        let first = app.environment.get("PATH").and_then(|path| {
            std::env::split_paths(path)
                .map(|folder| folder.join("perfxpert"))
                .find(|program| program.is_file())
        });
        if first.is_some_and(|first| same_file(&first, &own)) {
            return Ok("perfxpert".to_owned());
        }
        app.terminal.warn("perfxpert is not on PATH, so the project file names this machine's own path");
    }
    Ok(own.display().to_string())
}
