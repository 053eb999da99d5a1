//! The seven MCP clients: where each keeps its configuration, and the entry it wants.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::environment::Environment;
use crate::failure::Failure;

pub mod json_file;
pub mod toml_file;

/// An MCP client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    OpenCode,
    /// VS Code.
    VsCode,
    /// Cursor.
    Cursor,
}

/// The clients by name.
pub const CLIENTS: [(&str, Client); 7] = [
    ("claude-desktop", Client::ClaudeDesktop),
    ("claude-code", Client::ClaudeCode),
    ("codex", Client::Codex),
    ("gemini", Client::Gemini),
    ("opencode", Client::OpenCode),
    ("vscode", Client::VsCode),
    ("cursor", Client::Cursor),
];
/// Their names.
pub const NAMES: [&str; 7] =
    ["claude-desktop", "claude-code", "codex", "gemini", "opencode", "vscode", "cursor"];

/// Whose configuration is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user's.
    User,
    /// The folder's we are in.
    Project,
}

/// How our server is started by a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Launcher {
    /// The launcher for a program: `mcp` is left out for the program that is the server alone.
    pub fn of(program: &str) -> Self {
        let own = ["mcp", "--tool-names", "bare"];
        let skipped = usize::from(program_name(program) == "perfxpert-mcp");
        Self {
            program: program.to_owned(),
            arguments: own.iter().skip(skipped).map(|word| (*word).to_owned()).collect(),
        }
    }

    /// Program and arguments on one line.
    pub fn line(&self) -> String {
        std::iter::once(&self.program).chain(&self.arguments).cloned().collect::<Vec<_>>().join(" ")
    }
}

/// A program's name without folders and `.exe`.
pub fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

impl Client {
    /// The client of a name.
    ///
    /// # Errors
    /// `usage` with the nearest name.
    pub fn of(name: &str) -> Result<Self, Failure> {
        CLIENTS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, client)| *client)
            .ok_or_else(|| Failure::choice("CLIENT", name, &NAMES))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        CLIENTS.iter().find(|(_, client)| *client == self).map_or("", |(name, _)| name)
    }

    /// The scope when none is given.
    pub fn default_scope(self) -> Scope {
        match self {
            Self::ClaudeCode | Self::VsCode => Scope::Project,
            _ => Scope::User,
        }
    }

    /// Whether the file is TOML; the others are JSON.
    pub fn is_toml(self) -> bool {
        self == Self::Codex
    }

    /// The object or table that holds the servers.
    pub fn parent(self) -> &'static str {
        match self {
            Self::Codex => "mcp_servers",
            Self::OpenCode => "mcp",
            Self::VsCode => "servers",
            _ => "mcpServers",
        }
    }

    /// The configuration file; `None` where the client has none that we may write.
    ///
    /// # Errors
    /// `output` when the home folder is not known.
    pub fn file(self, scope: Scope, environment: &Environment) -> Result<Option<PathBuf>, Failure> {
        if scope == Scope::Project {
            return Ok(match self {
                Self::ClaudeDesktop => None,
                Self::ClaudeCode => Some("./.mcp.json".into()),
                Self::Codex => Some("./.codex/config.toml".into()),
                Self::Gemini => Some("./.gemini/settings.json".into()),
                Self::OpenCode => Some("./opencode.json".into()),
                Self::VsCode => Some("./.vscode/mcp.json".into()),
                Self::Cursor => Some("./.cursor/mcp.json".into()),
            });
        }
        let home = || home(environment);
        let application = |mac: &str, windows: &str, linux: &str| -> Result<PathBuf, Failure> {
            if cfg!(target_os = "macos") {
                Ok(home()?.join("Library/Application Support").join(mac))
            } else if cfg!(windows) {
                let folder = environment.get("APPDATA").map(PathBuf::from);
                Ok(folder.map_or_else(|| home().map(|home| home.join("AppData/Roaming")), Ok)?.join(windows))
            } else {
                Ok(home()?.join(".config").join(linux))
            }
        };
        Ok(match self {
            Self::ClaudeDesktop => {
                let file = "Claude/claude_desktop_config.json";
                Some(application(file, file, file)?)
            }
            Self::ClaudeCode => None,
            Self::Codex => Some(match environment.get("CODEX_HOME") {
                Some(folder) => Path::new(folder).join("config.toml"),
                None => home()?.join(".codex/config.toml"),
            }),
            Self::Gemini => Some(home()?.join(".gemini/settings.json")),
            Self::OpenCode => Some(home()?.join(".config/opencode/opencode.json")),
            Self::VsCode => {
                Some(application("Code/User/mcp.json", "Code/User/mcp.json", "Code/User/mcp.json")?)
            }
            Self::Cursor => Some(home()?.join(".cursor/mcp.json")),
        })
    }

    /// The entry that starts our server.
    pub fn entry(self, launcher: &Launcher) -> Value {
        let Launcher { program, arguments } = launcher;
        match self {
            Self::VsCode => json!({ "type": "stdio", "command": program, "args": arguments }),
            Self::OpenCode => {
                let command: Vec<&String> = std::iter::once(program).chain(arguments).collect();
                json!({ "type": "local", "command": command, "enabled": true })
            }
            _ => json!({ "command": program, "args": arguments }),
        }
    }

    /// How the client is made to look again.
    pub fn reload(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "quit Claude Desktop and open it again",
            Self::ClaudeCode => "start a new claude session in this folder and approve the server",
            Self::Codex => "start a new codex session",
            Self::Gemini => "start a new gemini session; the folder must be trusted",
            Self::OpenCode => "start opencode again",
            Self::VsCode => "run \"MCP: List Servers\" in VS Code and start perfxpert",
            Self::Cursor => "open Cursor's settings, MCP, and switch perfxpert on",
        }
    }
}

/// Program and arguments of an entry in any client's form.
pub fn launcher_of(entry: &Value) -> Option<Launcher> {
    let words = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    match entry.get("command")? {
        Value::String(program) => {
            let arguments = entry.get("args").map_or(Some(Vec::new()), words)?;
            Some(Launcher { program: program.clone(), arguments })
        }
        list => {
            let mut all = words(list)?;
            let program = (!all.is_empty()).then(|| all.remove(0))?;
            Some(Launcher { program, arguments: all })
        }
    }
}

/// The home folder.
///
/// # Errors
/// `output` when no variable names it.
pub fn home(environment: &Environment) -> Result<PathBuf, Failure> {
    environment
        .first(&["HOME", "USERPROFILE"])
        .map(|(_, path)| PathBuf::from(path))
        .ok_or_else(|| Failure::output("the client's file", "there is no home folder"))
}

/// A path with the home folder as `~`.
pub fn tilde(path: &Path, environment: &Environment) -> String {
    match home(environment).ok().and_then(|home| path.strip_prefix(home).ok().map(Path::to_path_buf)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
