//! The configuration file: one flat YAML mapping, read strictly, so that a typing error never goes unnoticed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::ConfigValues;
use crate::settings::boolean;

/// Largest file that is read, in bytes.
const LARGEST: usize = 64 * 1024;
/// The model services by name.
const PROVIDERS: [&str; 5] = ["anthropic", "openai", "ollama", "private", "opencode"];

/// What a key may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Boolean,
    /// A number in a range.
    Number(f64, f64),
    /// A whole number in a range.
    Integer(i64, i64),
    /// Any text, or null.
    Text,
    /// A list of these words.
    List(&'static [&'static str]),
}

/// One key of the file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// Its value when neither variable nor file give one, as YAML.
    pub default: &'static str,
    /// The variable that beats it.
    pub variable: &'static str,
}

const fn key(name: &'static str, kind: Kind, default: &'static str, variable: &'static str) -> Key {
    Key { name, kind, default, variable }
}

/// Every key, sorted by name.
pub const KEYS: [Key; 11] = [
    key("agent_creativity", Kind::Word(&["strict", "exploratory"]), "strict", "PERFXPERT_AGENT_CREATIVITY"),
    key("airgap", Kind::Boolean, "false", "PERFXPERT_AIRGAP"),
    key("ci_threshold_pct", Kind::Number(0.0, 1000.0), "5.0", "PERFXPERT_CI_REGRESSION_THRESHOLD"),
    key("fallback_chain", Kind::List(&PROVIDERS), "[]", "PERFXPERT_LLM_FALLBACK_CHAIN"),
    key("fence_profile", Kind::Word(&["minimal", "standard", "full"]), "standard", "PERFXPERT_FENCE_PROFILE"),
    key("hot_kernel_coverage_pct", Kind::Number(0.0, 100.0), "80.0", "PERFXPERT_HOT_KERNEL_COVERAGE_PCT"),
    key("max_tokens", Kind::Integer(1, 32_768), "2048", "PERFXPERT_MAX_TOKENS"),
    key("model", Kind::Text, "null", "PERFXPERT_MODEL"),
    key("provider", Kind::Word(&PROVIDERS), "anthropic", "PERFXPERT_PROVIDER"),
    key("redact_paths", Kind::Boolean, "false", "PERFXPERT_REDACT_PATHS"),
    key("regression_threshold_pct", Kind::Number(0.0, 100.0), "3.0", "PERFXPERT_REGRESSION_THRESHOLD_PCT"),
];

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word or text.
    Text(String),
    /// True or false.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// Words.
    List(Vec<String>),
    /// No value.
    Null,
}

impl std::fmt::Display for Value {
    /// The value as YAML on one line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&scalar(text)),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:?}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::List(words) => write!(f, "[{}]", words.join(", ")),
            Self::Null => f.write_str("null"),
        }
    }
}

/// A text as a YAML scalar: bare when that reads back as the same text, else in double quotes.
fn scalar(text: &str) -> String {
    let bare =
        serde_yaml::from_str::<serde_yaml::Value>(text).ok().as_ref().and_then(serde_yaml::Value::as_str)
            == Some(text);
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.contains(['#', '&', '*', '!', ',']);
    if bare && plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// What is wrong with the file, or with a value meant for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// 1-based line; 0 when the fault is the file's as a whole.
    pub line: usize,
    /// What is wrong, without the place.
    pub message: String,
    /// The key that is at fault, when it is one that does not exist.
    pub unknown_key: Option<String>,
}

impl Fault {
    fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into(), unknown_key: None }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// Finds a key by name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

