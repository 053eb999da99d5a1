//! Where a report goes, and how a file is written so that it is whole or untouched.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::Failure;
use crate::signals;

/// Where a product goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// This file.
    File(PathBuf),
}

/// What decides the destination.
#[derive(Clone, Copy, Debug)]
pub struct Routing<'a> {
    /// `-o`.
    pub name: Option<&'a str>,
    /// `-d`.
    pub folder: Option<&'a str>,
    /// Name when none is given.
    pub stem: &'a str,
    /// Extension of the format, without its dot.
    pub extension: &'a str,
    /// Without name and folder the product goes to standard output.
    pub shown_by_default: bool,
}

impl Routing<'_> {
    /// The destination.
    ///
    /// # Errors
    /// `usage` for a name that names no file, or an absolute name together with a folder.
    pub fn destination(&self) -> Result<Destination, Failure> {
        if self.name == Some("-") {
            return Ok(Destination::Stdout);
        }
        let file = match self.name {
            None if self.folder.is_none() && self.shown_by_default => return Ok(Destination::Stdout),
            None => format!("{}.{}", self.stem, self.extension),
            Some(name) => self.checked(name)?,
        };
        let path = match self.folder {
            Some(folder) => Path::new(folder).join(file),
            None => PathBuf::from(file),
        };
        Ok(Destination::File(path))
    }

    fn checked(&self, name: &str) -> Result<String, Failure> {
        if name.is_empty() {
            return Err(Failure::usage("-o", "-o: the name is empty.", "Give a name, or - for stdout."));
        }
        let last = Path::new(name).components().next_back();
        let dotted = name.split('/').next_back().is_some_and(|part| part == "." || part == "..");
        if name.ends_with('/') || dotted || !matches!(last, Some(Component::Normal(_))) {
            let message = format!("-o: '{name}' does not name a file.");
            return Err(Failure::usage("-o", message, "Give a file's name; -d takes a folder."));
        }
        if self.folder.is_some() && Path::new(name).is_absolute() {
            let message = format!("-o: '{name}' is absolute, but -d gives a folder.");
            return Err(Failure::usage("-o", message, "Leave -d out or give a relative name."));
        }
        let ending = format!(".{}", self.extension);
        Ok(if name.ends_with(&ending) { name.to_owned() } else { format!("{name}{ending}") })
    }
}

/// The path as a person wrote it, with `./` in front when it has no folder.
pub fn shown(path: &Path) -> String {
    let bare = path.parent().is_none_or(|parent| parent.as_os_str().is_empty());
    if bare { format!("./{}", path.display()) } else { path.display().to_string() }
}

/// The name a report takes from its input: without folders and the last extension; a folder's own name.
pub fn stem(input: &Path) -> String {
    let named = match input.file_name() {
        Some(_) => input.to_path_buf(),
        None => fs::canonicalize(input).unwrap_or_else(|_| input.to_path_buf()),
    };
    let stem = if input.is_dir() { named.file_name() } else { named.file_stem() };
    stem.map_or_else(|| "analysis".to_owned(), |stem| stem.to_string_lossy().replace('\u{fffd}', "_"))
}

/// A file to be written, checked before the work that fills it.
#[derive(Clone, Debug)]
pub struct Target {
    shown: String,
    real: PathBuf,
}

impl Target {
    /// Checks that the file may be written: not an input, not a folder or device, in a folder that exists or can be
    /// made. Creates nothing.
    ///
    /// # Errors
    /// `output`: exit 2 for a target that must not be replaced, 1 for a folder that cannot be written.
    pub fn check(path: &Path, inputs: &[PathBuf], replace: bool) -> Result<Self, Failure> {
        let target = Self { shown: path.display().to_string(), real: follow(path) };
        if let Ok(metadata) = fs::metadata(&target.real) {
            if !metadata.is_file() {
                return Err(target.refused("it is not a regular file"));
            }
            if inputs.iter().any(|input| same_file(input, &target.real)) {
                return Err(target.refused("it is an input of this command"));
            }
            if !replace {
                return Err(target.refused("it exists and --no-clobber was given"));
            }
        }
        target.try_folder()?;
        Ok(target)
    }

    fn refused(&self, why: &str) -> Failure {
        Failure::output(&self.shown, why).exits(2)
    }

    fn folder(&self) -> &Path {
        match self.real.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// The nearest folder that exists must take a new file.
    fn try_folder(&self) -> Result<(), Failure> {
        let mut folder = self.folder();
        while !folder.exists() {
            folder = match folder.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
        }
        if !folder.is_dir() {
            return Err(Failure::output(&self.shown, format!("{} is not a folder", folder.display())));
        }
        let probe = folder.join(temporary_name());
        let made = OpenOptions::new().write(true).create_new(true).open(&probe);
        let _ = fs::remove_file(&probe);
        made.map(drop).map_err(|error| Failure::output(&self.shown, error))
    }

    /// Writes the file: whole, or not at all.
    ///
    /// # Errors
    /// `output`, naming the path and the cause.
    pub fn write(&self, content: &[u8]) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::output(&self.shown, error);
        fs::create_dir_all(self.folder()).map_err(failed)?;
        let temporary = self.folder().join(temporary_name());
        signals::unfinished(temporary.clone());
        let outcome = self.fill(&temporary, content).and_then(|()| {
            if signals::current().is_some() {
                return Err(std::io::Error::other("cancelled"));
            }
            fs::rename(&temporary, &self.real)
        });
        if outcome.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        signals::finished(&temporary);
        outcome.map_err(failed)
    }

