//! A stand-in for the analysis server: the real protocol over a root agent that does what its question says.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use perfxpert_schemas::tools::Contract;
use perfxpert_schemas::{ErrorKind, ErrorObject};
use perfxpert_server::{Options, serve};
use perfxpert_tool_registry::answer::Bounds;
use perfxpert_tool_registry::{Context, Registry, Services, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What to do.
    #[serde(default)]
    user_query: String,
    /// First input.
    database_path: Option<String>,
    /// Source tree.
    source_dir: Option<String>,
    /// Model service.
    provider: Option<String>,
    /// No model.
    airgap: Option<bool>,
    /// The rest.
    #[serde(default)]
    options: Map<String, Value>,
}

struct Root;

impl Contract for Root {
    const NAME: &'static str = "agent.root";
    type Input = Input;
    type Output = Map<String, Value>;
}

/// The phases of an analysis without a model.
const PHASES: [&str; 4] =
    ["entering root", "exit root", "deterministic analysis: running", "deterministic analysis: done"];

fn root(context: &Context, input: Input) -> Result<Map<String, Value>, ErrorObject> {
    let (word, rest) = input.user_query.split_once(' ').unwrap_or((&input.user_query, ""));
    for phase in PHASES {
        context.phase(phase, 0.0, None);
    }
    let answer = match word {
        "slow" => loop {
            context.check()?;
            std::thread::sleep(Duration::from_millis(5));
        },
        "die" => {
            eprintln!("last words of the server");
            std::process::exit(3)
        }
        "refuse" => {
            let error = serde_json::from_str(rest).unwrap_or_else(|_| ErrorObject::internal());
            return Err(error);
        }
        "key" => json!({ "length": std::env::var("PERFXPERT_CLI_LLM_API_KEY").map(|key| key.len()).ok() }),
        "answer" => serde_json::from_str(rest).unwrap_or_default(),
        "large" => json!({ "rows": vec!["x".repeat(1000); 20_000] }),
        _ => json!({
            "database_path": input.database_path, "source_dir": input.source_dir, "provider": input.provider,
            "airgap": input.airgap, "options": input.options,
        }),
    };
    match answer {
        Value::Object(answer) => Ok(answer),
        _ => Err(ErrorObject::new(ErrorKind::InvalidArgument, "The answer is no object.", "Send an object.")),
    }
}

fn main() -> ExitCode {
    let registry = Registry::of(vec![
        tool::<Root>("Root", "Does what its question says. Then answers.", root)
            .agent()
            .bounded(Bounds::uncut()),
    ]);
    let (options, _) = Options::from_environment(|name| std::env::var(name).ok());
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    let served = runtime.block_on(async {
        serve(registry, Arc::new(Services::default()), options, tokio::io::stdin(), tokio::io::stdout()).await
    });
    runtime.shutdown_background();
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
