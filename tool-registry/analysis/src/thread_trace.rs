//! Reads one `stats_*.csv` of a thread trace: per kernel, what its instructions wait for.
//!
//! Latency, stall and idle of a row are cycles summed over all executions of the instruction.

use std::collections::BTreeMap;

use perfxpert_knowledge::{att, thresholds};
use perfxpert_source::qualified_name;

/// Rows of one file that are looked at.
pub const MAX_ROWS: usize = 1_000_000;
/// Instructions listed per kernel.
const LISTED: usize = 10;

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its text.
    pub text: String,
    /// Executions by waves.
    pub hits: u64,
    /// Cycles from issue to the end, summed.
    pub latency: u64,
    /// Cycles it waited, summed.
    pub stall: u64,
    /// What it waits for, a category id.
    pub category: &'static str,
    /// `file:line`.
    pub source: Option<String>,
}

impl Instruction {
    /// Stall over latency, fraction; 0 without latency.
    #[must_use]
    pub fn stall_ratio(&self) -> f64 {
        ratio(self.stall, self.latency)
    }
}

/// One kernel of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedKernel {
    /// Without return type, parameters and template arguments.
    pub name: String,
    /// Instructions that ran.
    pub instructions: u64,
    /// Summed latency, cycles.
    pub latency: u64,
    /// Summed stall, cycles.
    pub stall: u64,
    /// Summed idle, cycles.
    pub idle: u64,
    /// Stall cycles by category id; those that occur.
    pub categories: BTreeMap<&'static str, u64>,
    /// Most stall first, then by text; at most ten.
    pub top: Vec<Instruction>,
    /// Rows whose numbers do not parse or contradict each other.
    pub left_out: u64,
}

impl TracedKernel {
    /// Stall over latency, fraction; 0 without latency.
    #[must_use]
    pub fn stall_ratio(&self) -> f64 {
        ratio(self.stall, self.latency)
    }

    /// The category with most stall cycles; ties by id. `None` when nothing stalls.
    #[must_use]
    pub fn stall_category(&self) -> Option<&'static str> {
        let rows = self.categories.iter().filter(|(_, stall)| **stall > 0);
        rows.max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(category, _)| *category)
    }

    /// Whether its worst instruction waits most of its time.
    #[must_use]
    pub fn stalls_much(&self) -> bool {
        let facts = thresholds::report();
        self.top.first().is_some_and(|worst| {
            worst.stall_ratio() >= facts.att_high_ratio && worst.hits >= facts.att_min_hits
        })
    }

    fn add(&mut self, row: Instruction, idle: u64) {
        self.instructions += 1;
        self.latency = self.latency.saturating_add(row.latency);
        self.stall = self.stall.saturating_add(row.stall);
        self.idle = self.idle.saturating_add(idle);
        let sum = self.categories.entry(row.category).or_default();
        *sum = sum.saturating_add(row.stall);
        let before = |known: &Instruction| {
            known.stall > row.stall || (known.stall == row.stall && known.text <= row.text)
        };
        let place = self.top.partition_point(before);
        if place < LISTED {
            self.top.insert(place, row);
            self.top.truncate(LISTED);
        }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Why a file gives nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A column that every row needs.
    #[error("column {0} is missing")]
    Column(&'static str),
    /// No row with numbers.
    #[error("no usable row")]
    NoRow,
}

/// Where the columns stand.
struct Columns {
    instruction: usize,
    hits: usize,
    latency: usize,
    stall: usize,
    idle: Option<usize>,
    source: Option<usize>,
}

impl Columns {
    fn of(header: &str) -> Result<Self, Unusable> {
        let names: Vec<String> = fields(header).iter().map(|name| plain(name)).collect();
        let find = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
        let need = |wanted: &[&str], column| find(wanted).ok_or(Unusable::Column(column));
        Ok(Self {
            instruction: need(&["instruction"], "instruction")?,
            hits: need(&["hitcount", "hit count"], "hits")?,
            latency: need(&["latency", "total latency"], "latency")?,
            stall: need(&["stall"], "stall")?,
            idle: find(&["idle"]),
            source: find(&["source"]),
        })
    }
}

/// A column's name in lower case, without quotes, unit and byte-order mark.
fn plain(name: &str) -> String {
    let name = name.trim().trim_start_matches('\u{feff}').trim_matches('"');
    let name = name.split_once('(').map_or(name, |(name, _)| name);
    name.trim().to_ascii_lowercase()
}

/// Fields of a line; quotes keep commas together, doubled quotes are one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                push(&mut fields, '"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            letter => push(&mut fields, letter),
        }
    }
    fields
}

fn push(fields: &mut [String], letter: char) {
    if let Some(field) = fields.last_mut() {
        field.push(letter);
    }
}

