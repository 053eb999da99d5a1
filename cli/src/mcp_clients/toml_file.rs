//! Adds and removes one table of a TOML file; comments and everything else stay.

use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::Launcher;

/// Reads a text.
///
/// # Errors
/// The parser's first line.
pub fn read(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let words = error.to_string();
        words.lines().next().unwrap_or("not TOML").trim_end_matches(':').to_owned()
    })
}

/// The entry `parent.name` in the form of a JSON entry.
pub fn entry(document: &DocumentMut, parent: &str, name: &str) -> Option<Value> {
    let table = document.get(parent)?.as_table_like()?.get(name)?.as_table_like()?;
    let arguments: Vec<&str> = table
        .get("args")
        .and_then(Item::as_array)
        .into_iter()
        .flatten()
        .filter_map(|word| word.as_str())
        .collect();
    Some(json!({ "command": table.get("command")?.as_str()?, "args": arguments }))
}

/// Whether there is anything under that name.
pub fn holds(document: &DocumentMut, parent: &str, name: &str) -> bool {
    document.get(parent).and_then(Item::as_table_like).is_some_and(|table| table.contains_key(name))
}

/// Adds or replaces the table; `None` when `parent` is no table.
pub fn with(mut document: DocumentMut, parent: &str, name: &str, launcher: &Launcher) -> Option<String> {
    if document.get(parent).is_none() {
        let mut table = Table::new();
        table.set_implicit(true);
        document.insert(parent, Item::Table(table));
    }
    let servers = document.get_mut(parent)?.as_table_like_mut()?;
    let mut table = Table::new();
    table.insert("command", value(launcher.program.as_str()));
    table.insert("args", value(launcher.arguments.iter().map(String::as_str).collect::<Array>()));
    servers.insert(name, Item::Table(table));
    Some(document.to_string())
}

/// Removes the table, and `parent` when nothing else is in it.
pub fn without(mut document: DocumentMut, parent: &str, name: &str) -> String {
    if let Some(servers) = document.get_mut(parent).and_then(Item::as_table_like_mut) {
        servers.remove(name);
        if servers.is_empty() {
            document.remove(parent);
        }
    }
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_the_same_file() {
        let launcher = Launcher::of("/opt/px/perfxpert");
        for original in [
            "# mine\nmodel = \"x\" # best\n\n[mcp_servers.other]\ncommand = \"y\"\n\n[tail]\na = 1\n",
            "model = \"x\"\n",
            "",
        ] {
            let installed = with(read(original).unwrap(), "mcp_servers", "perfxpert", &launcher).unwrap();
            let document = read(&installed).unwrap();
            let found = entry(&document, "mcp_servers", "perfxpert").unwrap();
            assert_eq!(super::super::launcher_of(&found).unwrap(), launcher);
            assert_eq!(without(document, "mcp_servers", "perfxpert"), original, "{installed}");
        }
    }

    #[test]
    fn a_snippet_is_one_table() {
        let text =
            with(DocumentMut::new(), "mcp_servers", "perfxpert", &Launcher::of("/p/perfxpert-mcp")).unwrap();
        assert_eq!(
            text,
            "[mcp_servers.perfxpert]\ncommand = \"/p/perfxpert-mcp\"\nargs = [\"--tool-names\", \"bare\"]\n"
        );
    }
}
