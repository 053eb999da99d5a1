//! A single fact by its id, `file#key`, with source and confidence.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_yaml::Value;

use crate::FactError;
use crate::document::{self, Confidence, Document};

/// The value of a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum FactValue {
    /// A number, in the fact's unit.
    Number(f64),
    /// A switch.
    Flag(bool),
    /// A word or a sentence.
    Text(String),
    /// A table or list; read it through the typed accessors of its module.
    Table,
    /// Known not to exist, for example a number format the hardware lacks.
    Absent,
}

/// One fact: what it says, in which unit, who says so, and how sure that is.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// `file#key`, for example `thresholds/att#critical`; without `#key` the whole file.
    pub id: String,
    /// What it says.
    pub value: FactValue,
    /// Unit of a number, as spelled in the file (`fraction`, `percent`, `ns` ...).
    pub unit: Option<String>,
    /// Where it comes from.
    pub source: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why it has this value, or what to beware of.
    pub note: Option<String>,
}

type Tree = Arc<Document<Value>>;

// One decode per file, on first use; nothing is read at start-up.
fn tree(file: &str) -> Result<Tree, FactError> {
    static TREES: OnceLock<Mutex<BTreeMap<String, Tree>>> = OnceLock::new();
    let trees = TREES.get_or_init(Mutex::default);
    if let Some(tree) = trees.lock().unwrap_or_else(PoisonError::into_inner).get(file) {
        return Ok(Arc::clone(tree));
    }
    let tree: Tree = Arc::new(document::load(file)?);
    trees.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_owned(), Arc::clone(&tree));
    Ok(tree)
}

/// Looks a fact up by its id. Keys may hold dots; a dotted path also walks into nested tables, and into
/// lists by the `id`, `sku`, `name`, `gfx_id` or `pragma` of their rows.
///
/// # Errors
/// [`FactError::NoFile`], [`FactError::NoKey`], or the file's own errors.
pub fn fact(id: &str) -> Result<Fact, FactError> {
    let (file, key) = id.split_once('#').unwrap_or((id, ""));
    let document = tree(file)?;
    let mut found = header(id, &document);
    if key.is_empty() {
        return Ok(found);
    }
    found.note = None;
    let node =
        descend(&document.facts, key, &mut found).ok_or_else(|| FactError::NoKey { id: id.to_owned() })?;
    found.value = match node {
        Value::Mapping(_) => node.get("value").map_or(FactValue::Table, scalar),
        other => scalar(other),
    };
    if let Some(unit) = node.get("unit").and_then(Value::as_str) {
        found.unit = Some(unit.to_owned());
    }
    Ok(found)
}

fn header(id: &str, document: &Document<Value>) -> Fact {
    Fact {
        id: id.to_owned(),
        value: FactValue::Table,
        unit: None,
        source: document.source.clone(),
        confidence: document.confidence,
        note: document.note.clone(),
    }
}

fn scalar(node: &Value) -> FactValue {
    match node {
        Value::Number(number) => number.as_f64().map_or(FactValue::Absent, FactValue::Number),
        Value::Bool(flag) => FactValue::Flag(*flag),
        Value::String(text) => FactValue::Text(text.clone()),
        Value::Null => FactValue::Absent,
        _ => FactValue::Table,
    }
}

// Tries the longest prefix of the key first, so a key that itself holds dots wins over nesting.
fn descend<'a>(node: &'a Value, key: &str, found: &mut Fact) -> Option<&'a Value> {
    let cuts = std::iter::once(key.len()).chain(key.rmatch_indices('.').map(|(at, _)| at));
    for cut in cuts {
        let (Some(head), Some(rest)) = (key.get(..cut), key.get(cut..)) else { continue };
        let Some(child) = child(node, head) else { continue };
        let before = (found.source.clone(), found.confidence);
        inherit(child, found);
        match rest.strip_prefix('.') {
            None => return Some(child),
            Some(rest) => {
                if let Some(end) = descend(child, rest, found) {
                    return Some(end);
                }
            }
        }
        (found.source, found.confidence) = before;
    }
    None
}

fn child<'a>(node: &'a Value, key: &str) -> Option<&'a Value> {
    match node {
        Value::Mapping(_) => node.get(key),
        Value::Sequence(rows) => rows.iter().find(|row| {
            ["id", "sku", "name", "gfx_id", "pragma", "flag", "code"]
                .iter()
                .any(|field| row.get(*field).and_then(Value::as_str) == Some(key))
        }),
        _ => None,
    }
}

fn inherit(node: &Value, found: &mut Fact) {
    if let Some(source) = node.get("source").and_then(Value::as_str) {
        found.source = source.to_owned();
    }
    if let Some(confidence) =
        node.get("confidence").and_then(|word| serde_yaml::from_value(word.clone()).ok())
    {
        found.confidence = confidence;
    }
    found.note = node.get("note").and_then(Value::as_str).map(str::to_owned);
}

/// The undecoded value behind an id: of a row its `value`, else the node itself.
pub(crate) fn value(id: &str) -> Result<Value, FactError> {
    let (file, key) = id.split_once('#').unwrap_or((id, ""));
    let document = tree(file)?;
    let mut found = header(id, &document);
    let node =
        descend(&document.facts, key, &mut found).ok_or_else(|| FactError::NoKey { id: id.to_owned() })?;
    Ok(node.get("value").unwrap_or(node).clone())
}

/// The number behind an id.
///
/// # Errors
/// As [`fact`], and [`FactError::WrongType`].
pub fn number(id: &str) -> Result<f64, FactError> {
    match fact(id)?.value {
        FactValue::Number(number) if number.is_finite() => Ok(number),
        _ => Err(FactError::WrongType { id: id.to_owned(), expected: "a finite number" }),
    }
}