impl Key {
    /// Reads a value from a variable or a command line; lists are comma-separated.
    ///
    /// # Errors
    /// What is accepted instead, as the rest of a sentence that begins with the value.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        match self.kind {
            Kind::Word(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::Word(words) => Err(format!("is not one of {}", words.join(", "))),
            Kind::Boolean => {
                boolean(text).map(Value::Boolean).ok_or_else(|| "is neither true nor false".to_owned())
            }
            Kind::Number(least, most) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() && (least..=most).contains(&value) => Ok(Value::Number(value)),
                _ => Err(format!("is not a number from {least} to {most}")),
            },
            Kind::Integer(least, most) => match text.parse::<i64>() {
                Ok(value) if (least..=most).contains(&value) => Ok(Value::Integer(value)),
                _ => Err(format!("is not a whole number from {least} to {most}")),
            },
            Kind::Text if text.is_empty() || text == "null" => Ok(Value::Null),
            Kind::Text => Ok(Value::Text(text.to_owned())),
            Kind::List(words) => {
                let list: Vec<String> = text
                    .split(',')
                    .map(|word| word.trim().to_owned())
                    .filter(|word| !word.is_empty())
                    .collect();
                if list.iter().all(|word| words.contains(&word.as_str())) {
                    Ok(Value::List(list))
                } else {
                    Err(format!("is not a comma list of {}", words.join(", ")))
                }
            }
        }
    }

    /// The value when nothing else gives one.
    pub fn default_value(&self) -> Value {
        match self.kind {
            Kind::List(_) => Value::List(Vec::new()),
            _ => self.read(self.default).unwrap_or(Value::Null),
        }
    }

    /// Checks a YAML value of the file: its type must be the key's own.
    fn accept(&self, value: &serde_yaml::Value) -> Result<Value, String> {
        use serde_yaml::Value as Yaml;
        match (self.kind, value) {
            (Kind::Text, Yaml::Null) => Ok(Value::Null),
            (Kind::Word(_) | Kind::Text, Yaml::String(text)) => self.read(text),
            (Kind::Boolean, Yaml::Bool(value)) => Ok(Value::Boolean(*value)),
            (Kind::Boolean, Yaml::String(text)) if !text.trim().is_empty() => self.read(text),
            (Kind::Number(..) | Kind::Integer(..), Yaml::Number(number)) => self.read(&number.to_string()),
            (Kind::List(_), Yaml::Sequence(rows)) => {
                match rows.iter().map(Yaml::as_str).collect::<Option<Vec<_>>>() {
                    Some(words) => self.read(&words.join(",")),
                    None => Err("is not a list of words".to_owned()),
                }
            }
            (Kind::Word(words), _) => Err(format!("is not one of {}", words.join(", "))),
            (Kind::Boolean, _) => Err("is neither true nor false".to_owned()),
            (Kind::Number(least, most), _) => Err(format!("is not a number from {least} to {most}")),
            (Kind::Integer(least, most), _) => Err(format!("is not a whole number from {least} to {most}")),
            (Kind::Text, _) => Err("is not a text".to_owned()),
            (Kind::List(_), _) => Err("is not a list of words".to_owned()),
        }
    }
}

/// A configuration file that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    values: BTreeMap<&'static str, Value>,
}

impl Config {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// The first fault with its line.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > LARGEST {
            return Err(Fault::at(0, "the file is larger than 64 KiB"));
        }
        let lines = key_lines(text)?;
        let mapping = match serde_yaml::from_str::<serde_yaml::Value>(text) {
            Ok(serde_yaml::Value::Mapping(mapping)) => mapping,
            Ok(serde_yaml::Value::Null) => return Ok(Self::default()),
            Ok(_) => return Err(Fault::at(1, "not a mapping of keys to values")),
            Err(error) => {
                let line = error.location().map_or(1, |place| place.line());
                return Err(Fault::at(line, format!("not YAML: {error}")));
            }
        };
        let mut values = BTreeMap::new();
        for (name, line) in &lines {
            let Some(key) = find(name) else {
                let message = format!("unknown key {name}");
                return Err(Fault { line: *line, message, unknown_key: Some(name.clone()) });
            };
            let value = mapping.get(name.as_str()).unwrap_or(&serde_yaml::Value::Null);
            let accepted =
                key.accept(value).map_err(|why| Fault::at(*line, format!("the value of {name} {why}")))?;
            values.insert(key.name, accepted);
        }
        Ok(Self { values })
    }

    /// The file's own value of a key.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// What the settings of the model services take from the file.
    pub fn values(&self) -> ConfigValues {
        let text = |name: &str| match self.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        ConfigValues {
            airgap: match self.get("airgap") {
                Some(Value::Boolean(value)) => Some(*value),
                _ => None,
            },
            unreadable: false,
            fallback_chain: match self.get("fallback_chain") {
                Some(Value::List(words)) => words.clone(),
                _ => Vec::new(),
            },
            model: text("model"),
            max_tokens: match self.get("max_tokens") {
                Some(Value::Integer(value)) => u32::try_from(*value).ok(),
                _ => None,
            },
            agent_creativity: text("agent_creativity"),
            fence_profile: text("fence_profile"),
        }
    }
}

/// The name at the start of a line `name: value`.
pub fn name_of_line(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(':')?;
    let name = name.trim_end();
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    (is_name && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))).then_some(name)
}

/// The keys with their lines, in order; refuses what a flat file cannot hold.
fn key_lines(text: &str) -> Result<Vec<(String, usize)>, Fault> {
    let mut keys: Vec<(String, usize)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') || bare == "---" || bare == "..." {
            continue;
        }
        match name_of_line(line) {
            Some(name) => {
                if keys.iter().any(|(known, _)| known == name) {
                    return Err(Fault::at(number, format!("the key {name} stands twice")));
                }
                let value = line.split_once(':').map_or("", |(_, value)| value.trim());
                if value.starts_with(['&', '*', '!', '{', '|', '>']) {
                    return Err(Fault::at(number, "only plain values and one list are allowed"));
                }
                keys.push((name.to_owned(), number));
            }
            None if bare.starts_with("- ") && !keys.is_empty() => {
                let row = bare.trim_start_matches("- ").trim();
                if row.starts_with(['&', '*', '!', '{', '[', '|', '>'])
                    || row.ends_with(':')
                    || row.contains(": ")
                {
                    return Err(Fault::at(number, "only plain values and one list are allowed"));
                }
            }
            None => return Err(Fault::at(number, "a line `key: value` is needed here")),
        }
    }
    Ok(keys)
}

/// Where the file is looked for, and whether the user named it (then it must be there).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path, whether or not it exists.
    pub path: PathBuf,
    /// Named by an option or a variable.
    pub named: bool,
}

