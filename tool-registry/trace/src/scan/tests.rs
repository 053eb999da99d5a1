//! The ordering machinery and the page reader against plain sorting and plain SQL.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use perfxpert_fixtures::{KernelSpec, Rng, TraceBuilder};
use proptest::prelude::*;
use rusqlite::Connection;

use super::order::{Runs, Window};
use super::spill::{Spill, SpillFile};
use crate::model::{Dispatch, Region};
use crate::pages::{Cursor, Layout, PagedFile, Value};
use crate::sweep::{Control, Select, Sweep};
use crate::trace::{OpenOptions, Trace};

fn through_window(values: &[i64], size: usize) -> Option<Vec<i64>> {
    let mut window = Window::new(size, |value: &i64| *value);
    let mut out = Vec::new();
    for part in values.chunks(7) {
        window.rows().extend_from_slice(part);
        if window.full() {
            out.extend(window.release(false));
        }
    }
    out.extend(window.release(true));
    (!window.violated).then_some(out)
}

proptest! {
    #[test]
    fn a_window_sorts_or_says_that_it_cannot(values in prop::collection::vec(0i64..1000, 0..400), size in 1usize..64) {
        let mut sorted = values.clone();
        sorted.sort_unstable();
        if let Some(out) = through_window(&values, size) {
            prop_assert_eq!(out, sorted);
        } else {
            prop_assert!(values.len() > 2 * size);
        }
    }

    #[test]
    fn nearly_sorted_rows_pass_a_window(jitter in prop::collection::vec(0i64..20, 0..2000)) {
        let values: Vec<i64> = jitter.iter().enumerate().map(|(at, jitter)| at as i64 * 2 + jitter).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        prop_assert_eq!(through_window(&values, 32), Some(sorted));
    }

    #[test]
    fn runs_merge_into_one_order(runs in prop::collection::vec(prop::collection::vec(any::<i64>(), 0..300), 0..9), rows in 1usize..40) {
        let file = Arc::new(SpillFile::default());
        let mut all: Vec<i64> = runs.concat();
        let written: Vec<_> = runs
            .into_iter()
            .map(|mut run| {
                run.sort_unstable();
                file.write(&run).unwrap()
            })
            .collect();
        all.sort_unstable();
        let mut merged = Runs::new(file, written, rows, |value: &i64| *value).unwrap();
        let mut out = Vec::new();
        while let Some(value) = merged.next().unwrap() {
            out.push(value);
        }
        prop_assert_eq!(out, all);
    }
}

#[derive(Default)]
struct Seen {
    dispatches: Vec<Dispatch>,
    regions: Vec<Region>,
}

impl Sweep for Seen {
    fn dispatch(&mut self, row: &Dispatch) {
        self.dispatches.push(*row);
    }
    fn region(&mut self, row: &Region) {
        self.regions.push(*row);
    }
}

/// `count` launches whose rows are written block by block, the later half of the run first.
fn shuffled(count: i64) -> TraceBuilder {
    let mut trace = TraceBuilder::new();
    let gpu = trace.gpu("mi300x");
    let kernel = trace.kernel(KernelSpec::new("k()"));
    for step in 0..count {
        let at = (step + count / 2) % count * 1000;
        trace.launch(gpu, kernel, at..at + 100, at + 200..at + 900);
    }
    trace
}

#[test]
fn every_way_of_ordering_gives_the_same_rows() {
    let file = shuffled(20_000).build().unwrap();
    let trace = Trace::open(&[file.path().to_path_buf()], &OpenOptions::default()).unwrap();
    let run = |mode| {
        super::sweep::sweep_in(&trace, Select::ALL, &Control::default(), Seen::default, Some(mode)).unwrap()
    };
    let (memory, counts) = run(super::pipeline::Mode::Memory);
    assert_eq!(memory.dispatches.len(), 20_000);
    assert!(memory.dispatches.is_sorted_by_key(|row| row.start));
    let (runs, _) = run(super::pipeline::Mode::Runs);
    assert_eq!(runs.dispatches, memory.dispatches);
    assert_eq!(runs.regions, memory.regions);
    // The first windows are too small for this table: the pass is repeated until one fits.
    let (threads, again) = run(super::pipeline::Mode::Thread);
    assert!(trace.data.first().unwrap().disorder.first().unwrap().load(Ordering::Relaxed) > 0);
    assert_eq!(threads.dispatches, memory.dispatches);
    assert_eq!(threads.regions, memory.regions);
    assert_eq!(again.rows, counts.rows);
    for level in &trace.data.first().unwrap().disorder {
        level.store(9, Ordering::Relaxed);
    }
    let (spilled, _) = run(super::pipeline::Mode::Thread);
    assert_eq!(spilled.dispatches, memory.dispatches);
}

