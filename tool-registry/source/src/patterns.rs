//! Turns occurrences into patterns: order, severity, the sentence with the numbers, and whether to recommend.

use std::collections::BTreeMap;

use crate::file_scan::FilePattern;
use crate::limits::MAX_OCCURRENCES;
use crate::model::{Occurrence, Pattern, PatternId, PatternSeverity};

/// Occurrences of the tree while files come in, in file order.
#[derive(Default)]
pub(crate) struct PatternTotals {
    totals: BTreeMap<PatternId, Totals>,
}

#[derive(Default)]
struct Totals {
    count: u64,
    in_loop_count: u64,
    in_loop: Vec<Occurrence>,
    others: Vec<Occurrence>,
}

impl PatternTotals {
    /// Adds one file's occurrences of a pattern.
    pub(crate) fn add(&mut self, id: PatternId, file: FilePattern) {
        let totals = self.totals.entry(id).or_default();
        totals.count += file.count;
        totals.in_loop_count += file.in_loop_count;
        for occurrence in file.occurrences {
            let list =
                if occurrence.loop_context.is_loop() { &mut totals.in_loop } else { &mut totals.others };
            if list.len() < MAX_OCCURRENCES {
                list.push(occurrence);
            }
        }
    }

    /// The patterns found. The default stream is worth a recommendation when no launch names another stream and there
    /// is a second launch or a copy it could overlap with.
    pub(crate) fn finish(self, launches: u64, async_copies: u64) -> Vec<Pattern> {
        let blocking_copies = self.totals.get(&PatternId::MemcpySync).map_or(0, |totals| totals.count);
        let overlappable = launches >= 2 || blocking_copies + async_copies >= 1;
        self.totals
            .into_iter()
            .map(|(id, mut totals)| {
                totals.in_loop.sort_by(|a, b| a.site.cmp(&b.site));
                totals.others.sort_by(|a, b| a.site.cmp(&b.site));
                let mut occurrences = totals.in_loop;
                occurrences.append(&mut totals.others);
                occurrences.truncate(MAX_OCCURRENCES);
                let (count, in_loop_count) = (totals.count, totals.in_loop_count);
                Pattern {
                    id,
                    severity: match id {
                        PatternId::MemcpySync | PatternId::DeviceSync if in_loop_count == 0 => {
                            PatternSeverity::Low
                        }
                        _ => PatternSeverity::Medium,
                    },
                    description: describe(id, count, in_loop_count),
                    count,
                    in_loop_count,
                    occurrences,
                    recommend: match id {
                        PatternId::DefaultStream => count == launches && overlappable,
                        _ => in_loop_count > 0,
                    },
                }
            })
            .collect()
    }
}

fn describe(id: PatternId, count: u64, in_loop: u64) -> String {
    let (one, many) = match id {
        PatternId::MemcpySync => ("blocking copy", "blocking copies"),
        PatternId::DeviceSync => ("synchronization call", "synchronization calls"),
        PatternId::DefaultStream => ("launch on the default stream", "launches on the default stream"),
        PatternId::AllocInLoop => ("allocation or free call", "allocation and free calls"),
        PatternId::CreateInLoop => ("object creation", "object creations"),
        PatternId::PythonSync => ("call that waits for the GPU", "calls that wait for the GPU"),
    };
    let noun = if count == 1 { one } else { many };
    match (count, in_loop) {
        _ if matches!(id, PatternId::AllocInLoop | PatternId::CreateInLoop | PatternId::PythonSync) => {
            format!("{count} {noun} in a loop")
        }
        (1, 1) => format!("1 {noun}, in a loop"),
        (1, 0) => format!("1 {noun}, not in a loop"),
        (_, 0) => format!("{count} {noun}, none of them in a loop"),
        (_, all) if all == count => format!("{count} {noun}, all of them in a loop"),
        _ => format!("{count} {noun}, {in_loop} of them in a loop"),
    }
}
