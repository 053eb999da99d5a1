//! Runs the built programs as a user or a client would: real processes, real pipes, an empty home.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a process may take before the test gives up on it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The folder of the built programs; builds them first, once per test process.
///
/// # Panics
/// When they do not build.
pub fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // target/debug/deps/<test> → target/debug
        let test = std::env::current_exe().unwrap_or_default();
        let folder = test.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "-p", "perfxpert", "-p", "perfxpert-tests", "--bins"]);
        build.current_dir(crate::workspace()).env("CARGO_TARGET_DIR", folder.parent().unwrap_or(&folder));
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().is_ok_and(|status| status.success()), "the programs do not build");
        folder
    })
}

/// An empty home and working folder for the programs under test.
pub struct Home {
    /// The folder; `HOME` and the working folder are inside it.
    pub folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

/// What a process left behind.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; -1 after a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Home {
    /// A fresh one.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn new() -> Self {
        let folder = tempfile::tempdir();
        assert!(folder.is_ok(), "a temporary folder is needed");
        let Ok(folder) = folder else { unreachable!() };
        for inner in ["home", "work"] {
            let made = std::fs::create_dir(folder.path().join(inner));
            assert!(made.is_ok());
        }
        Self { folder, variables: Vec::new() }
    }

    /// A fresh one whose programs talk to the stand-in server.
    pub fn with_fake_server() -> Self {
        let program = programs().join("fake-server");
        Self::new().set("PERFXPERT_MCP_BIN", &program.display().to_string())
    }

    /// Adds a variable.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The working folder.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes a file below the working folder.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.work().join(name);
        let made = path.parent().map(std::fs::create_dir_all);
        assert!(made.is_some_and(|made| made.is_ok()) && std::fs::write(&path, content).is_ok(), "{name}");
        path
    }

    /// A command of a built program in this home, without any other variable.
    pub fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(programs().join(program));
        command.args(words).env_clear().current_dir(self.work());
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.home()).env("LANG", "C.UTF-8");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `perfxpert`.
    pub fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, "")
    }

    /// Runs `perfxpert` with this standard input.
    ///
    /// # Panics
    /// When it cannot be started or does not end.
    pub fn run_with(&self, words: &[&str], input: &str) -> Ran {
        let mut command = self.command("perfxpert", words);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        assert!(child.is_ok(), "perfxpert does not start");
        let Ok(mut child) = child else { unreachable!() };
        if let Some(mut stdin) = child.stdin.take() {
            // It may not care for its input.
            let _ = stdin.write_all(input.as_bytes());
        }
        ran(child.wait_with_output().ok())
    }

    /// Starts `perfxpert` with pipes.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(&self, words: &[&str]) -> Child {
        let mut command = self.command("perfxpert", words);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        assert!(child.is_ok(), "perfxpert does not start");
        let Ok(child) = child else { unreachable!() };
        child
    }

    /// Names of the files in the working folder, sorted.
    pub fn listing(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.work())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// An ended process as text.
pub fn ran(output: Option<Output>) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    output.map_or(Ran { code: -1, stdout: String::new(), stderr: String::new() }, |output| Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    })
}

/// Waits for a child; `None` when it does not end in time.
pub fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.code().unwrap_or(-1));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// A server under test, spoken to line by line.
pub struct Mcp {
    /// The process.
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
}

impl Mcp {
    /// Starts a server from a command.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(mut command: Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        assert!(child.is_ok(), "the server does not start");
        let Ok(mut child) = child else { unreachable!() };
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        if let Some(mut stderr) = child.stderr.take() {
            std::thread::spawn(move || {
                let mut log = Vec::new();
                let _ = stderr.read_to_end(&mut log);
            });
        }
        Self { stdin: child.stdin.take(), child, lines, next_id: 1 }
    }

    /// Starts it and shakes hands.
    ///
    /// # Panics
    /// When the handshake fails.
    pub fn open(command: Command) -> Self {
        let mut server = Self::start(command);
        let hello = server.request(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
        );
        assert!(hello.get("result").is_some(), "{hello}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            // A server that is gone shows in the next answer.
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// The next line.
    ///
    /// # Panics
    /// When there is none in time.
    pub fn line(&self) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        assert!(line.is_ok(), "the server says nothing");
        line.unwrap_or_default()
    }

    /// Sends a request and returns its answer; notifications before it are dropped.
    ///
    /// # Panics
    /// When a line is not JSON.
    pub fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        loop {
            let line = self.line();
            let message = serde_json::from_str::<Value>(&line);
            assert!(message.is_ok(), "not JSON-RPC: {line}");
            let message = message.unwrap_or_default();
            if message.get("id") == Some(&json!(id)) {
                return message;
            }
        }
    }

    /// Calls a tool and returns its result object.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        answer.get("result").cloned().unwrap_or(answer)
    }

    /// The entries of `tools/list`.
    pub fn tools(&mut self) -> Vec<Value> {
        let answer = self.request("tools/list", json!({}));
        answer.pointer("/result/tools").and_then(Value::as_array).cloned().unwrap_or_default()
    }

    /// Closes the input; returns exit code and how long the server took.
    pub fn hang_up(mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        drop(self.stdin.take());
        (wait(&mut self.child, PATIENCE), began.elapsed())
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
