//! Renderings of the report; they format what the document holds and compute nothing.

pub mod diff;
pub mod gate;
pub mod markdown;
pub mod name;
pub mod number;
pub mod section;
pub mod text;
pub mod webview;

use perfxpert_schemas::report::Report;
use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::Value;

/// The four renderings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// 80 columns for a terminal.
    #[default]
    Text,
    /// The document itself.
    Json,
    /// GitHub-flavoured markdown.
    Markdown,
    /// One self-contained HTML file.
    Webview,
}

/// How to render text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns, at least 80.
    pub columns: usize,
    /// Whether to colour for a terminal.
    pub colour: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { columns: 80, colour: false }
    }
}

/// Renders a report; the text ends with exactly one newline.
///
/// # Errors
/// `internal` when the document does not have the shape of a report.
pub fn render(document: &Value, format: Format, layout: Layout) -> Result<String, ErrorObject> {
    if format == Format::Json {
        return pretty(document);
    }
    let report: Report = serde_json::from_value(document.clone()).map_err(|fault| {
        ErrorObject::new(
            ErrorKind::Internal,
            format!("The report cannot be rendered: {fault}."),
            "Use --format json and report this.",
        )
    })?;
    match format {
        Format::Json => pretty(document),
        Format::Text => Ok(text::report(&report, layout)),
        Format::Markdown => Ok(markdown::report(&report)),
        Format::Webview => Ok(webview::report(&report, document)),
    }
}

fn pretty(document: &Value) -> Result<String, ErrorObject> {
    serde_json::to_string_pretty(document).map(|text| text + "\n").map_err(|_| ErrorObject::internal())
}

/// The document as `--format json` prints it; a `Value` always serialises.
pub(crate) fn pretty_json(document: &Value) -> String {
    pretty(document).unwrap_or_default()
}
