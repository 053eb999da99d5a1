//! A prediction's id: its whole state, so that nothing needs to be stored.
//!
//! `pp1.` + base64url of the state + `.` + the first 12 hex digits of the state's SHA-256. The state is the compact JSON
//! list `[1, change_type, kernel_name, models_version, inputs]`; numbers of `inputs` are millionths.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Inputs, STEPS};

const PREFIX: &str = "pp1.";
const FORMAT: u64 = 1;
const DIGEST: usize = 12;
/// Kernel names longer than this many bytes are replaced by a hash.
const LONGEST_NAME: usize = 120;

/// What an id carries.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The change.
    pub change_type: String,
    /// The kernel, or a hash of a long name.
    pub kernel_name: String,
    /// Version of the models it was made with.
    pub models_version: u64,
    /// Numbers as they were, texts as they were.
    pub inputs: serde_json::Map<String, Value>,
}

fn digest(state: &[u8]) -> String {
    let hex: String = Sha256::digest(state).iter().map(|byte| format!("{byte:02x}")).collect();
    hex.chars().take(DIGEST).collect()
}

/// The id of a prediction of a change to a kernel from these inputs.
#[must_use]
pub fn encode(change_type: &str, kernel_name: &str, models_version: u64, inputs: &Inputs) -> String {
    let name = if kernel_name.len() > LONGEST_NAME {
        format!("sha256:{}", digest(kernel_name.as_bytes()))
    } else {
        kernel_name.to_owned()
    };
    let mut values: BTreeMap<&str, Value> =
        inputs.numbers.iter().map(|(key, value)| (key.as_str(), json!(steps(*value)))).collect();
    if let Some(gfx_id) = &inputs.gfx_id {
        values.insert("gfx_id", json!(gfx_id));
    }
    if let Some(dtype) = &inputs.dtype {
        values.insert("dtype", json!(dtype));
    }
    let state = json!([FORMAT, change_type, name, models_version, values]).to_string();
    format!("{PREFIX}{}.{}", URL_SAFE_NO_PAD.encode(&state), digest(state.as_bytes()))
}

/// A number in millionths.
#[expect(
    clippy::cast_possible_truncation,
    reason = "inputs are far below the range, and the conversion saturates"
)]
fn steps(value: f64) -> i64 {
    (value * STEPS).round() as i64
}

/// The state behind an id; `None` when prefix, encoding, digest or shape is wrong.
#[must_use]
pub fn decode(id: &str) -> Option<State> {
    let (encoded, claimed) = id.trim().strip_prefix(PREFIX)?.rsplit_once('.')?;
    let state = URL_SAFE_NO_PAD.decode(encoded).ok()?;
    if digest(&state) != claimed {
        return None;
    }
    let parts: Vec<Value> = serde_json::from_slice(&state).ok()?;
    let [format, change_type, kernel_name, version, Value::Object(inputs)] = parts.as_slice() else {
        return None;
    };
    if format.as_u64() != Some(FORMAT) {
        return None;
    }
    let inputs = inputs
        .iter()
        .map(|(key, value)| {
            let value = match value {
                Value::String(text) => json!(text),
                other => json!(other.as_i64()? as f64 / STEPS),
            };
            Some((key.clone(), value))
        })
        .collect::<Option<_>>()?;
    Some(State {
        change_type: change_type.as_str()?.to_owned(),
        kernel_name: kernel_name.as_str()?.to_owned(),
        models_version: version.as_u64()?,
        inputs,
    })
}
