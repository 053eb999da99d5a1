//! Reads rows straight from the pages of an SQLite file.
//!
//! Stepping a prepared statement over every column costs more than the whole speed bar allows, and SQLite stops at the first
//! damaged page. This module only knows table b-trees (file format: <https://www.sqlite.org/fileformat2.html>); schema,
//! locks and write-ahead logs stay with SQLite itself.

mod cursor;
mod file;
mod leaf;
mod record;

pub(crate) use cursor::Cursor;
pub(crate) use file::PagedFile;
pub(crate) use record::{Layout, Value};
