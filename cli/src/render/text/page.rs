//! A page of text: banners, wrapped prose, tables and commands within a fixed width.

use crate::render::Layout;
use crate::render::name::{shorten, visible, width};

/// How a column lies in its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Header, columns wide, and side of one column.
pub type Column<'a> = (&'a str, usize, Side);

/// Lines written so far.
pub struct Page {
    lines: Vec<String>,
    layout: Layout,
}

const BOLD: &str = "\u{1b}[1m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const PLAIN: &str = "\u{1b}[0m";

impl Page {
    /// An empty page.
    pub fn new(layout: Layout) -> Self {
        Self { lines: Vec::new(), layout }
    }

    /// Columns beyond the standard 80; they go to name columns and prose.
    pub fn extra(&self) -> usize {
        self.layout.columns.saturating_sub(80)
    }

    /// The text with one newline at its end.
    pub fn finish(self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    /// One line as it is.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(text.as_ref().trim_end().to_owned());
    }

    /// The title between two rules.
    pub fn title(&mut self, title: &str) {
        let rule = "=".repeat(self.layout.columns);
        self.line(&rule);
        let left = self.layout.columns.saturating_sub(width(title)) / 2;
        let title = self.bold(title);
        self.line(format!("{}{title}", " ".repeat(left)));
        self.line(rule);
    }

    /// The closing lines between two rules.
    pub fn footer(&mut self, text: &str) {
        self.line("");
        let rule = "=".repeat(self.layout.columns);
        self.line(&rule);
        self.prose("", "", text);
        self.line(rule);
    }

    /// An empty line, then the section's name centred in a rule.
    pub fn banner(&mut self, name: &str) {
        self.line("");
        let free = self.layout.columns.saturating_sub(width(name) + 2);
        let left = "━".repeat(free / 2);
        let right = "━".repeat(free - free / 2);
        let name = self.bold(name);
        self.line(format!("{left} {name} {right}"));
    }

    /// A label in 16 columns and a value shortened to the rest.
    pub fn labelled(&mut self, label: &str, value: &str) {
        let room = self.layout.columns.saturating_sub(16);
        self.line(format!("{label:<16}{}", shorten(&visible(value), room)));
    }

    /// Wrapped prose: `first` before the first line, `rest` before the others.
    pub fn prose(&mut self, first: &str, rest: &str, text: &str) {
        for paragraph in text.split('\n') {
            let mut line = first.to_owned();
            let mut empty = true;
            for word in visible(paragraph).split_whitespace() {
                if !empty && width(&line) + 1 + width(word) > self.layout.columns {
                    self.line(&line);
                    line = rest.to_owned();
                    empty = true;
                }
                if !empty {
                    line.push(' ');
                }
                line.push_str(word);
                empty = false;
            }
            self.line(line);
        }
    }

    /// A command to paste: wrapped at spaces with a backslash, continuation four columns deeper.
    pub fn command(&mut self, indent: usize, command: &str) {
        let mut line = format!("{}$", " ".repeat(indent));
        let mut fresh = false;
        let words: Vec<String> = visible(command).split(' ').map(ToOwned::to_owned).collect();
        for (index, word) in words.iter().enumerate() {
            let last = index + 1 == words.len();
            let room = if last { self.layout.columns } else { self.layout.columns.saturating_sub(2) };
            if !fresh && index > 0 && width(&line) + 1 + width(word) > room {
                self.line(format!("{line} \\"));
                line = " ".repeat(indent + 4);
                fresh = true;
            }
            if !fresh {
                line.push(' ');
            }
            line.push_str(word);
            fresh = false;
        }
        self.line(line);
    }

    /// A table header and its rule.
    pub fn header(&mut self, columns: &[Column<'_>]) {
        let names: Vec<String> = columns.iter().map(|(name, ..)| (*name).to_owned()).collect();
        self.row(columns, &names);
        self.line("─".repeat(self.layout.columns));
    }

    /// A table row; a cell wider than its column is shortened.
    pub fn row(&mut self, columns: &[Column<'_>], cells: &[String]) {
        let mut line = String::new();
        for ((_, columns, side), cell) in columns.iter().zip(cells) {
            let cell = shorten(&visible(cell), *columns);
            let pad = " ".repeat(columns.saturating_sub(width(&cell)));
            match side {
                Side::Left => line.push_str(&format!("{cell}{pad}")),
                Side::Right => line.push_str(&format!("{pad}{cell}")),
            }
        }
        self.line(line);
    }

    /// `and n more`, when rows were left out.
    pub fn more(&mut self, left_out: u64) {
        if left_out > 0 {
            self.line(format!("and {} more", crate::render::number::count(left_out)));
        }
    }

    fn bold(&self, text: &str) -> String {
        if self.layout.colour { format!("{BOLD}{text}{PLAIN}") } else { text.to_owned() }
    }

    /// A severity or priority word, coloured on a terminal.
    pub fn severity(&self, word: &str) -> String {
        let colour = match word {
            "HIGH" | "CRITICAL" => RED,
            "MEDIUM" | "HOT" => YELLOW,
            _ => return word.to_owned(),
        };
        if self.layout.colour { format!("{colour}{word}{PLAIN}") } else { word.to_owned() }
    }
}
