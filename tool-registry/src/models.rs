//! The model services of a server: settings read once, and whom a call may ask.

use std::sync::OnceLock;

use perfxpert_agent::{ConfigValues, LlmFacts, ModelChoice, Plan, Runtime, Settings, config};
use perfxpert_knowledge::clients;
use perfxpert_schemas::ErrorObject;

/// Settings, sessions and what was learned about services; made when first asked for.
#[derive(Default)]
pub struct Models {
    runtime: OnceLock<Runtime>,
    airgap: bool,
    config: Option<String>,
}

impl Models {
    /// As the server was started: `airgap` forbids every model whatever the settings say, `config` names the
    /// configuration file before any variable does.
    pub fn started(airgap: bool, config: Option<String>) -> Self {
        Self { runtime: OnceLock::new(), airgap, config }
    }

    /// Model services with given settings, for callers inside the process and tests.
    pub fn with(runtime: Runtime) -> Self {
        Self { runtime: OnceLock::from(runtime), airgap: false, config: None }
    }

    /// The runtime all agents share.
    pub(crate) fn runtime(&self) -> Result<&Runtime, ErrorObject> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let facts = LlmFacts::from_tables(
            clients::default_models(),
            clients::model_quirks(),
            clients::quota_messages(),
        )
        .map_err(|_| ErrorObject::internal())?;
        let place = config::place(self.config.as_deref(), |name| std::env::var(name).ok());
        // A configuration that cannot be read may have asked for the air-gap.
        let values = match place.map(|place| place.read()) {
            None => ConfigValues::default(),
            Some(Ok(read)) => read.values(),
            Some(Err(fault)) => {
                tracing::warn!("the configuration file cannot be used, so no model will be: {fault}");
                ConfigValues { unreadable: true, ..ConfigValues::default() }
            }
        };
        let mut settings = Settings::from_process(&values, facts);
        if self.airgap && settings.airgap.is_none() {
            settings.airgap = Some("--airgap".to_owned());
        }
        Ok(self.runtime.get_or_init(|| Runtime::new(settings)))
    }

    /// Whom a call may ask.
    ///
    /// # Errors
    /// Kind `provider`: no such service, a missing credential, an unusable setting, recursion.
    pub(crate) fn preflight(&self, choice: &ModelChoice) -> Result<Plan, ErrorObject> {
        self.runtime()?.preflight(choice)
    }
}
