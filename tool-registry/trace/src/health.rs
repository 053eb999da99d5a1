//! Trace health: what is wrong with a trace, and what was left out because of it.

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Numbers may be off.
    Warning,
    /// Rows are missing.
    DataLoss,
}

impl Severity {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::DataLoss => "data_loss",
        }
    }
}

/// Overall state of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// No item above info.
    Ok,
    /// Some items above info.
    Degraded,
    /// Nothing left to judge.
    Unusable,
}

impl Status {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded => "degraded",
            Self::Unusable => "unusable",
        }
    }
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthItem {
    /// Stable id (`reversed_interval`).
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// How many rows, files or values it concerns.
    pub count: u64,
    /// What was found, one sentence.
    pub message: String,
    /// What to do about it, one sentence.
    pub advice: String,
    /// At most [`Health::MAX_EXAMPLES`] examples.
    pub examples: Vec<String>,
}

/// All problems of a trace: one item per id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    items: Vec<HealthItem>,
}

impl Health {
    /// Examples kept per item.
    pub const MAX_EXAMPLES: usize = 3;

    /// Adds a problem. A second item of the same id adds its count and examples to the first; the more severe one gives
    /// severity, message and advice.
    pub fn add(&mut self, item: HealthItem) {
        match self.items.iter_mut().find(|known| known.id == item.id) {
            None => {
                let mut item = item;
                item.examples.truncate(Self::MAX_EXAMPLES);
                self.items.push(item);
            }
            Some(known) => {
                known.count = known.count.saturating_add(item.count);
                if item.severity > known.severity {
                    known.severity = item.severity;
                    known.message = item.message;
                    known.advice = item.advice;
                }
                known.examples.extend(item.examples);
                known.examples.truncate(Self::MAX_EXAMPLES);
            }
        }
        self.items.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(b.id)));
    }

    /// Adds every item of another list.
    pub fn merge(&mut self, other: &Self) {
        for item in &other.items {
            self.add(item.clone());
        }
    }

    /// Items, worst first, then by id.
    #[must_use]
    pub fn items(&self) -> &[HealthItem] {
        &self.items
    }

    /// The item of that id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&HealthItem> {
        self.items.iter().find(|item| item.id == id)
    }

    /// The most severe item's severity.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.items.first().map(|item| item.severity)
    }

    /// Overall state; `judgeable` says whether any valid GPU event is left.
    #[must_use]
    pub fn status(&self, judgeable: bool) -> Status {
        match self.worst() {
            _ if !judgeable => Status::Unusable,
            None | Some(Severity::Info) => Status::Ok,
            Some(_) => Status::Degraded,
        }
    }
}
