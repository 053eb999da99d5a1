//! Runs a helper program for its output: no shell, closed stdin, a time limit and a size limit.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::environment::Environment;

/// Most bytes of output that are kept.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Finds a program on `PATH`, then in these folders.
pub fn find(name: &str, environment: &Environment, also: &[&str]) -> Option<PathBuf> {
    let path = environment.get("PATH").unwrap_or_default();
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .chain(also.iter().map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|program| is_executable(program))
}

/// Whether a file is there and may be run.
pub fn is_executable(path: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    let runs = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let runs = true;
    metadata.is_file() && runs
}

/// The program's standard output when it ends well in time.
pub fn output(program: &Path, arguments: &[&str], limit: Duration) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    // Beside us, so that a program that writes and never ends cannot hold us.
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(LARGEST).read_to_end(&mut bytes);
        // Whoever waited may have given up.
        let _ = sender.send(read.map(|_| bytes));
    });
    let end = Instant::now() + limit;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    if !status?.success() {
        return None;
    }
    let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(100));
    let bytes = receiver.recv_timeout(left).ok()?.ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_its_time_and_not_more() {
        let sh = Path::new("/bin/sh");
        let run = |script: &str, ms: u64| output(sh, &["-c", script], Duration::from_millis(ms));
        assert_eq!(run("echo hello", 5000).as_deref(), Some("hello\n"));
        assert_eq!(run("exit 3", 5000), None);
        let began = Instant::now();
        assert_eq!(run("exec sleep 30", 200), None);
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(run("cat", 5000).as_deref(), Some(""), "stdin is closed");
    }
}