#[test]
fn a_spilled_dispatch_comes_back_whole() {
    let file = shuffled(3).build().unwrap();
    let trace = Trace::open(&[file.path().to_path_buf()], &OpenOptions::default()).unwrap();
    let (seen, _) = trace.sweep(Select::ALL, &Control::default(), Seen::default).unwrap();
    for row in seen.dispatches {
        let mut bytes = Vec::new();
        row.put(&mut bytes);
        assert_eq!(bytes.len(), Dispatch::BYTES);
        assert_eq!(Dispatch::take(&mut bytes.as_slice()), Some(row));
    }
}

/// A table of awkward values, with a few rows of many pages.
fn awkward(rows: i64) -> (tempfile::TempDir, Arc<PagedFile>, u32, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let sql = Connection::open(&path).unwrap();
    sql.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT, c); BEGIN").unwrap();
    let mut rng = Rng::new(5);
    for row in 0..rows {
        let id = row * 3 - 50;
        let a = (rng.bits() >> (rng.bits() % 64)) as i64 * if row % 2 == 0 { 1 } else { -1 };
        let b = "x".repeat(if row % 97 == 0 { 20_000 } else { (row % 300) as usize });
        sql.execute("INSERT INTO t VALUES (?1, ?2, ?3, ?4)", (id, a, b, (row % 5 == 0).then_some(0.5)))
            .unwrap();
    }
    sql.execute_batch("ALTER TABLE t ADD COLUMN d; COMMIT").unwrap();
    let root =
        sql.query_row("SELECT rootpage FROM sqlite_master WHERE name = 't'", [], |row| row.get(0)).unwrap();
    let file = Arc::new(PagedFile::open(path).unwrap().unwrap());
    (folder, file, root, sql)
}

fn columns() -> Vec<(String, bool)> {
    [("id", true), ("a", false), ("b", false), ("c", false), ("d", false)]
        .map(|(name, alias)| (name.to_owned(), alias))
        .to_vec()
}

#[test]
fn the_page_reader_reads_what_sql_reads() {
    let (_folder, file, root, sql) = awkward(3000);
    let mut layout = Layout::new(&columns(), &["c", "id", "a", "b", "d", "absent"]);
    let mut values = layout.values();
    let mut cursor = Cursor::new(&file, root, 64 << 10);
    assert_eq!(cursor.estimated_rows().min(9000), 3000 * 3 - 2);
    let mut statement = sql.prepare("SELECT id, a, b, c FROM t ORDER BY id").unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut count = 0;
    while cursor.advance() {
        for cell in 0..cursor.leaf().unwrap().cells() {
            let record = cursor.record(cell).unwrap();
            let id = cursor.row(cell).unwrap().id;
            assert!(layout.decode(id, &record, record.len(), &mut values));
            let row = rows.next().unwrap().unwrap();
            assert_eq!(values[1], Value::Int(row.get(0).unwrap()));
            assert_eq!(values[2], Value::Int(row.get(1).unwrap()));
            assert_eq!(values[3].text(&record).unwrap(), row.get::<_, String>(2).unwrap().as_bytes());
            let c: Option<f64> = row.get(3).unwrap();
            assert_eq!(values[0], c.map_or(Value::Null, Value::Real));
            assert_eq!((values[4], values[5]), (Value::Null, Value::Null));
            count += 1;
        }
    }
    assert_eq!((count, cursor.damaged), (3000, 0));
    assert!(rows.next().unwrap().is_none());
}

#[test]
fn seeks_find_exactly_the_rows_that_are_there() {
    let (_folder, file, root, _sql) = awkward(3000);
    let mut cursor = Cursor::new(&file, root, 64 << 10);
    let mut rng = Rng::new(9);
    let mut ids: Vec<i64> = (0..4000).map(|_| rng.between(-60, 9000)).collect();
    ids.extend(-60..3000);
    ids.extend([i64::MIN, i64::MAX]);
    for id in ids {
        let there = (-50..3000 * 3 - 50).contains(&id) && (id + 50) % 3 == 0;
        let cell = cursor.seek(id);
        assert_eq!(cell.is_some(), there, "{id}");
        if let Some(cell) = cell {
            assert_eq!(cursor.row(cell).unwrap().id, id);
        }
    }
}

#[test]
fn a_page_that_points_to_itself_ends() {
    let (_folder, file, root, sql) = awkward(3000);
    drop(sql);
    let mut bytes = std::fs::read(&file.path).unwrap();
    let page = (root as usize - 1) * file.page_size;
    let cells = usize::from(u16::from_be_bytes([bytes[page + 3], bytes[page + 4]]));
    for cell in 0..cells {
        let at = page
            + usize::from(u16::from_be_bytes([bytes[page + 12 + cell * 2], bytes[page + 13 + cell * 2]]));
        bytes[at..at + 4].copy_from_slice(&root.to_be_bytes());
    }
    std::fs::write(&file.path, bytes).unwrap();
    let mut cursor = Cursor::new(&file, root, 64 << 10);
    let mut leaves = 0;
    while cursor.advance() && leaves < 1_000_000 {
        leaves += 1;
    }
    assert!(leaves < 1_000_000);
    assert!(cursor.damaged > 0);
}
