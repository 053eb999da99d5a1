//! What this build consists of, for the doctor: its database engine, its facts and the GPUs it knows.

use serde_json::{Value, json};

/// `{"sqlite", "facts", "gpus", "problem"}`: the SQLite version, the number of fact files and of products, and the
/// first fact file that does not load, or null.
pub fn info() -> Value {
    let files = perfxpert_knowledge::files();
    let products: usize = perfxpert_knowledge::arch::all().map(|arch| arch.skus.len()).sum();
    let problem = files
        .iter()
        .filter_map(|file| file.strip_prefix("arch/"))
        .find_map(|id| perfxpert_knowledge::arch::load(id).err())
        .map(|error| error.to_string());
    json!({
        "sqlite": perfxpert_trace::sqlite_version(),
        "facts": files.len(),
        "gpus": products,
        "problem": problem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_whole() {
        let info = info();
        assert_eq!(info["problem"], Value::Null);
        assert!(info["facts"].as_u64() > Some(20) && info["gpus"].as_u64() > Some(10), "{info}");
        assert!(info["sqlite"].as_str().is_some_and(|version| version.starts_with("3.")));
    }
}
