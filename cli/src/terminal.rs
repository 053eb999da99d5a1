//! Standard output and error as this run uses them: encoding, colour, quiet, and readers that go away.

use std::io::{IsTerminal, Write};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::text;

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal, unless a variable forbids it.
    #[default]
    Auto,
    /// Even in a pipe.
    Always,
    /// Nowhere.
    Never,
}

/// How this run speaks.
#[derive(Clone, Debug, Default)]
pub struct Terminal {
    /// No notes, warnings or progress.
    pub quiet: bool,
    /// 1 = info, 2 = debug log lines of the server on standard error.
    pub verbosity: u8,
    /// Errors and warnings as JSON lines.
    pub json_errors: bool,
    /// Causes after an error line.
    pub debug: bool,
    colour: Colour,
    ascii: bool,
}

impl Terminal {
    /// Decides encoding and colour from flag, environment and what standard output is.
    pub fn new(environment: &Environment, flag: Option<Colour>) -> Self {
        let colour = match flag {
            Some(colour) if colour != Colour::Auto => colour,
            _ if environment.get("NO_COLOR").is_some() => Colour::Never,
            _ if environment.get("CLICOLOR_FORCE").is_some_and(|value| value.trim() != "0") => Colour::Always,
            _ => Colour::Auto,
        };
        let ascii = cfg!(unix) && std::io::stdout().is_terminal() && !names_utf8(environment);
        Self { colour, ascii, ..Self::default() }
    }

    /// The same encoding and colour, speaking as told.
    #[must_use]
    pub fn speaking(self, quiet: bool, verbosity: u8, json_errors: bool, debug: bool) -> Self {
        Self { quiet, verbosity, json_errors, debug, ..self }
    }

    /// Whether our own glyphs are replaced by ASCII.
    pub fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// Columns of the terminal behind standard output, if it is one.
    pub fn columns(&self) -> Option<usize> {
        std::io::stdout()
            .is_terminal()
            .then(terminal_size::terminal_size)
            .flatten()
            .map(|(width, _)| width.0.into())
    }

    /// Whether text on standard output may be coloured.
    pub fn colours_stdout(&self) -> bool {
        match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => std::io::stdout().is_terminal(),
        }
    }

    /// Whether text on standard error may be coloured.
    pub fn colours_stderr(&self) -> bool {
        match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => std::io::stderr().is_terminal(),
        }
    }

    /// Writes the command's product, ending in exactly one newline. A reader that went away is no error.
    ///
    /// # Errors
    /// `output` when standard output cannot be written for another reason.
    pub fn product(&self, product: &str) -> Result<(), Failure> {
        let mut product = if self.ascii { text::ascii(product) } else { product.to_owned() };
        product.truncate(product.trim_end_matches('\n').len());
        if !product.is_empty() {
            product.push('\n');
        }
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(product.as_bytes()).and_then(|()| stdout.flush());
        match written {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::output("standard output", error))
            }
            _ => Ok(()),
        }
    }

    /// Writes a question on standard output, without a newline of its own.
    ///
    /// # Errors
    /// `output` when standard output cannot be written; a reader that went away is no error.
    pub fn prompt(&self, question: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(question.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::output("standard output", error))
            }
            _ => Ok(()),
        }
    }

    /// A line on standard error that `--quiet` does not silence.
    pub fn say(&self, line: &str) {
        let line = text::escape_line(line);
        let line = if self.ascii { text::ascii(&line) } else { line };
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// A line on standard error, unless quiet.
    pub fn remark(&self, line: &str) {
        if !self.quiet {
            self.say(line);
        }
    }

    /// A note.
    pub fn note(&self, message: &str) {
        if !self.quiet && !self.json_errors {
            self.say(&format!("perfxpert: note: {message}"));
        }
    }

    /// A warning.
    pub fn warn(&self, message: &str) {
        if self.quiet {
            return;
        }
        if self.json_errors {
            let warning = serde_json::json!({ "warning": { "message": message } });
            self.say(&text::escape_json(&warning.to_string()));
        } else {
            self.say(&format!("perfxpert: warning: {message}"));
        }
    }

    /// The error that ended the command.
    pub fn failure(&self, failure: &Failure) {
        if self.json_errors {
            self.say(&failure.json_line());
            return;
        }
        self.say(&failure.line());
        if self.debug {
            for cause in &failure.causes {
                self.say(&format!("  cause: {cause}"));
            }
        }
    }
}

/// Whether the first locale variable that is set names UTF-8.
fn names_utf8(environment: &Environment) -> bool {
    environment.first(&["LC_ALL", "LC_CTYPE", "LANG"]).is_some_and(|(_, value)| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_variable_decides() {
        let locale = |pairs: &[(&str, &str)]| names_utf8(&Environment::of(pairs));
        assert!(locale(&[("LANG", "de_DE.UTF-8")]));
        assert!(locale(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")]));
        assert!(!locale(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
        assert!(!locale(&[]));
    }

    #[test]
    fn the_flag_beats_the_variables_and_no_color_the_force() {
        let colour = |pairs: &[(&str, &str)], flag| Terminal::new(&Environment::of(pairs), flag).colour;
        assert_eq!(colour(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], None), Colour::Never);
        assert_eq!(colour(&[("NO_COLOR", "1")], Some(Colour::Always)), Colour::Always);
        assert_eq!(colour(&[("CLICOLOR_FORCE", "0")], None), Colour::Auto);
        assert_eq!(colour(&[("CLICOLOR_FORCE", "1")], Some(Colour::Auto)), Colour::Always);
    }
}