/// The first of option, `PERFXPERT_CONFIG`, `XDG_CONFIG_HOME`, `HOME` and (Windows) `APPDATA` that is set.
pub fn place(option: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Option<Place> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    if let Some(path) = option.map(str::to_owned).or_else(|| set("PERFXPERT_CONFIG")) {
        return Some(Place { path: PathBuf::from(path), named: true });
    }
    let folder = set("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| Path::new(&home).join(".config")))
        .or_else(|| if cfg!(windows) { set("APPDATA").map(PathBuf::from) } else { None })?;
    Some(Place { path: folder.join("perfxpert").join("config.yaml"), named: false })
}

impl Place {
    /// The file's text; `None` when there is no file and none was named.
    ///
    /// # Errors
    /// A fault without a line when the file is missing although named, or cannot be read as text.
    pub fn text(&self) -> Result<Option<String>, Fault> {
        match std::fs::read(&self.path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(Fault::at(0, "the file is not UTF-8")),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !self.named => Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Fault::at(0, "the file does not exist"))
            }
            Err(error) => Err(Fault::at(0, format!("the file cannot be read: {error}"))),
        }
    }

    /// Reads the file; an absent one that nobody named holds nothing.
    ///
    /// # Errors
    /// As [`Self::text`] and [`Config::parse`].
    pub fn read(&self) -> Result<Config, Fault> {
        self.text()?.map_or_else(|| Ok(Config::default()), |text| Config::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_sorted_and_their_defaults_are_their_own() {
        assert!(KEYS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for key in KEYS {
            assert_eq!(key.default_value().to_string(), key.default, "{}", key.name);
        }
    }

    #[test]
    fn a_flat_file_is_read_with_its_types() {
        let text = "# mine\nairgap: yes # careful\nmodel: null\nprovider: \"openai\"\nfallback_chain:\n  - ollama\n  - private\nmax_tokens: 512\nci_threshold_pct: 2\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(config.get("airgap"), Some(&Value::Boolean(true)));
        assert_eq!(config.get("model"), Some(&Value::Null));
        assert_eq!(config.get("provider"), Some(&Value::Text("openai".to_owned())));
        assert_eq!(config.get("ci_threshold_pct"), Some(&Value::Number(2.0)));
        assert_eq!(config.get("redact_paths"), None);
        assert_eq!(config.values().max_tokens, Some(512));
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert_eq!(
            Config::parse("fallback_chain: [ollama, openai]\n").unwrap().values().fallback_chain,
            ["ollama", "openai"]
        );
    }

    #[test]
    fn faults_come_with_their_line() {
        for (text, line, part) in [
            ("airgap: true\nmodle: x\n", 2, "unknown key modle"),
            ("airgap: true\n\nairgap: false\n", 3, "twice"),
            ("max_tokens: many\n", 1, "whole number from 1 to 32768"),
            ("max_tokens: 0\n", 1, "whole number"),
            ("ci_threshold_pct: .nan\n", 1, "number from 0 to 1000"),
            ("provider:\n  name: openai\n", 2, "a line `key: value`"),
            ("model: &anchor x\n", 1, "plain values"),
            ("model: !tag x\n", 1, "plain values"),
            ("fallback_chain: [openai, nobody]\n", 1, "comma list"),
            ("fallback_chain: openai\n", 1, "list of words"),
            ("airgap:\n", 1, "neither true nor false"),
            ("just words\n", 1, "key: value"),
            ("model: \"open\nairgap: true\n", 2, "YAML"),
        ] {
            let fault = Config::parse(text).unwrap_err();
            assert!(fault.message.contains(part), "{text:?}: {fault:?}");
            assert!(fault.line == line || part == "YAML", "{text:?}: {fault:?}");
        }
        assert!(Config::parse(&"#".repeat(70_000)).is_err());
    }

    #[test]
    fn the_first_place_that_is_set_counts() {
        let of = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let all = &[("PERFXPERT_CONFIG", "/p"), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(place(Some("/o"), of(all)).unwrap(), Place { path: "/o".into(), named: true });
        assert_eq!(place(None, of(all)).unwrap(), Place { path: "/p".into(), named: true });
        let path = |pairs| place(None, of(pairs)).map(|place| place.path);
        assert_eq!(
            path(&[("PERFXPERT_CONFIG", ""), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]),
            Some("/x/perfxpert/config.yaml".into())
        );
        assert_eq!(path(&[("HOME", "/h")]), Some("/h/.config/perfxpert/config.yaml".into()));
        assert_eq!(path(&[]), None);
    }

    #[test]
    fn values_are_written_so_that_they_read_back() {
        for text in ["llama3.1:8b", "gpt-4o", "yes", "5", "a b", "null", "x#y", "\u{1b}"] {
            let line = format!("model: {}\n", Value::Text(text.to_owned()));
            let expected = if text == "null" { Value::Null } else { Value::Text(text.to_owned()) };
            assert_eq!(Config::parse(&line).unwrap().get("model"), Some(&expected), "{line}");
        }
    }
}
