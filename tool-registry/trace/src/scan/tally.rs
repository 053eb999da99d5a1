//! Counts what a stream put aside or found wrong, and words it for health.

use std::collections::BTreeMap;

use crate::health::{Health, HealthItem, Severity};

/// Rows named per problem.
const EXAMPLES: usize = Health::MAX_EXAMPLES;
/// Suspiciously long rows kept until the end of a sweep.
const MAX_SUSPECTS: usize = 10_000;

/// Why a row is put aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aside {
    Zero,
    Reversed,
    Absurd,
}

/// Occurrences of one problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    pub(super) count: u64,
    examples: Vec<String>,
}

impl Count {
    pub(super) fn note(&mut self, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(example());
        }
    }

    fn join(&mut self, other: Self) {
        self.count += other.count;
        self.examples.extend(other.examples);
        self.examples.truncate(EXAMPLES);
    }
}

/// A row whose length can only be judged when all others are known.
#[derive(Clone, Debug)]
pub(super) struct Suspect {
    pub(super) duration: i64,
    pub(super) what: &'static str,
    pub(super) row: i64,
}

/// First start, last end and number of valid rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) count: u64,
}

impl Default for Span {
    fn default() -> Self {
        Self { first: i64::MAX, last: i64::MIN, count: 0 }
    }
}

impl Span {
    #[inline]
    pub(super) fn add(&mut self, start: i64, end: i64) {
        self.first = self.first.min(start);
        self.last = self.last.max(end);
        self.count += 1;
    }

    pub(super) fn join(&mut self, other: Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.count += other.count;
    }

    pub(super) fn length(&self) -> i64 {
        if self.count == 0 { 0 } else { self.last.saturating_sub(self.first) }
    }
}

/// Everything one stream has to report.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) delivered: u64,
    pub(super) zero: Count,
    pub(super) reversed: Count,
    pub(super) absurd: Count,
    /// References that lead nowhere, by what they should lead to.
    pub(super) dangling: BTreeMap<&'static str, Count>,
    pub(super) invalid_text: Count,
    pub(super) direction: Count,
    /// Counter values that are no usable numbers.
    pub(super) bad_values: Count,
    /// Counter rows met twice.
    pub(super) duplicate_values: Count,
    pub(super) damaged_pages: u64,
    pub(super) damaged_rows: u64,
    pub(super) suspects: Vec<Suspect>,
    pub(super) span: Span,
}

impl Tally {
    pub(super) fn aside(&mut self, why: Aside, what: &'static str, row: i64, start: i64, end: i64) {
        let count = match why {
            Aside::Zero => &mut self.zero,
            Aside::Reversed => &mut self.reversed,
            Aside::Absurd => &mut self.absurd,
        };
        count.note(|| format!("{what} row {row}: start {start}, end {end}"));
    }

    pub(super) fn suspect(&mut self, duration: i64, what: &'static str, row: i64) {
        if self.suspects.len() < MAX_SUSPECTS {
            self.suspects.push(Suspect { duration, what, row });
        } else {
            // So many long rows are the trace's normal; the pass is repeated with a longer limit.
            if let Some(longest) = self.suspects.iter_mut().max_by_key(|suspect| suspect.duration)
                && duration < longest.duration
            {
                *longest = Suspect { duration, what, row };
            }
            self.absurd.note(|| format!("{what} row {row}: {duration} ns"));
        }
    }

    pub(super) fn dangling(&mut self, target: &'static str, what: &'static str, row: i64, id: i64) {
        self.dangling.entry(target).or_default().note(|| format!("{what} row {row}: {target} {id}"));
    }

    /// Rows read that did not arrive.
    pub(super) fn left_out(&self) -> u64 {
        self.zero.count
            + self.reversed.count
            + self.absurd.count
            + self.bad_values.count
            + self.duplicate_values.count
            + self.damaged_rows
    }

    pub(super) fn join(&mut self, other: Self) {
        self.delivered += other.delivered;
        self.zero.join(other.zero);
        self.reversed.join(other.reversed);
        self.absurd.join(other.absurd);
        for (target, count) in other.dangling {
            self.dangling.entry(target).or_default().join(count);
        }
        self.invalid_text.join(other.invalid_text);
        self.direction.join(other.direction);
        self.bad_values.join(other.bad_values);
        self.duplicate_values.join(other.duplicate_values);
        self.damaged_pages += other.damaged_pages;
        self.damaged_rows += other.damaged_rows;
        self.suspects.extend(other.suspects);
        self.span.join(other.span);
    }

    /// Words every problem.
    pub(super) fn report(self, health: &mut Health) {
        let mut item = |id, severity, count: Count, message: &str, advice: &str| {
            if count.count > 0 {
                health.add(HealthItem {
                    id,
                    severity,
                    count: count.count,
                    message: format!("{} {message}", count.count),
                    advice: advice.into(),
                    examples: count.examples,
                });
            }
        };
        item(
            "reversed_interval",
            Severity::Warning,
            self.reversed,
            "rows end before they start; they are left out.",
            "Update the profiler and record again.",
        );
        item(
            "zero_timestamp",
            Severity::Warning,
            self.zero,
            "rows have a zero or negative time; they are left out.",
            "Record again; the profiler lost these timestamps.",
        );
        item(
            "absurd_duration",
            Severity::Warning,
            self.absurd,
            "rows are longer than can be true; they are left out.",
            "Record again; the GPU timestamps of these rows are corrupt.",
        );
        item(
            "direction_conflict",
            Severity::Warning,
            self.direction,
            "copies go another way by their agents than by their name; the name counts.",
            "Check the copy's pointers if its direction matters.",
        );
        item(
            "unusable_counter_values",
            Severity::Warning,
            self.bad_values,
            "counter values are no usable numbers; they are left out.",
            "Record these counters again, fewer at a time.",
        );
        item(
            "duplicate_counter_values",
            Severity::Info,
            self.duplicate_values,
            "counter rows repeat earlier ones; they count once.",
            "Merge each recording only once.",
        );
        if self.invalid_text.count > 0 {
            health.add(invalid_text(self.invalid_text.count, self.invalid_text.examples));
        }
        if !self.dangling.is_empty() {
            let parts: Vec<String> =
                self.dangling.iter().map(|(target, count)| format!("{} {target}", count.count)).collect();
            let mut all = Count::default();
            for (_, count) in self.dangling {
                all.join(count);
            }
            health.add(HealthItem {
                id: "dangling_reference",
                severity: Severity::Warning,
                count: all.count,
                message: format!(
                    "{} references lead to rows that are not there ({}); the rows themselves count.",
                    all.count,
                    parts.join(", ")
                ),
                advice: "Names or links of these rows are unknown; record again if they matter.".into(),
                examples: all.examples,
            });
        }
        if self.damaged_pages + self.damaged_rows > 0 {
            health.add(HealthItem {
                id: "truncated_file",
                severity: Severity::DataLoss,
                count: self.damaged_pages + self.damaged_rows,
                message: format!(
                    "{} pages and {} single rows cannot be read; what they held is missing.",
                    self.damaged_pages, self.damaged_rows
                ),
                advice: "Record again, or recover the file with sqlite3 .recover.".into(),
                examples: Vec::new(),
            });
        }
    }
}

/// Texts with bytes that are not valid in the file's encoding.
pub(crate) fn invalid_text(count: u64, examples: Vec<String>) -> HealthItem {
    HealthItem {
        id: "invalid_text",
        severity: Severity::Info,
        count,
        message: "Some texts hold bytes that are not valid; they are shown with replacement characters."
            .into(),
        advice: "Names may differ from the program's in these characters.".into(),
        examples,
    }
}