    fn fill(&self, temporary: &Path, content: &[u8]) -> std::io::Result<()> {
        let mut file = new_file(temporary)?;
        if let Ok(metadata) = fs::metadata(&self.real) {
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(content)?;
        file.sync_all()
    }
}

fn new_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Writes a file for its owner only when it is new; an existing one keeps its mode.
///
/// # Errors
/// `output`, naming the path and the cause.
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let is_new = !path.exists();
    let target = Target { shown: path.display().to_string(), real: follow(path) };
    if is_new {
        // Made empty with its final mode first, so that the content is never readable to others.
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Failure::output(&target.shown, error))?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map_err(|error| Failure::output(&target.shown, error))?;
    }
    let outcome = target.write(content);
    if outcome.is_err() && is_new {
        let _ = fs::remove_file(path);
    }
    outcome
}

/// A name that no other run or thread uses.
fn temporary_name() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.subsec_nanos());
    let unique = nanos.wrapping_add(COUNTER.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9));
    format!(".perfxpert-{}-{unique:08x}.tmp", std::process::id())
}

/// The file that a path leads to, also through links to files that do not exist yet.
fn follow(path: &Path) -> PathBuf {
    let mut real = path.to_path_buf();
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&real) else { break };
        real = match real.parent() {
            Some(parent) => parent.join(target),
            None => target,
        };
    }
    real
}

/// Same device and inode, or the same canonical path where those are not known.
pub fn same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let key = |path: &Path| fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
        key(one).is_some() && key(one) == key(other)
    }
    #[cfg(not(unix))]
    {
        let key = |path: &Path| fs::canonicalize(path).ok();
        key(one).is_some() && key(one) == key(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(format: &str, name: Option<&str>, folder: Option<&str>, stem: &str) -> Result<String, Failure> {
        let (extension, shown_by_default) = match format {
            "text" => ("txt", true),
            "markdown" => ("md", false),
            "webview" => ("html", false),
            other => (other, false),
        };
        let routing = Routing { name, folder, stem, extension, shown_by_default };
        routing.destination().map(|destination| match destination {
            Destination::Stdout => "stdout".to_owned(),
            Destination::File(path) => shown(&path),
        })
    }

    #[test]
    fn every_row_of_the_routing_table() {
        let stem = stem(Path::new("out/results_results.db"));
        for (format, name, folder, expected) in [
            ("text", None, None, "stdout"),
            ("text", None, Some("r"), "r/results_results.txt"),
            ("text", Some("n"), None, "./n.txt"),
            ("json", None, None, "./results_results.json"),
            ("webview", Some("report"), Some("out"), "out/report.html"),
            ("webview", Some("report.html"), None, "./report.html"),
            ("webview", Some("report.htm"), None, "./report.htm.html"),
            ("json", Some("-"), Some("out"), "stdout"),
            ("markdown", Some("-"), None, "stdout"),
            ("markdown", Some("sub/pr"), None, "sub/pr.md"),
            ("markdown", None, Some("d"), "d/results_results.md"),
            ("json", Some("/abs/n"), None, "/abs/n.json"),
        ] {
            assert_eq!(route(format, name, folder, &stem).unwrap(), expected, "{format} {name:?} {folder:?}");
        }
        assert_eq!(route("json", None, None, "analysis").unwrap(), "./analysis.json");
    }

    #[test]
    fn names_that_name_no_file_are_refused() {
        for (name, folder) in [
            ("", None),
            (".", None),
            ("..", None),
            ("a/..", None),
            ("a/.", None),
            ("a/", None),
            ("/abs", Some("d")),
        ] {
            let failure = route("json", Some(name), folder, "s").unwrap_err();
            assert_eq!(failure.exit_code(), 2, "{name}");
        }
    }

    #[test]
    fn stems_lose_folders_and_one_extension() {
        assert_eq!(stem(Path::new("a/b.c.db")), "b.c");
        assert_eq!(stem(Path::new("noext")), "noext");
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("run.1");
        fs::create_dir(&inner).unwrap();
        assert_eq!(stem(&inner), "run.1");
        assert_eq!(stem(&inner.join("..").join("run.1").join(".")), "run.1");
    }

    #[cfg(unix)]
    #[test]
    fn a_write_is_whole_keeps_mode_and_links_and_leaves_nothing_else() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("real.txt");
        let link = folder.path().join("link.txt");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("real.txt", &link).unwrap();
        Target::check(&link, &[], true).unwrap().write(b"new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        let deep = folder.path().join("a/b/c.txt");
        Target::check(&deep, &[], true).unwrap().write(b"x").unwrap();
        let mut names: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["a", "link.txt", "real.txt"]);
    }

    #[test]
    fn inputs_folders_and_kept_files_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in.db");
        fs::write(&input, "x").unwrap();
        let hard = folder.path().join("hard.db");
        fs::hard_link(&input, &hard).unwrap();
        for (path, replace) in [(&hard, true), (&folder.path().to_path_buf(), true), (&input, false)] {
            let failure = Target::check(path, std::slice::from_ref(&input), replace).unwrap_err();
            assert_eq!(failure.exit_code(), 2);
            assert_eq!(failure.error.kind.as_str(), "output");
        }
        let below_file = input.join("x.txt");
        assert_eq!(Target::check(&below_file, &[], true).unwrap_err().exit_code(), 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_its_owners() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("perfxpert/config.yaml");
        write_private(&path, b"airgap: true\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&path).unwrap(), b"airgap: true\n");
    }
}
