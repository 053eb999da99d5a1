//! Progress on standard error: nothing, plain lines, or a one-line spinner.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::client::Phase;
use crate::failure::Failure;
use crate::options::{self, Absent, Values};
use crate::{App, text};

/// The words of `--progress`.
pub const WORDS: [&str; 3] = ["auto", "plain", "off"];
const FRAMES: [char; 8] = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇', '⠏', '⠹'];
const PLAIN_FRAMES: [char; 4] = ['|', '/', '-', '\\'];
/// Between two frames.
const FRAME: Duration = Duration::from_millis(125);
/// Before the first frame: short work draws nothing.
const FIRST: Duration = Duration::from_millis(500);
/// What is shown before the server has said anything.
const FIRST_LABEL: &str = "waiting on agent";

/// The options of a command that shows progress.
pub fn arguments() -> [clap::Arg; 2] {
    [
        options::word(
            "progress",
            &WORDS,
            "Progress on stderr",
            Absent::is("auto").or_variable("PERFXPERT_PROGRESS"),
        ),
        options::switch("no-progress", "Same as --progress off", None).conflicts_with("progress"),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Silent,
    Plain,
    Spinner,
}

/// Shows the phases of one run. Clones show on the same line.
#[derive(Clone)]
pub struct Progress {
    mode: Mode,
    last: Arc<Mutex<String>>,
    spinner: Option<Arc<Spinner>>,
}

impl Progress {
    /// Decides how progress is shown and starts showing it.
    ///
    /// # Errors
    /// `usage` for a bad `PERFXPERT_PROGRESS`.
    pub fn start(app: &App, values: &Values<'_>, with_model: bool) -> Result<Self, Failure> {
        let word = values.word_or("progress", "PERFXPERT_PROGRESS", &WORDS)?;
        let off = values.switch("no-progress") || word.as_deref() == Some("off");
        let terminal = std::io::stderr().is_terminal();
        let dumb = app.environment.get("TERM").is_none_or(|term| term == "dumb");
        let mode = if app.terminal.quiet || app.terminal.verbosity > 0 || off {
            Mode::Silent
        } else if word.as_deref() == Some("plain") {
            Mode::Plain
        } else if terminal && !dumb {
            Mode::Spinner
        } else if !terminal && with_model {
            Mode::Plain
        } else {
            Mode::Silent
        };
        let last = Arc::new(Mutex::new(String::new()));
        let spinner = (mode == Mode::Spinner)
            .then(|| Arc::new(Spinner::start(app.terminal.colours_stderr(), app.terminal.is_ascii())));
        Ok(Self { mode, last, spinner })
    }

    /// Shows a phase when it differs from the one before.
    pub fn phase(&self, phase: &Phase) {
        let Ok(mut last) = self.last.lock() else { return };
        let message = text::escape_line(&phase.message);
        match self.mode {
            Mode::Silent => {}
            Mode::Plain if *last != message => {
                let _ = writeln!(std::io::stderr(), "[perfxpert] {message}");
            }
            Mode::Plain => {}
            Mode::Spinner => {
                let label = match phase.percent {
                    Some(percent) => format!("{message} {percent:.0}%"),
                    None => message.clone(),
                };
                if let Some(spinner) = &self.spinner {
                    spinner.label(label);
                }
            }
        }
        *last = message;
    }

    /// Shows a phase of our own.
    pub fn say(&self, message: &str) {
        self.phase(&Phase { message: message.to_owned(), percent: None });
    }

    /// Erases the spinner. Further phases show nothing.
    pub fn end(self) {
        drop(self);
    }
}

/// A thread that draws on the last line of the terminal.
struct Spinner {
    label: Arc<Mutex<String>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    fn start(coloured: bool, ascii: bool) -> Self {
        let label = Arc::new(Mutex::new(FIRST_LABEL.to_owned()));
        let shown = Arc::clone(&label);
        let (stop, stopped) = mpsc::channel();
        let frames: &'static [char] = if ascii { &PLAIN_FRAMES } else { &FRAMES };
        let thread = std::thread::spawn(move || {
            let (on, off) = if coloured { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
            let mut wait = FIRST;
            let mut drawn = false;
            for frame in frames.iter().cycle() {
                if !matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
                    break;
                }
                let label = shown.lock().map(|label| label.clone()).unwrap_or_default();
                let label: String = label.chars().take(70).collect();
                let _ = write!(std::io::stderr(), "\r\x1b[K{on}{frame} {label}{off}");
                drawn = true;
                wait = FRAME;
            }
            if drawn {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
        });
        Self { label, stop: Some(stop), thread: Some(thread) }
    }

    fn label(&self, label: String) {
        if let Ok(mut place) = self.label.lock() {
            *place = label;
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
