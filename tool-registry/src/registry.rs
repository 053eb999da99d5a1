//! The registry: what a tool is, the list of all tools, and the one way to call one.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use perfxpert_schemas::names::{self, Spelling};
use perfxpert_schemas::tools::Contract;
use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::{Map, Value};

use crate::{Context, answer, arguments, schema, tools};

/// Whether a tool only computes, or may ask a language model when told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Same input, same bytes; touches nothing but its input files.
    Pure,
    /// Deterministic unless a provider is named; then it may reach a model service.
    Agent,
}

impl Class {
    /// `idempotentHint` of the wire; every tool is read-only and non-destructive.
    pub fn idempotent(self) -> bool {
        self == Self::Pure
    }

    /// `openWorldHint` of the wire.
    pub fn open_world(self) -> bool {
        self == Self::Agent
    }
}

/// Arguments that all agents share, with their types.
const SHARED: [(&str, &str); 5] = [
    ("provider", "string"),
    ("model", "string"),
    ("airgap", "boolean"),
    ("session_id", "string"),
    ("options", "object"),
];

type Run = Box<dyn Fn(&Context, Value) -> Result<Value, ErrorObject> + Send + Sync>;

/// One tool: its contract, its words and what it runs.
pub struct Tool {
    /// `namespace.function`.
    pub name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// What it answers, for a caller who cannot see the code; at most 250 characters.
    pub description: &'static str,
    /// Pure or agent.
    pub class: Class,
    /// Largest default answer in characters, and with an explicit larger `limit`.
    pub bounds: answer::Bounds,
    make_input: fn() -> Value,
    make_full_output: fn() -> Value,
    run: Run,
    input: OnceLock<Value>,
}

/// A pure tool from its contract and the function behind it.
pub fn tool<C: Contract>(
    title: &'static str,
    description: &'static str,
    run: fn(&Context, C::Input) -> Result<C::Output, ErrorObject>,
) -> Tool {
    Tool {
        name: C::NAME,
        title,
        description,
        class: Class::Pure,
        bounds: answer::Bounds::default(),
        make_input: schema::input::<C::Input>,
        make_full_output: schema::full::<C::Output>,
        run: Box::new(move |context, arguments| {
            let input: C::Input = serde_json::from_value(arguments).map_err(|fault| {
                ErrorObject::new(
                    ErrorKind::InvalidArgument,
                    format!("The arguments do not fit {}: {fault}.", C::NAME),
                    "Compare them with the tool's input schema.",
                )
            })?;
            let output = run(context, input)?;
            serde_json::to_value(output).map_err(|_| ErrorObject::internal())
        }),
        input: OnceLock::new(),
    }
}

impl Tool {
    /// Marks an agent tool.
    #[must_use]
    pub fn agent(mut self) -> Self {
        self.class = Class::Agent;
        self
    }

    /// Replaces the size bounds.
    #[must_use]
    pub fn bounded(mut self, bounds: answer::Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// `namespace` of `namespace.function`.
    pub fn namespace(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(namespace, _)| namespace)
    }

    /// The advertised input schema.
    pub fn input_schema(&self) -> &Value {
        self.input.get_or_init(self.make_input)
    }

    /// The input schema as `tools/list` shows it. Some arguments are the same for all agents: the root agent spells them
    /// out, so that they are paid for once in a client's context; calls are checked against all of them.
    pub fn listed_input(&self) -> Value {
        let mut shown = schema::advertised(self.input_schema());
        if self.class == Class::Agent && self.name != "agent.root" {
            for (key, kind) in SHARED {
                if let Some(field) = shown.pointer_mut(&format!("/properties/{key}")) {
                    *field = serde_json::json!({ "type": kind, "description": "See agent_root." });
                }
            }
        }
        for place in ["/properties/gate", "/properties/input/properties/gate_verdict"] {
            if let Some(field) = shown.pointer_mut(place) {
                schema::name_fields(field);
            }
        }
        shown
    }

    /// The advertised output schema: an open object that accepts answers and errors alike.
    pub fn output_schema(&self) -> Value {
        schema::output()
    }

