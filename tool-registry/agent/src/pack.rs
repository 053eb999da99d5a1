//! The evidence pack: all a model gets to see, built from typed fields only.
//!
//! No environment, command line, host, user, process or file name of a trace has a place in these types, and a
//! kernel's calls, time and share cannot be absent.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

/// Most kernels, and most recommendations or techniques, a pack holds.
const ROWS: usize = 10;
/// Most evidence items a pack holds.
const EVIDENCE: usize = 60;
/// Longest name in the pack, in characters; the middle is left out.
const NAME_LENGTH: usize = 300;
/// Longest other text in the pack, in characters.
const TEXT_LENGTH: usize = 600;

/// The value of one evidence item.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EvidenceValue {
    /// A measured or computed number.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// Yes or no.
    Boolean(bool),
    /// A label or name.
    Text(String),
}

/// One citable fact of the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackEvidence {
    /// Id a claim cites, such as `m.valu_util@k1`.
    pub id: String,
    /// What it is, in words.
    pub label: String,
    /// Its value.
    pub value: EvidenceValue,
    /// Unit of the value: `%`, `fraction`, `ns`, `GB/s`, `count`, `label` and so on.
    pub unit: String,
}

/// The second-best verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackRunnerUp {
    /// Bottleneck label.
    pub label: String,
    /// Its detail.
    pub detail: Option<String>,
    /// Support, 0..1.
    pub score: f64,
}

/// The classifier's answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackVerdict {
    /// Bottleneck label.
    pub primary_bottleneck: String,
    /// Its detail.
    pub bottleneck_detail: Option<String>,
    /// 0..1.
    pub confidence: f64,
    /// What speaks for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What speaks against it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<String>,
    /// The next candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<PackRunnerUp>,
}

/// Where the run's time went, in percent of the window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackTime {
    /// A kernel running.
    pub kernel_pct: f64,
    /// Copies that nothing hides.
    pub memcpy_pct: f64,
    /// Host API with the GPU waiting.
    pub api_pct: f64,
    /// Nothing running.
    pub idle_pct: f64,
    /// Length of the window.
    pub window_ns: u64,
}

/// One hot kernel. Calls, time and share are always known.
#[derive(Clone, Debug, PartialEq)]
pub struct PackKernel {
    /// `k1`, `k2` … by rank.
    pub handle: String,
    /// Kernel name as the answer shows it.
    pub name: String,
    /// Dispatches.
    pub calls: u64,
    /// Summed duration, ns.
    pub total_duration: u64,
    /// Percent of the run.
    pub pct_of_runtime: f64,
    /// Every metric that is known, by name.
    pub metrics: Vec<(String, EvidenceValue)>,
}

impl Serialize for PackKernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5 + self.metrics.len()))?;
        map.serialize_entry("handle", &self.handle)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("calls", &self.calls)?;
        map.serialize_entry("total_duration", &self.total_duration)?;
        map.serialize_entry("pct_of_runtime", &self.pct_of_runtime)?;
        for (name, value) in &self.metrics {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Whether the listed entries are recommendations or techniques.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// `recommendations`.
    #[default]
    Recommendations,
    /// `techniques`.
    Techniques,
}

/// A precondition of an entry and its state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackPrecondition {
    /// The condition with its value.
    pub text: String,
    /// met, not_met or unknown.
    pub state: String,
}

/// A listed recommendation or technique.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackEntry {
    /// `id` of a recommendation or `key` of a technique; what a title of the model names.
    pub key: String,
    /// Evidence ids behind it, its own `r.…` first: numbers of a title or note are judged against these.
    pub evidence: Vec<String>,
    /// Deterministic title.
    pub title: String,
    /// Bound of the gain, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<String>,
    /// applicable or possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Conditions and their states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<PackPrecondition>,
}

/// Something that was not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackMissing {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
    /// How to get it.
    pub command: Option<String>,
}

/// Whether two runs can be compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackComparability {
    /// ok, warn or blocked, as the diff says it.
    pub status: String,
    /// Sentences.
    pub issues: Vec<String>,
}

/// What the gate decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackGate {
    /// pass, reject or regressed.
    pub status: String,
    /// The gate that failed.
    pub failing_gate: Option<String>,
    /// Its words.
    pub detail: Option<String>,
    /// Kernel under change.
    pub kernel_name: Option<String>,
    /// What to do.
    pub action: String,
}

/// Words beyond the pack that a claim may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lexicon {
    /// Flags of the command table and of the flag and pragma catalogues, with their dashes.
    pub flags: Vec<String>,
    /// Further names allowed in backticks: API, counter, metric and technique names.
    pub names: Vec<String>,
    /// Further words that name a bottleneck label, beside the built-in ones.
    pub labels: Vec<String>,
    /// Fact ids a proposal may refer to.
    pub fact_ids: Vec<String>,
}

