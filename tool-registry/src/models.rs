//! The model services of a server: settings read once, and whom a call may ask.

use std::sync::OnceLock;

use perfxpert_agent::{ConfigValues, LlmFacts, ModelChoice, Plan, Runtime, Settings, config};
use perfxpert_knowledge::clients;
use perfxpert_schemas::ErrorObject;

/// Settings, sessions and what was learned about services; made when first asked for.
#[derive(Default)]
pub struct Models {
    runtime: OnceLock<Runtime>,
}

impl Models {
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
        let place = config::place(None, |name| std::env::var(name).ok());
        // A configuration that cannot be read may have asked for the air-gap.
        let values = match place.map(|place| place.read()) {
            None => ConfigValues::default(),
            Some(Ok(read)) => read.values(),
            Some(Err(_)) => ConfigValues { unreadable: true, ..ConfigValues::default() },
        };
        Ok(self.runtime.get_or_init(|| Runtime::new(Settings::from_process(&values, facts))))
    }

    /// Whom a call may ask.
    ///
    /// # Errors
    /// Kind `provider`: no such service, a missing credential, an unusable setting, recursion.
    pub(crate) fn preflight(&self, choice: &ModelChoice) -> Result<Plan, ErrorObject> {
        self.runtime()?.preflight(choice)
    }
}
