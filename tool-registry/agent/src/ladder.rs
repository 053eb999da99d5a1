//! Which model is asked for, and which setting said so.

use perfxpert_schemas::tools::agent::run::ProviderName;

use crate::settings::Settings;

/// A model and the rung of the ladder that named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// `None` lets the service choose.
    pub(crate) model: Option<String>,
    /// `argument`, a variable, `configuration`, `built-in` or `provider`.
    pub(crate) source: String,
}

/// First non-empty rung. A fallback candidate takes only its own pins and the built-in: another vendor's model id
/// would be refused.
pub(crate) fn choose(
    settings: &Settings,
    name: ProviderName,
    argument: Option<&str>,
    fallback: bool,
) -> Choice {
    let argument = argument
        .map(str::trim)
        .filter(|model| !model.is_empty())
        .map(|model| (model.to_owned(), "argument".to_owned()));
    let own = settings.vendor(name).pins.into_iter().next();
    let shared = [&settings.any_model, &settings.last_model]
        .into_iter()
        .flatten()
        .map(|(model, source)| (model.clone(), (*source).to_owned()))
        .next();
    let built_in = settings.facts.models.get(&name).map(|model| (model.clone(), "built-in".to_owned()));
    let chosen = if fallback { own.or(built_in) } else { argument.or(own).or(shared).or(built_in) };
    match chosen {
        Some((model, source)) => Choice { model: Some(without_prefix(&model, name)), source },
        None => Choice { model: None, source: "provider".to_owned() },
    }
}

/// `anthropic/claude…` → `claude…`; opencode itself needs the prefix, and other slashes belong to the id.
fn without_prefix(model: &str, name: ProviderName) -> String {
    if name == ProviderName::OpenCode {
        return model.to_owned();
    }
    let cut = model.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('/'));
    cut.filter(|rest| !rest.is_empty()).unwrap_or(model).to_owned()
}