/// All a model gets to see of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvidencePack {
    /// The user's words.
    pub query: String,
    /// Classified intent (root).
    pub intent: Option<String>,
    /// The classifier's answer.
    pub verdict: Option<PackVerdict>,
    /// Where the time went.
    pub time: Option<PackTime>,
    /// Hot kernels, by rank; the first ten are shown.
    pub kernels: Vec<PackKernel>,
    /// Everything that can be cited.
    pub evidence: Vec<PackEvidence>,
    /// Whether `entries` are recommendations or techniques.
    pub entry_kind: EntryKind,
    /// Listed entries; the first ten are shown.
    pub entries: Vec<PackEntry>,
    /// What was not known.
    pub missing: Vec<PackMissing>,
    /// Whether two runs can be compared (diff).
    pub comparability: Option<PackComparability>,
    /// What the gate decided (correctness).
    pub gate: Option<PackGate>,
}

impl EvidencePack {
    /// The pack as one JSON object of at most `limit` characters. Lists are cut from their ends, the longest first,
    /// until it fits; the verdict and the time parts always stay.
    pub fn to_json(&self, roots: &[(String, String)], limit: usize) -> Value {
        let mut caps =
            Caps { evidence: EVIDENCE, rows: ROWS, missing: ROWS, preconditions: ROWS, text: TEXT_LENGTH };
        loop {
            let value = self.render(roots, &caps);
            if value.to_string().chars().count() <= limit || !caps.shrink() {
                return value;
            }
        }
    }

    fn render(&self, roots: &[(String, String)], caps: &Caps) -> Value {
        let mut pack = Map::new();
        let mut put = |key: &str, value: Value| {
            pack.insert(key.to_owned(), value);
        };
        put("query", Value::from(self.query.clone()));
        if let Some(intent) = &self.intent {
            put("intent", Value::from(intent.clone()));
        }
        if let Some(verdict) = &self.verdict {
            put("verdict", json(verdict));
        }
        if let Some(time) = &self.time {
            put("time", json(time));
        }
        if !self.kernels.is_empty() {
            put("kernels", list(self.kernels.iter().take(caps.rows)));
        }
        put("evidence", list(self.evidence.iter().take(caps.evidence)));
        if !self.entries.is_empty() {
            let key = match self.entry_kind {
                EntryKind::Recommendations => "recommendations",
                EntryKind::Techniques => "techniques",
            };
            let entries = self.entries.iter().take(caps.rows).map(|entry| PackEntry {
                preconditions: entry.preconditions.iter().take(caps.preconditions).cloned().collect(),
                ..entry.clone()
            });
            put(key, list(entries));
        }
        put("missing", list(self.missing.iter().take(caps.missing)));
        if let Some(comparability) = &self.comparability {
            put("comparability", json(comparability));
        }
        if let Some(gate) = &self.gate {
            put("gate", json(gate));
        }
        for (key, token) in roots {
            put(key, Value::from(token.clone()));
        }
        let mut value = Value::Object(pack);
        shorten(&mut value, caps.text);
        value
    }
}

/// How much of each list is shown.
struct Caps {
    evidence: usize,
    rows: usize,
    missing: usize,
    preconditions: usize,
    text: usize,
}

impl Caps {
    /// Halves the cap that hurts least; false when nothing is left to cut.
    fn shrink(&mut self) -> bool {
        let order = [
            (&mut self.preconditions, 0),
            (&mut self.missing, 2),
            (&mut self.text, 160),
            (&mut self.evidence, 20),
            (&mut self.rows, 3),
        ];
        for (cap, floor) in order {
            if *cap > floor {
                *cap = (*cap / 2).max(floor);
                return true;
            }
        }
        for cap in [&mut self.evidence, &mut self.rows, &mut self.text] {
            if *cap > 1 {
                *cap /= 2;
                return true;
            }
        }
        false
    }
}

fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn list<T: Serialize>(items: impl Iterator<Item = T>) -> Value {
    Value::Array(items.map(|item| json(&item)).collect())
}

/// Cuts long strings: names in the middle, everything else at the end.
fn shorten(value: &mut Value, text: usize) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, text)),
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    Value::String(s) if key == "name" => *s = shorten_middle(s, NAME_LENGTH.min(text)),
                    Value::String(s) if s.chars().count() > text && key != "query" => {
                        *s = s.chars().take(text.saturating_sub(1)).chain(['…']).collect();
                    }
                    other => shorten(other, text),
                }
            }
        }
        Value::String(s) if s.chars().count() > text => {
            *s = s.chars().take(text.saturating_sub(1)).chain(['…']).collect();
        }
        _ => {}
    }
}

/// Cuts a name to `limit` characters with `…` in the middle.
pub(crate) fn shorten_middle(name: &str, limit: usize) -> String {
    let length = name.chars().count();
    if length <= limit || limit < 3 {
        return name.to_owned();
    }
    let head = (limit - 1).div_ceil(2);
    let tail = limit - 1 - head;
    name.chars().take(head).chain(['…']).chain(name.chars().skip(length - tail)).collect()
}

/// The forms of a name a model may repeat: as given, as the pack cuts it, and as sentences cut it.
pub(crate) fn name_forms(name: &str) -> [String; 3] {
    /// Longest name in a sentence, in characters.
    const SENTENCE_NAME: usize = 80;
    let clean: String = name.chars().filter(|c| !c.is_control() && *c != '`').collect();
    [clean.clone(), shorten_middle(&clean, NAME_LENGTH), shorten_middle(&clean, SENTENCE_NAME)]
}
