//! Kernels that may have been renamed: one gone, one new, with names that agree up to template arguments.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::rows::{Row, Status};

/// Pairs of a removed and an added kernel, at most `limit`, the removed ones by time descending.
#[must_use]
pub fn possible_renames(rows: &[Row], limit: usize) -> Vec<(Arc<str>, Arc<str>)> {
    let mut added: Vec<&Row> = rows.iter().filter(|row| row.status == Status::Added).collect();
    added.sort_by(|a, b| b.change.new.cmp(&a.change.new).then_with(|| a.name.cmp(&b.name)));
    let mut by_key: HashMap<String, VecDeque<&Row>> = HashMap::new();
    for row in added {
        by_key.entry(without_template_arguments(&row.name)).or_default().push_back(row);
    }
    rows.iter()
        .filter(|row| row.status == Status::Removed)
        .filter_map(|gone| {
            let key = without_template_arguments(&gone.name);
            let found = by_key.get_mut(&key)?.pop_front()?;
            Some((Arc::clone(&gone.name), Arc::clone(&found.name)))
        })
        .take(limit)
        .collect()
}

fn without_template_arguments(name: &str) -> String {
    let mut depth = 0_u32;
    name.chars()
        .filter(|letter| match letter {
            '<' => {
                depth += 1;
                false
            }
            '>' if depth > 0 => {
                depth -= 1;
                false
            }
            _ => depth == 0,
        })
        .collect()
}