    /// The full schema of the answer, made from the type.
    pub fn full_output_schema(&self) -> Value {
        (self.make_full_output)()
    }

    /// Checks the arguments, runs the tool and bounds the answer. A panic is an `internal` error of this call only.
    ///
    /// # Errors
    /// The error object the caller sees.
    pub fn call(
        &self,
        context: &Context,
        arguments: Option<Map<String, Value>>,
    ) -> Result<Value, ErrorObject> {
        let checked = arguments::check(self.input_schema(), arguments.unwrap_or_default())?;
        let explicit = answer::asks_for_more(self.input_schema(), &checked);
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.run)(context, Value::Object(checked))));
        let value = match outcome {
            Ok(result) => result?,
            Err(_) => {
                tracing::error!(tool = self.name, "the tool panicked");
                return Err(ErrorObject::internal());
            }
        };
        Ok(answer::bound(value, self.bounds.ceiling(explicit)))
    }
}

impl Tool {
    /// The whole answer for another tool of this crate: arguments checked, size not bounded.
    ///
    /// # Errors
    /// The error object of the tool.
    pub(crate) fn whole(
        &self,
        context: &Context,
        arguments: Map<String, Value>,
    ) -> Result<Value, ErrorObject> {
        let checked = arguments::check(self.input_schema(), arguments)?;
        (self.run)(context, Value::Object(checked))
    }
}

/// Which tools a server shows, chosen at start-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Subset {
    /// Every tool.
    #[default]
    All,
    /// The agents only.
    Agents,
    /// These names (any spelling) and namespaces.
    Listed(Vec<String>),
}

impl std::str::FromStr for Subset {
    type Err = ErrorObject;

    fn from_str(text: &str) -> Result<Self, ErrorObject> {
        match text {
            "all" => Ok(Self::All),
            "agents" => Ok(Self::Agents),
            list => {
                let names: Vec<String> = list.split(',').map(|name| name.trim().to_owned()).collect();
                let everything = Registry::new();
                for name in &names {
                    let bare = names::to_bare(name);
                    let known = everything
                        .tools()
                        .any(|tool| tool.namespace() == name || names::bare(tool.name) == bare);
                    if !known {
                        let known: Vec<&str> =
                            everything.tools().map(|tool| tool.name).chain(["all", "agents"]).collect();
                        return Err(arguments::unknown_name("tools", name, known, "tool"));
                    }
                }
                Ok(Self::Listed(names))
            }
        }
    }
}

/// All tools, agents first, then by name.
pub struct Registry {
    tools: Vec<Arc<Tool>>,
    by_bare: HashMap<String, usize>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Every tool there is.
    pub fn new() -> Self {
        Self::with(&Subset::All)
    }

    /// The tools of a subset.
    pub fn with(subset: &Subset) -> Self {
        let mut all = tools::all();
        all.retain(|tool| match subset {
            Subset::All => true,
            Subset::Agents => tool.class == Class::Agent,
            Subset::Listed(listed) => listed
                .iter()
                .any(|wanted| tool.namespace() == wanted || names::to_bare(wanted) == names::bare(tool.name)),
        });
        Self::of(all)
    }

    /// Exactly these tools.
    pub fn of(mut all: Vec<Tool>) -> Self {
        all.sort_by_key(|tool| (tool.class != Class::Agent, tool.name));
        let by_bare = all.iter().enumerate().map(|(index, tool)| (names::bare(tool.name), index)).collect();
        Self { tools: all.into_iter().map(Arc::new).collect(), by_bare }
    }

    /// The tools in their fixed order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(AsRef::as_ref)
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether the subset left nothing.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Finds a tool by any accepted spelling of its name.
    pub fn find(&self, called: &str) -> Option<Arc<Tool>> {
        self.by_bare.get(&names::to_bare(called)).and_then(|index| self.tools.get(*index)).cloned()
    }

    /// The advertised name of a tool.
    pub fn advertised(tool: &Tool, spelling: Spelling) -> String {
        names::advertised(tool.name, spelling)
    }
}
