//! Metrics computed from counters, per architecture, as expressions that can be evaluated and explained.
//!
//! ```
//! use perfxpert_knowledge::formulas;
//!
//! let counters = |name: &str| match name {
//!     "TCC_HIT" => Some(66_160.0),
//!     "TCC_MISS" => Some(131_309.0),
//!     _ => None,
//! };
//! let hit = formulas::evaluate("l2_hit", "gfx942", &counters).unwrap();
//! assert!((hit.value.unwrap() - 0.335_040).abs() < 1e-6);
//! ```

use std::sync::OnceLock;

use serde::Deserialize;

use crate::FactError;
use crate::document::{built_in, table};

mod expression;

pub use expression::{Expression, ParseError};

/// A row of the formula table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Metric.
    pub metric: String,
    /// `fraction`, `bytes`, `operations`, `waves`, `cycles` or `ratio`.
    pub unit: String,
    /// gfx ids it holds for.
    pub arches: Vec<String>,
    /// The expression.
    pub expression: String,
    /// What to say beside the value.
    pub note: Option<String>,
}

/// A formula ready to evaluate.
#[derive(Debug, Clone)]
pub struct Formula {
    /// Its row.
    pub row: &'static Row,
    /// Its expression.
    pub expression: Expression,
}

/// A metric's value and how it came about.
#[derive(Debug, Clone)]
pub struct Value {
    /// The number; `None` when the formula divides by zero, that is, when the counters saw nothing.
    pub value: Option<f64>,
    /// The formula used.
    pub formula: &'static Formula,
}

/// Names in expressions that are constants of the agent or dispatch, not counters.
pub const CONSTANTS: &[&str] = &["CUS", "SIMDS", "SES", "CYCLES", "MAX_WAVES_PER_CU"];

table! {
    /// The formula table; earlier rows of a metric are preferred.
    pub fn rows() -> Vec<Row> = "metrics/formulas";
}

/// All formulas in table order.
pub fn all() -> &'static [Formula] {
    static CELL: OnceLock<Vec<Formula>> = OnceLock::new();
    CELL.get_or_init(|| built_in(parse()))
}

fn parse() -> Result<Vec<Formula>, FactError> {
    rows()
        .iter()
        .map(|row| {
            let expression = Expression::parse(&row.expression).map_err(|error| FactError::Malformed {
                file: "metrics/formulas".to_owned(),
                message: format!("{}: {error}", row.metric),
            })?;
            Ok(Formula { row, expression })
        })
        .collect()
}

/// Formulas of a metric on an architecture (normalised id), preferred ones first.
pub fn of(metric: &str, gfx_id: &str) -> Vec<&'static Formula> {
    let fits =
        |formula: &&Formula| formula.row.metric == metric && formula.row.arches.iter().any(|a| a == gfx_id);
    all().iter().filter(fits).collect()
}

impl Formula {
    /// Counters it needs, without the constants; each once, in order.
    pub fn counters(&self) -> Vec<&str> {
        self.expression.names().into_iter().filter(|name| !CONSTANTS.contains(name)).collect()
    }

    /// Evaluates with values per dispatch or per kernel. A counter is looked up by its name, then with `_sum`.
    ///
    /// # Errors
    /// The names that have no value.
    pub fn evaluate(&self, values: &dyn Fn(&str) -> Option<f64>) -> Result<Option<f64>, Vec<String>> {
        let look = |name: &str| values(name).or_else(|| values(&format!("{name}_sum")));
        let missing: Vec<String> = self
            .expression
            .names()
            .into_iter()
            .filter(|name| look(name).is_none())
            .map(str::to_owned)
            .collect();
        if missing.is_empty() { Ok(self.expression.evaluate(&look)) } else { Err(missing) }
    }
}

/// Evaluates a metric on an architecture by the first formula whose counters are there.
///
/// # Errors
/// What the preferred formula lacks; empty when the architecture has no formula for the metric.
pub fn evaluate(
    metric: &str,
    gfx_id: &str,
    values: &dyn Fn(&str) -> Option<f64>,
) -> Result<Value, Vec<String>> {
    let mut lacks = None;
    for formula in of(metric, gfx_id) {
        match formula.evaluate(values) {
            Ok(value) => return Ok(Value { value, formula }),
            Err(missing) => lacks = lacks.or(Some(missing)),
        }
    }
    Err(lacks.unwrap_or_default())
}
