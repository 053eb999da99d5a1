//! Effective settings: the configuration file under the environment, and whether air-gap is on.

use std::collections::BTreeMap;

use perfxpert_agent::LlmFacts;
use perfxpert_agent::config::{self, Config, Fault, KEYS, Key, Place, Value};
use perfxpert_schemas::ErrorKind;
use perfxpert_schemas::tools::agent::run::ProviderName;

use crate::App;
use crate::environment::Environment;
use crate::failure::Failure;

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nothing gave one.
    Default,
    /// The configuration file.
    File,
    /// The key's variable.
    Variable,
}

/// The configuration file as this run sees it.
#[derive(Clone, Debug)]
pub struct Settings {
    config: Config,
    /// Where the file is looked for; `None` without a home.
    pub place: Option<Place>,
}

/// Where the configuration file is looked for.
pub fn place(app: &App) -> Option<Place> {
    config::place(app.config_flag.as_deref(), |name| app.environment.get(name).map(str::to_owned))
}

/// A fault of the file as the error it is.
pub fn failure(place: &Place, fault: &Fault) -> Failure {
    let path = place.path.display().to_string();
    let at = if fault.line == 0 { path.clone() } else { format!("{path}:{}", fault.line) };
    let hint = match (&fault.unknown_key, place.path.exists()) {
        (Some(_), _) => "Use one of the known keys: see perfxpert config show.",
        (None, true) => "Mend the line or remove it.",
        (None, false) => "Create it with perfxpert init, or name another file.",
    };
    let failure =
        Failure::new(ErrorKind::Config, format!("{at}: {fault}."), hint).map(|error| error.path(&path));
    match &fault.unknown_key {
        Some(key) => failure.near(key, KEYS.iter().map(|known| known.name)),
        None => failure,
    }
}

impl Settings {
    /// Reads the file.
    ///
    /// # Errors
    /// `config` with path and line.
    pub fn read(app: &App) -> Result<Self, Failure> {
        let place = place(app);
        let config = match &place {
            Some(place) => place.read().map_err(|fault| failure(place, &fault))?,
            None => Config::default(),
        };
        Ok(Self { config, place })
    }

    /// No file: what the environment alone says.
    pub fn of_variables() -> Self {
        Self { config: Config::default(), place: None }
    }

    /// The value of a key and where it came from.
    ///
    /// # Errors
    /// `usage` for a variable that cannot be used.
    pub fn value(&self, environment: &Environment, name: &str) -> Result<(Value, Source), Failure> {
        let Some(key) = config::find(name) else { return Ok((Value::Null, Source::Default)) };
        self.value_of(environment, key)
    }

    /// As [`Self::value`], for a key already found.
    ///
    /// # Errors
    /// `usage` for a variable that cannot be used.
    pub fn value_of(&self, environment: &Environment, key: &Key) -> Result<(Value, Source), Failure> {
        if key.name == "airgap"
            && let Some(on) = environment.safe_boolean(key.variable)
        {
            return Ok((Value::Boolean(on), Source::Variable));
        }
        if let Some(text) = environment.get(key.variable) {
            let value = key.read(text).map_err(|why| {
                let message = format!("{}: '{}' {why}.", key.variable, text.trim());
                Failure::usage(key.variable, message, format!("Set it to a value such as {}.", key.default))
            })?;
            return Ok((value, Source::Variable));
        }
        match self.config.get(key.name) {
            Some(value) => Ok((value.clone(), Source::File)),
            None => Ok((key.default_value(), Source::Default)),
        }
    }

    /// A key that holds a word.
    ///
    /// # Errors
    /// `usage` for a variable that cannot be used.
    pub fn word(&self, environment: &Environment, name: &str) -> Result<Option<String>, Failure> {
        match self.value(environment, name)?.0 {
            Value::Text(text) => Ok(Some(text)),
            _ => Ok(None),
        }
    }

    /// A key that holds a number, and where it came from.
    ///
    /// # Errors
    /// `usage` for a variable that cannot be used.
    pub fn number(&self, environment: &Environment, name: &str) -> Result<(f64, Source), Failure> {
        match self.value(environment, name)? {
            (Value::Number(number), source) => Ok((number, source)),
            (_, source) => Ok((0.0, source)),
        }
    }

    /// A key that holds a boolean.
    ///
    /// # Errors
    /// `usage` for a variable that cannot be used.
    pub fn boolean(&self, environment: &Environment, name: &str) -> Result<bool, Failure> {
        Ok(self.value(environment, name)?.0 == Value::Boolean(true))
    }

    /// Why air-gap is on; `None` when it is off.
    pub fn airgap(&self, environment: &Environment, option: bool) -> Option<&'static str> {
        if option {
            return Some("--airgap");
        }
        match environment.safe_boolean("PERFXPERT_AIRGAP") {
            Some(true) => Some("PERFXPERT_AIRGAP"),
            Some(false) => None,
            None => (self.config.get("airgap") == Some(&Value::Boolean(true))).then_some("configuration"),
        }
    }

    /// The same settings as the model services read them.
    pub fn of_models(&self, environment: &Environment) -> perfxpert_agent::Settings {
        let facts = LlmFacts { models: models(), ..LlmFacts::default() };
        perfxpert_agent::Settings::from_map(environment.map(), &self.config.values(), facts)
    }

    /// The file's own content.
    pub fn file(&self) -> &Config {
        &self.config
    }
}

/// The built-in model of each service.
fn models() -> BTreeMap<ProviderName, String> {
    let named = |name: ProviderName| {
        Some((name, perfxpert_knowledge::clients::default_model(name.as_str())?.to_owned()))
    };
    ProviderName::ALL.into_iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_the_airgap_table() {
        let settings = |text: &str| Settings { config: Config::parse(text).unwrap(), place: None };
        let airgap = |variable: &str, file: &str, option| {
            settings(file).airgap(&Environment::of(&[("PERFXPERT_AIRGAP", variable)]), option)
        };
        assert_eq!(airgap("", "airgap: false\n", false), None);
        for word in ["1", "true", "On", "enabled", "2", "n", "maybe"] {
            assert_eq!(airgap(word, "airgap: false\n", false), Some("PERFXPERT_AIRGAP"), "{word}");
            assert_eq!(airgap(word, "airgap: true\n", false), Some("PERFXPERT_AIRGAP"), "{word}");
        }
        for word in ["0", "false", "off", "No"] {
            assert_eq!(airgap(word, "airgap: true\n", false), None, "{word}");
        }
        assert_eq!(airgap("", "airgap: true\n", false), Some("configuration"));
        assert_eq!(airgap("0", "", true), Some("--airgap"));
    }

    #[test]
    fn a_variable_beats_the_file_and_a_bad_one_is_refused() {
        let settings = Settings { config: Config::parse("provider: ollama\n").unwrap(), place: None };
        let word = |pairs: &[(&str, &str)]| settings.word(&Environment::of(pairs), "provider");
        assert_eq!(word(&[]).unwrap().as_deref(), Some("ollama"));
        assert_eq!(word(&[("PERFXPERT_PROVIDER", "openai")]).unwrap().as_deref(), Some("openai"));
        assert_eq!(word(&[("PERFXPERT_PROVIDER", "nobody")]).unwrap_err().exit_code(), 2);
    }
}