/// Reads the text of a file; `stem` (the file's name after `stats_`) names rows before the first kernel.
///
/// # Errors
/// [`Unusable`]: a needed column is missing, or no row has numbers.
pub fn read(text: &str, stem: &str) -> Result<Vec<TracedKernel>, Unusable> {
    let mut lines = text.lines();
    let header = lines.by_ref().find(|line| !line.trim().is_empty()).ok_or(Unusable::NoRow)?;
    let columns = Columns::of(header)?;
    let mut kernels: Vec<TracedKernel> = Vec::new();
    let mut current = TracedKernel { name: stem.to_owned(), ..TracedKernel::default() };
    for line in lines.filter(|line| !line.trim().is_empty()).take(MAX_ROWS) {
        let row = fields(line);
        let field = |at: usize| row.get(at).map_or("", |field| field.trim());
        let number = |at: usize| field(at).parse::<u64>().ok();
        let text = field(columns.instruction);
        let source = columns.source.map(field).filter(|source| !source.is_empty());
        let idle = match columns.idle {
            Some(at) => number(at).or(field(at).is_empty().then_some(0)),
            None => Some(0),
        };
        let numbers = (number(columns.hits), number(columns.latency), number(columns.stall), idle);
        let (Some(hits), Some(latency), Some(stall), Some(idle)) = numbers else {
            current.left_out += 1;
            continue;
        };
        if hits == 0 && latency == 0 {
            if let Some(name) = kernel_name(text, source) {
                close(&mut kernels, &mut current, name);
            }
        } else if stall > latency || text.is_empty() {
            current.left_out += 1;
        } else {
            let row = Instruction {
                text: text.to_owned(),
                hits,
                latency,
                stall,
                category: att::category(text),
                source: source.map(str::to_owned),
            };
            current.add(row, idle);
        }
    }
    close(&mut kernels, &mut current, String::new());
    if kernels.is_empty() { Err(Unusable::NoRow) } else { Ok(kernels) }
}

/// The name in a row that starts a kernel; `None` for an instruction that never ran.
fn kernel_name(text: &str, source: Option<&str>) -> Option<String> {
    let named = text.strip_prefix(';').map(str::trim).filter(|name| !name.is_empty());
    let name = named.or_else(|| source.filter(|_| text.is_empty() || text.starts_with(';')))?;
    Some(qualified_name(name))
}

/// Ends a kernel and begins the next one; kernels without a usable row leave nothing but their count of bad rows.
fn close(kernels: &mut Vec<TracedKernel>, current: &mut TracedKernel, next: String) {
    let done = std::mem::replace(current, TracedKernel { name: next, ..TracedKernel::default() });
    if done.instructions > 0 {
        kernels.push(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source
1,4096,"; gemm(float*)",0,0,0,0,
1,4100,"global_load_dwordx4 v[0:3], v4, s[0:1]",1000,40000,28000,0,"ops.hip:43"
1,4108,"s_waitcnt vmcnt(0)",1000,30000,27000,1000,"ops.hip:44"
1,4112,"v_fma_f32 v0, v1, v2, v0",4000,20000,2000,0,"ops.hip:45"
1,4120,"ds_read_b128 v[4:7], v8",1000,10000,3000,0,"ops.hip:46"
"#;

    #[test]
    fn the_worked_example() {
        let kernels = read(RUN, "run").unwrap();
        let [kernel] = kernels.as_slice() else { panic!("{kernels:?}") };
        assert_eq!(kernel.name, "gemm");
        assert_eq!(
            (kernel.instructions, kernel.latency, kernel.stall, kernel.idle),
            (4, 100_000, 60_000, 1000)
        );
        assert_eq!(kernel.categories["att_vmem_latency"], 55_000);
        assert_eq!(kernel.categories["att_lds_conflict"], 3000);
        assert_eq!(kernel.categories["att_dependency_chain"], 2000);
        assert_eq!(kernel.stall_category(), Some("att_vmem_latency"));
        assert_eq!(kernel.top[0].stall_ratio(), 0.7);
        assert_eq!(kernel.top[0].source.as_deref(), Some("ops.hip:43"));
        let stalls: Vec<u64> = kernel.top.iter().map(|row| row.stall).collect();
        assert_eq!(stalls, [28_000, 27_000, 3000, 2000]);
        assert!(kernel.stalls_much());
    }

    #[test]
    fn every_file_of_the_fixtures_gives_what_was_planted() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/side/att");
        let truth = std::fs::read_to_string(format!("{folder}/truth.json")).unwrap();
        let truth: serde_json::Value = serde_json::from_str(&truth).unwrap();
        let files = truth.as_object().unwrap();
        assert!(files.len() >= 6, "control");
        for (file, wanted) in files {
            let text = std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
            let stem = file.trim_start_matches("stats_").trim_end_matches(".csv");
            match read(&text, stem) {
                Err(fault) => assert_eq!(wanted["error"], fault.to_string(), "{file}"),
                Ok(kernels) => {
                    let wanted = wanted["kernels"].as_array().unwrap();
                    assert_eq!(kernels.len(), wanted.len(), "{file}");
                    for (kernel, wanted) in kernels.iter().zip(wanted) {
                        assert_eq!(wanted["name"], kernel.name, "{file}");
                        assert_eq!(wanted["instructions"], kernel.instructions, "{file}");
                        assert_eq!(wanted["latency"], kernel.latency, "{file}");
                        assert_eq!(wanted["stall"], kernel.stall, "{file}");
                        assert_eq!(wanted["idle"], kernel.idle, "{file}");
                        assert_eq!(wanted["rows_left_out"], kernel.left_out, "{file}");
                    }
                }
            }
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        for text in ["", "\n\n", "a,b", "Instruction,Hitcount,Latency,Stall", "\"", RUN.get(..200).unwrap()] {
            let _ = read(text, "x");
        }
    }
}
